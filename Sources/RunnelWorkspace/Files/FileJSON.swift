import RunnelBase
import RunnelTree

/// A data file of JSON, or of lines of JSON, as it stands: what nobody changed is written back byte for byte,
/// with the digits of its numbers, its blanks, and what a tree does not keep: null, `[]` and `{}`.
struct FileJSON: Hashable, Sendable {
  /// What is written where the file has nothing.
  struct Usual {
    /// Returns the text of a value at a place in a record.
    var text: (JSONValue, [String]) -> [UInt8]
    /// Returns the name of a key.
    var name: (String) -> String
  }

  /// A member of an object, or an element of a list.
  private struct Part {
    /// The blanks before it.
    var lead: Range<Int>
    /// The name, nil for an element.
    var name: String?
    /// The name with the colon and the blanks up to the value.
    var label: Range<Int>
    var value: Range<Int>
  }

  /// The members of an object, or the elements of a list.
  private struct Parts {
    var isList: Bool
    var parts: [Part]
    /// The end of the container, with the blanks before it.
    var tail: Range<Int>
  }

  private let bytes: [UInt8]
  /// The records of a document, or the lines with records.
  private var ranges: [Range<Int>] = []
  private let isLines: Bool
  /// Whether all records are written, so that those without a value stay too.
  var isWhole = true

  /// Reads a document, of which the value at a place has the records if there is one; nil if it is no JSON.
  init?(document text: String, ofRowsAt path: Path) {
    (bytes, isLines) = (Array(text.utf8), false)
    guard value(of: bytes.indices) != nil else { return nil }
    var range = trimmed(bytes.indices)
    for key in path.keys {
      let part = parts(of: range)?.parts.last { $0.name.map { WritableKey.key(of: $0) } == key }
      guard let part else {
        ranges = [trimmed(bytes.indices)]
        return
      }
      range = part.value
    }
    ranges = [range]
  }

  /// Reads lines; those that are no objects have no record.
  init(lines text: String) {
    (bytes, isLines) = (Array(text.utf8), true)
    ranges = bytes.split { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }
      .map { trimmed($0.indices) }
      .filter { !$0.isEmpty && bytes[$0.lowerBound] == UInt8(ascii: "{") }
  }

  // MARK: Writing

  /// Returns the document with other records.
  func text(of rows: [JSONMember], _ usual: Usual) -> [UInt8] {
    guard let range = ranges.first, let parts = parts(of: range) else {
      return usual.text(.object(rows), [])
    }
    let end = bytes[trimmed(bytes.indices).upperBound...]
    if !parts.isList { return object(rows, over: parts, at: nil, usual) + end }
    let values = parts.parts.map { value(of: $0.value) }
    var elements: [[UInt8]] = []
    for (row, place) in paired(rows, values.map { $0 ?? .null }) {
      let part = place.map { parts.parts[$0] }
      let lead = bytes[(part ?? parts.parts.last)?.lead ?? 0..<0]
      if let row {
        let text = part.map { self.text(of: row.value, over: $0.value, at: [], usual) }
        elements.append(lead + (text ?? usual.text(row.value, [])))
      } else if let part {
        elements.append(Array(lead + bytes[part.value]))
      }
    }
    return [UInt8(ascii: "[")] + elements.joined(separator: [UInt8(ascii: ",")]) + bytes[parts.tail]
      + end
  }

  /// Returns the lines with other records; `line` makes the members of one.
  func lines(
    of rows: [JSONMember], end: String, _ line: (JSONMember) -> [JSONMember], _ usual: Usual
  ) -> [UInt8] {
    let records = ranges.map { record(of: $0) }
    let places = Dictionary(
      records.enumerated().compactMap { place, record in record.key.map { ($0, place) } },
      uniquingKeysWith: { $1 })
    let pairs =
      places.isEmpty
      ? paired(rows, records.map(\.value)) : rows.map { ($0, places[usual.name($0.name)]) }
    var text: [UInt8] = []
    for (row, place) in pairs {
      switch (row, place) {
      case (let row?, let place?) where records[place].value != row.value:
        let parts = parts(of: ranges[place])
        text += parts.map { object(line(row), over: $0, at: [], usual) } ?? []
      case (_, let place?): text += bytes[ranges[place]]
      case (let row?, nil): text += usual.text(.object(line(row)), [])
      case (nil, nil): continue
      }
      text += Array(end.utf8)
    }
    return text
  }

