package import RunnelBase
package import RunnelTree

/// Records that are to be added, as they were read from a file or a paste.
package struct ImportPlan: Hashable, Sendable {
  /// A record.
  package struct Row: Hashable, Sendable {
    /// The place of the record in the text, in words: `line 3`.
    package var place: String
    /// The key of the record, or nil if the text names none.
    package var key: String?
    package var value: JSONValue

    package init(place: String, key: String? = nil, value: JSONValue) {
      self.place = place
      self.key = key
      self.value = value
    }
  }

  /// A part of the text that is no record, or a record that was refused.
  package struct Refused: Hashable, Sendable {
    package var place: String
    package var reason: String
    /// The refused text.
    package var text: String
  }

  /// The error for a text that cannot be read at all.
  package struct Unreadable: Error, Hashable, Sendable {
    package var message: String

    package init(message: String) {
      self.message = message
    }
  }

  /// The lines after which the progress of reading is told.
  static let progressStep = 200

  /// The error for a reading that was ended.
  static let ended = Unreadable(message: "the reading was stopped")

  /// The format of a text.
  package enum Format: Hashable, Sendable {
    case json, jsonl, csv
  }

  /// The greatest size of a text in bytes; `runnel import` takes more.
  package static let bytesMax = 16 << 20

  package var rows: [Row] = []
  package var refused: [Refused] = []
  /// Whether the text was a single record rather than a list.
  var isSingle = false
  /// What is read in another way than it is written, each in a sentence that may stand behind a colon:
  /// a column without a name that got one, and lists and objects that are empty.
  package private(set) var remarks: [String] = []
  /// What a tree does not keep of the records; nil if it keeps all.
  private(set) var lossWords: String?
  /// The names in the text that no key may have, up to `renamedMax` of them; they are written as in
  /// addresses, so that `Art.` becomes `Art%2E`.
  private(set) var renamed: Set<String> = []
  /// The most names that are counted.
  private static let renamedMax = 1000

  /// Reads a text.
  ///
  /// - Parameters:
  ///   - text: JSON, JSON lines, or comma separated values.
  ///   - format: the format; nil to tell it from the beginning of the text.
  ///   - texts: the fields that hold only texts; a cell of such a field is a text even if it
  ///     consists of digits.
  ///   - nested: the fields within others that records are known to have: a column `a/b` of such a name is
  ///     the field `b` in `a`.
  ///   - isWanted: is told how much of lines or cells is read, from 0 to 1, each `progressStep` of them;
  ///     false ends the reading.
  /// - Throws: `Unreadable` if nothing in the text can be read, if two records have one key, or if the
  ///   reading was ended.
  package init(
    _ text: String, as format: Format? = nil, texts: [String] = [],
    nested: [Path] = [], isWanted: (Double) -> Bool = { _ in true }
  ) throws(Unreadable) {
    let hasMark = text.unicodeScalars.first == "\u{FEFF}"
    let text = hasMark ? String(String.UnicodeScalarView(text.unicodeScalars.dropFirst())) : text
    switch format ?? ImportPlan.format(of: text) {
    case .json: try readJSON(text)
    case .jsonl: try readLines(text, isWanted)
    case .csv: try readCells(text, texts: Set(texts), nested: Set(nested), isWanted)
    }
    if rows.isEmpty, refused.isEmpty { throw Unreadable(message: "there is no record in it") }
    if let reason = repeatedKey() { throw Unreadable(message: reason) }
    lossWords = EmptyContainers(in: .array(rows.map(\.value))).sentence
  }

  /// Returns what is to be said of the text before its records go into a database: services keep what a tree
  /// does not.
  package func remarks(_ coding: ValueCoding) -> [String] {
    coding == .services ? remarks : remarks + [lossWords].compactMap(\.self)
  }

  /// Returns the format that a file name tells, or nil if it tells none.
  package static func format(ofFile name: String) -> Format? {
    switch ExportFormat(fileName: name) {
    case .json: .json
    case .jsonl: .jsonl
    case .csv: .csv
    case .markdown: nil
    case nil: name.lowercased().hasSuffix(".tsv") ? .csv : nil
    }
  }

  private static func format(of text: String) -> Format {
    guard let first = text.first(where: { !$0.isWhitespace }), first == "{" || first == "[" else {
      return .csv
    }
    let lines = text.split(whereSeparator: \.endsLine)
    // In JSON lines, the first line is a complete value.
    if lines.count > 1, (try? JSONValue(parsing: String(lines[0]))) != nil { return .jsonl }
    return .json
  }
}

