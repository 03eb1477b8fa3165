/// The empty objects and arrays in a JSON document, which a tree cannot hold.
package struct EmptyContainers: Hashable, Sendable {
  /// The number of `{}` and `[]` within the document; the document itself is not counted.
  package private(set) var count = 0
  /// The names of the members around the first one, the outermost first, and of the one that holds it; empty if
  /// there is no such member.
  private var firstPlace: [String] = []
  /// Whether a later one is in a member of the same name at another place.
  private var isAmbiguous = false

  /// The name of the member that holds the first one, with those of the members around it if others of this name
  /// hold some too; nil if there is no such member.
  package var firstName: String? {
    isAmbiguous ? firstPlace.joined(separator: "/") : firstPlace.last
  }

  /// Makes an empty count.
  package init() {}

  /// Adds those of another document, which comes later.
  package mutating func add(_ other: EmptyContainers) {
    if count == 0 {
      (firstPlace, isAmbiguous) = (other.firstPlace, other.isAmbiguous)
    } else if other.firstPlace.last == firstPlace.last {
      isAmbiguous = isAmbiguous || other.isAmbiguous || other.firstPlace != firstPlace
    }
    count += other.count
  }

  /// Looks at a document that was parsed without an error; of other bytes, anything may be counted.
  ///
  /// O(n) in the bytes, and much quicker than parsing them.
  package init(in bytes: UnsafeBufferPointer<UInt8>) {
    var string = 0..<0
    var name: Range<Int>?
    // The names of the members around; nil for elements of a list.
    var names: [Range<Int>?] = []
    var index = 0
    while index < bytes.count {
      switch bytes[index] {
      case JSONByte.quote:
        let end = EmptyContainers.end(ofStringAt: index, in: bytes)
        string = index..<end
        index = end
        continue
      case JSONByte.colon: name = string
      case JSONByte.objectStart, JSONByte.arrayStart:
        let next = EmptyContainers.afterBlanks(index + 1, in: bytes)
        if next < bytes.count, EmptyContainers.isEnd(bytes[next]) {
          if !names.isEmpty { note(name, within: names, in: bytes) }
          index = next
        } else {
          names.append(name)
          name = nil
        }
      case JSONByte.objectEnd, JSONByte.arrayEnd:
        _ = names.popLast()
        name = nil
      case JSONByte.comma: name = nil
      default: break
      }
      index += 1
    }
  }

  /// Looks at a value.
  package init(in json: JSONValue) {
    var text = json.jsonText()
    self = text.withUTF8 { EmptyContainers(in: $0) }
  }

  /// What is said about them, as a sentence; nil if there are none.
  package var sentence: String? {
    if count == 0 { return nil }
    let first = firstName.map { ControlCharacters.escapedLine($0) }
    if count == 1 {
      let place = first.map { " in \($0)" } ?? ""
      return "1 empty list or object ([] or {})\(place) is not kept: the tree has no such value."
    }
    let place = first.map { ", the first in \($0)," } ?? ""
    return "\(count) empty lists or objects ([] or {})\(place) are not kept: the tree has no such "
      + "values."
  }

  private mutating func note(
    _ name: Range<Int>?, within names: [Range<Int>?], in bytes: UnsafeBufferPointer<UInt8>
  ) {
    count += 1
    guard let name, count == 1 || !isAmbiguous else { return }
    func text(_ name: Range<Int>) -> String? {
      (try? JSONValue(parsing: UnsafeBufferPointer(rebasing: bytes[name])))?.string
    }
    let around = names.compactMap(\.self)
    if count > 1, firstPlace.isEmpty || around.isEmpty && firstPlace.count == 1 { return }
    let place = around.compactMap(text) + [text(name) ?? ""]
    if count == 1 { firstPlace = place }
    isAmbiguous = place.last == firstPlace.last && place != firstPlace
  }

  /// The index after the closing quote of a string.
  static func end(ofStringAt start: Int, in bytes: UnsafeBufferPointer<UInt8>) -> Int {
    var index = start + 1
    while index < bytes.count, bytes[index] != JSONByte.quote {
      index += bytes[index] == JSONByte.backslash ? 2 : 1
    }
    return min(index + 1, bytes.count)
  }

  /// The index of the next byte that is no blank.
  private static func afterBlanks(_ start: Int, in bytes: UnsafeBufferPointer<UInt8>) -> Int {
    var index = start
    while index < bytes.count, bytes[index] <= JSONByte.space { index += 1 }
    return index
  }

  private static func isEnd(_ byte: UInt8) -> Bool {
    byte == JSONByte.objectEnd || byte == JSONByte.arrayEnd
  }
}
