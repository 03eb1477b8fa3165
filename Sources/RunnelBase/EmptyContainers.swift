/// The empty objects and arrays in a JSON document, which a tree cannot hold.
package struct EmptyContainers: Hashable, Sendable {
  /// The number of `{}` and `[]` within the document; the document itself is not counted.
  package private(set) var count = 0
  /// The name of the member that holds the first one, or nil if there is no such member.
  package private(set) var firstName: String?

  /// Makes an empty count.
  package init() {}

  /// Adds those of another document, which comes later.
  package mutating func add(_ other: EmptyContainers) {
    if count == 0 { firstName = other.firstName }
    count += other.count
  }

  /// Looks at a document that was parsed without an error; of other bytes, anything may be counted.
  ///
  /// O(n) in the bytes, and much quicker than parsing them.
  package init(in bytes: UnsafeBufferPointer<UInt8>) {
    var string = 0..<0
    var name: Range<Int>?
    var depth = 0
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
          if depth > 0 { note(name, in: bytes) }
          index = next
        } else {
          depth += 1
        }
      case JSONByte.objectEnd, JSONByte.arrayEnd:
        depth -= 1
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

  private mutating func note(_ name: Range<Int>?, in bytes: UnsafeBufferPointer<UInt8>) {
    count += 1
    guard count == 1, let name else { return }
    let literal = UnsafeBufferPointer(rebasing: bytes[name])
    if case .string(let text)? = try? JSONValue(parsing: literal) { firstName = text }
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
