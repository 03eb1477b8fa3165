/// The forms in which records are written to a file.
public enum ExportFormat: String, Hashable, Sendable, CaseIterable {
  /// One JSON object of the records by their keys, as `runnel get` prints it.
  case json
  /// JSON lines: an object for each record, with its key as the member `$key`.
  case jsonl
  /// Values with commas between them and a header; RFC 4180.
  case csv
  /// A table of Markdown.
  case markdown

  /// The formats, for a sentence.
  package static let names = allCases.map(\.rawValue).joined(separator: ", ")

  /// What the names of such files end with.
  public var fileExtension: String {
    switch self {
    case .json: "json"
    case .jsonl: "jsonl"
    case .csv: "csv"
    case .markdown: "md"
    }
  }

  /// True if each record is a row of the same columns.
  public var hasColumns: Bool { self == .csv || self == .markdown }

  /// The format that the name of a file asks for; nil if it asks for none.
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
