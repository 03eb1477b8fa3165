import ArgumentParser
import RunnelPostgres
import RunnelServer
import RunnelSync

/// `runnel store`: the care of a store in PostgreSQL.
struct StoreCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "store",
    abstract: "Make, check and look at a store in PostgreSQL.",
    discussion: """
      A store is a database of PostgreSQL, version 13 or newer, with Runnel's tables. It holds any \
      number of namespaces: a namespace is a database for clients. PostgreSQL's client library has to be \
      installed (libpq5).

      --store takes a name, never a connection string. The connection string stands under `stores` in \
      the configuration file, or the name is that of a service in pg_service.conf; passwords belong into \
      ~/.pgpass, or into a file that only you can read. A connection to another machine is encrypted, and \
      its certificate verified, unless the place says otherwise by sslmode.

      Examples:
        runnel store init chat
        runnel store import chat chat.db
        runnel store rules put chat chat.rules.json
        runnel serve --store main --listen localhost:9000
        runnel store check
        runnel store status --store main
      """,
    subcommands: [
      InitStoreCommand.self, CheckStoreCommand.self, StatusOfStoreCommand.self,
      RulesOfStoreCommand.self, ImportToStoreCommand.self, ExportFromStoreCommand.self,
      MoveNamespaceCommand.self, DropNamespaceCommand.self, MigrateStoreCommand.self,
    ])
}

/// `runnel store init`: makes the tables and namespaces.
struct InitStoreCommand: ParsableCommand, FileNaming {
  static let configuration = CommandConfiguration(
    commandName: "init",
    abstract: "Make the tables of a store, and namespaces.",
    discussion: """
      What is there already stays as it is, and servers are not held up. With --role, another role may read and write the rows \
      afterwards, but not change the tables: servers should connect as that role.

      Tables are made by the owner of the database, or who else may make them. A name of a store has one \
      user, so write another name for the owner under `stores`.

      Servers serve a new namespace within a second. Without rules it is open to everybody who reaches a server that \
      listens on localhost, also by a proxy: --rules checks a file first, and stores the rules together with \
      each namespace. Namespaces that are there already keep theirs.

      A name that another store of the configuration has is refused without --force: servers of both stores \
      serve only one of the two.

      Examples:
        runnel store init chat blog --rules chat.rules.json
        runnel store init --store owner --role server chat
      """)

  @Argument(help: ArgumentHelp("Namespaces to make.", valueName: "namespace"))
  var namespaces: [String] = []
  @Option(
    help: ArgumentHelp("A role of PostgreSQL that may use the tables.", valueName: "name"))
  var role: String?
  @Option(
    help: ArgumentHelp(
      "The file of the rules of the new namespaces; - for standard input.", valueName: "file"),
    completion: .file())
  var rules: FileName?
  @Flag(help: "Make a namespace even if another store has one of that name.") var force = false
  @OptionGroup var option: StoreOption

  var fileNames: [FileName] { rules.map { [$0] } ?? [] }

  func validate() throws {
    if rules != nil, namespaces.isEmpty {
      throw ValidationError("--rules is for new namespaces: name one.")
    }
    for name in namespaces where !DatabaseNames.isValid(name) || name.hasPrefix("-") {
      throw ValidationError(
        "\(name) is no name for a namespace: use 1 to 63 small letters, digits and hyphens, "
          + "and no hyphen first.")
    }
  }

  func run() throws {
    let text = try rules.map { String(decoding: try LoadedRules($0).engine.source, as: UTF8.self) }
    let store = try option.opened()
    defer { store.close() }
    let notice = WaitNotice(option.store)
    var known: [String] = []
    do {
      defer { notice.end() }
      try store.makeTables(for: role) { StandardError.say($0) }
      if !force { try checkOthers(store) }
      for name in namespaces {
        let isNew = try store.makeNamespace(named: name, rules: text) { StandardError.say($0) }
        if !isNew { known.append(name) }
      }
    }
    let all = try store.namespaces()
    let names = all.filter { $0.state != .moved }.map(\.name)
    let list = names.isEmpty ? "no namespaces yet" : "namespaces: \(names.joined(separator: ", "))"
    try StandardOutput.say("\(store.connection.name) is a store, \(list).\n")
    for moved in all where namespaces.contains(moved.name) && moved.state == .moved {
      throw Failure(
        "\(moved.name) was not made: it was moved to \(try store.newPlace(of: moved).words). Move it back "
          + "with `runnel store move`, or remove what is left of it here with `runnel store drop`. If that store is "
          + "lost, `runnel store move \(moved.name) --store \(option.store) --give-up --force` opens it again here."
      )
    }
    if text != nil { try tellRules(all.filter { known.contains($0.name) }, of: store) }
  }

