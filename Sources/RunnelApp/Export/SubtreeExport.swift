import RunnelStreams
public import RunnelTree
public import RunnelWorkspace

/// Writes the children of a place as records in one of the formats.
///
/// Formats with columns get one for each field that a record has; so all records are looked at twice.
public struct SubtreeExport {
  /// Why the children of a place cannot be written so.
  public struct Problem: Error, Hashable, Sendable, CustomStringConvertible {
    /// What is wrong and what to do.
    public var description: String
  }

  /// The most columns.
  public static let columnsMax = 1000
  private static let chunkBytes = 1 << 16

  private let path: Path
  private let format: ExportFormat
  private let keepsPriorities: Bool

  /// How many records have fields for which there is no column, since they came meanwhile.
  public private(set) var cutCount = 0

  /// Describes an export; priorities are members named `.priority` if they are kept.
  public init(childrenOf path: Path, as format: ExportFormat, keepsPriorities: Bool = true) {
    self.path = path
    self.format = format
    self.keepsPriorities = keepsPriorities
  }

  /// Writes rows that are at hand.
  ///
  /// - Throws: `Problem` if there are too many columns, and what `write` throws.
  public mutating func write(_ rows: [TreeRow], to write: ([UInt8]) throws -> Void) throws {
    var columns = RecordColumns()
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

  /// Writes all children of the place, read page by page.
  ///
  /// O(n) in them; what is in memory is one page.
  ///
  /// - Parameters:
  ///   - read: answers a query with its rows.
  ///   - write: takes the next bytes.
  /// - Throws: `Problem` if there are too many columns, and what reading and writing throw.
  public mutating func write(
    reading read: (Query) throws -> [TreeRow], to write: ([UInt8]) throws -> Void
  ) throws {
    var columns = RecordColumns()
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
