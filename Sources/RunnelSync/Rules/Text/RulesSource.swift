import RunnelBase

/// The text of a rules file in bytes, with the starts of its lines.
struct RulesSource: Sendable {
  /// The text in UTF-8.
  let bytes: [UInt8]
  private let lineStarts: [Int]

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
    var starts = [0]
    for (index, byte) in bytes.enumerated() where byte == UInt8(ascii: "\n") {
      starts.append(index + 1)
    }
    lineStarts = starts
  }

  /// The line of an offset and the column in it in Unicode scalars, both from 1.
  func position(of offset: Int) -> (line: Int, column: Int) {
    let offset = min(max(offset, 0), bytes.count)
    let line = lineStarts.lowerBound { $0 <= offset } - 1
    let column = bytes[lineStarts[line]..<offset].count { $0 & 0xC0 != 0x80 }
    return (line + 1, column + 1)
  }

  /// The text in a range of bytes.
  func text(_ range: Range<Int>) -> String {
    String(decoding: bytes[range.clamped(to: 0..<bytes.count)], as: UTF8.self)
  }

  /// The line of an offset as it is shown to people, and the line under it with the caret.
  ///
  /// Of a long line, the part around the place is shown. Control characters become spaces.
  func excerpt(at offset: Int) -> (line: String, caret: String) {
    let position = position(of: offset)
    let start = lineStarts[position.line - 1]
    let end = position.line < lineStarts.count ? lineStarts[position.line] - 1 : bytes.count
    let scalars = Array(text(start..<max(start, end)).unicodeScalars)
    let column = min(position.column - 1, scalars.count)
    let first = scalars.count > RulesSource.shownMax ? max(0, column - RulesSource.shownBefore) : 0
    let last = min(scalars.count, first + RulesSource.shownMax)
    let head = first > 0 ? "..." : ""
    let tail = last < scalars.count ? "..." : ""
    let shown = scalars[first..<last].map(RulesSource.shown)
    let pad = shown.prefix(column - first).map { RulesSource.isWide($0) ? "\u{3000}" : " " }
    return (
      head + String(String.UnicodeScalarView(shown)) + tail,
      String(repeating: " ", count: head.count) + pad.joined() + "^"
    )
  }

  private static let shownMax = 100
  private static let shownBefore = 60

  private static func shown(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate: " "
    default: scalar
    }
  }

  /// Whether a terminal shows a scalar in two cells: an approximation for the caret.
  private static func isWide(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x1100...0x115F, 0x2E80...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F,
      0xFF00...0xFF60, 0x1F300...0x1FAFF, 0x20000...0x3FFFD:
      true
    default: false
    }
  }
}
