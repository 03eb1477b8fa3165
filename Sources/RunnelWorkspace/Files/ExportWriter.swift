package import RunnelBase
public import RunnelTree

/// Writes records one after another in a format.
///
/// A whole file consists of the bytes of `begin`, of each record, and of `end`. The writer keeps
/// only counts. Times and numbers are written as they are stored, so that nothing is lost.
public struct ExportWriter {
  /// The name of the JSON member that holds the key of a record.
  static let keyName = "$key"
  /// The name of the JSON member that holds the value of a record without children.
  package static let valueName = "$value"

  private let format: ExportFormat
  private let columns: [FieldPath]
  private let keepsPriorities: Bool
  private let hasWholeValues: Bool
  /// The number of records written.
  public private(set) var count = 0
  /// The number of records with fields that have no column.
  public private(set) var cutCount = 0
  /// The names of the fields that have a column.
  private let known: Set<String>
  /// The columns for parts of fields.
  private let parts: Set<Path>
  private let shape: WrittenShape
  /// The records for a file of JSON that is written back as it stood, which is made at the end.
  private var kept: [JSONMember] = []
  /// All that such a file is to hold; nil if only records are known.
  private var whole: JSONValue?
  /// The keys of the records in a file of separated values that has none.
  private var keys: [Key?] = []
  /// The last row of such a file that was written, and the one whose line is last now; nil for a new line.
  private var rows: (last: Int, present: Int?) = (-1, -1)
  /// Whether the last line that was written has no end.
  private var isOpenLine = false

  /// Creates a writer of records in the shape of the file that it replaces.
  ///
  /// - Parameters:
  ///   - format: the format.
  ///   - columns: the columns, for a format that has them.
  ///   - shape: the shape of the file.
  package init(_ format: ExportFormat, columns: [FieldPath], shape: WrittenShape) {
    var shape = shape
    let columns = format == .csv ? shape.columns(for: columns) : columns
    self.init(
      format, columns: columns, keepsPriorities: true, hasWholeValues: true, shape: shape)
  }

  /// Creates a writer; formats without columns need none.
  ///
  /// In JSON, priorities are members named `.priority` if they are kept. The column `$value` is
  /// filled for every record if `hasWholeValues`, otherwise only for records without children.
  public init(
    _ format: ExportFormat, columns: [FieldPath] = [], keepsPriorities: Bool = true,
    hasWholeValues: Bool = true
  ) {
    self.init(
      format, columns: columns, keepsPriorities: keepsPriorities,
      hasWholeValues: hasWholeValues, shape: WrittenShape())
  }

  private init(
    _ format: ExportFormat, columns: [FieldPath], keepsPriorities: Bool, hasWholeValues: Bool,
    shape: WrittenShape
  ) {
    self.shape = shape
    self.format = format
    self.columns = columns
    self.keepsPriorities = keepsPriorities
    self.hasWholeValues = hasWholeValues
    known = Set(columns.compactMap { $0.memberName })
    parts = Set(columns.compactMap { $0.partOfMember })
  }

  /// Returns the bytes before the first record.
  public func begin() -> [UInt8] {
    let mark = Array((shape.hasMark ? "\u{FEFF}" : "").utf8)
    if fileJSON != nil { return mark }
    switch format {
    case .json: return mark + Array((shape.isList ? "[" : "{").utf8)
    case .jsonl: return mark
    case .csv: return mark + csvHeader
    case .markdown: return markdownLine(shape.titles(of: columns)) + markdownRule
    }
  }

  /// Returns the bytes of a record, and counts the record.
  public mutating func bytes(of key: Key, _ node: Node) -> [UInt8] {
    defer { count += 1 }
    if fileJSON != nil {
      kept.append(JSONMember(key.text, value(of: node)))
      return []
    }
    if format.hasColumns, hasMore(than: known, node) { cutCount += 1 }
    switch format {
    case .json: return jsonMember(key, node)
    case .jsonl:
      return ExportWriter.jsonLine(
        shape.hasKeys ? name(of: key) : nil, json(of: node), isLeaf: node.leaf != nil,
        end: shape.jsonLineEnd)
    case .csv: return csvRecord(key, node)
    case .markdown: return markdownLine(cells(of: key, node))
    }
  }

