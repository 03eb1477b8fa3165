/// What stands on a terminal's screen, read from the bytes that a program wrote to it.
///
/// It knows what curses sends for xterm-256color, and of that the text and its places: no colours.
struct ScreenText {
  private enum State {
    case text
    case escape
    /// Between `ESC [` and the letter that ends the sequence.
    case control
    /// After `ESC (` and the like: one more byte.
    case charset
    /// A title or the like, up to BEL or ESC.
    case string
  }

  private let columns: Int
  private let rows: Int
  private var lines: [[Unicode.Scalar]]
  private var row = 0
  private var column = 0
  private var region: ClosedRange<Int>
  private var last: Unicode.Scalar = " "
  private var state = State.text
  private var parameters = ""
  /// How many frames were begun: the program shows each at once, by mode 2026.
  private(set) var frameCount = 0
  /// The bytes of a character that has not ended.
  private var pending: [UInt8] = []

  init(columns: Int, rows: Int) {
    self.columns = columns
    self.rows = rows
    lines = Array(repeating: ScreenText.blank(columns), count: rows)
    region = 0...(rows - 1)
  }

  /// The index of the line with the cursor of a list; nil if there is none.
  var cursorLine: Int? { lines.firstIndex { $0.first == ">" } }

  /// The text of a line.
  func line(_ index: Int) -> String {
    var text = String.UnicodeScalarView()
    text.append(contentsOf: lines[index])
    return String(text)
  }

  /// True if a line has the text in it.
  func contains(_ text: String) -> Bool {
    let wanted = Array(text.unicodeScalars)
    return lines.contains { line in
      line.indices.contains { line[$0...].starts(with: wanted) }
    }
  }

  /// Takes over what was written.
  mutating func feed(_ bytes: some Sequence<UInt8>) {
    for byte in bytes { feed(byte) }
  }

  private mutating func feed(_ byte: UInt8) {
    switch state {
    case .text: feedText(byte)
    case .escape: feedEscape(byte)
    case .control:
      if 0x40...0x7E ~= byte {
        state = .text
        perform(Character(Unicode.Scalar(byte)))
      } else {
        parameters.unicodeScalars.append(Unicode.Scalar(byte))
      }
    case .charset: state = .text
    case .string: if byte == 0x07 || byte == 0x1B { state = byte == 7 ? .text : .escape }
    }
  }

  private mutating func feedText(_ byte: UInt8) {
    switch byte {
    case 0x1B: state = .escape
    case 0x08: column = max(column - 1, 0)
    case 0x09: column = min((column / 8 + 1) * 8, columns - 1)
    case 0x0A: lineFeed()
    case 0x0D: column = 0
    case 0x00...0x1F: break
    case 0x20..<0x80: put(Unicode.Scalar(byte))
    default:
      pending.append(byte)
      var decoder = Unicode.UTF8()
      var bytes = pending.makeIterator()
      if case .scalarValue(let scalar) = decoder.decode(&bytes) {
        pending = []
        put(scalar)
      } else if pending.count >= 4 {
        pending = []
      }
    }
  }

  private mutating func feedEscape(_ byte: UInt8) {
    state = .text
    switch byte {
    case UInt8(ascii: "["):
      parameters = ""
      state = .control
    case UInt8(ascii: "]"), UInt8(ascii: "P"): state = .string
    case UInt8(ascii: "("), UInt8(ascii: ")"): state = .charset
    case UInt8(ascii: "M"):
      if row == region.lowerBound { scroll(by: -1, in: region) } else { row = max(row - 1, 0) }
    default: break
    }
  }

  // MARK: Control sequences

