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

extension Node {
  /// True if the JSON of the node has more bytes than this, as far as can be told without writing it.
  ///
  /// False says nothing. A large node is not written at each level above its records. O(bytes), however large
  /// the node is.
  package func isSurelyLarger(than bytes: Int) -> Bool {
    var left = bytes
    takeLeast(from: &left)
    return left < 0
  }

  /// Subtracts bytes that the JSON has at least; ends early below zero.
  private func takeLeast(from left: inout Int) {
    switch content {
    case .empty: break
    case .leaf(.string(let text)): left -= text.utf8.count + 2
    case .leaf: left -= 1
    case .children(let children):
      for child in children {
        if left < 0 { return }
        // Two quotes and a colon around the name, and a comma or a brace.
        left -= child.key.text.utf8.count + 4
        child.node.takeLeast(from: &left)
      }
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
