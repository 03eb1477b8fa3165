// What an earlier move has left in the store to which a namespace is moved.
extension StoreMove {
  /// Checks that what a move has left in the target is of this namespace.
  ///
  /// - Throws: `PostgresError` if it may be the only copy of another one, unless that may be replaced.
  func checkLeftover() throws {
    if isForced { return }
    guard let left = try target.namespace(named: namespace.name), try isOfOther(left, isLate: false)
    else { return }
    throw try refusal(of: left)
  }

  /// True if what a move has left in the target is not continued by this namespace.
  ///
  /// `isLate` says that this namespace was frozen since it was looked at.
  func isOfOther(_ left: PostgresStore.Namespace, isLate: Bool) throws -> Bool {
    if left.state != .moved { return false }
    guard let number = try target.metaValue(StoreMove.numberName, of: left) else {
      // An earlier version moved it; a frozen namespace has the number of the move under way.
      if isLate { return false }
      return try namespace.state != .open
        || source.metaValue(StoreMove.moveName, of: namespace) == nil
    }
    if try source.metaValue(StoreMove.camePrefix + number, of: namespace) != nil { return false }
    return try source.metaValue(StoreMove.moveName, of: namespace) != number
  }

  func refusal(of left: PostgresStore.Namespace) throws -> PostgresError {
    PostgresError(
      .unsuitable,
      "\(target.connection.name) has rows of another \(namespace.name), which was moved to "
        + "\(try target.newPlace(of: left).words): they may be its only copy. --force replaces them."
    )
  }

  /// What is said of a namespace that was moved to the target, and is not there.
  func refusalOfLost(_ place: PostgresStore.NewPlace) throws -> PostgresError {
    let start = "\(namespace.name) was moved to \(place.words), but"
    if try source.isBeingGivenUp(namespace) {
      return PostgresError(.unsuitable, "\(start) not opened there: \(StoreMove.givingUpWords).")
    }
    return PostgresError(
      .unsuitable,
      "\(start) is not there any more: --give-up --force opens it again where it was, and "
        + "\(StoreMove.loss(try source.isUnopened(namespace))).")
  }

  /// What is lost if what was moved is opened again where it was, as a clause.
  static func loss(_ isUnopened: Bool) -> String {
    isUnopened
      ? "if it was opened there, what was written there since is lost"
      : "what was written there since is lost"
  }

  /// True if the target has not got any more what was moved there from here.
  func isLost(_ before: Arrival) throws -> Bool {
    guard let there = try target.namespace(named: namespace.name) else {
      return try target.formerPlace(of: namespace.name) == nil
    }
    // What was moved on is told by that store.
    if there.state == .moved || before.isArriving { return false }
    return try !source.hasArrived(namespace, as: there, in: target)
  }
}
