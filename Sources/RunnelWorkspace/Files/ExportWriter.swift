package import RunnelBase
public import RunnelTree

/// Writes records one after another in one of the formats.
///
/// The bytes of a whole file are those of `begin`, of each record, and of `end`. Nothing is kept but how
/// many there were. Times and numbers are written as they are stored, so that nothing is lost.
public struct ExportWriter {
  /// The member that has the key of a record in JSON lines.
  static let keyName = "$key"
  /// The member that has what stands there, where the record is a value without children.
  package static let valueName = "$value"

  private let format: ExportFormat
  private let columns: [FieldPath]
  private let keepsPriorities: Bool
  private let hasWholeValues: Bool
  /// How many records were written.
  public private(set) var count = 0
  /// How many of them have fields for which there is no column.
  public private(set) var cutCount = 0
  /// The names of the fields that have a column.
  private let known: Set<String>

  /// Makes a writer; formats without columns need none.
  ///
  /// JSON has priorities as members named `.priority`, if they are kept. The column of the value is filled
  /// for every record, or for those that are a value only.
  public init(
    _ format: ExportFormat, columns: [FieldPath] = [], keepsPriorities: Bool = true,
    hasWholeValues: Bool = true
  ) {
    self.format = format
    self.columns = columns
    self.keepsPriorities = keepsPriorities
    self.hasWholeValues = hasWholeValues
    known = Set(columns.compactMap { $0.firstName })
  }

  /// What stands before the first record.
  public func begin() -> [UInt8] {
    switch format {
    case .json: Array("{".utf8)
    case .jsonl: []
    case .csv: csvLine(columns.map { CellCoding.cell(of: $0.name) })
    case .markdown: markdownLine(columns.map(\.name)) + markdownRule
    }
  }

  /// A record.
  public mutating func bytes(of key: Key, _ node: Node) -> [UInt8] {
    defer { count += 1 }
    if format.hasColumns, hasMore(than: known, node) { cutCount += 1 }
    switch format {
    case .json: return jsonMember(key, node)
    case .jsonl:
      return ExportWriter.jsonLine(key, node, keepsPriorities: keepsPriorities)
    case .csv: return csvLine(cells(of: key, node))
    case .markdown: return markdownLine(cells(of: key, node))
    }
  }

  private func cells(of key: Key, _ node: Node) -> [String] {
    columns.map { column in
      if column == .value, !hasWholeValues, node.leaf == nil { return "" }
      let node = column.node(key: key, node)
      let text = ExportWriter.text(of: node)
      return format == .csv && node.isText ? CellCoding.cell(of: text) : text
    }
  }

  /// What stands after the last record.
  public func end() -> [UInt8] {
    format == .json ? Array((count == 0 ? "}\n" : "\n}\n").utf8) : []
  }

  /// The columns for records of which only some are known: the key, and the fields that these have, in
  /// their order.
  public static func columns(of nodes: some Sequence<Node>) -> [FieldPath] {
    var columns = RecordColumns()
    columns.note(nodes)
    return columns.fields
  }

  /// What a field is in a cell: a text as it is, nothing for nothing, all else as JSON without control
  /// characters.
  package static func text(of node: Node) -> String {
    switch node.content {
    case .empty: ""
    case .leaf(.string(let text)): text
    case .leaf(let leaf): leaf.json.jsonText()
    case .children:
      String(decoding: ControlCharacters.escaped(node.json.jsonBytes()), as: UTF8.self)
    }
  }

  private func hasMore(than known: Set<String>, _ node: Node) -> Bool {
    if node.leaf != nil { return !columns.contains(.value) }
    if columns.contains(.value), hasWholeValues { return false }
    return node.children.contains { !known.contains($0.key.text) }
  }
}

// MARK: JSON