  /// Checks that no other store has a namespace of a new name.
  private func checkOthers(_ store: PostgresStore) throws {
    let new = try namespaces.filter { try store.namespace(named: $0) == nil }
    if new.isEmpty { return }
    let others = OtherStores(beside: store, named: option.store)
    for name in new {
      guard let other = others.namespaces[name]?.first else { continue }
      throw Failure(
        "\(name) was not made: the store \(other) has a namespace of that name, and servers of both stores serve "
          + "only one of them. --force makes it.")
    }
    for name in others.silent {
      StandardError.say("The store \(name) does not say if it has \(new.joined(separator: ", ")).")
    }
  }

  /// Says that namespaces that were there already did not get the rules; it is a failure if one has none.
  private func tellRules(
    _ known: [PostgresStore.Namespace], of store: PostgresStore
  ) throws {
    var bare: [String] = []
    for namespace in known {
      if try store.rulesText(of: namespace) == nil {
        bare.append(namespace.name)
      } else {
        StandardError.say(
          "\(namespace.name) was there already, and keeps its rules: `runnel store rules put "
            + "\(namespace.name) FILE` replaces them.")
      }
    }
    guard let first = bare.first else { return }
    throw Failure(
      "\(bare.joined(separator: ", ")) was there already, and has no rules: `runnel store rules put "
        + "\(first) FILE` stores some.")
  }
}

/// `runnel store check`: compares all rows of namespaces with each other.
struct CheckStoreCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check",
    abstract: "Compare the rows of namespaces with each other.",
    discussion: """
      Every row is read, and compared with counts, indexes and the feed of changes, as `runnel doctor` \
      does with a file. Servers can go on meanwhile, but the database keeps old versions of rows until the \
      end. Each fault is a line: where, and what. The exit status is 0 if nothing is wrong.
      """)

  @Argument(help: ArgumentHelp("The namespaces (default: all).", valueName: "namespace"))
  var namespaces: [String] = []
  @OptionGroup var option: StoreOption

  func run() throws {
    let store = try option.opened()
    defer { store.close() }
    try store.checkVersion()
    let all = try store.namespaces()
    for name in namespaces where !all.contains(where: { $0.name == name }) {
      throw Failure(
        "\(store.connection.name) has no namespace \(name): `runnel store status` lists all.")
    }
    var faultCount = 0
    for namespace in all where namespaces.isEmpty || namespaces.contains(namespace.name) {
      let report = try StoreCheck.run(on: namespace, of: store)
      faultCount += report.faultCount
      for fault in report.faults { try StandardOutput.say("\(namespace.name): \(fault)\n") }
      let hidden = report.faultCount - report.faults.count
      if hidden > 0 { try StandardOutput.say("\(namespace.name): and \(hidden) more\n") }
      if report.isSound {
        let rest =
          switch namespace.state {
          case .open: ""
          case .moved: ", left of its move to \(try store.newPlace(of: namespace).words)"
          case .frozen:
            try store.isArriving(namespace)
              ? ", of a move to this store that is not complete" : ", frozen for a move"
          }
        try StandardOutput.say(
          "\(namespace.name) is sound: "
            + StoredCounts.words(rows: report.rowCount, entries: report.entryCount) + "\(rest).\n")
      }
    }
    if faultCount > 0 {
      throw Failure(
        "The store has \(faultCount == 1 ? "1 fault" : "\(faultCount) faults"). Export what is needed, "
          + "and restore a backup of PostgreSQL.")
    }
  }
}

