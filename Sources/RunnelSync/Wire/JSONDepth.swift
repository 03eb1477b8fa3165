/// How deep the objects and arrays of a text are nested, as is found before it is parsed.
package enum JSONDepth {
  /// Returns whether a JSON text is nested deeper than a number of levels.
  ///
  /// O(n). The result for a text that is not JSON is arbitrary, because parsing it fails anyway.
  package static func exceeds(_ depthMax: Int, in bytes: [UInt8]) -> Bool {
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