extension ExportWriter {
  private func jsonMember(_ key: Key, _ node: Node) -> [UInt8] {
    var bytes = Array((count == 0 ? "\n" : ",\n").utf8)
    bytes += Array(JSONValue.string(key.text).jsonText().utf8)
    bytes.append(UInt8(ascii: ":"))
    bytes += Array((keepsPriorities ? node.exportJSON : node.json).jsonText().utf8)
    return bytes
  }

  /// A record as a line: its members after its key, and what is put before them.
  package static func jsonLine(
    _ key: Key, _ node: Node, first: [JSONMember] = [], keepsPriorities: Bool = true
  ) -> [UInt8] {
    var members = first + [JSONMember(keyName, .string(key.text))]
    switch keepsPriorities ? node.exportJSON : node.json {
    case .object(let own) where node.leaf == nil: members += own
    case let value: members.append(JSONMember(valueName, value))
    }
    return Array((JSONValue.object(members).jsonText() + "\n").utf8)
  }
}

// MARK: Comma separated values

extension ExportWriter {
  /// A line, ended as RFC 4180 has it.
  private func csvLine(_ cells: [String]) -> [UInt8] {
    Array((cells.map(ExportWriter.csvCell).joined(separator: ",") + "\r\n").utf8)
  }

  /// A cell: in quotes where it would not be read as one otherwise.
  static func csvCell(_ text: String) -> String {
    let needsQuotes = text.utf8.contains { byte in
      byte == UInt8(ascii: ",") || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\n")
        || byte == UInt8(ascii: "\r")
    }
    // Readers may take blanks at the ends away.
    let hasBlanks = text.hasPrefix(" ") || text.hasSuffix(" ")
    if !needsQuotes, !hasBlanks { return text }
    var quoted = "\""
    for scalar in text.unicodeScalars {
      if scalar == "\"" { quoted.unicodeScalars.append("\"") }
      quoted.unicodeScalars.append(scalar)
    }
    return quoted + "\""
  }
}

// MARK: Markdown

extension ExportWriter {
  private func markdownLine(_ cells: [String]) -> [UInt8] {
    Array(("| " + cells.map(ExportWriter.markdownCell).joined(separator: " | ") + " |\n").utf8)
  }

  private var markdownRule: [UInt8] {
    Array(("|" + columns.map { _ in " --- |" }.joined() + "\n").utf8)
  }

  /// The signs that mean something in a cell.
  private static let markdownSigns = Set<Unicode.Scalar>("\\`*_[]<>|~&".unicodeScalars)

  /// A cell that reads as the text, whatever signs are in it; a line end becomes a break, and other
  /// control characters read as escapes.
  static func markdownCell(_ text: String) -> String {
    var cell = ""
    var wasReturn = false
    for scalar in text.unicodeScalars {
      defer { wasReturn = scalar == "\r" }
      switch scalar {
      case "\n" where wasReturn: break
      case "\n", "\r": cell += "<br>"
      case "\t": cell += " "
      case _ where ControlCharacters.contains(scalar):
        cell += "\\" + ControlCharacters.escapedLine(String(scalar))
      default:
        if markdownSigns.contains(scalar) { cell += "\\" }
        cell.unicodeScalars.append(scalar)
      }
    }
    return cell
  }
}

extension Node {
  /// True of a text, which is written as it is.
  fileprivate var isText: Bool { if case .string? = leaf { true } else { false } }
}

extension FieldPath {
  /// What the field is called, as views name it.
  public var name: String {
    switch self {
    case .key: ExportWriter.keyName
    case .value: ExportWriter.valueName
    case .path(let path): path.text
    }
  }

  /// The name of the member of a record that it is, or stands in; nil for none.
  fileprivate var firstName: String? {
    if case .path(let path) = self { path.keys.first?.text } else { nil }
  }
}

extension ViewDefinition {
  /// The columns of an export: the key, and what rows show, each once.
  public var exportColumns: [FieldPath] {
    var fields: [FieldPath] = [.key]
    for column in columns where !fields.contains(column.field) { fields.append(column.field) }
    return fields
  }
}
