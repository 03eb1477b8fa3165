import HTTPTypes
import Logging
import RunnelDatabase
import RunnelNetwork
import RunnelPostgres
import Synchronization

// The namespaces of stores: those that come, move and go while the server runs.

extension ServedDatabases {
  /// The time after which a namespace that could not be opened is tried again, if the store can be used.
  private static let retryMilliseconds = 10_000
  /// After this time without an answer of a store, it is not known which namespaces are in it.
  private static let silenceMax = Duration.seconds(5)

  func open(_ name: String) -> ServedDatabase? {
    state.withLock { $0.open[name]?.database }
  }

  /// The newest places that clients were told, by the names of a store's namespaces.
  func newestTold(of link: StoreLink) -> [String: Int64] {
    state.withLock { state in
      state.open.filter { link.has($0.value.database) }.compactMapValues(\.database.newestTold)
    }
  }

  /// The names of the stores, and those that this server has in them.
  var storeNames: [(name: String, server: String)] {
    links.map { ($0.store.name, $0.keeper.lease.identifier.text) }
  }

  /// The longest of the times in which a primary has been silent.
  var storeSilence: Duration { links.map(\.keeper.silence).max() ?? .zero }

  /// Notes how long the primary of each store has been silent.
  ///
  /// They are asked when somebody looks, so that a thread that waits for its primary hides nothing.
  func noteSilence() {
    for link in links { world.metrics.note(silence: link.keeper.silence, of: link.store.name) }
  }

  /// Notes in the metrics which databases can be written: the file is there, and the disk took the last write.
  func noteWritable() {
    for open in all {
      world.metrics.note(
        isWritable: !open.database.isLost && !open.database.isUnwritable, of: open.database.name)
    }
  }

  /// The address of the server on which the clients of a namespace belong; nil for this one.
  func address(of database: ServedDatabase) -> String? {
    database.place.keeper?.address(of: database.name)
  }

  /// The namespace that a request names, if it was moved to another store.
  func moved(_ request: HTTPRequest, byHost: Bool = false) -> MovedNamespace? {
    if links.isEmpty { return nil }
    let (named, label) = ServedDatabases.names(in: request, byHost: byHost)
    return state.withLock { state in
      let isKnown = state.open[label] != nil || state.moved[label] != nil
      let name = named ?? (isKnown ? label : main ?? DatabaseNames.fallback)
      return state.moved[name].map {
        MovedNamespace(
          name: name, address: $0.address, sendsClientsOn: configuration.didLeave == nil,
          mayFollow: configuration.didLeave != nil || links.count > 1)
      }
    }
  }

  /// True if a namespace comes from another store, and is not open here yet.
  func isArriving(_ database: ServedDatabase) -> Bool {
    guard let link = links.first(where: { $0.has(database) }) else { return false }
    return state.withLock { $0.arriving[link.store.name]?.contains(database.name) ?? false }
  }

  /// Why the first of a store's namespaces that wait to be opened could not be opened; nil if none waits.
  func heldUp(of link: StoreLink) -> (name: String, reason: String)? {
    state.withLock { state in
      let names = state.heldUp.filter { $0.value.store == link.store.name }
      return names.min { $0.key < $1.key }.map { ($0.key, $0.value.reason) }
    }
  }

  /// True if a namespace that is not served here may be soon: it has just come, or the store does not answer, or
  /// does not confirm that this server may serve.
  func mayCome(_ request: HTTPRequest, byHost: Bool) -> Bool {
    if links.isEmpty { return false }
    let (named, label) = ServedDatabases.names(in: request, byHost: byHost)
    return state.withLock { $0.opening.contains(named ?? label) }
      || links.contains {
        $0.keeper.silence > ServedDatabases.silenceMax || !$0.keeper.lease.isHeld
      }
  }

  /// True if a namespace was moved away, or is coming.
  func mayServe(_ name: String) -> Bool {
    state.withLock { $0.opening.contains(name) || $0.moved[name] != nil }
  }

  /// The name that a request has as a parameter, and the first word of its host.
  private static func names(
    in request: HTTPRequest, byHost: Bool
  ) -> (parameter: String?, label: String) {
    let host = HostCheck.host(of: request.authority ?? "")
    return (
      byHost ? nil : parameter("ns", of: request.path ?? ""),
      host.split(separator: ".").first.map(String.init) ?? ""
    )
  }