// MARK: JSON

extension ImportPlan {
  private mutating func readJSON(_ text: String) throws(Unreadable) {
    let json: JSONValue
    do {
      json = try JSONValue(parsing: text)
    } catch {
      throw Unreadable(message: "it is not JSON: \(error)")
    }
    switch json {
    case .array(let elements):
      for (index, element) in elements.enumerated() { add(element, "record \(index + 1)") }
    case .object(let members)
    where !members.isEmpty && members.allSatisfy { $0.value.object != nil }:
      for member in members {
        append(Row(place: member.name, key: member.name, value: member.value))
      }
    case .object:
      add(json, "the record")
      isSingle = true
    default: throw Unreadable(message: "records are objects, or a list of them")
    }
  }

  private mutating func readLines(
    _ text: String, _ isWanted: (Double) -> Bool
  ) throws(Unreadable) {
    var rest = text[...]
    var number = 0
    while !rest.isEmpty {
      let end = rest.firstIndex(where: \.endsLine)
      let line = rest[..<(end ?? rest.endIndex)]
      rest = end.map { rest[rest.index(after: $0)...] } ?? ""
      number += 1
      if number.isMultiple(of: ImportPlan.progressStep), !isWanted(text.part(before: rest)) {
        throw ImportPlan.ended
      }
      if line.allSatisfy(\.isWhitespace) { continue }
      let place = "line \(number)"
      do {
        add(try JSONValue(parsing: String(line)), place)
      } catch {
        refused.append(Refused(place: place, reason: "not JSON: \(error)", text: String(line)))
      }
    }
  }

  /// Adds a record; its member `$key` is the key, and `$value` stands for the whole value.
  private mutating func add(_ json: JSONValue, _ place: String) {
    let json = json.refusedRecord ?? json
    guard case .object(var members) = json else {
      return refused.append(
        Refused(place: place, reason: "a record is an object", text: json.jsonText()))
    }
    var key: String?
    if case .string(let name)? = json[ExportWriter.keyName] { key = name }
    members.removeAll { $0.name == ExportWriter.keyName }
    var value = JSONValue.object(members)
    if members.count == 1, members[0].name == ExportWriter.valueName { value = members[0].value }
    if members.isEmpty {
      return refused.append(
        Refused(place: place, reason: "there is nothing in it", text: json.jsonText()))
    }
    append(Row(place: place, key: key, value: value))
  }

  /// Appends a record with keys for its names, as `runnel FILE` writes them.
  private mutating func append(_ row: Row) {
    var row = row
    func note(_ name: String) {
      if renamed.count < ImportPlan.renamedMax { renamed.insert(name) }
    }
    if let name = row.key {
      row.key = WritableKey.key(of: name).text
      if row.key != name { note(name) }
    }
    if let clash = NameClash(in: row.value) {
      refused.append(
        Refused(place: row.place, reason: clash.reason, text: row.value.jsonText()))
      return
    }
    row.value = WritableKey.value(row.value, keepsServerValues: true, note: note)
    rows.append(row)
  }
}

extension String {
  /// Returns how much of the text stands before the end of it that is left, from 0 to 1.
  fileprivate func part(before rest: Substring) -> Double {
    1 - Double(rest.utf8.count) / Double(max(1, utf8.count))
  }
}

extension Character {
  /// Whether the character ends a line of JSON lines; other line ends of Unicode may stand within a
  /// text.
  fileprivate var endsLine: Bool { self == "\n" || self == "\r\n" || self == "\r" }
}

extension JSONValue {
  /// The record in a line of the file of refused records that an import wrote, or nil for any other
  /// line.
  fileprivate var refusedRecord: JSONValue? {
    guard case .object(let members) = self,
      members.map(\.name).sorted() == ["place", "reason", "record"],
      case .object? = self["record"]
    else { return nil }
    return self["record"]
  }
}

// MARK: Comma separated values

