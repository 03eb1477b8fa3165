/// The reason why a text is not JSON, and the place.
public struct JSONError: Error, Hashable, Sendable {
  /// The kind of an error, for programs to test; the message is for people.
  public struct Code: RawRepresentable, Hashable, Sendable {
    /// The code's spelling in logs and in machine-readable output.
    public let rawValue: String

    /// Makes a code from its spelling.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The text ends inside a value, or before one.
    public static let unexpectedEnd = Code(rawValue: "unexpected_end")
    /// A character stands where the grammar has no place for it.
    public static let unexpectedCharacter = Code(rawValue: "unexpected_character")
    /// The text starts with a UTF-8 byte order mark.
    public static let byteOrderMark = Code(rawValue: "byte_order_mark")
    /// The bytes of a string are not well-formed UTF-8.
    public static let invalidUTF8 = Code(rawValue: "invalid_utf8")
    /// A backslash does not begin an escape.
    public static let invalidEscape = Code(rawValue: "invalid_escape")
    /// A `\u` escape is half of a surrogate pair.
    public static let loneSurrogate = Code(rawValue: "lone_surrogate")
    /// A string contains a raw control character.
    public static let controlCharacter = Code(rawValue: "control_character")
    /// A number breaks the grammar of numbers.
    public static let invalidNumber = Code(rawValue: "invalid_number")
    /// A number is too large for a finite double.
    public static let numberOutOfRange = Code(rawValue: "number_out_of_range")
    /// Objects and arrays are nested deeper than `JSONScanner.depthMax`.
    public static let tooDeep = Code(rawValue: "too_deep")
    /// There is content after the document's value.
    public static let trailingContent = Code(rawValue: "trailing_content")
  }

  /// The kind of error.
  public var code: Code
  /// The message without the place: `expected ',' or '}' after a member`.
  public var message: String
  /// The place in the input, in bytes from its start.
  public var offset: Int
  /// The line of the place, from 1; lines end with a line feed.
  public var line: Int
  /// The place in its line, in Unicode scalars from 1.
  public var column: Int

  /// Makes an error at a place that is known in bytes and in lines.
  public init(code: Code, message: String, offset: Int, line: Int, column: Int) {
    self.code = code
    self.message = message
    self.offset = offset
    self.line = line
    self.column = column
  }
}

extension JSONError.Code: CustomStringConvertible {
  /// The spelling.
  public var description: String { rawValue }
}

extension JSONError: CustomStringConvertible {
  /// The message with its place: `line 3, column 7: expected ':' after a name`.
  public var description: String { "line \(line), column \(column): \(message)" }
}