  /// Sets whether namespaces that are made later are served only with rules.
  func requireRules(_ isNeeded: Bool) { needsRules.store(isNeeded, ordering: .relaxed) }

  private func take(_ head: StoreHead, of link: StoreLink) {
    let served = open(head.name)
    let isServedFromHere = served.map { link.has($0) } ?? true
    switch head.state {
    case .open, .frozen:
      let (former, isBack) = state.withLock { state in
        let isBack =
          isServedFromHere && served != nil && state.moved.removeValue(forKey: head.name) != nil
        return (state.moved[head.name]?.from, isBack)
      }
      if isBack, !head.isArriving {
        logger.notice("\(head.name) is open in the store \(link.store.name) again, and is served")
      }
      // What another store has, or had, is told of by that one until it is open here.
      let isOfOther = !isServedFromHere || former.map { $0 != link.store.name } ?? false
      if head.isArriving, isOfOther { break }
      if let served, isServedFromHere {
        served.note(head: head.head)
      } else if link.store.serves(head.name), served == nil || former != nil {
        // A namespace that was moved here from another store of this server takes its place.
        openLater(head.name, of: link)
      } else if link.store.serves(head.name), !isServedFromHere, !head.isArriving {
        takeDouble(head.name, of: link)
      }
    case .moved where isServedFromHere && link.store.serves(head.name):
      let before = state.withLock { state in
        state.moved.updateValue((link.store.name, head.movedTo), forKey: head.name)
      }
      if before?.address == head.movedTo { break }
      if before?.from == link.store.name {
        logger.notice("\(head.name) was moved: its clients are sent to \(head.movedTo) from now on")
      } else if served != nil || configuration.didLeave != nil {
        let address = head.movedTo.isEmpty ? "" : ", to \(head.movedTo)"
        logger.notice("\(head.name) was moved to another store\(address)")
        world.switchboard.stop(database: head.name, .moved)
        configuration.didLeave?(head.name)
      }
    case .moved: break
    }
  }

  /// Opens a database before clients can connect; nil for a namespace that was moved meanwhile, of which its
  /// store tells.
  func openAtStart(_ name: String, _ place: ServedPlace) throws -> OpenDatabase? {
    guard let keeper = place.keeper else { return try open(name, place) }
    do {
      return try keeper.opening(name, within: place.patience) { try open(name, place) }
    } catch let error as PostgresError where error.kind == .moved {
      return nil
    }
  }

  /// Opens a namespace that was made since the start; if that fails, it is tried again.
  func openLater(_ name: String, of link: StoreLink) {
    let isUsable = link.keeper.lease.isHeld
    if !state.withLock({ $0.begin(opening: name, isUsable: isUsable) }) { return }
    world.files.submit { [weak self] in self?.openNew(name, of: link) }
  }

  private func openNew(_ name: String, of link: StoreLink) {
    let start = ContinuousClock.now
    do {
      let opened = try open(name, link.place(of: name))
      if needsRules.load(ordering: .relaxed), opened.database.isOpen {
        opened.database.close()
        throw ServerError("it has no rules, and others than this machine could connect")
      }
      let former = state.withLock { state in
        defer { state.open[name] = opened }
        state.moved[name] = nil
        state.opening.remove(name)
        state.heldUp[name] = nil
        return state.open[name]?.database
      }
      if opened.database.isOpen {
        let advice = "until `runnel store rules put \(name) FILE` stores some"
        logger.warning(
          "\(name) is served now, without rules: open to everybody who reaches this server, \(advice)"
        )
      } else {
        logger.notice("\(name) is served now")
      }
      guard let former else { return }
      world.switchboard.stop(database: name, .moved)
      former.close()
    } catch {
      didFail(opening: name, of: link, since: start, error)
    }
  }

  /// Has a namespace that could not be opened tried again: when the store tells of it the next time, if it could not
  /// be used, and else after a while.
  private func didFail(
    opening name: String, of link: StoreLink, since start: ContinuousClock.Instant,
    _ error: any Error
  ) {
    let isOfStore = HeldUpNamespace.isOfStore(error)
    let held = HeldUpNamespace(link.store.name, "\(error)", since: start)
    let former = state.withLock { state in
      defer { state.heldUp[name] = isOfStore ? held : nil }
      return state.heldUp[name]
    }
    if former?.reason != held.reason { logger.error("\(name) cannot be served yet: \(error)") }
    if isOfStore {
      // The next lease is begun as soon as the end of this one is known.
      if (error as? PostgresError)?.kind == .leaseEnded { link.keeper.renewNow() }
      return
    }
    world.files.submit(afterMilliseconds: ServedDatabases.retryMilliseconds) { [weak self] in
      self?.state.withLock { _ = $0.opening.remove(name) }
    }
  }

