package import RunnelTree
import Synchronization

/// Who carries a replica's talk with its origin.
///
/// All is called on the tree's thread, and must not wait.
package struct OriginSink: Sendable {
  /// Takes commands for the origin, in order.
  package var send: (@Sendable ([OriginCommand]) -> Void)?
  /// The replica is to stay away from its origin, or need not any more.
  package var setOffline: (@Sendable (Bool) -> Void)?
  /// A write that waits for the origin was given up.
  package var dropped: (@Sendable (Int64) -> Void)?
  /// The database is closed: the last call.
  package var end: (@Sendable () -> Void)?
  /// What lives as long as the database.
  package var link: (any Sendable)?

  /// Makes one that does nothing.
  package init() {}
}

extension Database {
  /// Has somebody else carry the talk with the origin from now on.
  package func setOriginSink(_ sink: OriginSink) { originSink = sink }

  /// What carries the talk with the origin; nil for nothing.
  package var linkOfOrigin: (any Sendable)? { originSink.link }

  /// Carries out one step that the origin caused, with all that comes of it: events are told, then who waits
  /// for results, then commands are sent.
  ///
  /// - Throws: `DatabaseError`; then nothing changed.
  package func carryOut(
    fromOrigin body: (DatabaseSession) throws -> [Delivery]
  ) throws {
    try checkIsOpen()
    beginStep()
    defer { endStep() }
    defer { tellLoss() }
    post(try body(session))
    postOriginOutput()
  }

  /// The origin is connected.
  ///
  /// - Parameter originTime: the time on its clock, in milliseconds since 1970.
  /// - Throws: `DatabaseError`; then nothing changed.
  package func connectOrigin(originTime: Int64) throws {
    try carryOut { try $0.connectOrigin(originTime: originTime) }
    let offset = session.connectionInfo.serverTimeOffset ?? 0
    autoIDs.withLock { $0.serverTimeOffset = offset }
  }

  /// The known nodes upon which the writes in commands were made, by their places; and how many places of these
  /// writes the origin has done already.
  package func grounds(
    ofWritesIn commands: [OriginCommand]
  ) -> (bases: [Int64: [Path: RunnelTree.Node]], done: [Int64: Int]) {
    var grounds: (bases: [Int64: [Path: RunnelTree.Node]], done: [Int64: Int]) = ([:], [:])
    for case .write(let id, _) in commands {
      grounds.bases[id] = session.bases(ofWrite: id)
      grounds.done[id] = session.doneCount(ofWrite: id)
    }
    return grounds
  }

  /// Notes records that have got another key at the origin.
  package func note(moves places: [Path: Path]) { session.moves.note(places) }

  /// Begins a new name for the writes made from now on, and returns the names of all that wait.
  ///
  /// - Throws: `DatabaseError` if the file cannot be written; then nothing changed.
  package func beginWriter() throws -> WriterNames {
    try checkIsOpen()
    return try session.beginWriter()
  }
}
