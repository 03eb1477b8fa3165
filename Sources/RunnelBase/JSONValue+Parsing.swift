extension JSONValue {
  /// Parses a JSON document in UTF-8.
  ///
  /// A repeated name keeps its first place and gets its last value. See `JSONScanner` for the
  /// accepted texts; it can also read a document piece by piece.
  public init(parsing bytes: some Sequence<UInt8>) throws(JSONError) {
    let result =
      bytes.withContiguousStorageIfAvailable { Self.parse($0) }
      ?? Array(bytes).withUnsafeBufferPointer { Self.parse($0) }
    self = try result.get()
  }

  /// Parses a JSON document in a string.
  public init(parsing text: String) throws(JSONError) {
    try self.init(parsing: text.utf8)
  }

  private static func parse(_ bytes: UnsafeBufferPointer<UInt8>) -> Result<JSONValue, JSONError> {
    var scanner = JSONScanner(bytes)
    do throws(JSONError) {
      let value = try scanner.readValue()
      try scanner.finish()
      return .success(value)
    } catch {
      return .failure(error)
    }
  }
}
