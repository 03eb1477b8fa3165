import RunnelBase
import RunnelStreams

/// What a list is told.
enum ListUpdates {
  /// The updates that a list with one part is told while `body` runs, after the first one.
  static func told(
    _ part: ListPart<TestRow>, _ body: (IndexPathAdapter<TestRow>) -> Void
  ) -> [BatchUpdate] {
    var updates: [BatchUpdate] = []
    let adapter = IndexPathAdapter([part]) { updates.append($0.update) }
    adapter.start()
    body(adapter)
    return Array(updates.dropFirst())
  }
}