  /// Has what waits for a store from some time on answered as well as it can be.
  func endWaits(at time: ContinuousClock.Instant) {
    for link in links { link.keeper.place.deadline?.set(time) }
  }

  /// Lets no more clients be sent here by other servers.
  func withdraw() {
    for link in links { link.keeper.withdraw() }
  }

  /// Serves no more the namespaces of a store that were dropped there, even if others have their names now.
  private func closeDropped(_ heads: [StoreHead], of link: StoreLink) {
    let numbers = Dictionary(heads.map { ($0.name, $0.namespace) }) { first, _ in first }
    let store = link.store.name
    let dropped = state.withLock { state in
      let known = state.numbers.updateValue(numbers, forKey: store) ?? numbers
      state.moved = state.moved.filter { $0.value.from != store || numbers[$0.key] != nil }
      let gone = state.open.filter { name, open in
        link.has(open.database)
          && (numbers[name] == nil || known[name] ?? numbers[name] != numbers[name])
      }
      for name in gone.keys { state.open[name] = nil }
      return gone
    }
    // Whoever put another state there has probably ended the lease, too.
    if !dropped.isEmpty { link.keeper.renewNow() }
    for (name, open) in dropped {
      let reason = "it was dropped, or the database has an older state"
      logger.notice("\(name) is not in the store \(store) any more, and is not served: \(reason)")
      world.switchboard.stop(database: name, .dropped)
      world.files.submit { open.database.close() }
      configuration.didLeave?(name)
    }
  }

  /// Ends the connections that depend on the accounts, if those cannot be read while the store of their
  /// namespaces is.
  ///
  /// Where nothing is read, nobody is told anything: the sessions wait for the next primary.
  private func endUnconfirmed(of link: StoreLink) {
    guard let currency = accounts?.currency else { return }
    let isCurrent = currency.isCurrent
    let isOver = state.withLock { state in
      if isCurrent {
        state.unconfirmedSince[link.store.name] = nil
        return false
      }
      let since = state.unconfirmedSince[link.store.name] ?? .now
      state.unconfirmedSince[link.store.name] = since
      return since.duration(to: .now) >= .milliseconds(AccountCurrency.patience)
    }
    guard isOver else { return }
    let names = all.map(\.database).filter { link.has($0) }.map(\.name)
    world.switchboard.endUnconfirmed(of: Set(names))
  }

  func take(_ news: StoreKeeper.News, of link: StoreLink) {
    // The accounts are in the first store.
    let accounts = link.keeper === links.first?.keeper ? accounts : nil
    let served = all.map(\.database).filter { link.has($0) }
    switch news {
    case .heads(let heads):
      endUnconfirmed(of: link)
      closeDropped(heads, of: link)
      let arriving = Set(heads.filter { $0.isArriving }.map(\.name))
      let present = Set(heads.filter { $0.state != .moved && !$0.isArriving }.map(\.name))
      note(copies: heads, of: link)
      let former = state.withLock { state in
        defer { state.arriving[link.store.name] = arriving.isEmpty ? nil : arriving }
        state.forgetHeldUp(of: link.store.name, except: present)
        state.doubles = state.doubles.filter {
          $0.value.store != link.store.name || present.contains($0.key)
        }
        return state.arriving[link.store.name] ?? []
      }
      for database in served where former.contains(database.name) && present.contains(database.name)
      {
        logger.notice("\(database.name) is open in the store \(link.store.name), and is written")
      }
      for head in heads {
        if head.name == StoreAccounts.namespace { accounts?.note(head: head.head) }
        take(head, of: link)
      }
    case .wake(let name, let head):
      if name == StoreAccounts.namespace { accounts?.note(head: head) }
      served.first { $0.name == name }?.note(head: head, isHint: true)
    case .orphans:
      for database in served { database.submit(TreeJob(connection: 0, wish: .takeOver)) }
    case .leaseLost:
      if links.count == 1 { return world.switchboard.stopAll(.noLease) }
      for database in served { world.switchboard.stop(database: database.name, .noLease) }
    }
  }
}
