package import RunnelTree

extension DatabaseSession {
  /// Carries out a write, unless one with the same name was carried out before.
  ///
  /// On a replica the name belongs to the pending write until the origin has answered; another
  /// write with the name then gets the same result. If the origin did the write, its name is used
  /// up. If the origin refused it, or it was given up, nothing was carried out, and the name is
  /// free.
  ///
  /// - Parameters:
  ///   - write: the write.
  ///   - id: its name.
  /// - Returns: false if it was carried out before, or is pending; and the deliveries for listeners
  ///   of this session, in order.
  /// - Throws: `DatabaseError` (`forgotten` if it is not known any more whether it was carried
  ///   out); then nothing was written, and the name is not used up.
  package func write(
    _ write: Write, id: WriteID
  ) throws -> (isApplied: Bool, deliveries: [Delivery]) {
    try core.write(name: id) { _, _ in write }
  }
}