  /// Returns a value in the place of another one.
  private func text(
    of json: JSONValue, over range: Range<Int>, at place: [String], _ usual: Usual
  ) -> [UInt8] {
    if value(of: range) == json { return Array(bytes[range]) }
    guard case .object(let members) = json, let parts = parts(of: range) else {
      return usual.text(json, place)
    }
    if !parts.isList { return object(members, over: parts, at: place, usual) }
    guard let count = WrittenValues.count(of: members) else { return usual.text(json, place) }
    return list(members, count, over: parts, at: place + [WrittenValues.element], usual)
  }

  /// Returns an object in the place of another one; those of no place are the records.
  private func object(
    _ members: [JSONMember], over old: Parts, at place: [String]?, _ usual: Usual
  ) -> [UInt8] {
    var rest = Dictionary(members.map { ($0.name, $0.value) }, uniquingKeysWith: { $1 })
    let names = old.parts.map { part in
      part.name.map { rest[$0] != nil ? $0 : WritableKey.key(of: $0).text } ?? ""
    }
    let last = Dictionary(
      names.enumerated().map { ($1, $0) }, uniquingKeysWith: { $1 })
    var texts: [[UInt8]] = []
    for (index, part) in old.parts.enumerated() {
      let name = names[index]
      let end = last[name] ?? index
      let label = bytes[part.lead] + bytes[part.label]
      if index < end {
        // A later member of the name is the one that counts. This one stays with it, and would count without.
        let isKept =
          rest[name] != nil
          || (place != nil || isWhole) && value(of: old.parts[end].value) == .null
        if isKept { texts.append(Array(label + bytes[part.value])) }
      } else if let new = rest.removeValue(forKey: name) {
        let below = place.map { $0 + [name] } ?? []
        texts.append(label + text(of: new, over: part.value, at: below, usual))
      } else if place != nil || isWhole, value(of: part.value) == .null {
        texts.append(Array(label + bytes[part.value]))
      }
    }
    let lead = old.parts.last.map { bytes[$0.lead] } ?? []
    let gap = old.parts.last.flatMap { part in
      bytes[part.label].lastIndex(of: UInt8(ascii: "\"")).map {
        bytes[($0 + 1)..<part.label.upperBound]
      }
    }
    for member in members {
      guard let value = rest.removeValue(forKey: member.name) else { continue }
      let name = Array(JSONValue.string(usual.name(member.name)).jsonText().utf8)
      let below = place.map { $0 + [member.name] } ?? []
      texts.append(lead + name + (gap ?? [UInt8(ascii: ":")]) + usual.text(value, below))
    }
    return [UInt8(ascii: "{")] + texts.joined(separator: [UInt8(ascii: ",")]) + bytes[old.tail]
  }

  /// Returns a list in the place of another one.
  private func list(
    _ members: [JSONMember], _ count: Int, over old: Parts, at place: [String], _ usual: Usual
  ) -> [UInt8] {
    let values = Dictionary(members.map { ($0.name, $0.value) }, uniquingKeysWith: { $1 })
    var texts: [[UInt8]] = []
    for index in 0..<max(count, old.parts.count) {
      let part = index < old.parts.count ? old.parts[index] : nil
      let lead = bytes[(part ?? old.parts.last)?.lead ?? 0..<0]
      if let value = values[String(index)] {
        let text = part.map { self.text(of: value, over: $0.value, at: place, usual) }
        texts.append(lead + (text ?? usual.text(value, place)))
      } else if let part, value(of: part.value) == .null {
        texts.append(Array(lead + bytes[part.value]))
      } else if index < count {
        texts.append(lead + Array("null".utf8))
      } else {
        break
      }
    }
    return [UInt8(ascii: "[")] + texts.joined(separator: [UInt8(ascii: ",")]) + bytes[old.tail]
  }

  // MARK: Records without keys

