import RunnelStreams
public import RunnelTree
public import RunnelWorkspace

/// Writes the children of a place as records in a format.
///
/// Formats with columns have one for each field of any record, so all records are read twice.
public struct SubtreeExport {
  /// The reason why the children of a place cannot be written in the format.
  public struct Problem: Error, Hashable, Sendable, CustomStringConvertible {
    /// The reason, with advice.
    public var description: String
  }

  /// The greatest number of columns.
  public static let columnsMax = 1000
  private static let chunkBytes = 1 << 16

  private let path: Path
  private let format: ExportFormat
  private let keepsPriorities: Bool
  private let order: ColumnOrder

  /// The number of records with fields that have no column, because the records came after the
  /// columns were made.
  public private(set) var cutCount = 0

  /// Creates an export; priorities are written as members named `.priority` if they are kept.
  public init(
    childrenOf path: Path, as format: ExportFormat, keepsPriorities: Bool = true,
    in order: ColumnOrder = ColumnOrder()
  ) {
    self.order = order
    self.path = path
    self.format = format
    self.keepsPriorities = keepsPriorities
  }

  /// Writes the given rows.
  ///
  /// - Throws: `Problem` if there are too many columns, and the errors of `write`.
  public mutating func write(_ rows: [TreeRow], to write: ([UInt8]) throws -> Void) throws {
    var columns = RecordColumns(order: order.fields)
    if format.hasColumns { try note(rows.map { $0.node ?? .empty }, in: &columns) }
    var writer = ExportWriter(
      format, columns: columns.fields, keepsPriorities: keepsPriorities,
      hasWholeValues: false)
    var bytes = writer.begin()
    for row in rows {
      bytes += writer.bytes(of: row.key, row.node ?? .empty)
      if bytes.count < SubtreeExport.chunkBytes { continue }
      try write(bytes)
      bytes = []
    }
    try write(bytes + writer.end())
    cutCount = writer.cutCount
  }

  /// Writes all children of the place, page by page.
  ///
  /// O(n) in the children; one page is in memory.
  ///
  /// - Parameters:
  ///   - read: returns the rows of a query.
  ///   - write: takes the next bytes.
  ///
  /// - Throws: `Problem` if there are too many columns, and the errors of reading and writing.
  public mutating func write(
    reading read: (Query) throws -> [TreeRow], to write: ([UInt8]) throws -> Void
  ) throws {
    var columns = RecordColumns(order: order.fields)
    if format.hasColumns {
      try eachPage(read) { try note($0.map { $0.row.node ?? .empty }, in: &columns) }
    }
    var writer = ExportWriter(
      format, columns: columns.fields, keepsPriorities: keepsPriorities,
      hasWholeValues: false)
    try write(writer.begin())
    try eachPage(read) { page in
      var bytes: [UInt8] = []
      for record in page { bytes += writer.bytes(of: record.row.key, record.row.node ?? .empty) }
      try write(bytes)
    }
    try write(writer.end())
    cutCount = writer.cutCount
  }

  private func note(_ nodes: [Node], in columns: inout RecordColumns) throws {
    columns.note(nodes)
    guard columns.fields.count > SubtreeExport.columnsMax else { return }
    throw Problem(
      description:
        "The children of \(path) have more than \(SubtreeExport.columnsMax) different fields, each of "
        + "which would be a column: --format jsonl takes them all.")
  }

  private func eachPage(
    _ read: (Query) throws -> [TreeRow], _ body: ([Record]) throws -> Void
  ) throws {
    var reader = ViewReader(childrenOf: path)
    while let query = try reader.nextQuery() { try body(reader.take(try read(query))) }
  }
}
