/// The cells of a text of separated values, line by line.
///
/// Source: RFC 4180; a single line feed also ends a line. Besides commas, semicolons and tabs separate
/// cells: programs for tables write them where a comma stands in numbers.
package struct CellTable {
  /// The signs that separate cells, the most likely first.
  private static let separators: [Unicode.Scalar] = [",", ";", "\t"]

  /// The sign between two cells.
  package let separator: Unicode.Scalar
  /// A line that is not empty.
  package struct Line {
    /// The number of the line, from 1.
    package let number: Int
    package let cells: [String]
    /// The line as it stands, without its end.
    package let text: Substring
    /// The empty lines before it.
    let gap: Substring
    /// What ends it; empty for a last line without an end.
    let end: String
  }

  /// The lines; empty ones are left out.
  package private(set) var lines: [Line] = []
  /// The empty lines after the last one.
  private(set) var tail: Substring = ""

  /// Reads a text.
  ///
  /// - Parameters:
  ///   - text: the text; a byte order mark before it is ignored.
  ///   - isHeadOnly: whether only the first line is read.
  ///   - isWanted: is told how much is read, from 0 to 1; false ends the reading.
  /// - Throws: `ImportPlan.Unreadable` if quotes have no end, or the reading was ended.
  package init(
    _ text: String, isHeadOnly: Bool = false, isWanted: (Double) -> Bool = { _ in true }
  ) throws(ImportPlan.Unreadable) {
    let size = Double(max(1, text.utf8.count))
    separator = CellTable.separator(of: text)
    var cells: [String] = []
    var cell = ""
    var (number, start) = (1, 1)
    var (isQuoted, wasQuoted) = (false, false)
    var scalars = text.unicodeScalars[...]
    if scalars.first == "\u{FEFF}" { scalars.removeFirst() }
    func isBlank() -> Bool { cells.isEmpty && cell.isEmpty && !wasQuoted }
    var (lineStart, place) = (scalars.startIndex, scalars.startIndex)
    var gapStart = scalars.startIndex
    func line(end: Unicode.Scalar?) -> Line {
      let line = text.unicodeScalars[lineStart..<place]
      let hasReturn = line.last == "\r" && end == "\n"
      return Line(
        number: start, cells: cells + [cell], text: Substring(hasReturn ? line.dropLast() : line),
        gap: Substring(text.unicodeScalars[gapStart..<lineStart]),
        end: hasReturn ? "\r\n" : end.map { String($0) } ?? "")
    }
    while let scalar = scalars.popFirst() {
      defer { place = scalars.startIndex }
      if isQuoted {
        if scalar == "\n" { number += 1 }
        if scalar != "\"" {
          cell.unicodeScalars.append(scalar)
        } else if scalars.first == "\"" {
          scalars.removeFirst()
          cell.unicodeScalars.append(scalar)
        } else {
          isQuoted = false
        }
        continue
      }
      switch scalar {
      case "\"" where cell.isEmpty && !wasQuoted: (isQuoted, wasQuoted) = (true, true)
      case separator:
        cells.append(cell)
        (cell, wasQuoted) = ("", false)
      case "\r" where scalars.first == "\n": break
      case "\n", "\r":
        if !isBlank() {
          lines.append(line(end: scalar))
          gapStart = scalars.startIndex
        }
        if isHeadOnly, !lines.isEmpty { return }
        if number.isMultiple(of: ImportPlan.progressStep),
          !isWanted(1 - Double(Substring(scalars).utf8.count) / size)
        {
          throw ImportPlan.ended
        }
        (cells, cell, wasQuoted) = ([], "", false)
        number += 1
        start = number
        lineStart = scalars.startIndex
      default: cell.unicodeScalars.append(scalar)
      }
    }
    if isQuoted {
      throw ImportPlan.Unreadable(
        message: "the quotes that begin in line \(start) have no end")
    }
    if isBlank() {
      tail = Substring(text.unicodeScalars[gapStart...])
    } else {
      lines.append(line(end: nil))
    }
  }

  /// Returns the cells of a line as they stand, with their quotes.
  ///
  /// O(line).
  static func texts(in line: Substring, separator: Unicode.Scalar) -> [Substring] {
    let scalars = line.unicodeScalars
    var texts: [Substring] = []
    var (start, place) = (scalars.startIndex, scalars.startIndex)
    var isQuoted = false
    while place < scalars.endIndex {
      let next = scalars.index(after: place)
      switch scalars[place] {
      case "\"" where isQuoted:
        // Two quotes stand for one.
        if next < scalars.endIndex, scalars[next] == "\"" {
          place = scalars.index(after: next)
          continue
        }
        isQuoted = false
      case "\"" where place == start: isQuoted = true
      case separator where !isQuoted:
        texts.append(Substring(scalars[start..<place]))
        start = next
      default: break
      }
      place = next
    }
    return texts + [Substring(scalars[start...])]
  }

  /// Returns the sign that stands most often in the first line, outside of quotes; a comma if none does.
  private static func separator(of text: String) -> Unicode.Scalar {
    var counts = [Int](repeating: 0, count: separators.count)
    var isQuoted = false
    for scalar in text.unicodeScalars {
      if scalar == "\"" { isQuoted.toggle() }
      if isQuoted { continue }
      if scalar == "\n" || scalar == "\r", counts.contains(where: { $0 > 0 }) { break }
      if let index = separators.firstIndex(of: scalar) { counts[index] += 1 }
    }
    let most = counts.max() ?? 0
    return counts.firstIndex(of: most).map { separators[$0] } ?? ","
  }
}
