extension JSONWriter {
  /// Appends a number as ECMAScript's Number::toString prints it, integers with all their digits.
  mutating func append(_ number: JSONNumber) {
    if let integer = number.integer {
      appendInteger(integer)
    } else {
      appendDouble(number.double)
    }
  }

  private mutating func appendInteger(_ integer: Int64) {
    if integer < 0 { bytes.append(JSONByte.minus) }
    var rest = integer.magnitude
    let start = bytes.count
    repeat {
      bytes.append(JSONByte.zero + UInt8(rest % 10))
      rest /= 10
    } while rest > 0
    bytes[start...].reverse()
  }

  /// Appends the shortest digits that read back as the same double; the standard library finds
  /// them.
  private mutating func appendDouble(_ double: Double) {
    let decimal = ShortestDecimal(double)
    let (digits, point) = (decimal.digits, decimal.pointPlace)
    if double < 0 { bytes.append(JSONByte.minus) }
    switch point {
    case digits.count...21:
      bytes += digits
      appendZeros(point - digits.count)
    case 1...21:
      bytes += digits.prefix(point)
      bytes.append(JSONByte.point)
      bytes += digits.dropFirst(point)
    case -5...0:
      append("0.")
      appendZeros(-point)
      bytes += digits
    default:
      bytes += digits.prefix(1)
      if digits.count > 1 {
        bytes.append(JSONByte.point)
        bytes += digits.dropFirst()
      }
      bytes.append(UInt8(ascii: "e"))
      if point > 0 { bytes.append(JSONByte.plus) }
      appendInteger(Int64(point - 1))
    }
  }

  private mutating func appendZeros(_ count: Int) {
    bytes.append(contentsOf: repeatElement(JSONByte.zero, count: count))
  }
}

/// The magnitude of a double that is not 0, as decimal digits and the place of the point in them.
private struct ShortestDecimal {
  /// ASCII digits, neither the first nor the last of them 0.
  private(set) var digits: [UInt8] = []
  /// The number of digits before the decimal point; may be negative.
  private(set) var pointPlace = 0

  /// Takes the standard library's description apart: a sign, digits with a point, an exponent.
  init(_ double: Double) {
    precondition(double.isFinite && double != 0, "0 is an integer, and a JSON number is finite.")
    var isAfterPoint = false
    var description = double.magnitude.description.utf8[...]
    while let byte = description.popFirst() {
      if byte == JSONByte.point {
        isAfterPoint = true
      } else if byte == UInt8(ascii: "e") {
        pointPlace += Int(Substring(description)) ?? 0
        break
      } else {
        // A zero in front is no digit of the shortest form, but may move the point.
        let isLeadingZero = byte == JSONByte.zero && digits.isEmpty
        if !isLeadingZero { digits.append(byte) }
        if isAfterPoint, isLeadingZero { pointPlace -= 1 }
        if !isAfterPoint, !isLeadingZero { pointPlace += 1 }
      }
    }
    while digits.last == JSONByte.zero { digits.removeLast() }
  }
}