/// `runnel store status`: namespaces and servers.
struct StatusOfStoreCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status",
    abstract: "List the namespaces of a store, its servers, and the standbys.",
    discussion: """
      A namespace's head is the number of its newest change, and its floor that of the newest one that \
      was pruned. A server renews its lease every 2 seconds, and tells then how many changes its clients \
      were not told yet; a workspace on a namespace is a server without address. A lease that was not renewed \
      for 10 seconds has ended, and is listed for 10 minutes more, unless other servers remove it. Standbys are shown if your \
      role may see them (pg_monitor). If too few are attached, that is said: then no write is confirmed.
      """)

  @OptionGroup var option: StoreOption

  func run() throws {
    let store = try option.opened()
    defer { store.close() }
    try store.checkVersion()
    let version = store.connection.serverVersion
    try StandardOutput.say(
      "\(store.connection.name), PostgreSQL \(version / 10_000).\(version % 10_000)\n")
    for host in store.connection.replacedPrimaries {
      try StandardOutput.say(
        "\(host) takes writes too, and was replaced by this primary: stop it, and make it a standby\n"
      )
    }
    let namespaces = try store.namespaces()
    for namespace in namespaces {
      let state =
        switch namespace.state {
        case .open: ""
        case .frozen: try frozenWords(namespace, of: store)
        case .moved: try movedWords(namespace, of: store)
        }
      try StandardOutput.say(
        "namespace \(namespace.name): head \(namespace.head), floor \(namespace.floor)\(state)\n")
    }
    let standbys = try store.standbys()
    let isConfirmed = standbys?.isShort != true
    for server in try store.servers() {
      let address = server.address.isEmpty ? "" : " at \(server.address)"
      try StandardOutput.say(
        "server \(server.identifier.text)\(address): \(server.words(isConfirmed: isConfirmed))\n")
    }
    if let standbys { try tell(standbys) }
    try tellDoubles(namespaces, of: store)
  }

  /// Says which namespaces other stores of the configuration have, too; the last, since it may take long.
  private func tellDoubles(
    _ namespaces: [PostgresStore.Namespace], of store: PostgresStore
  ) throws {
    let live = try namespaces.filter {
      try DatabaseNames.isValid($0.name) && $0.state != .moved && !store.isArriving($0)
    }
    if live.isEmpty { return }
    let others = OtherStores(beside: store, named: option.store)
    let shared = Set(live.map(\.name)).intersection(others.namespaces.keys)
    if shared.isEmpty { return }
    for head in try StoreLease.heads(store.connection, shared: shared).sorted(by: {
      $0.name < $1.name
    })
    where shared.contains(head.name) {
      for copy in others.copies(of: head.name) {
        let words = doubleWords(head, copy, ownNames: [option.store] + others.aliases)
        try StandardOutput.say("namespace \(head.name): in the store \(copy.words), too\(words)\n")
      }
    }
  }

  /// Says which of two copies of a namespace is served, and how the other one goes.
  private func doubleWords(
    _ own: StoreHead, _ copy: OtherStores.Copy, ownNames: [String]
  ) -> String {
    let drop = { (name: String) in "`runnel store drop \(own.name) --store \(name) --force`" }
    let claim = own.claim ?? StoreClaim()
    let pairs = ownNames.flatMap { own in copy.stores.map { (own: own, other: $0) } }
    if pairs.contains(where: { claim.prevails(over: copy.claim, in: $0.other, from: $0.own) }) {
      return
        "; this one was opened by force, and is served: \(drop(copy.stores[0])) removes that one"
    }
    if pairs.contains(where: { copy.claim.prevails(over: claim, in: $0.own, from: $0.other) }) {
      return
        "; that one was opened by force, and is served: \(drop(option.store)) removes this one"
    }
    return "; servers of both stores serve only one of them"
  }

  /// What is said of a frozen namespace: whether a command is moving it, and else how that ends.
  private func frozenWords(
    _ namespace: PostgresStore.Namespace, of store: PostgresStore
  ) throws -> String {
    if try store.isArriving(namespace) {
      let broken = BrokenMove(
        namespace: namespace.name, store: try store.moveOrigin(of: namespace), target: option.store)
      return ", on its way to this store, and not served yet: \(broken.ways)"
    }
    let target = try store.moveTarget(of: namespace)
    let place = target.map { "the store \($0)" } ?? "another store"
    // Not every database tells who has a lock.
    if (try? store.isBeingMoved(namespace)) ?? true {
      return ", frozen: it is being moved to \(place)"
    }
    let broken = BrokenMove(namespace: namespace.name, store: option.store, target: target)
    return ", its move to \(place) was broken off: \(broken.frozen)"
  }

  /// What is said of a namespace that was moved.
  private func movedWords(
    _ namespace: PostgresStore.Namespace, of store: PostgresStore
  ) throws -> String {
    let place = try store.newPlace(of: namespace)
    let words = ", moved to \(place.words)"
    if try !store.isUnopened(namespace) { return words }
    if try store.isBeingGivenUp(namespace) {
      let broken = BrokenMove(namespace: namespace.name, store: option.store)
      return "\(words), not open there, and being given up: repeat \(broken.givingUp)"
    }
    let broken = BrokenMove(
      namespace: namespace.name, store: option.store,
      target: PostgresPlace.isName(place.store) ? place.store : nil)
    return "\(words), not open there yet: do \(broken.again)"
  }

  private func tell(_ standbys: PostgresStore.Standbys) throws {
    for standby in standbys.all {
      let state = standby.isFollowing ? "" : ", catching up"
      try StandardOutput.say(
        "standby \(standby.name): \(standby.kind), \(standby.lag) bytes behind\(state)\n")
    }
    if standbys.isHidden {
      try StandardOutput.say(
        "standbys: \(standbys.role) may not see them: GRANT pg_monitor TO \(standbys.role)\n")
    }
    if standbys.hasOneCopy {
      try StandardOutput.say(
        "standbys: none has to confirm a write, since synchronous_standby_names is empty: what is lost with this "
          + "primary may be lost for good\n")
    }
    if standbys.isShort {
      try StandardOutput.say(
        "standbys: too few are attached for synchronous_standby_names = '\(standbys.expected)': no write is "
          + "confirmed until they are\n")
    }
  }
}
