// A namespace that was moved to a store that is lost.
extension StoreMove {
  /// What is said of a move that is given up and was broken off in that.
  package static let givingUpWords =
    "its move is being given up, so repeat --give-up, and it is open again where it was"
  private static let movesMax = 8

  /// What the other stores say of a namespace that was moved there.
  private enum Whereabouts {
    /// It was not opened there yet, and is not there any more.
    case removed
    case there(String)
    /// It is open in the store of that name, and frozen by a move from there.
    case frozen(String)
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
      try noteOpened(namespace, of: source)
      throw PostgresError(
        .unsuitable, "\(start) already, and is in the store \(words): it can only be moved back.")
    case .frozen(let words):
      try noteOpened(namespace, of: source)
      throw PostgresError(
        .unsuitable,
        "\(start) already, and is frozen in the store \(words) by a move from there that is not done: do that "
          + "one again, or give it up: `runnel store move \(namespace.name) --store \(words) --give-up`."
      )
    case .missing(let reason):
      let isBegun = try source.isBeingGivenUp(namespace)
      guard isForced else {
        throw PostgresError(
          .unsuitable,
          isBegun
            ? "\(start), and its move is being given up, but \(reason) It was not open there: --force opens it "
              + "again here without asking."
            : "\(start), but \(reason) If it is lost there for good, --force opens it again here, as it was when "
              + "it was moved: \(loss(try source.isUnopened(namespace))).")
      }
      outcome = isBegun ? .opened(rest: reason) : .reopened(reason: reason)
    }
    let ns = PostgresValue.integer(namespace.number)
    var statements = [
      PostgresStatement("BEGIN"),
      PostgresStatement("SELECT state FROM namespace WHERE ns = $1 FOR UPDATE", ns),
    ]
    // What was removed there does not come back.
    if outcome != .opened(rest: nil) { statements.append(undoing(ns, numberName)) }
    statements += [
      forgetting(
        [
          moveName, targetName, readyName, addressName, storeName, numberName, unopenedName,
          givingUpName,
        ], ns),
      PostgresStatement("UPDATE namespace SET state = 0 WHERE ns = $1 AND state = 2", ns),
      PostgresStatement("COMMIT"),
    ]
    try source.atomically(statements)
    try? StoreWake.send([.servers], source.connection)
    return outcome
  }

  /// Notes that what was moved was opened in the other store, before that could be given up.
  private static func noteOpened(
    _ namespace: PostgresStore.Namespace, of source: PostgresStore
  ) throws {
    try source.connection.perform([
      forgetting([unopenedName, givingUpName], .integer(namespace.number))
    ])
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
    var isBegun = try source.isBeingGivenUp(namespace)
    var hasNoted = false
    do {
      for _ in 0...movesMax {
        let store = try opened(other)
        defer { store.close() }
        try store.checkVersion()
        if try areSame(source, store) { return .missing("\(other) is this store.") }
        guard let there = try store.namespace(named: namespace.name) else {
          // What was dropped there was moved on before.
          guard let next = try store.formerPlace(of: namespace.name) else {
            if isBegun { return .removed }
            return .missing("it is not in the store \(other) any more.")
          }
          guard PostgresPlace.isName(next.store) else { return .missing(unknown(next)) }
          (other, isBegun) = (next.store, false)
          continue
        }
        if let number, try store.isArriving(there),
          try store.metaValue(moveName, of: there) == number
        {
          try noteGivingUp(number, of: namespace, in: source)
          hasNoted = true
        }
        let isOfMove = try number != nil && store.metaValue(moveName, of: there) == number
        let isArriving = try store.isArriving(there)
        if isArriving, isOfMove, let number {
          try undoArrival(of: there, by: number, in: store)
          return .removed
        }
        if try source.hasArrived(namespace, as: there, in: store) {
          return there.state == .frozen ? .frozen(other) : .there(other)
        }
        let isOfThis =
          try number.map { try store.metaValue(camePrefix + $0, of: there) != nil } ?? true
        if !isOfThis, isBegun { return .removed }
        if !isOfThis { return .missing("what is in the store \(other) is another one.") }
        if isArriving { return .there(other) }
        let next = try store.newPlace(of: there)
        guard PostgresPlace.isName(next.store) else { return .missing(unknown(next)) }
        // It was open, and moved on.
        (other, isBegun) = (next.store, false)
      }
    } catch let error as PostgresError
      where source.connection.isOpen && error.kind != .inDoubt
      && !(hasNoted && error.kind == .unsuitable)
    {
      // What was opened just now is not opened here.
      return .missing("the store \(other) cannot be asked: \(error)")
    }
    return .missing("it is not found.")
  }

  /// Notes that a move is given up, so that this goes on if it is broken off.
  ///
  /// - Throws: `PostgresError`, also if the primary did not confirm that: what is noted is to last longer than
  ///   what the other store has got.
  private static func noteGivingUp(
    _ number: String, of namespace: PostgresStore.Namespace, in source: PostgresStore
  ) throws {
    try source.connection.perform([keeping(number, givingUpName, .integer(namespace.number))])
    if source.connection.warningState == nil { return }
    throw PostgresError(
      .inDoubt,
      "The primary has not confirmed that the move of \(namespace.name) is given up: nothing was removed."
    )
  }

  private static func unknown(_ place: PostgresStore.NewPlace) -> String {
    "it was moved on to \(place.words), which cannot be asked."
  }
}