extension ImportPlan {
  private mutating func readCells(
    _ text: String, texts: Set<String>, nested: Set<Path>, _ isWanted: (Double) -> Bool
  ) throws(Unreadable) {
    // Finding the cells is the first half of the work.
    var lines = try CellTable(text, isWanted: { isWanted($0 / 2) }).lines[...]
    let count = lines.count
    guard let names = lines.popFirst()?.cells, names.contains(where: { !$0.isEmpty }) else {
      throw Unreadable(message: "it has no first line with the names of the fields")
    }
    let table = TableHeader(names)
    let header = table.names
    remarks += table.remarks(on: lines.map(\.cells))
    let places = header.map { ImportPlan.place(ofColumn: $0, nested) }
    remarks += ImportPlan.remarks(onPlaces: places)
    let types = header.indices.map { index in
      texts.contains(WritableKey.key(of: header[index]).text)
        || header[index] == ExportWriter.keyName
        ? ColumnKind.texts : ColumnKind(ofColumn: index, in: lines.map(\.cells))
    }
    for (index, line) in lines.enumerated() {
      if index.isMultiple(of: ImportPlan.progressStep),
        !isWanted(0.5 + Double(index) / Double(2 * count))
      {
        throw ImportPlan.ended
      }
      let place = "line \(line.number)"
      if line.cells.count > header.count {
        let text = line.cells.map { ExportWriter.csvCell($0) }.joined(separator: ",")
        refused.append(
          Refused(
            place: place, reason: "\(line.cells.count) cells, but \(header.count) names", text: text
          ))
        continue
      }
      let cells = line.cells.enumerated().filter { !$1.isEmpty }
        .map { (index: $0, value: types[$0].value($1)) }
      var members = cells.filter { places[$0.index] == nil }
        .map { JSONMember(header[$0.index], $0.value) }
      var clash: String?
      for (index, value) in cells {
        guard let place = places[index] else { continue }
        // What stands around it must be an object.
        if members.hasValue(above: place.keys[...]) { clash = clash ?? header[index] }
        members.put(value, at: place.keys[...])
      }
      if let clash {
        let text = line.cells.map { ExportWriter.csvCell($0) }.joined(separator: ",")
        let reason = "\(clash) stands in what another column has a value for"
        refused.append(Refused(place: place, reason: reason, text: text))
      } else {
        add(.object(members), place)
      }
    }
  }

  /// The place of a column's values in a record if it is known as a field within another; otherwise nil.
  private static func place(ofColumn name: String, _ nested: Set<Path>) -> Path? {
    guard name.contains("/"), case .path(let path)? = FieldPath(named: name) else { return nil }
    return nested.contains(path) ? path : nil
  }

  /// The most columns that are named.
  private static let namedMax = 3

  private static func remarks(onPlaces places: [Path?]) -> [String] {
    let found = places.compactMap(\.self)
    if found.isEmpty { return [] }
    let names = found.prefix(namedMax).map { "\"\($0.shownText)\"" }.joined(separator: ", ")
    let rest = found.count > namedMax ? " and \(found.count - namedMax) more" : ""
    return found.count == 1
      ? ["1 column is set within its field: \(names)."]
      : ["\(found.count) columns are set within their fields: \(names)\(rest)."]
  }

  /// Returns the value of a cell: a number, true, false, an object or a list if the cell reads as
  /// one, otherwise a text.
  package static func value(_ cell: String) -> JSONValue {
    switch try? JSONValue(parsing: cell) {
    case nil, .string?, .null?: .string(CellCoding.text(of: cell))
    // A cell that JSON would write in another way is no number: 007, 1.50.
    case .number(let number)?:
      JSONValue.number(number).jsonText() == cell ? .number(number) : .string(cell)
    case let value?: value
    }
  }
}

extension [JSONMember] {
  /// Whether a value that is no object stands above a path of names, or something at it.
  fileprivate func hasValue(above keys: ArraySlice<RunnelTree.Key>) -> Bool {
    guard let key = keys.first, let member = first(where: { $0.name == key.text }) else {
      return false
    }
    if keys.count == 1 { return true }
    guard case .object(let below) = member.value else { return true }
    return below.hasValue(above: keys.dropFirst())
  }
}
