import ArgumentParser
import RunnelPostgres
import RunnelServer

/// `runnel store move`: moves a namespace to another store.
struct MoveNamespaceCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "move",
    abstract: "Move a namespace to another store, on another primary.",
    discussion: """
      The namespace is frozen: servers go on reading it, and refuse writes for now. Then its rows are \
      copied to the other store, whose servers get a moment to find it there. At last its clients are sent \
      there, to the address after --address, if servers of the other store have one of their own, and it is \
      opened for writes. The other store keeps the order of changes, the names of writes, the rules and the indexes.

      If it is broken off, the namespace may stay frozen: do it again, and it goes on, or give it up with \
      --give-up: then the namespace is written again where it is, and what the other store has got of it is \
      not served. That is refused if the namespace is live in the other store already, and if it may be, but \
      the other store cannot be asked; with --force that does not matter. A move to the store where the namespace \
      is gives it up too, and so does --give-up in the store to which it was to be moved. That one is as it was \
      before then: if the namespace had been moved away from it, clients are still sent to that address. If the \
      move was done, and the other store is lost for good, or has not got the namespace any more, --give-up \
      --force opens it again as it was when it was moved. If the store that it comes from is lost while it is on \
      its way, the same, with --store and the store that it leads to, opens it there.

      The rows in the old store stay, and are not served: `runnel store drop` removes them, and a move back \
      replaces them. What is left there of another namespace of the name is replaced only with --force.

      A move that was done already does nothing, and its exit status is 0. With another --address, it sends \
      clients there from then on.

      An address is HOST:PORT, or HOST for the port of https or http: clients go on with the protocol that \
      they use. Without --address, clients are told that the namespace was moved, and not where to.

      Examples:
        runnel store move chat --to second --address b.example.net:9000
        runnel store move chat --store second --to main --address a.example.net:9000
        runnel store move chat --give-up
      """)

  @Argument(help: ArgumentHelp("The namespace.", valueName: "namespace"))
  var namespace: String
  @Option(help: ArgumentHelp("The name of the other store.", valueName: "name"))
  var to: String?
  @Option(
    help: ArgumentHelp(
      "The address of servers of the other store, for clients.", valueName: "host:port"))
  var address: String?
  @Flag(help: "Give up a move that was broken off.") var giveUp = false
  @Flag(
    help:
      "With --give-up: do not wait for the other store. Else: replace rows of another namespace there."
  )
  var force = false
  @OptionGroup var option: StoreOption

  func validate() throws {
    if to == nil, !giveUp {
      throw ValidationError("--to names the other store, and --give-up gives up a move.")
    }
    if giveUp, address != nil {
      throw ValidationError("--give-up moves nothing: give no --address.")
    }
    if let address, let fault = ClientAddress.fault(of: address) {
      throw ValidationError("--address: \(fault)")
    }
  }

  func run() throws {
    let interruption = try MoveInterruption(
      BrokenMove(namespace: namespace, store: option.store, target: to))
    defer { interruption.end() }
    let source = try option.opened()
    defer { source.close() }
    if let to, !giveUp, try wasDropped(to, in: source) { return }
    if giveUp, try wasGivenUp(in: source) { return }
    let found = try RulesOfStoreCommand.namespace(named: namespace, of: source)
    guard DatabaseNames.isValid(namespace) else {
      throw Failure(
        "\(namespace) holds the accounts of the store, and is not moved: `runnel accounts export` and `import` "
          + "copy accounts.", status: .usage)
    }
    if try source.isArriving(found) {
      if giveUp { return try giveUpArrival(found, in: source) }
      let broken = BrokenMove(
        namespace: namespace, store: try source.moveOrigin(of: found), target: option.store)
      throw Failure(
        "\(namespace) is on its way to this store, and not open here yet: \(broken.ways).")
    }
    guard let to, !giveUp else { return try giveUp(found, of: source, to: to) }
    let target: PostgresStore
    do {
      target = try PostgresStore(try StoreOption.place(named: to))
    } catch let error as PostgresError {
      throw try BrokenMove(namespace: namespace, store: option.store, target: to)
        .told(error, source)
    }
    defer { target.close() }
    try target.checkVersion()
    // The way back to where it is.
    if found.state != .moved, try StoreMove.areSame(source, target) {
      if found.state == .open, address != nil {
        throw Failure(
          "\(namespace) is open in this very store, and needs no address: --store names the store that it was "
            + "moved from, whose clients are to be sent to one.")
      }
      return try giveUp(found, of: source, to: nil)
    }
    // The connection has no name once it is closed.
    let place = target.connection.name
    let outcome = try move(found, from: source, to: target, named: to, interruption)
    let words =
      switch outcome {
      case .moved: "now"
      case .movedBefore: "already: nothing was to do"
      case .readdressed: "already: its clients are sent to \(address ?? "") from now on"
      }
    try StandardOutput.say("\(namespace) is in \(place) \(words).\n")
  }

  private func move(
    _ found: PostgresStore.Namespace, from source: PostgresStore, to target: PostgresStore,
    named name: String, _ interruption: MoveInterruption
  ) throws -> StoreMove.Outcome {
    let line = SharedProgressLine("Moving \(namespace)")
    defer { line.clear() }
    do {
      return try StoreMove.run(
        found, from: source, to: target, address: address ?? "", name: name, origin: option.store,
        isForced: force
      ) { count in
        line.report("\(count) rows")
        try interruption.check()
      }
    } catch {
      line.clear()
      throw try BrokenMove(namespace: namespace, store: option.store, target: name)
        .told(error, source)
    }
  }

  private func giveUp(
    _ found: PostgresStore.Namespace, of source: PostgresStore, to other: String?
  ) throws {
    let target = try source.moveTarget(of: found) ?? other ?? "OTHER"
    let outcome: StoreMove.GivenUp
    do {
      outcome = try StoreMove.giveUp(found, of: source, to: other, isForced: force) { name in
        try PostgresStore(try StoreOption.place(named: name))
      }
    } catch let error as PostgresError where error.kind != .unsuitable {
      throw try BrokenMove(namespace: namespace, store: option.store, target: other)
        .told(error, source)
    }
    switch outcome {
    case .wasOpen:
      try StandardOutput.say(
        "\(namespace) is open in \(source.connection.name), and no move of it is under way: nothing was to do.\n"
      )
    case .reopened(let reason):
      try StandardOutput.say(
        "\(namespace) is open again in \(source.connection.name), as it was when it was moved: what was written "
          + "in the other store since is not here.\n")
      StandardError.say(
        "Should it come back in the other store, do not use it there any more, but drop it. It is opened here "
          + "because \(reason)")
    case .opened(let rest):
      try StandardOutput.say(
        "The move of \(namespace) was given up: it is in \(source.connection.name), and is written again.\n"
      )
      if let rest {
        let point = rest.hasSuffix(".") ? "" : "."
        StandardError.say(
          "What the other store has got of it may be left there, and is not served: "
            + "\(rest)\(point) When that store is back, `runnel store move \(namespace) "
            + "--store \(target) --give-up` makes it as it was before."
        )
      }
    }
  }

  /// Gives up a move to this store.
  private func giveUpArrival(
    _ found: PostgresStore.Namespace, in target: PostgresStore
  ) throws {
    let origin = try target.moveOrigin(of: found) ?? to
    let place = target.connection.name
    let end = try StoreMove.giveUpArrival(
      of: found, in: target, named: option.store, isForced: force
    ) {
      guard let origin else {
        throw PostgresError(.disconnected, "its name is not known: name it with --to.")
      }
      return try PostgresStore(try StoreOption.place(named: origin))
    }
    if case .opened(let reason) = end {
      try StandardOutput.say(
        "\(namespace) is open in \(place), as it was when it was moved: what was written in the other store since "
          + "is not here.\n")
      return StandardError.say(
        "It is opened here because \(reason) Should the other store come back, do not use it there any more, and "
          + "do the move again.")
    }
    let words =
      end == .givenUp
      ? "was given up: it is in the store \(origin ?? ""), and is written again."
      : "was given up before, in the store \(origin ?? "")."
    let left = try target.namespace(named: namespace)
    let rest = try left.map {
      "is left of its move to \(try target.newPlace(of: $0).words), as before"
    }
    try StandardOutput.say(
      "The move of \(namespace) \(words) What is here \(rest ?? "was removed").\n")
  }

  /// True if nothing of the namespace is in the store, and it is open in another one; this is said then.
  private func wasGivenUp(in source: PostgresStore) throws -> Bool {
    try source.checkVersion()
    if try source.namespace(named: namespace) != nil { return false }
    let others = OtherStores(beside: source, named: option.store)
    guard let names = others.namespaces[namespace], names.count == 1,
      !others.frozen.contains(namespace)
    else { return false }
    try StandardOutput.say(
      "\(namespace) is open in the store \(names[0]), and nothing of a move of it is here: nothing was to do.\n"
    )
    return true
  }

  /// True if the move was done already, and what was left of the namespace dropped; this is said then.
  private func wasDropped(_ to: String, in source: PostgresStore) throws -> Bool {
    try source.checkVersion()
    guard try source.namespace(named: namespace) == nil,
      let former = try source.formerPlace(of: namespace), former.store == to
    else { return false }
    let target = try PostgresStore(try StoreOption.place(named: to))
    defer { target.close() }
    try target.checkVersion()
    guard let there = try target.namespace(named: namespace), there.state != .moved else {
      return false
    }
    let end =
      address == nil
      ? "nothing was to do"
      : "nothing was to do, and no client is sent there, since what was left here was dropped"
    try StandardOutput.say("\(namespace) is in \(target.connection.name) already: \(end).\n")
    return true
  }

  /// A line that a closure reports to.
  private final class SharedProgressLine {
    private var line: ProgressLine

    init(_ what: String) { line = ProgressLine(what) }

    func report(_ text: String) { line.report(text) }

    func clear() { line.clear() }
  }
}
