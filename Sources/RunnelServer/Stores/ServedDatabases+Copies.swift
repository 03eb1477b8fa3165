import Logging
import RunnelPostgres
import Synchronization

// Namespaces of one name in several stores, of which one is served: that which a command opened by force,
// because the other store was lost, or else the one that was there first.

extension ServedDatabases {
  /// After this many looks, a namespace that two stores have is told, and again after the pause.
  private static let looksBeforeDouble = 8
  private static let doublePause = Duration.seconds(60)

  /// The names of the namespaces that several stores have, whatever their states are.
  var shared: Set<String> {
    if links.count < 2 { return [] }
    return state.withLock { state in
      var seen: Set<String> = []
      var shared: Set<String> = []
      for name in state.numbers.values.flatMap(\.keys) where !seen.insert(name).inserted {
        shared.insert(name)
      }
      return shared
    }
  }

  /// Keeps in mind what a store tells of the namespaces that others have, too: it may be lost soon.
  func note(copies heads: [StoreHead], of link: StoreLink) {
    let told = Dictionary(heads.filter { $0.claim != nil }.map { ($0.name, $0) }) { first, _ in
      first
    }
    state.withLock { $0.copies[link.store.name] = told.isEmpty ? nil : told }
  }

  /// Why one of two copies is the one to be served.
  private enum Reason {
    /// It was opened by force, since the other one was lost.
    case forced
    /// It came from the other store, which does not say yet that the move has ended.
    case came

    init?(_ own: StoreClaim, in store: String, over former: StoreClaim, in other: String) {
      guard own.prevails(over: former, in: other, from: store) else { return nil }
      self = own.isForced(over: former, in: other) ? .forced : .came
    }

    /// What is logged of a namespace that is served from a store, while another one has a copy that is void.
    func words(of name: String, in store: String, void: String) -> String {
      switch self {
      case .forced:
        "\(name) is served from the store \(store), where it was opened by force. That of the store \(void) is "
          + "not served any more: when that store is back, `runnel store drop \(name) --store \(void) --force` "
          + "removes it."
      case .came:
        "\(name) is served from the store \(store), to which it was moved, and the store \(void) does not know "
          + "that the move has ended: `runnel store move \(name) --store \(void) --to \(store)` completes it."
      }
    }
  }

  /// Why the copy of a namespace in `link` is the one to be served, and not that in `other`; nil if that is not
  /// known.
  private func reason(for name: String, in link: StoreLink, over other: StoreLink) -> Reason? {
    let (own, former) = state.withLock { state in
      (state.copies[link.store.name]?[name]?.claim, state.copies[other.store.name]?[name]?.claim)
    }
    guard let own, let former else { return nil }
    return Reason(own, in: link.store.name, over: former, in: other.store.name)
  }

  /// Takes a namespace that is open in a store while the one of another store is served: it takes the place of
  /// that one, or is told.
  func takeDouble(_ name: String, of link: StoreLink) {
    guard let served = open(name), let other = links.first(where: { $0.has(served) }) else {
      return
    }
    if let reason = reason(for: name, in: link, over: other) {
      if state.withLock({ $0.opening.contains(name) }) { return openLater(name, of: link) }
      // So it is for a moment at the end of each move.
      if reason == .forced {
        logger.warning("\(reason.words(of: name, in: link.store.name, void: other.store.name))")
      }
      return openLater(name, of: link)
    }
    noteDouble(name, of: link, void: reason(for: name, in: other, over: link), served: other)
  }

  /// Notes that a store has a namespace of which another one is served; it is told after some looks, since a
  /// move that ends is seen in one store first, and each minute.
  private func noteDouble(
    _ name: String, of link: StoreLink, void reason: Reason?, served: StoreLink
  ) {
    let isTold = state.withLock { state in
      let now = ContinuousClock.now
      var double = state.doubles[name] ?? (link.store.name, 0, now)
      double.count += 1
      defer { state.doubles[name] = double }
      if double.count < ServedDatabases.looksBeforeDouble || now < double.next { return false }
      double.next = now + ServedDatabases.doublePause
      return true
    }
    if !isTold { return }
    let words =
      reason?.words(of: name, in: served.store.name, void: link.store.name)
      ?? ServedDatabases.words(ofSecond: name, link.store.name)
    logger.error("\(words)")
  }

  /// What is logged of a namespace that another store has, too.
  private static func words(ofSecond name: String, _ store: String) -> String {
    "\(name) of the store \(store) is not served: another store has a namespace of that name. Drop one of them, "
      + "or which one is served is left to the next start."
  }

  /// The namespaces to be served at the start, and from where: of those in several stores one.
  static func places(
    in links: [StoreLink], _ logger: Logger
  ) throws -> [(name: String, place: ServedPlace)] {
    var counts: [String: Int] = [:]
    var found = try links.map { try $0.keeper.present() }
    for head in found.joined() { counts[head.name, default: 0] += 1 }
    let shared = Set(counts.filter { $0.value > 1 }.keys)
    if !shared.isEmpty { found = try links.map { try $0.keeper.present(shared: shared) } }
    var chosen: [String: (link: StoreLink, claim: StoreClaim)] = [:]
    var names: [String] = []
    for (link, heads) in zip(links, found) {
      for head in heads where link.store.serves(head.name) {
        let claim = head.claim ?? StoreClaim()
        guard let first = chosen[head.name] else {
          names.append(head.name)
          chosen[head.name] = (link, claim)
          continue
        }
        let (own, other) = (link.store.name, first.link.store.name)
        // What only came from there may have done so just now; if it stays so, it is told later.
        if let reason = Reason(claim, in: own, over: first.claim, in: other) {
          chosen[head.name] = (link, claim)
          if reason == .forced {
            logger.error("\(reason.words(of: head.name, in: own, void: other))")
          }
        } else if let reason = Reason(first.claim, in: other, over: claim, in: own) {
          if reason == .forced {
            logger.error("\(reason.words(of: head.name, in: other, void: own))")
          }
        } else {
          logger.error("\(words(ofSecond: head.name, own))")
        }
      }
    }
    return names.compactMap { name in chosen[name].map { (name, $0.link.place(of: name)) } }
  }
}
