import RunnelBase
import RunnelTree

/// Where a stored child is: the split node above it, and its key's bytes.
struct RowID: Hashable {
  var parent: Int64
  var key: [UInt8]

  /// The row of the whole tree.
  static let root = RowID(parent: 0, key: [])
  /// The row of what an origin told, where the tree is a replica.
  static let server = RowID(parent: 0, key: [0xFF])
  /// Where an import builds what it reads; the row is moved to its place in the same transaction.
  static let detached = RowID(parent: -1, key: [])

  init(parent: Int64, key: [UInt8]) {
    self.parent = parent
    self.key = key
  }

  init(parent: Int64, _ key: Key) { self.init(parent: parent, key: OrderedBytes.key(key)) }
}

/// Which rows are known to be split nodes, within one transaction.
///
/// A row that is deleted or moved with a split node in it must be forgotten.
final class SplitMemo {
  private static let countMax = 1000
  private var known: [RowID: Int64] = [:]

  /// The split node in a row; nil if it is not known.
  subscript(row: RowID) -> Int64? { known[row] }

  func note(_ split: Int64, in row: RowID) {
    if known.count == SplitMemo.countMax { forgetAll() }
    known[row] = split
  }

  func forgetAll() { known = [:] }
}

/// What one row of `node` holds.
enum StoredRow {
  /// A subtree as JSON in the export format.
  case record([UInt8])
  /// A node whose children are rows of their own.
  case split(Int64)
}

/// Where a path leads in the stored tree.
enum Location {
  /// Exactly to a row.
  case row(StoredRow)
  /// Into a record: to what stands at `rest` in it.
  case inside(record: [UInt8], rest: Path)
  /// Nowhere.
  case missing
}

/// The JSON of stored rows.
enum RecordCoding {
  static func bytes(_ priority: Leaf?) -> [UInt8]? { priority?.json.jsonBytes() }

  /// The node of a record, which is never empty.
  ///
  /// - Throws: `Damage`: what was stored is always JSON of a node.
  static func node(_ bytes: [UInt8]) throws -> Node {
    try bytes.withUnsafeBufferPointer { try node($0) }
  }

  /// The node of a record, which is never empty.
  ///
  /// - Throws: `Damage`: what was stored is always JSON of a node.
  static func node(_ bytes: UnsafeBufferPointer<UInt8>) throws -> Node {
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

  static func priority(_ bytes: [UInt8]?) throws -> Leaf? {
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
/// A buffer for each would cost an import some allocations a row.
final class RecordWriter {
  private static let bufferBytes = 1 << 16

  /// Writes an array that never ends, whose elements are the records.
  private var writer = JSONWriter()

  init() { writer.beginArray() }

  /// The JSON of a record, in the export format.
  func record(_ node: Node) -> [UInt8] {
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