  /// Returns each row with the place of the record that it was; places without a row are those of records
  /// without a value, which stay where they are.
  ///
  /// A record that nobody changed is found by its value. A changed one is one of those between its
  /// neighbours: by their order if none has gone, or else one that has half of its fields in common.
  private func paired(
    _ rows: [JSONMember], _ values: [JSONValue]
  ) -> [(row: JSONMember?, place: Int?)] {
    var unclaimed: [JSONValue: [Int]] = [:]
    for (place, value) in values.enumerated().reversed() where value != .null {
      unclaimed[value, default: []].append(place)
    }
    var places = rows.map { unclaimed[$0.value]?.popLast() }
    let claimed = Set(places.compactMap(\.self))
    var start = 0
    while start < rows.count {
      let end = places[start...].firstIndex { $0 != nil } ?? rows.count
      // A new row has a key that is no number.
      let run = (start..<end).filter { Int(rows[$0].name) != nil }
      let lower = start == 0 ? 0 : (places[start - 1] ?? -1) + 1
      let upper = end == rows.count ? values.count : places[end] ?? values.count
      var free = (lower..<max(lower, upper)).filter { !claimed.contains($0) && values[$0] != .null }
      if free.count == run.count {
        for (row, place) in zip(run, free) { places[row] = place }
      } else {
        for row in run {
          let found = free.firstIndex { rows[row].value.isLike(values[$0]) }
          guard let found else { continue }
          places[row] = free[found]
          free.removeSubrange(...found)
        }
      }
      start = end + 1
    }
    guard isWhole else { return Array(zip(rows, places)) }
    var empty = values.indices.filter { values[$0] == .null }[...]
    var pairs: [(row: JSONMember?, place: Int?)] = []
    for (row, place) in zip(rows, places) {
      while let place, let first = empty.first, first < place {
        pairs.append((nil, empty.removeFirst()))
      }
      pairs.append((row, place))
    }
    return pairs + empty.map { (nil, $0) }
  }

  /// The record in a line, as it is in the tree, and its key.
  private func record(of range: Range<Int>) -> (key: String?, value: JSONValue) {
    guard case .object(var members)? = try? JSONValue(parsing: bytes[range]) else {
      return (nil, .null)
    }
    let key = members.last { $0.name == ExportWriter.keyName }?.value.string
    members.removeAll { $0.name == ExportWriter.keyName }
    let isValue = members.count == 1 && members[0].name == ExportWriter.valueName
    return (key, FileJSON.stored(isValue ? members[0].value : .object(members)) ?? .null)
  }

  // MARK: Reading

  /// The value in a part of the file, as it is in the tree; nil if it can be in none.
  private func value(of range: Range<Int>) -> JSONValue? {
    (try? JSONValue(parsing: bytes[range])).flatMap { FileJSON.stored($0) }
  }

  private static func stored(_ json: JSONValue) -> JSONValue? {
    (try? Node(json: WritableKey.value(json, keepsServerValues: true) { _ in }))?.exportJSON
  }

  /// The members of an object or the elements of a list; nil for any other value.
  private func parts(of range: Range<Int>) -> Parts? {
    bytes[range].withUnsafeBufferPointer { part in
      var scanner = JSONScanner(part)
      do {
        let kind = try scanner.peekKind()
        guard kind == .object || kind == .array else { return nil }
        if kind == .object { try scanner.enterObject() } else { try scanner.enterArray() }
        var parts: [Part] = []
        var end = range.lowerBound + scanner.offset
        while true {
          let name = kind == .object ? try scanner.nextMember() : nil
          if kind == .object ? name == nil : try !scanner.nextElement() { break }
          _ = try scanner.peekKind()
          let start = range.lowerBound + scanner.offset
          try scanner.skipValue()
          var before = end..<start
          if let comma = bytes[before].firstIndex(where: { !FileJSON.isBlank($0) }),
            bytes[comma] == UInt8(ascii: ",")
          {
            before = (comma + 1)..<start
          }
          let label = bytes[before].firstIndex { !FileJSON.isBlank($0) } ?? start
          end = range.lowerBound + scanner.offset
          parts.append(
            Part(
              lead: before.lowerBound..<label, name: name, label: label..<start, value: start..<end)
          )
        }
        return Parts(
          isList: kind == .array, parts: parts, tail: end..<(range.lowerBound + scanner.offset))
      } catch {
        return nil
      }
    }
  }

  private func trimmed(_ range: Range<Int>) -> Range<Int> {
    guard let first = bytes[range].firstIndex(where: { !FileJSON.isBlank($0) }),
      let last = bytes[range].lastIndex(where: { !FileJSON.isBlank($0) })
    else { return range.lowerBound..<range.lowerBound }
    return first..<(last + 1)
  }

  private static func isBlank(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: " ") || (9...13).contains(byte)
  }
}

extension JSONValue {
  /// Whether two records have at least half of their fields in common.
  fileprivate func isLike(_ other: JSONValue) -> Bool {
    guard let own = object, let others = other.object else { return false }
    let common = own.count { member in others.contains { $0 == member } }
    return common * 2 >= max(own.count, others.count)
  }
}
