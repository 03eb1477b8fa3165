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

  /// What replaces a document.
  struct Written {
    var bytes: [UInt8]
    /// The keys of the rows, if the document is a list of them.
    var keys: RowKeys?
  }

  /// A member of an object, or an element of a list.
  private struct Part {
    /// The blanks before it.
    var lead: Range<Int>
    /// The name, nil for an element.
    var name: String?
    /// The name as it stands, with the colon and the blanks up to the value.
    var label: [UInt8]
    var value: Range<Int>
    /// The blanks between it and the comma behind it.
    var trail: Range<Int>
  }

  /// The members of an object, or the elements of a list.
  private struct Parts {
    var isList: Bool
    var parts: [Part]
    /// The blanks before the end of the container.
    var tail: Range<Int>

    /// Gives the elements of a list their numbers as names.
    mutating func nameElements() {
      for index in parts.indices {
        parts[index].name = String(index)
        parts[index].label = Array("\"\(index)\":".utf8)
      }
      isList = false
    }
  }

  private let bytes: [UInt8]
  /// The records of a document, or the lines with records.
  private var ranges: [Range<Int>] = []
  private let isLines: Bool
  /// Whether all records are written, so that those without a value stay too.
  var isWhole = true
  /// The keys of the elements of a list by their places; nil if they are not known.
  var keys: RowKeys?

  /// Reads a document, of which the value at a place has the records if there is one; nil if it is no JSON.
  init?(document text: String, ofRowsAt path: Path) {
    (bytes, isLines) = (Array(text.utf8), false)
    guard (try? JSONValue(parsing: bytes[...])) != nil else { return nil }
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

  /// Returns the document with another value in the place of all that it holds; an empty one is null.
  func text(ofAll json: JSONValue, _ usual: Usual) -> Written {
    let document = trimmed(bytes.indices)
    guard let range = ranges.first else { return Written(bytes: usual.text(json, [])) }
    let isList = bytes[range.lowerBound] == UInt8(ascii: "[")
    // Elements with known keys are put together, so that those without a value keep theirs.
    if !isList || keys == nil, value(of: range) == json {
      return Written(bytes: bytes, keys: isList ? .asRead : nil)
    }
    guard json == .null || json.isOfMembers, let parts = parts(of: range) else {
      return Written(bytes: bytes[..<document.lowerBound] + usual.text(json, []) + end)
    }
    var written = text(of: json.object ?? [], over: parts, usual)
    written.bytes = bytes[..<document.lowerBound] + written.bytes + end
    return written
  }

  /// Returns the document with other records.
  func text(of rows: [JSONMember], _ usual: Usual) -> Written {
    guard let range = ranges.first, let parts = parts(of: range) else {
      return Written(bytes: usual.text(.object(rows), []))
    }
    var written = text(of: rows, over: parts, usual)
    written.bytes += end
    return written
  }

  /// What stands behind the document.
  private var end: ArraySlice<UInt8> { bytes[trimmed(bytes.indices).upperBound...] }

  private func text(of rows: [JSONMember], over old: Parts, _ usual: Usual) -> Written {
    if !old.isList { return Written(bytes: object(rows, over: old, at: nil, usual)) }
    var elements: [[UInt8]] = []
    var written: [Key?] = []
    for (row, place) in placed(rows, old) {
      let part = place.map { old.parts[$0] }
      let lead = Array(bytes[(part ?? old.parts.last)?.lead ?? 0..<0])
      let trail = bytes[part?.trail ?? 0..<0]
      if let row {
        let text = part.map { self.text(of: row.value, over: $0.value, at: [], usual) }
        elements.append(lead + (text ?? usual.text(row.value, [])) + trail)
        written.append(Key(unchecked: row.name))
      } else if let part, let place {
        elements.append(lead + bytes[part.value] + trail)
        written.append(keys?.key(at: place))
      }
    }
    return Written(bytes: joined("[]", elements, old.tail), keys: RowKeys(written))
  }

  private func joined(_ ends: StaticString, _ parts: [[UInt8]], _ tail: Range<Int>) -> [UInt8] {
    let comma = [UInt8(ascii: ",")]
    return [ends.utf8Start[0]] + parts.joined(separator: comma) + bytes[tail]
      + [ends.utf8Start[1]]
  }

  /// Returns the lines with other records; `line` makes the members of one.
  func lines(
    of rows: [JSONMember], end: String, _ line: (JSONMember) -> [JSONMember], _ usual: Usual
  ) -> [UInt8] {
    let records = ranges.map { record(of: $0) }
    let places = Dictionary(
      records.enumerated().compactMap { place, record in
        record.key.map { (Key(unchecked: $0), place) }
      }, uniquingKeysWith: { $1 })
    let pairs =
      places.isEmpty
      ? paired(rows, records.map(\.value))
      : rows.map { ($0, places[Key(unchecked: usual.name($0.name))]) }
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
    guard json.isOfMembers, let members = json.object, var parts = parts(of: range) else {
      return usual.text(json, place)
    }
    if parts.isList {
      if let list = list(members, over: parts, at: place, usual) { return list }
      parts.nameElements()
    }
    return object(members, over: parts, at: place, usual)
  }

  /// Returns an object in the place of another one; those of no place are the records.
  private func object(
    _ members: [JSONMember], over old: Parts, at place: [String]?, _ usual: Usual
  ) -> [UInt8] {
    var rest = Dictionary(
      members.map { (Key(unchecked: $0.name), $0.value) }, uniquingKeysWith: { $1 })
    let names = old.parts.map { part in
      let name = part.name ?? ""
      return rest[Key(unchecked: name)] != nil ? Key(unchecked: name) : WritableKey.key(of: name)
    }
    let last = Dictionary(names.enumerated().map { ($1, $0) }, uniquingKeysWith: { $1 })
    var texts: [[UInt8]] = []
    for (index, part) in old.parts.enumerated() {
      let name = names[index]
      let end = last[name] ?? index
      let label = Array(bytes[part.lead]) + part.label
      let trail = bytes[part.trail]
      if index < end {
        // A later member of the name is the one that counts. This one stays with it, and would count without.
        let isKept =
          rest[name] != nil
          || (place != nil || isWhole) && value(of: old.parts[end].value) == .null
        if isKept { texts.append(label + bytes[part.value] + trail) }
      } else if let new = rest.removeValue(forKey: name) {
        let below = place.map { $0 + [name.text] } ?? []
        texts.append(label + text(of: new, over: part.value, at: below, usual) + trail)
      } else if place != nil || isWhole, value(of: part.value) == .null {
        texts.append(label + bytes[part.value] + trail)
      }
    }
    let lead = old.parts.last.map { bytes[$0.lead] } ?? []
    let gap = old.parts.last.flatMap { part in
      part.label.lastIndex(of: UInt8(ascii: "\"")).map { part.label[($0 + 1)...] }
    }
    for member in members {
      guard let value = rest.removeValue(forKey: Key(unchecked: member.name)) else { continue }
      let name = Array(JSONValue.string(usual.name(member.name)).jsonText().utf8)
      let below = place.map { $0 + [member.name] } ?? []
      texts.append(lead + name + (gap ?? [UInt8(ascii: ":")]) + usual.text(value, below))
    }
    return joined("{}", texts, old.tail)
  }

  /// Returns a list in the place of another one, with records that were pushed behind the others; nil if
  /// members have names, or numbers far behind the end.
  private func list(
    _ members: [JSONMember], over old: Parts, at place: [String], _ usual: Usual
  ) -> [UInt8]? {
    var values: [Int: JSONValue] = [:]
    var pushed: [JSONValue] = []
    for member in members {
      let key = Key(unchecked: member.name)
      if let index = RowKeys.number(key) {
        values[index] = member.value
      } else if FileJSON.isPushed(key) {
        pushed.append(member.value)
      } else {
        return nil
      }
    }
    let known = (values.keys.max() ?? -1) + 1
    guard known <= max(old.parts.count, 2 * members.count) else { return nil }
    // Elements without a value stay, where they are not before the others too.
    let empty = old.parts.indices.last { $0 >= known && value(of: old.parts[$0].value) == .null }
    let count = empty.map { $0 + 1 } ?? known
    let below = place + [WrittenValues.element]
    var texts: [[UInt8]] = []
    for index in 0..<(count + pushed.count) {
      let part = index < old.parts.count ? old.parts[index] : nil
      let lead = Array(bytes[(part ?? old.parts.last)?.lead ?? 0..<0])
      let trail = bytes[part?.trail ?? 0..<0]
      if index >= count {
        let value = pushed[index - count]
        let isThere = part.map { self.value(of: $0.value) == value } ?? false
        let text = part.flatMap { isThere ? Array(bytes[$0.value]) : nil }
        texts.append(lead + (text ?? usual.text(value, below)) + trail)
      } else if let value = values[index] {
        let text = part.map { self.text(of: value, over: $0.value, at: below, usual) }
        texts.append(lead + (text ?? usual.text(value, below)) + trail)
      } else if let part, value(of: part.value) == .null {
        texts.append(lead + bytes[part.value] + trail)
      } else {
        texts.append(lead + Array("null".utf8) + trail)
      }
    }
    return joined("[]", texts, old.tail)
  }

  /// Whether a key was made for a record that was pushed, and so is no name.
  private static func isPushed(_ key: Key) -> Bool {
    let text = key.text.utf8
    return text.count == 20 && text.first == UInt8(ascii: "-")
      && text.allSatisfy { PushIDGenerator.alphabet.contains($0) }
  }

  // MARK: Records without keys

  /// Returns each row with the place of the element that it is; places without a row are those of elements
  /// without a value, which stay where they are.
  private func placed(
    _ rows: [JSONMember], _ old: Parts
  ) -> [(row: JSONMember?, place: Int?)] {
    let rows = rows.filter { !$0.name.hasPrefix(".") }
    guard let keys else {
      return paired(rows, old.parts.map { value(of: $0.value) ?? .null })
    }
    let places = Dictionary(
      old.parts.indices.compactMap { place in keys.key(at: place).map { ($0, place) } },
      uniquingKeysWith: { $1 })
    let placesOfRows = rows.map { places[Key(unchecked: $0.name)] }
    let taken = Set(placesOfRows.compactMap(\.self))
    let empty = old.parts.indices.filter {
      !taken.contains($0) && value(of: old.parts[$0].value) == .null
    }
    return merged(rows, placesOfRows, empty)
  }

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
          let value = rows[row].value
          // The nearest one of half of its fields, or else the one of most of them.
          let like = free.firstIndex { value.isLike(values[$0]) }
          let most = free.indices.max {
            value.common(values[free[$0]]) < value.common(values[free[$1]])
          }
          let found = like ?? most.flatMap { value.common(values[free[$0]]) > 0 ? $0 : nil }
          guard let found else { continue }
          places[row] = free[found]
          free.removeSubrange(...found)
        }
      }
      start = end + 1
    }
    return merged(rows, places, values.indices.filter { values[$0] == .null })
  }

  /// Returns rows with their places, and between them the places of elements without a value if all is
  /// written.
  private func merged(
    _ rows: [JSONMember], _ places: [Int?], _ empty: [Int]
  ) -> [(row: JSONMember?, place: Int?)] {
    guard isWhole else { return Array(zip(rows, places)) }
    var empty = empty[...]
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
    (try? Node(json: WritableKey.value(json, keepsServerValues: false) { _ in }))?.exportJSON
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
            bytes[comma] == UInt8(ascii: ","), !parts.isEmpty
          {
            parts[parts.count - 1].trail = end..<comma
            before = (comma + 1)..<start
          }
          let label = bytes[before].firstIndex { !FileJSON.isBlank($0) } ?? start
          end = range.lowerBound + scanner.offset
          parts.append(
            Part(
              lead: before.lowerBound..<label, name: name, label: Array(bytes[label..<start]),
              value: start..<end, trail: end..<end))
        }
        return Parts(
          isList: kind == .array, parts: parts, tail: end..<(range.lowerBound + scanner.offset - 1))
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
  /// Whether it is an object that is no value with a priority.
  fileprivate var isOfMembers: Bool {
    guard case .object(let members) = self else { return false }
    return !members.contains { $0.name == ".value" }
  }

  /// Whether two records have at least half of their fields in common.
  fileprivate func isLike(_ other: JSONValue) -> Bool {
    guard let own = object, let others = other.object else { return false }
    return common(other) * 2 >= max(own.count, others.count)
  }

  /// The number of fields that two records have in common.
  fileprivate func common(_ other: JSONValue) -> Int {
    guard let own = object, let others = other.object else { return 0 }
    return own.count { member in others.contains { $0 == member } }
  }
}