  /// Takes all that a file of JSON is to hold that is written back as it stood; its children are counted as
  /// records.
  package mutating func take(whole node: Node) {
    whole = node.exportJSON
    count += node.children.count
  }

  private func cells(of key: Key, _ node: Node) -> [String] {
    columns.enumerated().map { index, column in
      if column == .value, !hasWholeValues, node.leaf == nil { return "" }
      let node = cellNode(column, key, node)
      if let cell = shape.values.cell(node, inColumn: index) { return cell }
      // A cell has no other word for null than none.
      if let value = shape.coding.codedValue(node) { return value == .null ? "" : value.jsonText() }
      let text = ExportWriter.text(of: node, hasNames: shape.hasNames) { json in
        column.memberName.map { shape.values.listed(json, at: [$0]) } ?? json
      }
      return format == .csv && node.isText ? CellCoding.cell(of: text) : text
    }
  }

  /// Returns the bytes after the last record.
  public func end() -> [UInt8] { ending().bytes }

  /// Returns the bytes after the last record, and the keys of the rows in a list by their places.
  package func ending() -> (bytes: [UInt8], keys: RowKeys?) {
    if let fileJSON {
      let written = written(over: fileJSON)
      return (written.bytes, written.keys)
    }
    if format == .csv, let table = shape.values.table {
      let tail = rows.present == table.count - 1 ? table.tail : ""
      return (Array(tail.utf8), table.hasKeys ? nil : RowKeys(keys))
    }
    guard format == .json else { return ([], nil) }
    return (Array(((count == 0 ? "" : "\n") + (shape.isList ? "]\n" : "}\n")).utf8), nil)
  }

  /// Returns the columns for records of which only some are known: the key, and the fields of the
  /// known records in their order.
  public static func columns(of nodes: some Sequence<Node>) -> [FieldPath] {
    var columns = RecordColumns()
    columns.note(nodes)
    return columns.fields
  }

  /// Returns the text of a field in a cell: a string as it is, an empty text for an empty node, and
  /// anything else as JSON without control characters.
  ///
  /// With `hasNames`, the members of the JSON have the names that a data file has for their keys;
  /// `form` returns the JSON of a value with children as it is written.
  package static func text(
    of node: Node, hasNames: Bool = false, form: (JSONValue) -> JSONValue = { $0 }
  ) -> String {
    switch node.content {
    case .empty: return ""
    case .leaf(.string(let text)): return text
    case .leaf(let leaf): return leaf.json.jsonText()
    case .children:
      let json = hasNames ? WritableKey.named(form(node.json)) : form(node.json)
      return String(decoding: ControlCharacters.escaped(json.jsonBytes()), as: UTF8.self)
    }
  }

  private func hasMore(than known: Set<String>, _ node: Node) -> Bool {
    if node.leaf != nil { return !columns.contains(.value) }
    if columns.contains(.value), hasWholeValues { return false }
    return node.children.contains { child in
      !known.contains(child.key.text) && !isCovered(child.node, at: Path(unchecked: [child.key]))
    }
  }

  /// Whether all values of a part of a record have columns.
  private func isCovered(_ node: Node, at path: Path) -> Bool {
    if parts.isEmpty { return false }
    if parts.contains(path) { return true }
    if node.leaf != nil || shape.coding.codedValue(node) != nil { return false }
    return node.children.allSatisfy {
      isCovered($0.node, at: Path(unchecked: path.keys + [$0.key]))
    }
  }
}

// MARK: JSON

