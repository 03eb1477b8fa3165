/// How deep the objects and arrays of a text are nested, as is found before it is parsed.
enum JSONDepth {
  /// True if a text in JSON is nested deeper than so many levels.
  ///
  /// O(n). What is no JSON gets any answer: parsing it fails.
  static func exceeds(_ depthMax: Int, in bytes: [UInt8]) -> Bool {
    var (depth, isInString, isEscaped) = (0, false, false)
    for byte in bytes {
      if isInString {
        if isEscaped {
          isEscaped = false
        } else if byte == UInt8(ascii: "\\") {
          isEscaped = true
        } else if byte == UInt8(ascii: "\"") {
          isInString = false
        }
        continue
      }
      switch byte {
      case UInt8(ascii: "\""): isInString = true
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        depth += 1
        if depth > depthMax { return true }
      case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
      default: break
      }
    }
    return false
  }
}
