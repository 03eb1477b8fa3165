import RunnelStreams
import RunnelTree

/// The tree for a query that is not of the session's database: it refuses to be read and written.
final class ForeignSource: TreeSource, TreeTarget {
  private let session: SessionSource
  private let error: DatabaseError

  /// Makes a tree that refuses what is asked about a place in another file.
  init(_ session: SessionSource, place: Path, in file: String) {
    self.session = session
    error = DatabaseError(
      .refused,
      "\(place) is a place in \(file), and this session is one of \(session.treeName): make a "
        + "`StreamSession` of the database of the query.")
  }

  func listen(_ request: ListenRequest) -> ListenerID { session.refuseListener(error) }

  func unlisten(_ listener: ListenerID) {}

  func extend(_ listener: ListenerID, by count: Int) {}

  func submit(_ write: Write, completion: @escaping (WriteOutcome) -> Void) {
    session.refuseWrite(error, completion: completion)
  }

  func makeKey() -> Key { session.makeKey() }
}