extension ExportWriter {
  /// The file that is written back as it stood; nil if none is.
  private var fileJSON: FileJSON? { format == .json || format == .jsonl ? shape.values.json : nil }

  /// Returns the records in the place of those of a file.
  private func written(over file: FileJSON) -> FileJSON.Written {
    let usual = FileJSON.Usual(
      text: { json, place in
        let json = shape.values.listed(json, at: place)
        return Array((shape.hasNames ? WritableKey.named(json) : json).jsonText().utf8)
      },
      name: { shape.hasNames ? WritableKey.fileName(of: $0) : $0 })
    if format == .json {
      return whole.map { file.text(ofAll: $0, usual) } ?? file.text(of: kept, usual)
    }
    return FileJSON.Written(
      bytes: file.lines(of: kept, end: shape.jsonLineEnd, lineMembers, usual))
  }

  /// The members of the line of a record.
  private func lineMembers(_ record: JSONMember) -> [JSONMember] {
    let key = [JSONMember(ExportWriter.keyName, .string(name(of: Key(unchecked: record.name))))]
    let members = record.value.object ?? [JSONMember(ExportWriter.valueName, record.value)]
    return (shape.hasKeys ? key : []) + members
  }

  private func jsonMember(_ key: Key, _ node: Node) -> [UInt8] {
    var bytes = Array((count == 0 ? "\n" : ",\n").utf8)
    if !shape.isList {
      bytes += Array(JSONValue.string(name(of: key)).jsonText().utf8)
      bytes.append(UInt8(ascii: ":"))
    }
    bytes += Array(json(of: node).jsonText().utf8)
    return bytes
  }

  /// The name of a record with a key in the file.
  private func name(of key: Key) -> String {
    shape.hasNames ? WritableKey.fileName(of: key.text) : key.text
  }

  /// What a node stands for.
  private func value(of node: Node) -> JSONValue {
    shape.coding.shown(keepsPriorities ? node.exportJSON : node.json)
  }

  /// The value of a record in the file.
  private func json(of node: Node) -> JSONValue {
    let json = shape.values.listed(value(of: node))
    return shape.hasNames ? WritableKey.named(json) : json
  }

  /// Returns a record as a line of JSON: the given members, the key unless it is nil, and the members
  /// of the record.
  package static func jsonLine(
    _ key: Key?, _ node: Node, first: [JSONMember] = [], keepsPriorities: Bool = true
  ) -> [UInt8] {
    jsonLine(
      key?.text, keepsPriorities ? node.exportJSON : node.json, isLeaf: node.leaf != nil,
      first: first)
  }

  /// Returns a value as a line of JSON, with a key unless it is nil.
  private static func jsonLine(
    _ key: String?, _ value: JSONValue, isLeaf: Bool, first: [JSONMember] = [], end: String = "\n"
  ) -> [UInt8] {
    var members = first
    if let key { members.append(JSONMember(keyName, .string(key))) }
    switch value {
    case .object(let own) where !isLeaf: members += own
    case let value: members.append(JSONMember(valueName, value))
    }
    return Array((JSONValue.object(members).jsonText() + end).utf8)
  }
}

// MARK: Comma separated values

extension ExportWriter {
  /// The first line, with that of the file that is replaced as it stands.
  private var csvHeader: [UInt8] {
    let titles = shape.titles(of: columns).map(CellCoding.cell)
    guard let table = shape.values.table else { return csvLine(titles) }
    let others = titles.dropFirst(table.width).map(csvCell)
    return csvLine(ofTexts: [table.header] + others, end: table.headerEnd)
  }

