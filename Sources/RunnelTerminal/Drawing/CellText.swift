/// Text that fills one cell of the screen, or two if it is wide.
package struct CellCluster: Hashable, Sendable {
  /// One spacing scalar and the marks drawn over it.
  let scalars: CellScalars
  /// The number of columns: 1 or 2.
  package let width: Int

  init(_ scalars: CellScalars, width: Int) {
    self.scalars = scalars
    self.width = width
  }

  init(text: String, width: Int) { self.init(CellScalars(text), width: width) }

  /// One spacing scalar and the marks drawn over it, as text.
  package var text: String { scalars.text }
}

extension CellCluster {
  /// Whether the letter is written from right to left.
  ///
  /// Source: the blocks of Unicode whose letters are of the classes R and AL.
  var isRightToLeft: Bool {
    guard scalars.base >= 0x590 else { return false }
    return switch scalars.base {
    case 0x590...0x8FF, 0xFB1D...0xFDFF, 0xFE70...0xFEFE, 0x10800...0x10FFF, 0x1E800...0x1EFFF:
      true
    default: false
    }
  }

  /// The cluster with a left-to-right mark, which takes no column but the room of one combining
  /// mark.
  var withDirectionMark: CellCluster {
    var scalars = scalars.prefix(CellText.marksMax)
    scalars.append("\u{200E}")
    return CellCluster(scalars, width: width)
  }
}

/// Turns any text into cells that every terminal draws with the same width.
///
/// curses moves the cursor relatively, by its own widths: if the terminal disagrees once, the rest
/// of the row is shifted. So a cluster on which terminals disagree is replaced by one on which they
/// agree:
/// - a joined emoji becomes its first emoji; variation selectors, skin tones, and the keycap are
///   removed;
/// - a flag becomes its two letters;
/// - a cluster with more than one spacing scalar is drawn scalar by scalar;
/// - a cell keeps at most `marksMax` combining marks; a mark without a base stands on `◌`;
/// - tabs and line ends become `⇥` and `⏎`, other control characters, including ESC, their picture;
/// - every format character (also bidirectional overrides and isolates) is removed: they could make
///   one value look like another. `LineFitting` adds the mark that separates right-to-left text
///   from its neighbors.
public enum CellText {
  /// The greatest number of combining marks in a cell: what a curses cell can hold beside its base.
  public static let marksMax = 4

  /// The cells of a text, in order.
  ///
  /// O(n) in the scalars of the text.
  package static func sanitize(_ text: String, glyphs: Glyphs = .unicode) -> [CellCluster] {
    var cells: [CellCluster] = []
    forEachCell(of: text, glyphs: glyphs) { cluster, _ in
      cells.append(cluster)
      return true
    }
    return cells
  }

  /// Passes the cells of a text to `body`, in order, each with the index after its character, until
  /// there are no more or `body` returns false.
  ///
  /// Between plain ASCII characters, character boundaries need not be computed.
  @inline(__always)
  static func forEachCell(
    of text: String, glyphs: Glyphs, _ body: (CellCluster, _ end: String.Index) -> Bool
  ) {
    let bytes = text.utf8
    var index = bytes.startIndex
    while index < bytes.endIndex {
      let byte = bytes[index]
      let next = bytes.index(after: index)
      if 0x20..<0x7F ~= byte, next == bytes.endIndex || bytes[next] < 0x80 {
        guard body(CellCluster(CellScalars(ascii: byte), width: 1), next) else { return }
        index = next
        continue
      }
      let character = text[index]
      index = text.index(after: index)
      if let cluster = wellKnown(character) {
        guard body(cluster, index) else { return }
        continue
      }
      for cluster in cells(of: character, glyphs: glyphs) {
        guard body(cluster, index) else { return }
      }
    }
  }

  /// The cell of a character that is one scalar from a simple block: Latin, signs, lines, kana, Han
  /// and Hangul; nil for any other.
  private static func wellKnown(_ character: Character) -> CellCluster? {
    let scalars = character.unicodeScalars
    guard let scalar = scalars.first else { return nil }
    switch scalar.value {
    case 0xA0...0xAC, 0xAE...0x2FF, 0x2010...0x2027, 0x2190...0x23CF, 0x2500...0x25FF,
      0x3041...0x3096, 0x30A1...0x30FA,
      0x4E00...0x9FA5, 0xAC00...0xD7A3:
      guard scalars.index(after: scalars.startIndex) == scalars.endIndex else { return nil }
      return CellCluster(CellScalars(scalar), width: CellWidth.width(of: scalar))
    default: return nil
    }
  }

  /// The text in exactly so many columns: cut with an ellipsis, or padded with blanks.
  ///
  /// - Parameters:
  ///   - text: any text; it is sanitized when it is drawn.
  ///   - width: the columns; below 1 for none.
  ///   - isRight: whether the blanks come first.
  ///   - glyphs: the signs of the screen.
  /// - Returns: a text that takes `width` columns when it is drawn. O(width).
  public static func fitted(
    _ text: String, to width: Int, isRight: Bool, glyphs: Glyphs
  ) -> String {
    guard width > 0 else { return "" }
    let bytes = text.utf8
    if bytes.count <= width, bytes.allSatisfy({ 0x20..<0x7F ~= $0 }) {
      let blanks = String(repeating: " ", count: width - bytes.count)
      return isRight ? blanks + text : text + blanks
    }
    let room = width - glyphs.ellipsis.count
    var total = 0
    // `cut` and `kept` are the place where a text that is too long is cut, and the columns up to
    // there; `current` is the end of the current character, which may have several cells.
    var (cut, kept) = (text.startIndex, 0)
    var current = text.startIndex
    forEachCell(of: text, glyphs: glyphs) { cluster, end in
      if end != current {
        if total <= room { (cut, kept) = (current, total) }
        current = end
      }
      total += cluster.width
      return total <= width
    }
    if total <= width {
      let blanks = String(repeating: " ", count: width - total)
      return isRight ? blanks + text : text + blanks
    }
    guard room >= 0 else { return String(repeating: " ", count: width) }
    return text[..<cut] + glyphs.ellipsis + String(repeating: " ", count: room - kept)
  }

