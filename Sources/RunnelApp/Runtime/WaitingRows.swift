import RunnelStreams
import RunnelTree
import RunnelWorkspace

/// The rows of a list for the new records that wait for the server of a service.
final class WaitingRows {
  let stream = TransientStream<Record>()
  /// All of them, in their order.
  var records: [Record] = []

  /// Shows those that fit a filter.
  func show(only wants: (Record) -> Bool) {
    if records.isEmpty, stream.items.isEmpty { return }
    stream.reset(records.filter(wants))
  }
}