  /// Returns the line of a record; what nobody changed is as it stands in the file that is replaced.
  private mutating func csvRecord(_ key: Key, _ node: Node) -> [UInt8] {
    let cells = cells(of: key, node)
    guard let table = shape.values.table else { return csvLine(cells) }
    // A line of empty cells is read as no record.
    if zip(columns, cells).contains(where: { $0 != .key && !$1.isEmpty }) { keys.append(key) }
    let nodes = columns.prefix(table.width).map { cellNode($0, key, node) }
    let written = table.written(key, nodes)
    let start = startOfLine(written, table)
    if columns.count == table.width, let line = written.line {
      return start + csvLine(ofTexts: [String(line)], end: written.end)
    }
    let texts = cells.enumerated().map { index, cell in
      (index < table.width ? written.cells[index].map { String($0) } : nil) ?? csvCell(cell)
    }
    return start + csvLine(ofTexts: texts, end: written.end)
  }

  /// Returns what stands before the line of a record: the end of the line before, where it has none in the file,
  /// and the empty lines that stand there.
  private mutating func startOfLine(_ written: FileTable.Written, _ table: FileTable) -> [UInt8] {
    let isOpen = count == 0 ? table.headerEnd.isEmpty : isOpenLine
    // Rows that stand in another order now leave the empty lines.
    let gap = (written.place ?? -1) > rows.last ? written.gap : ""
    rows = (max(rows.last, written.place ?? -1), written.place)
    isOpenLine = written.end?.isEmpty == true
    return Array(((isOpen ? shape.lineEnd : "") + gap).utf8)
  }

  /// What a column of a table holds of a record.
  private func cellNode(_ column: FieldPath, _ key: Key, _ node: Node) -> Node {
    switch column {
    case .key: Node(.string(name(of: key)))
    // The fields have columns of their own.
    case .value where node.leaf == nil && shape.values.table != nil: .empty
    default: column.node(key: key, node)
    }
  }

  private func csvCell(_ text: String) -> String {
    ExportWriter.csvCell(text, separator: shape.separator)
  }

  /// Returns a line of cells with the line end of RFC 4180, or that of the file that is replaced.
  private func csvLine(_ cells: [String]) -> [UInt8] {
    csvLine(ofTexts: cells.map(csvCell))
  }

  private func csvLine(ofTexts texts: [String], end: String? = nil) -> [UInt8] {
    Array((texts.joined(separator: String(shape.separator)) + (end ?? shape.lineEnd)).utf8)
  }

  /// Returns a cell, in quotes if it could not be read back without them.
  static func csvCell(_ text: String, separator: Unicode.Scalar = ",") -> String {
    let needsQuotes = text.unicodeScalars.contains {
      $0 == separator || $0 == "\"" || $0 == "\n" || $0 == "\r"
    }
    // Some readers remove blanks at the ends of a cell.
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

  /// The characters with a meaning in a Markdown cell.
  private static let markdownSigns = Set<Unicode.Scalar>("\\`*_[]<>|~&".unicodeScalars)

  /// Returns a Markdown cell that reads as the text, whatever characters it holds.
  ///
  /// A line end becomes a break; other control characters become escapes.
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
  /// Whether the node is a string, which is written as it is.
  fileprivate var isText: Bool { if case .string? = leaf { true } else { false } }
}

extension FieldPath {
  /// The name of the field in views.
  public var name: String {
    switch self {
    case .key: ExportWriter.keyName
    case .value: ExportWriter.valueName
    case .path(let path): path.text
    }
  }

  /// The name of the record's member that is the field; nil for the key, the value, and a part of a
  /// member.
  fileprivate var memberName: String? {
    if case .path(let path) = self, path.keys.count == 1 { path.keys.first?.text } else { nil }
  }

  /// The place of the field if it is a part of a member of the record; otherwise nil.
  fileprivate var partOfMember: Path? {
    if case .path(let path) = self, path.keys.count > 1 { path } else { nil }
  }
}

extension ViewDefinition {
  /// The columns of an export: the key, and the columns of the view without repetition.
  public var exportColumns: [FieldPath] {
    var fields: [FieldPath] = [.key]
    for column in columns where !fields.contains(column.field) { fields.append(column.field) }
    return fields
  }
}
