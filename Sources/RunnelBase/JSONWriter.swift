/// Writes one JSON document to an array of bytes, as a whole or piece by piece.
///
/// The writer sets the commas, the line breaks and the indentation. The caller gives names and
/// values in turn, and ends each container that it began; other uses are programming errors that
/// stop the program. To stream a large document, take the bytes away with `takeBytes` from time to
/// time.
///
/// Strings are escaped as little as JSON allows, and are otherwise raw UTF-8. Numbers are written as
/// ECMAScript writes them (`1e+21`, `1e-7`, `0.000001`), but integers in the range of Int64 always
/// with all of their digits.
public struct JSONWriter: Sendable {
  /// The layout of a document.
  public enum Layout: Hashable, Sendable {
    /// A single line without spaces.
    case compact
    /// A member or element per line, indented by two spaces; empty ones are `{}` and `[]`.
    ///
    /// The layout of ECMAScript's `JSON.stringify(value, null, 2)`.
    case pretty
  }

  /// The last thing written, which decides the separator before the next.
  private enum Position {
    case start
    case afterOpening
    case afterName
    case afterValue
  }

  /// The bytes that were written and not taken.
  public internal(set) var bytes: [UInt8] = []

  private let layout: Layout
  private var position = Position.start
  /// True for each open container that is an object, from the outermost.
  private var isObject: [Bool] = []

  /// Makes a writer of an empty document.
  public init(layout: Layout = .compact) { self.layout = layout }

  /// True if the document has its single value and nothing is left open.
  public var isComplete: Bool { isObject.isEmpty && position == .afterValue }

  /// Returns the bytes written since the last call, and drops them here.
  public mutating func takeBytes() -> [UInt8] {
    defer { bytes.removeAll(keepingCapacity: false) }
    return bytes
  }

  /// Writes `{`; names and values in turn follow.
  public mutating func beginObject() {
    prepareForValue()
    open(JSONByte.objectStart, isObject: true)
  }

  /// Writes `}`.
  public mutating func endObject() {
    precondition(isObject.last == true, "The innermost open container is an object.")
    close(JSONByte.objectEnd)
  }

  /// Writes `[`; values follow.
  public mutating func beginArray() {
    prepareForValue()
    open(JSONByte.arrayStart, isObject: false)
  }

  /// Writes `]`.
  public mutating func endArray() {
    precondition(isObject.last == false, "The innermost open container is an array.")
    close(JSONByte.arrayEnd)
  }

  /// Writes the name of a member; its value follows.
  public mutating func writeName(_ name: String) {
    precondition(isObject.last == true, "A name is written in an object.")
    precondition(position != .afterName, "A name is followed by a value.")
    separate()
    appendQuoted(name)
    bytes.append(JSONByte.colon)
    if layout == .pretty { bytes.append(JSONByte.space) }
    position = .afterName
  }

  /// Writes a string.
  public mutating func writeString(_ string: String) {
    prepareForValue()
    appendQuoted(string)
    position = .afterValue
  }

  /// Writes a number.
  public mutating func writeNumber(_ number: JSONNumber) {
    prepareForValue()
    append(number)
    position = .afterValue
  }

  /// Writes `true` or `false`.
  public mutating func writeBool(_ bool: Bool) {
    prepareForValue()
    append(bool ? "true" : "false")
    position = .afterValue
  }

  /// Writes `null`.
  public mutating func writeNull() {
    prepareForValue()
    append("null")
    position = .afterValue
  }

  /// Writes a value that is JSON text already, unchanged.
  ///
  /// The caller makes sure that it is the text of one value.
  package mutating func writeText(_ json: [UInt8]) {
    prepareForValue()
    bytes += json
    position = .afterValue
  }

  /// Writes a value with everything in it; recurses as deep as it is nested.
  public mutating func writeValue(_ value: JSONValue) {
    switch value {
    case .null: writeNull()
    case .bool(let bool): writeBool(bool)
    case .number(let number): writeNumber(number)
    case .string(let string): writeString(string)
    case .array(let elements):
      beginArray()
      for element in elements { writeValue(element) }
      endArray()
    case .object(let members):
      beginObject()
      for member in members {
        writeName(member.name)
        writeValue(member.value)
      }
      endObject()
    }
  }
}

// MARK: - Layout

extension JSONWriter {
  private mutating func prepareForValue() {
    if let isObject = isObject.last {
      if isObject {
        precondition(position == .afterName, "A value in an object follows a name.")
      } else {
        separate()
      }
    } else {
      precondition(position == .start, "A document has one value.")
    }
  }

  private mutating func separate() {
    if position == .afterValue { bytes.append(JSONByte.comma) }
    if layout == .pretty { breakLine() }
  }

  private mutating func breakLine() {
    bytes.append(JSONByte.lineFeed)
    bytes.append(contentsOf: repeatElement(JSONByte.space, count: isObject.count * 2))
  }

  private mutating func open(_ byte: UInt8, isObject: Bool) {
    bytes.append(byte)
    self.isObject.append(isObject)
    position = .afterOpening
  }

  private mutating func close(_ byte: UInt8) {
    precondition(position != .afterName, "A name is followed by a value.")
    isObject.removeLast()
    if layout == .pretty, position == .afterValue { breakLine() }
    bytes.append(byte)
    position = .afterValue
  }

  mutating func append(_ text: StaticString) {
    bytes.append(
      contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }
}

// MARK: - Strings

extension JSONWriter {
  private mutating func appendQuoted(_ string: String) {
    bytes.append(JSONByte.quote)
    var string = string
    string.withUTF8 { appendEscaped(UnsafeRawBufferPointer($0)) }
    bytes.append(JSONByte.quote)
  }

  /// Appends each run of bytes that need no escape as a whole, and escapes the bytes between them.
  private mutating func appendEscaped(_ text: UnsafeRawBufferPointer) {
    var runStart = 0
    var index = 0
    while index < text.count {
      if index <= text.count - 8,
        !JSONByte.needsAttention(text.loadUnaligned(fromByteOffset: index, as: UInt64.self))
      {
        index += 8
        continue
      }
      let byte = text[index]
      if byte < 0x20 || byte == JSONByte.quote || byte == JSONByte.backslash {
        bytes.append(contentsOf: text[runStart..<index])
        appendEscape(of: byte)
        runStart = index + 1
      }
      index += 1
    }
    bytes.append(contentsOf: text[runStart..<text.count])
  }

  private mutating func appendEscape(of byte: UInt8) {
    switch byte {
    case JSONByte.quote: append("\\\"")
    case JSONByte.backslash: append("\\\\")
    case JSONByte.backspace: append("\\b")
    case JSONByte.formFeed: append("\\f")
    case JSONByte.lineFeed: append("\\n")
    case JSONByte.carriageReturn: append("\\r")
    case JSONByte.tab: append("\\t")
    default:
      append("\\u00")
      for digit in [byte >> 4, byte & 0xF] {
        bytes.append(digit < 10 ? JSONByte.zero + digit : UInt8(ascii: "a") + digit - 10)
      }
    }
  }
}

extension JSONValue {
  /// The value as JSON text, in one line or laid out for people.
  public func jsonText(pretty: Bool = false) -> String {
    String(decoding: jsonBytes(pretty: pretty), as: UTF8.self)
  }

  /// The value as JSON text in UTF-8, in one line or laid out for people.
  public func jsonBytes(pretty: Bool = false) -> [UInt8] {
    var writer = JSONWriter(layout: pretty ? .pretty : .compact)
    writer.writeValue(self)
    return writer.bytes
  }
}
