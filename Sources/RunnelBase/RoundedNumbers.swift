/// The numbers in a JSON document that have more digits than a number keeps, or are too small for one.
package struct RoundedNumbers: Hashable, Sendable {
  /// The most digits that every number keeps.
  private static let exactDigits = 15

  /// How many there are.
  package private(set) var count = 0
  /// The first one as it is written; empty if there is none.
  private var first = ""
  /// What the first one is read as.
  private var firstRead = ""
  /// True if the first one is too small, and if any is.
  private var (isFirstSmall, isAnySmall) = (false, false)

  /// Looks at a document that was parsed without an error; of other bytes, anything may be counted.
  ///
  /// O(n) in the bytes, and much quicker than parsing them.
  package init(in bytes: UnsafeBufferPointer<UInt8>) {
    var index = 0
    while index < bytes.count {
      if bytes[index] == JSONByte.quote {
        index = EmptyContainers.end(ofStringAt: index, in: bytes)
        continue
      }
      let end = RoundedNumbers.end(ofNumberAt: index, in: bytes)
      let number = bytes[index..<end]
      if number.count > RoundedNumbers.exactDigits
        || number.contains(where: RoundedNumbers.isExponentMark)
      {
        note(number)
      }
      index = max(end, index + 1)
    }
  }

  /// What is said about them, as a sentence; nil if there are none.
  package var sentence: String? {
    switch count {
    case 0: nil
    case 1:
      "1 number \(isFirstSmall ? "is too small to be kept" : "has more digits than are kept"): "
        + "\(first) is read as \(firstRead)."
    default:
      "\(count) numbers have more digits than are kept\(isAnySmall ? ", or are too small" : ""): the first, "
        + "\(first), is read as \(firstRead)."
    }
  }

  private mutating func note(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) {
    let text = String(decoding: bytes, as: UTF8.self)
    guard case .number(let number)? = try? JSONValue(parsing: text) else { return }
    let read = JSONValue.number(number).jsonText()
    if RoundedNumbers.digits(of: text) == RoundedNumbers.digits(of: read) { return }
    let isSmall = RoundedNumbers.digits(of: read).isEmpty
    if count == 0 { (first, firstRead, isFirstSmall) = (text, read, isSmall) }
    if isSmall { isAnySmall = true }
    count += 1
  }

  private static func isExponentMark(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "e") || byte == UInt8(ascii: "E")
  }

  /// The digits of a number without zeros at either end, whatever its exponent is.
  private static func digits(of text: String) -> Substring {
    let mantissa = text.prefix { $0 != "e" && $0 != "E" }.filter { $0 != "-" && $0 != "." }
    var digits = mantissa.drop { $0 == "0" }
    while digits.last == "0" { digits.removeLast() }
    return digits
  }

  /// The index after the number that begins at an index; the index itself if none does.
  private static func end(ofNumberAt start: Int, in bytes: UnsafeBufferPointer<UInt8>) -> Int {
    var index = start
    while index < bytes.count, isPart(bytes[index], ofNumberAfter: index - start) { index += 1 }
    return index
  }

  /// Whether a byte belongs to a number of which so many bytes stand before it.
  private static func isPart(_ byte: UInt8, ofNumberAfter count: Int) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"): true
    case UInt8(ascii: "."), UInt8(ascii: "e"), UInt8(ascii: "E"), UInt8(ascii: "+"): count > 0
    default: false
    }
  }
}
