public import RunnelTree

extension DatabaseSession {
  /// Carries out a write, unless one of the same name was carried out before.
  ///
  /// On a replica the name is that of the pending write until the origin has answered: who asks again
  /// learns what becomes of it. Once the origin did it the name is taken; if it refused the write, or the
  /// write was given up, nothing was carried out, and the name is free.
  ///
  /// - Parameters:
  ///   - write: the write.
  ///   - id: its name.
  /// - Returns: false if it was carried out before, or is pending; and what listeners of this session are to be told,
  ///   in order.
  /// - Throws: `DatabaseError` (`forgotten` if nobody knows any more whether it was carried out); then
  ///   nothing was written, and its name is not taken.
  public func write(
    _ write: Write, id: WriteID
  ) throws -> (isApplied: Bool, deliveries: [Delivery]) {
    try core.write(name: id, undoes: nil) { _, _ in write }
  }
}
