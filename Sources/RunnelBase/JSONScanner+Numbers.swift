extension JSONScanner {
  /// Reads a number.
  ///
  /// An integer in the range of Int64 is exact; any other number is the nearest double. Throws
  /// `JSONError` for a number that breaks the grammar or is beyond the largest double.
  package mutating func readNumber() throws(JSONError) -> JSONNumber {
    skipWhitespace()
    let start = offset
    let isNegative = current == JSONByte.minus
    if isNegative { offset += 1 }
    guard JSONByte.isDigit(current) else {
      throw isNegative || current == JSONByte.plus || current == JSONByte.point
        ? badNumber("expected a digit") : unexpected("expected a number")
    }
    if current == JSONByte.zero, JSONByte.isDigit(byte(at: offset + 1)) {
      throw badNumber("a number has no leading zeros; remove this one")
    }

    var decimal = Decimal()
    decimal.read(digitsFrom: &self)
    let isInteger = current != JSONByte.point && current | 0x20 != UInt8(ascii: "e")
    if isInteger, let integer = decimal.integer(isNegative: isNegative) {
      return JSONNumber(integer)
    }
    if current == JSONByte.point {
      offset += 1
      guard JSONByte.isDigit(current) else { throw badNumber("expected a digit after '.'") }
      decimal.read(fractionFrom: &self)
    }
    if current | 0x20 == UInt8(ascii: "e") { decimal.exponent += try scanExponent() }
    if let exact = decimal.double(isNegative: isNegative), let number = JSONNumber(exact) {
      return number
    }
    return try nearestDouble(from: start)
  }

  /// Reads an exponent; one beyond the range of doubles is cut off, at a number still beyond that
  /// range.
  private mutating func scanExponent() throws(JSONError) -> Int {
    offset += 1
    let isNegative = current == JSONByte.minus
    if isNegative || current == JSONByte.plus { offset += 1 }
    guard JSONByte.isDigit(current) else { throw badNumber("expected a digit in the exponent") }
    var exponent = 0
    while JSONByte.isDigit(current) {
      exponent = min(exponent * 10 + Int(current - JSONByte.zero), 1_000_000)
      offset += 1
    }
    return isNegative ? -exponent : exponent
  }

  /// Converts the text from a place to the current one, which the grammar has accepted.
  private func nearestDouble(from start: Int) throws(JSONError) -> JSONNumber {
    let text = String(decoding: bytes[start..<offset], as: UTF8.self)
    guard let double = Double(text), let number = JSONNumber(double) else {
      throw error(
        .numberOutOfRange,
        "the number is beyond the largest double; write a smaller one or a string",
        at: start)
    }
    return number
  }

  @inline(never)
  private func badNumber(_ message: String) -> JSONError {
    offset == bytes.count ? unexpected(message) : error(.invalidNumber, message)
  }
}

/// The digits of a number while they fit a word, and the power of ten that they are multiplied by.
private struct Decimal {
  var digits: UInt64 = 0
  var exponent = 0
  /// False if there were more digits than the word holds; it is then meaningless.
  var isExact = true

  mutating func read(digitsFrom scanner: inout JSONScanner) {
    while JSONByte.isDigit(scanner.current) {
      let (product, isTooLarge) = digits.multipliedReportingOverflow(by: 10)
      let (sum, isMore) = product.addingReportingOverflow(UInt64(scanner.current - JSONByte.zero))
      if isTooLarge || isMore { isExact = false }
      digits = sum
      scanner.offset += 1
    }
  }

  mutating func read(fractionFrom scanner: inout JSONScanner) {
    let start = scanner.offset
    read(digitsFrom: &scanner)
    exponent -= scanner.offset - start
  }

  func integer(isNegative: Bool) -> Int64? {
    guard isExact else { return nil }
    if !isNegative { return Int64(exactly: digits) }
    return digits == UInt64(1) << 63 ? Int64.min : Int64(exactly: digits).map { -$0 }
  }

  /// The correctly rounded double if one operation on two exact doubles computes it, else nil.
  func double(isNegative: Bool) -> Double? {
    guard isExact, digits <= UInt64(1) << 53, -22...22 ~= exponent else { return nil }
    let magnitude = Double(digits)
    let value =
      exponent < 0
      ? magnitude / Self.powersOfTen[-exponent] : magnitude * Self.powersOfTen[exponent]
    return isNegative ? -value : value
  }

  /// The powers of ten that a double holds exactly.
  private static let powersOfTen: [Double] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
  ]
}
