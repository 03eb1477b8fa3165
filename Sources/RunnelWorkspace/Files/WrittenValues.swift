package import RunnelBase
package import RunnelTree

/// How the values of a data file stand in it, so that an export over it writes what was not changed as it
/// was: which values are lists, and the cells that an export would write in another way.
package struct WrittenValues: Hashable, Sendable {
  /// The most places of lists that are kept.
  private static let placesMax = 10_000
  /// What stands for the index of any element in a place; no key is empty.
  static let element = ""

  /// The places of lists in records.
  private var lists: Set<[String]> = []
  /// The cells of each column that stand in another way than an export writes them, by what they are read
  /// as.
  private var cells: [[Node: String]] = []
  /// The JSON of the file as it stands; nil for other files, and for what cannot be read.
  var json: FileJSON?
  /// The separated values of the file as they stand; nil for other files, and for what cannot be read.
  private(set) var table: FileTable?

  /// Values of which nothing is known.
  package init() {}

  /// Looks at the values of a file.
  ///
  /// O(n) in the file. A file that cannot be read has no values.
  ///
  /// - Parameters:
  ///   - text: the text of the file, with or without a byte order mark.
  ///   - format: its format.
  ///   - path: the place of the records in the tree.
  ///   - isWhole: whether all records are written.
  package init(
    of text: String, as format: ExportFormat, ofRowsAt path: Path, isWhole: Bool = true
  ) {
    let hasMark = text.unicodeScalars.first == "\u{FEFF}"
    let text = hasMark ? String(String.UnicodeScalarView(text.unicodeScalars.dropFirst())) : text
    switch format {
    case .csv: noteCells(text)
    case .jsonl:
      for line in text.split(whereSeparator: { $0 == "\n" || $0 == "\r\n" || $0 == "\r" }) {
        guard let json = try? JSONValue(parsing: String(line)) else { continue }
        note(json[ExportWriter.valueName] ?? json, at: [])
      }
      json = FileJSON(lines: text)
    case .json:
      guard let json = try? JSONValue(parsing: text) else { return }
      for record in WrittenValues.members(of: json, at: path) { note(record, at: []) }
      self.json = FileJSON(document: text, ofRowsAt: path)
    case .markdown: break
    }
    json?.isWhole = isWhole
  }

  /// Whether the file is written back as it stands.
  package var isKeptJSON: Bool { json != nil }

  /// Takes the keys of the rows in a list by their places; nil if they are not known.
  package mutating func take(_ keys: RowKeys?) {
    json?.keys = keys
    table?.take(keys)
  }

  // MARK: Lists

  /// The records in a JSON document: those of the collection at a place, if the document has it, or else
  /// all members.
  private static func members(of json: JSONValue, at path: Path) -> [JSONValue] {
    var place: JSONValue? = json
    for key in path.keys {
      place = place?.object?.first { WritableKey.key(of: $0.name) == key }?.value
    }
    let records = place ?? json
    return records.array ?? records.object?.map(\.value) ?? []
  }

  /// Notes the lists in a value at a place in a record.
  private mutating func note(_ json: JSONValue, at place: [String]) {
    switch json {
    case .array(let elements):
      if lists.count < WrittenValues.placesMax { lists.insert(place) }
      for element in elements { note(element, at: place + [WrittenValues.element]) }
    case .object(let members):
      for member in members {
        note(member.value, at: place + [WritableKey.key(of: member.name).text])
      }
    case .null, .bool, .number, .string: break
    }
  }

  /// Returns a value with lists where the file has lists in its place.
  ///
  /// O(n) in the value.
  package func listed(_ json: JSONValue, at place: [String] = []) -> JSONValue {
    guard !lists.isEmpty, case .object(let members) = json else { return json }
    if lists.contains(place), let count = WrittenValues.count(of: members) {
      var elements = [JSONValue](repeating: .null, count: count)
      for member in members {
        guard let index = Int(member.name) else { continue }
        elements[index] = listed(member.value, at: place + [WrittenValues.element])
      }
      return .array(elements)
    }
    return .object(
      members.map { JSONMember($0.name, listed($0.value, at: place + [$0.name])) })
  }

  /// The length of the list that the members of an object form; nil if they form none.
  ///
  /// Source: tree semantics, section 3.2.
  static func count(of members: [JSONMember]) -> Int? {
    var greatest = -1
    for member in members {
      guard let index = Int(member.name), index >= 0, String(index) == member.name else {
        return nil
      }
      greatest = max(greatest, index)
    }
    return !members.isEmpty && greatest < 2 * members.count ? greatest + 1 : nil
  }

  // MARK: Cells

  private mutating func noteCells(_ text: String) {
    guard let table = try? CellTable(text), let head = table.lines.first else { return }
    let lines = table.lines.dropFirst().map(\.cells)
    let names = TableHeader(head.cells).names
    let kinds = names.enumerated().map { index, name in
      name == ExportWriter.keyName ? ColumnKind.texts : ColumnKind(ofColumn: index, in: lines)
    }
    self.table = FileTable(table, header: head, names: names, kinds: kinds)
    for (index, name) in names.enumerated() {
      noteColumn(
        lines.filter { index < $0.count && $0.count <= names.count }.map { $0[index] },
        WritableKey.key(of: name).text, kinds[index])
    }
  }

  /// Notes the cells of a column that an export would write in another way.
  private mutating func noteColumn(_ column: [String], _ name: String, _ kind: ColumnKind) {
    var known: [Node: String] = [:]
    var several: Set<Node> = []
    for cell in column where !cell.isEmpty {
      // Nothing is what most cells hold, and they are empty.
      guard let node = note(cell, name, kind), !node.isEmpty, written(node, in: name) != cell
      else { continue }
      if known.updateValue(cell, forKey: node) ?? cell != cell { several.insert(node) }
    }
    if !known.isEmpty {
      for cell in column where !cell.isEmpty {
        // A cell that is in its usual form already.
        guard let node = WrittenValues.node(kind.value(cell)), let other = known[node] else {
          continue
        }
        if other != cell { several.insert(node) }
      }
    }
    cells.append(known.filter { !several.contains($0.key) })
  }

  /// Notes the lists in a cell; returns what it is read as, or nil for a text that is written as it stands.
  private mutating func note(_ cell: String, _ name: String, _ kind: ColumnKind) -> Node? {
    let json = kind.value(cell)
    // Most cells are texts that are written as they are.
    if case .string(cell) = json, CellCoding.cell(of: cell) == cell { return nil }
    if json.object != nil || json.array != nil { note(json, at: [name]) }
    return WrittenValues.node(json)
  }

  /// What a value of a cell is in the tree.
  static func node(_ json: JSONValue) -> Node? {
    let json = WritableKey.value(json, keepsServerValues: true) { _ in }
    return try? Node(json: json)
  }

  /// The cell of a value in a column, as an export writes it where the file has none.
  func written(_ node: Node, in name: String?) -> String {
    let text = ExportWriter.text(of: node, hasNames: true) { json in
      name.map { listed(json, at: [$0]) } ?? json
    }
    if case .string? = node.leaf { return CellCoding.cell(of: text) }
    return text
  }

  /// The cell of a value in a column as it stands in the file; nil if it is written as usual.
  func cell(_ node: Node, inColumn index: Int) -> String? {
    index < cells.count ? cells[index][node] : nil
  }

  /// Forgets the cells: the columns of the file are not kept.
  mutating func forgetCells() { (cells, table) = ([], nil) }
}
