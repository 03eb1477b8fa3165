import RunnelBase
import RunnelDatabase
import RunnelTree
import RunnelWorkspace

/// Makes an index on a thread of its own, by a connection of its own.
///
/// `stop` may be called from another thread.
final class IndexThread: Sendable {
  private let file: String
  private let definition: IndexDefinition
  /// A message in this inbox stops the work.
  private let stops = Inbox<Bool>(limit: 1) {}

  /// Prepares an index of a database file.
  init(_ definition: IndexDefinition, in file: String) {
    (self.definition, self.file) = (definition, file)
  }

  /// Stops the work.
  func stop() {
    // One message is enough.
    _ = stops.post(true)
  }

  /// Makes the index, and reports the progress; the last report is the result.
  func run(_ report: @escaping (IndexMaking.Report) -> Void) {
    do {
      let session = try DatabaseSession(file: file, environment: .system)
      try session.declareIndexes([definition]) { rows in
        report(.progress(rows: rows))
        return self.stops.drain().isEmpty
      }
      try session.close()
      report(.done)
    } catch let error as DatabaseError where error.code == .cancelled {
      report(.stopped)
    } catch {
      report(.failed("\(error)"))
    }
  }
}
