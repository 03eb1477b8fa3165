/// The number of terminal columns that text takes.
///
/// The rules are those of this package, not of the C library: East Asian Width W and F are two
/// columns, combining marks none, all else one (ambiguous width included). See `CellWidthTable` for
/// the version of Unicode.
package enum CellWidth {
  /// The width of one scalar as a terminal draws it: 0, 1, or 2 columns.
  ///
  /// Control characters have no width of their own; `CellText` replaces them before they are drawn.
  /// O(log n) in the table, O(1) for Latin text.
  package static func width(of scalar: Unicode.Scalar) -> Int {
    let value = scalar.value
    if value < 0x300 { return 1 }
    if contains(value, in: CellWidthTable.zero) { return 0 }
    return contains(value, in: CellWidthTable.wide) ? 2 : 1
  }

  /// Returns the number of columns that `Canvas.put` uses for the character, after sanitizing.
  package static func width(of character: Character) -> Int {
    CellText.cells(of: character, glyphs: .unicode).reduce(0) { $0 + $1.width }
  }

  /// Returns the number of columns that `Canvas.put` uses for the text if there is room, after
  /// sanitizing.
  ///
  /// O(n) in the characters of the text.
  package static func width(of text: String) -> Int {
    var width = 0
    CellText.forEachCell(of: text, glyphs: .unicode) { cluster, _ in
      width += cluster.width
      return true
    }
    return width
  }

  /// The width of the widest of some texts, but at most `most` columns.
  package static func widest(of texts: [String], atMost most: Int) -> Int {
    min(texts.map { width(of: $0) }.max() ?? 0, most)
  }

  /// Returns a text of exactly so many columns: cut if it is too long, padded if it is too short.
  package static func column(_ text: String, _ columns: Int) -> String {
    var shown = text
    while width(of: shown) > columns { shown.removeLast() }
    return shown + String(repeating: " ", count: columns - width(of: shown))
  }

  /// Binary search in pairs of first and last value.
  private static func contains(_ value: UInt32, in pairs: [UInt32]) -> Bool {
    var low = 0
    var high = pairs.count / 2
    while low < high {
      let middle = (low + high) / 2
      if pairs[middle * 2 + 1] < value {
        low = middle + 1
      } else if pairs[middle * 2] > value {
        high = middle
      } else {
        return true
      }
    }
    return false
  }
}
