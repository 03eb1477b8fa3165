import RunnelTree

/// The record that was decoded last.
///
/// The rows of a place without a row of its own lie in one record: whoever reads them one by one decodes it
/// once. The bytes are compared, so that a memo cannot be out of date.
final class RecordMemo {
  private var bytes: [UInt8] = []
  private var node = Node.empty

  /// The node of a record, as `RecordCoding.node` tells it.
  func node(_ record: [UInt8]) throws -> Node {
    if record == bytes { return node }
    let read = try RecordCoding.node(record)
    (bytes, node) = (record, read)
    return read
  }
}
