import RunnelBase
package import RunnelTree

/// The JSON of stored rows.
package enum RecordCoding {
  /// The most bytes of JSON in one row, unless it is a single leaf.
  package static let bytesMax = 4096

  package static func bytes(_ priority: Leaf?) -> [UInt8]? { priority?.json.jsonBytes() }

  /// The node of a record, which is never empty.
  ///
  /// - Throws: `Damage` if the bytes are not the JSON of a node.
  package static func node(_ bytes: [UInt8]) throws -> Node {
    try bytes.withUnsafeBufferPointer { try node($0) }
  }

  /// The node of a record, which is never empty.
  ///
  /// - Throws: `Damage` if the bytes are not the JSON of a node.
  package static func node(_ bytes: UnsafeBufferPointer<UInt8>) throws -> Node {
    do {
      var scanner = JSONScanner(bytes)
      let node = try NodeReader(at: .root).read(&scanner)
      try scanner.finish()
      guard let node, !node.isEmpty else { throw Damage("a record holds nothing") }
      return node
    } catch let error as Damage {
      throw error
    } catch {
      throw Damage("a record is no JSON of a node (\(error))")
    }
  }

  package static func priority(_ bytes: [UInt8]?) throws -> Leaf? {
    guard let bytes else { return nil }
    switch try node(bytes).leaf {
    case .number(let value): return .number(value)
    case .string(let value): return .string(value)
    case .bool, nil: throw Damage("a priority is neither a number nor a string")
    }
  }
}

/// Writes the JSON of one record after another into one buffer.
///
/// A buffer for each record would cost an import several allocations per row.
package final class RecordWriter {
  private static let bufferBytes = 1 << 16

  /// Writes an array that never ends, whose elements are the records.
  private var writer = JSONWriter()

  package init() { writer.beginArray() }

  /// The JSON of a record, in the export format.
  package func record(_ node: Node) -> [UInt8] {
    if writer.bytes.count > RecordWriter.bufferBytes { _ = writer.takeBytes() }
    let start = writer.bytes.count
    node.writeExport(to: &writer)
    return writer.bytes.withUnsafeBytes { bytes in
      let separated = bytes[start...]
      let record = separated.first == UInt8(ascii: ",") ? separated.dropFirst() : separated
      return Array(record)
    }
  }
}
