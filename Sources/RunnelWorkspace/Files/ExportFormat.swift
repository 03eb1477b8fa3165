/// The formats in which records are written to a file.
public enum ExportFormat: String, Hashable, Sendable, CaseIterable {
  /// One JSON object of the records by their keys, as `runnel get` prints it.
  case json
  /// JSON lines: one object per record, with the key of the record as the member `$key`.
  case jsonl
  /// Comma separated values with a header; RFC 4180.
  case csv
  /// A Markdown table.
  case markdown

  /// The names of the formats, separated by commas.
  package static let names = allCases.map(\.rawValue).joined(separator: ", ")

  /// The extension of file names of the format.
  public var fileExtension: String {
    switch self {
    case .json: "json"
    case .jsonl: "jsonl"
    case .csv: "csv"
    case .markdown: "md"
    }
  }

  /// Whether each record is a row of the same columns.
  public var hasColumns: Bool { self == .csv || self == .markdown }

  /// The format of a file name's extension; nil if the extension belongs to no format.
  public init?(fileName: String) {
    let name = fileName.lowercased()
    let fitting = ExportFormat.allCases.first { name.hasSuffix(".\($0.fileExtension)") }
    if let fitting {
      self = fitting
    } else if name.hasSuffix(".ndjson") {
      self = .jsonl
    } else {
      return nil
    }
  }
}