  /// Returns the cells of a character: usually one, none for a character that must not be shown.
  static func cells(of character: Character, glyphs: Glyphs) -> [CellCluster] {
    let scalars = character.unicodeScalars
    guard let first = scalars.first else { return [] }
    if first.value < 0x20 || (0x7F..<0xA0).contains(first.value) {
      return control(first, glyphs: glyphs)
    }
    if first.value < 0x300, scalars.count == 1 {
      return first.value == 0xAD ? [] : [CellCluster(CellScalars(first), width: 1)]
    }
    if isFlagLetter(first) { return flagLetters(scalars) }
    if let syllable = hangulSyllable(scalars) { return [CellCluster(text: syllable, width: 2)] }
    return spelled(scalars, keepsOnlyFirst: isPictograph(first), glyphs: glyphs)
  }

  // MARK: - Kinds of cluster

  private static func control(_ scalar: Unicode.Scalar, glyphs: Glyphs) -> [CellCluster] {
    switch scalar.value {
    case 0x09: return [CellCluster(text: glyphs.tab, width: 1)]
    // "\r\n" is one character: its first scalar decides for both.
    case 0x0A, 0x0D: return [CellCluster(text: glyphs.lineEnd, width: 1)]
    case let value where value < 0x20 && !glyphs.isASCII:
      return picture(0x2400 + value, glyphs: glyphs)
    case 0x7F where !glyphs.isASCII: return picture(0x2421, glyphs: glyphs)
    default: return [CellCluster(text: glyphs.control, width: 1)]
    }
  }

  private static func picture(_ value: UInt32, glyphs: Glyphs) -> [CellCluster] {
    [CellCluster(text: Unicode.Scalar(value).map { String($0) } ?? glyphs.control, width: 1)]
  }

  private static func flagLetters(_ scalars: String.UnicodeScalarView) -> [CellCluster] {
    scalars.filter(isFlagLetter).compactMap { scalar in
      Unicode.Scalar(scalar.value - 0x1F1E6 + 0x41).map {
        CellCluster(CellScalars($0), width: 1)
      }
    }
  }

  /// The composed form of a syllable that consists of separate letters.
  ///
  /// Terminals that do not join the letters would draw up to four columns.
  private static func hangulSyllable(_ scalars: String.UnicodeScalarView) -> String? {
    let values = scalars.map(\.value)
    guard values.count == 2 || values.count == 3, (0x1100...0x1112).contains(values[0]),
      (0x1161...0x1175).contains(values[1])
    else { return nil }
    var value = 0xAC00 + ((values[0] - 0x1100) * 21 + values[1] - 0x1161) * 28
    if values.count == 3 {
      guard (0x11A8...0x11C2).contains(values[2]) else { return nil }
      value += values[2] - 0x11A7
    }
    return Unicode.Scalar(value).map { String($0) }
  }

  /// Returns one cell for each spacing scalar, with the marks that follow it.
  private static func spelled(
    _ scalars: String.UnicodeScalarView, keepsOnlyFirst: Bool, glyphs: Glyphs
  ) -> [CellCluster] {
    var cells: [CellCluster] = []
    var base = CellScalars()
    var width = 0
    var markCount = 0
    for scalar in scalars where !isInvisible(scalar) {
      let scalarWidth = CellWidth.width(of: scalar)
      if scalarWidth > 0 {
        if width > 0 {
          if keepsOnlyFirst { break }
          cells.append(CellCluster(base, width: width))
        }
        let sign = replacement(for: scalar, glyphs: glyphs)
        base = sign.map { CellScalars($0) } ?? CellScalars(scalar)
        width = sign == nil ? scalarWidth : 1
        markCount = 0
      } else if markCount < marksMax {
        if width == 0 {
          base = CellScalars(glyphs.markBase)
          width = 1
        }
        base.append(scalar)
        markCount += 1
      }
    }
    if width > 0 { cells.append(CellCluster(base, width: width)) }
    return cells
  }

  // MARK: - Kinds of scalar

  private static func isFlagLetter(_ scalar: Unicode.Scalar) -> Bool {
    (0x1F1E6...0x1F1FF).contains(scalar.value)
  }

  /// Whether a scalar is a symbol, of which a joined sequence shows only the first.
  private static func isPictograph(_ scalar: Unicode.Scalar) -> Bool {
    scalar.properties.generalCategory == .otherSymbol || (0x1F3FB...0x1F3FF).contains(scalar.value)
  }

  /// Whether a scalar changes how others look, without a picture of its own.
  private static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x034F, 0x115F, 0x1160, 0x20E3, 0x3164, 0xFFA0: true
    case 0xFE00...0xFE0F, 0xE0100...0xE01EF: true
    default: scalar.properties.generalCategory == .format
    }
  }

  /// The replacement of a scalar that no terminal can draw; nil for a scalar that it can.
  private static func replacement(for scalar: Unicode.Scalar, glyphs: Glyphs) -> String? {
    switch scalar.properties.generalCategory {
    case .unassigned, .control, .surrogate: glyphs.unknown
    case .lineSeparator, .paragraphSeparator: glyphs.lineEnd
    default: nil
    }
  }
}
