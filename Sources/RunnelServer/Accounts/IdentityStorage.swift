import RunnelTree

/// Where accounts are: a file, or the reserved namespace of a store.
///
/// Isolation: synchronous, and used by one thread at a time.
protocol IdentityStorage: AnyObject {
  /// Reads the accounts from one state.
  ///
  /// - Throws: errors of the storage and of `body`.
  func read<Result>(_ body: (any TreeReader) throws -> Result) throws -> Result

  /// Carries out the write that `decide` makes of the present state, in the same transaction.
  ///
  /// - Throws: errors of the storage and of `decide`; then nothing was written.
  func write(_ decide: (any TreeReader) throws -> Write) throws

  /// Reads what others wrote.
  ///
  /// - Throws: errors of the storage.
  func catchUp() throws

  /// Uses the storage again if it was lost, and is certainly as it was.
  ///
  /// - Throws: the error that it is lost.
  func regain() throws

  /// What was written since the last call, by whomever.
  func takeNews() -> AccountStore.News

  /// Removes what is left of removed accounts besides their rows; false to try it again later.
  func removeRemains() -> Bool

  /// Closes the storage; it must not be used afterwards.
  ///
  /// - Throws: errors of the storage.
  func close() throws
}
