// A namespace that was moved to a store that is lost.
extension StoreMove {
  private static let movesMax = 8

  /// What the other stores say of a namespace that was moved there.
  private enum Whereabouts {
    /// It was not opened there yet, and is not there any more.
    case removed
    case there(String)
    /// It is not there any more, or that is not known, and why.
    case missing(String)
  }

  /// Opens a namespace again that was moved, and was not opened in the other store, or is lost there.
  ///
  /// - Throws: `PostgresError` if it is there, or that is not known and `isForced` is false.
  static func reopen(
    _ namespace: PostgresStore.Namespace, of source: PostgresStore, _ name: String?, isForced: Bool,
    _ opened: (String) throws -> PostgresStore
  ) throws -> GivenUp {
    let place = try source.newPlace(of: namespace)
    let start = "\(namespace.name) was moved to \(place.words)"
    let outcome: GivenUp
    switch try find(namespace, of: source, from: place.store, or: name, opened) {
    case .removed: outcome = .opened(rest: nil)
    case .there(let words):
      throw PostgresError(
        .unsuitable, "\(start) already, and is in the store \(words): it can only be moved back.")
    case .missing(let reason):
      guard isForced else {
        throw PostgresError(
          .unsuitable,
          "\(start), but \(reason) If it is lost there for good, --force opens it again here, as it was when it "
            + "was moved: what was written there since is lost.")
      }
      outcome = .reopened(reason: reason)
    }
    let ns = PostgresValue.integer(namespace.number)
    try source.atomically([
      PostgresStatement("BEGIN"),
      PostgresStatement("SELECT state FROM namespace WHERE ns = $1 FOR UPDATE", ns),
      undoing(ns, numberName),
      forgetting(
        [moveName, targetName, readyName, addressName, storeName, numberName, unopenedName], ns),
      PostgresStatement("UPDATE namespace SET state = 0 WHERE ns = $1 AND state = 2", ns),
      PostgresStatement("COMMIT"),
    ])
    try? StoreWake.send([.servers], source.connection)
    return outcome
  }

  /// Looks for a namespace in the store to which it was moved, and in those to which it was moved on; what is
  /// not open in the first is removed there.
  private static func find(
    _ namespace: PostgresStore.Namespace, of source: PostgresStore, from noted: String,
    or name: String?, _ opened: (String) throws -> PostgresStore
  ) throws -> Whereabouts {
    guard var other = PostgresPlace.isName(noted) ? noted : name else {
      return .missing("that store is not known here: name it with --to.")
    }
    let number = try source.metaValue(numberName, of: namespace)
    do {
      for _ in 0...movesMax {
        let store = try opened(other)
        defer { store.close() }
        try store.checkVersion()
        if try areSame(source, store) { return .missing("\(other) is this store.") }
        guard let there = try store.namespace(named: namespace.name) else {
          // What was dropped there was moved on before.
          guard let next = try store.formerPlace(of: namespace.name) else {
            return .missing("is not in the store \(other) any more.")
          }
          guard PostgresPlace.isName(next.store) else { return .missing(unknown(next)) }
          other = next.store
          continue
        }
        let isOfMove = try number != nil && store.metaValue(moveName, of: there) == number
        let isArriving = try store.isArriving(there)
        if isArriving, isOfMove {
          try store.dropNamespace(there)
          return .removed
        }
        if try source.hasArrived(namespace, as: there, in: store) { return .there(other) }
        let isOfThis =
          try number.map { try store.metaValue(camePrefix + $0, of: there) != nil } ?? true
        if !isOfThis { return .missing("what is in the store \(other) is another one.") }
        if isArriving { return .there(other) }
        let next = try store.newPlace(of: there)
        guard PostgresPlace.isName(next.store) else { return .missing(unknown(next)) }
        other = next.store
      }
    } catch let error as PostgresError {
      return .missing("the store \(other) cannot be asked: \(error)")
    }
    return .missing("is not found.")
  }

  private static func unknown(_ place: PostgresStore.NewPlace) -> String {
    "was moved on to \(place.words), which cannot be asked."
  }
}