  // tidy:table
  private mutating func perform(_ letter: Character) {
    if letter == "h", parameters == "?2026" { frameCount += 1 }
    // A private sequence (`?`, `>`, `!`) sets modes only.
    if parameters.first.map({ "?>!=".contains($0) }) == true { return }
    let numbers = parameters.split(separator: ";", omittingEmptySubsequences: false)
      .map { Int(String($0)) ?? 0 }
    let mode = numbers.first ?? 0
    let count = max(mode, 1)
    let second = numbers.count > 1 ? numbers[1] : 0
    switch letter {
    case "A": row = max(row - count, 0)
    case "B": row = min(row + count, rows - 1)
    case "C": column = min(column + count, columns - 1)
    case "D": column = max(column - count, 0)
    case "G": column = min(count, columns) - 1
    case "d": row = min(count, rows) - 1
    case "H", "f":
      row = min(count, rows) - 1
      column = min(max(second, 1), columns) - 1
    case "J": eraseScreen(mode)
    case "K": eraseLine(mode)
    case "X": erase(column..<min(column + count, columns), row)
    case "P": deleteCells(count)
    case "@": insertCells(count)
    case "b": for _ in 0..<count { put(last) }
    case "L": if region ~= row { scroll(by: -count, in: row...region.upperBound) }
    case "M": if region ~= row { scroll(by: count, in: row...region.upperBound) }
    case "S": scroll(by: count, in: region)
    case "T": scroll(by: -count, in: region)
    case "r": setRegion(top: count, bottom: second == 0 ? rows : second)
    default: break
    }
  }

  private mutating func setRegion(top: Int, bottom: Int) {
    region = 0...(rows - 1)
    if top < bottom, bottom <= rows { region = (top - 1)...(bottom - 1) }
    (row, column) = (0, 0)
  }

  private mutating func eraseScreen(_ mode: Int) {
    switch mode {
    case 0:
      eraseLine(0)
      for below in (row + 1)..<max(rows, row + 1) { lines[below] = ScreenText.blank(columns) }
    case 1:
      eraseLine(1)
      for above in 0..<row { lines[above] = ScreenText.blank(columns) }
    default: lines = Array(repeating: ScreenText.blank(columns), count: rows)
    }
  }

  private mutating func eraseLine(_ mode: Int) {
    switch mode {
    case 0: erase(column..<columns, row)
    case 1: erase(0..<(column + 1), row)
    default: erase(0..<columns, row)
    }
  }

  private mutating func erase(_ range: Range<Int>, _ row: Int) {
    for column in range.clamped(to: 0..<columns) { lines[row][column] = " " }
  }

  private mutating func deleteCells(_ count: Int) {
    let count = min(count, columns - column)
    lines[row].removeSubrange(column..<(column + count))
    lines[row] += ScreenText.blank(count)
  }

  private mutating func insertCells(_ count: Int) {
    let count = min(count, columns - column)
    lines[row].insert(contentsOf: ScreenText.blank(count), at: column)
    lines[row].removeLast(count)
  }

  // MARK: Text

  private mutating func put(_ scalar: Unicode.Scalar) {
    let width = ScreenText.width(of: scalar)
    if width == 0 { return }
    last = scalar
    if column >= columns {
      column = 0
      lineFeed()
    }
    lines[row][column] = scalar
    // The second half of a wide sign holds nothing.
    if width == 2, column + 1 < columns { lines[row][column + 1] = "\u{0}" }
    column += width
  }

  private mutating func lineFeed() {
    if row == region.upperBound {
      scroll(by: 1, in: region)
    } else {
      row = min(row + 1, rows - 1)
    }
  }

  /// Moves the lines of a region up, or down if negative.
  private mutating func scroll(by count: Int, in region: ClosedRange<Int>) {
    let count = min(max(count, -region.count), region.count)
    let empty = Array(repeating: ScreenText.blank(columns), count: Int(count.magnitude))
    let kept = Array(lines[region])
    let moved = count >= 0 ? kept.dropFirst(count) + empty : empty + kept.dropLast(-count)
    lines.replaceSubrange(region, with: moved)
  }

  private static func blank(_ count: Int) -> [Unicode.Scalar] {
    Array(repeating: " ", count: count)
  }

  /// How many columns a sign takes, near enough for the demo's texts.
  private static func width(of scalar: Unicode.Scalar) -> Int {
    switch scalar.value {
    case 0x300...0x36F, 0x200B...0x200F, 0xFE00...0xFE0F: 0
    case 0x1100...0x115F, 0x2E80...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFF00...0xFF60,
      0x1F300...0x1FAFF:
      2
    default: 1
    }
  }
}
