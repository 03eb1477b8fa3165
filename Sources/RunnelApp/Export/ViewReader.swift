import RunnelStreams
import RunnelTree
import RunnelWorkspace

/// Reads all rows of a view, page by page, in the order of its list: the rows of `also` come first,
/// and are not repeated.
///
/// The caller answers its queries, so that it needs no thread and no database. Rows that others
/// write meanwhile may be included or not.
struct ViewReader {
  /// The number of rows read at once at first.
  static let pageSize = 500
  /// The greatest number of rows read at once.
  static let pageSizeMax = 8000
  /// The size of the rows that are read at once, estimated in bytes, beyond which pages do not grow.
  static let pageBytesMax = 16 << 20

  private let sources: [SourceDefinition]
  private let filter: FilterMatcher?
  /// The index of the source being read.
  private var current = 0
  /// The position of the last row read from the source, or nil.
  private var last: IndexPosition?
  /// The places of the rows of earlier sources.
  private var seen: Set<Path> = []
  /// The number of rows of the next page of the source.
  ///
  /// Without an index, each page of an order costs a scan of all rows: so pages grow, except by key.
  private var size = ViewReader.pageSize
  /// The number of rows read, whether they match the filter or not.
  private(set) var scannedCount = 0

  /// Creates a reader before the first row of a view; a filter leaves rows out.
  init(_ definition: ViewDefinition, filter: FilterMatcher? = nil) {
    sources = definition.also + [definition.source]
    self.filter = filter
  }

  /// Creates a reader before the first child of a place.
  init(childrenOf path: Path) {
    sources = [SourceDefinition(path: path, page: ViewReader.pageSize)]
    filter = nil
  }

  /// Returns the next query, or nil after the last page.
  ///
  /// - Throws: `TreeError` if the query of a source contradicts itself.
  func nextQuery() throws -> Query? {
    guard sources.indices.contains(current) else { return nil }
    let source = sources[current]
    let query = try source.request().query
    guard let last else {
      return try query.limited(to: size, from: source.firstSide)
    }
    if source.isDescending {
      return try query.clipped(at: last, keeping: .first)
        .limited(to: size, from: .last)
    }
    // The next part begins with the last row read.
    return try query.clipped(at: last, keeping: .last)
      .limited(to: size + 1, from: .first)
  }

  /// Takes the answer to a query; returns the rows that match the filter, in order.
  mutating func take(_ rows: [TreeRow]) -> [Record] {
    guard sources.indices.contains(current) else { return [] }
    let source = sources[current]
    var rows = source.isDescending ? rows.reversed() : rows
    let asked = size + (last == nil || source.isDescending ? 0 : 1)
    let isAtEnd = rows.count < asked
    if let last, rows.first?.position == last { rows.removeFirst() }
    scannedCount += rows.count
    last = rows.last?.position ?? last
    let records = rows.map { Record($0, in: source.path) }.filter { record in
      !seen.contains(record.path) && filter?.wants(record) ?? true
    }
    if current < sources.count - 1 { for row in rows { seen.insert(source.place(of: row)) } }
    if isAtEnd || rows.isEmpty {
      current += 1
      last = nil
      size = ViewReader.pageSize
    } else if source.order.forward != .key {
      size = ViewReader.size(after: rows, of: size)
    }
    return records
  }

  /// Returns the number of rows to read after a page: up to four times as many, if they are small.
  private static func size(after rows: [TreeRow], of size: Int) -> Int {
    let bytes = rows.reduce(1) { $0 + ($1.node?.sizeInMemory ?? 0) }
    let fitting = pageBytesMax / max(bytes / rows.count, 1)
    return min(max(fitting, pageSize), size * 4, pageSizeMax)
  }
}

extension RunnelTree.Node {
  /// The size of the texts and members in the node, estimated in bytes.
  ///
  /// O(n) in the node.
  fileprivate var sizeInMemory: Int {
    if case .string(let text)? = leaf { return 32 + text.utf8.count }
    return children.reduce(32) { $0 + $1.key.text.utf8.count + $1.node.sizeInMemory }
  }
}

extension SourceDefinition {
  /// The end of the order at which the list of the source begins.
  fileprivate var firstSide: Query.Side { isDescending ? .last : .first }

  fileprivate func place(of row: TreeRow) -> Path { Path(unchecked: path.keys + [row.key]) }
}
