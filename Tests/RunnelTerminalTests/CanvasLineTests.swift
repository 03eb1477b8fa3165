import RunnelBase
import Testing

@testable import RunnelTerminal

@Suite struct CanvasLineTests {
  private func line(_ text: String, width: Int) -> CanvasLine {
    var line = CanvasLine(width: width)
    line.put(StyledLine(text), at: 0, width: width, glyphs: .unicode)
    return line
  }

  /// True if each wide cell has its second half, and there is no second half without a first.
  private func isWhole(_ line: CanvasLine) -> Bool {
    line.cells.indices.allSatisfy { index in
      switch line.cells[index].width {
      case 2: index + 1 < line.width && line.cells[index + 1].width == 0
      case 0: index > 0 && line.cells[index - 1].width == 2
      default: true
      }
    }
  }

  @Test func everyCutOfAWideLineLeavesWholeCells() {
    let source = line("漢字a漢", width: 7)
    for width in 0...9 {
      for column in -8...9 {
        var target = line("字漢字漢字", width: width)
        target.put(source, at: column)
        #expect(isWhole(target), "\(width) columns, at \(column)")
        for index in 0..<width where (column..<column + 7).contains(index) {
          let cell = target.cells[index]
          let wanted = source.cells[index - column]
          #expect(
            cell == wanted || cell.text == " ", "\(width) columns, at \(column), cell \(index)")
        }
      }
    }
  }

  @Test func aLineAsWideTakesThePlaceOfTheWhole() {
    var target = line("something else", width: 14)
    let source = line("all of it", width: 14)
    target.put(source, at: 0)
    #expect(target == source)
  }

  @Test func filledColumnsLeaveWholeCells() {
    for start in 0...6 {
      for end in start...6 {
        var target = line("漢字漢", width: 6)
        target.fill(start..<end, role: .muted)
        #expect(isWhole(target))
        #expect(target.cells[start..<end].allSatisfy { $0 == .blank(.muted) })
      }
    }
  }

  @Test func aTextIsDrawnAsItsClustersOneByOne() {
    var random = SeededRandom(seed: 21)
    let (plain, other) = (["a", " ", "~", "7"], ["漢", "é", "…", "\u{301}", "א"])
    for _ in 0..<2000 {
      func text(_ pieces: [String]) -> String {
        (0..<Int.random(in: 0...9, using: &random))
          .map { _ in pieces.randomElement(using: &random) ?? "" }.joined()
      }
      var drawn = line(text(plain + other), width: 9)
      var expected = drawn
      var words = StyledLine(text(plain), .muted)
      words.append(text(Bool.random(using: &random) ? plain : plain + other), .strong)
      let column = Int.random(in: -3...9, using: &random)
      let width = Int.random(in: 0...12, using: &random)
      let taken = drawn.put(words, at: column, width: width, glyphs: .unicode)
      var next = column
      for (cluster, role) in LineFitting(words, width: width, glyphs: .unicode).clusters {
        expected.write(cluster, at: next, role: role)
        next += cluster.width
      }
      #expect(drawn == expected)
      #expect(taken == next - column)
    }
  }

  @Test func changesCoverAllThatDiffersAndNoHalfOfAWideCell() {
    var random = SeededRandom(seed: 20)
    let pieces = ["漢", "a", " ", "字", "b"]
    for _ in 0..<2000 {
      func text() -> String {
        (0..<6).map { _ in pieces.randomElement(using: &random) ?? "" }.joined()
      }
      let (old, new) = (line(text(), width: 9), line(text(), width: 9))
      let changes = new.changes(from: old)
      for index in 0..<9 where !changes.contains(index) {
        #expect(old.cells[index] == new.cells[index])
      }
      #expect(changes.isEmpty == (old == new))
      for edge in [changes.lowerBound, changes.upperBound] where (1..<9).contains(edge) {
        #expect(old.cells[edge].width > 0)
        #expect(new.cells[edge].width > 0)
      }
    }
  }
}

@Suite struct CanvasChangeTests {
  @Test func theChangedRowsAreThoseWithACellThatDiffers() {
    var random = SeededRandom(seed: 22)
    for _ in 0..<500 {
      var old = Canvas(size: TerminalSize(columns: 9, rows: 6))
      for row in 0..<6 { old.put("row \(row)", at: Position(row: row, column: 0), width: 9) }
      var new = Bool.random(using: &random) ? old : Canvas(size: old.size)
      for _ in 0..<Int.random(in: 0...4, using: &random) {
        let place = Position(
          row: Int.random(in: 0..<6, using: &random), column: Int.random(in: 0..<9, using: &random))
        new.put("r", at: place, width: 1)
      }
      let differing = (0..<6).filter { row in
        (0..<9).contains { column in
          let place = Position(row: row, column: column)
          return old.cell(at: place) != new.cell(at: place)
        }
      }
      #expect(new.changedRows(from: old) == differing)
    }
  }
}

@Suite struct CanvasScrollTests {
  private func canvas(_ lines: [String]) -> Canvas {
    var canvas = Canvas(size: TerminalSize(columns: 12, rows: lines.count))
    for (row, line) in lines.enumerated() {
      canvas.put(line, at: Position(row: row, column: 0), width: 12)
    }
    return canvas
  }

  private func scroll(_ old: [String], _ new: [String]) -> CanvasScroll? {
    let (old, new) = (canvas(old), canvas(new))
    let changed = (0..<new.size.rows).filter { old.line($0) != new.line($0) }
    return new.scroll(from: old, changed: changed)
  }

  private let rows = (0..<20).map { "row \($0)" }

  @Test(arguments: [-3, -2, -1, 1, 2, 3])
  func aListBetweenAHeaderAndAFooterIsSeenToMove(lines: Int) {
    let old = ["header"] + rows[5..<13] + ["rule", "row 7 of 20"]
    let new = ["header"] + rows[5 + lines..<13 + lines] + ["rule", "row \(7 + lines) of 20"]
    #expect(scroll(old, new) == CanvasScroll(rows: 1..<9, lines: lines))
  }

  @Test func whatMovesByMoreOrChangesEverywhereIsNoScroll() {
    #expect(scroll(Array(rows[0..<8]), Array(rows[8..<16])) == nil)
    #expect(scroll(Array(rows[0..<8]), Array(rows[4..<12])) == nil)
    #expect(scroll(rows, rows) == nil)
    #expect(scroll(["a", "b", "c"], ["b", "c", "d"]) == nil)
  }

  @Test func whereARowComesFromIsWhereItStood() {
    let scroll = CanvasScroll(rows: 2..<6, lines: 2)
    #expect(
      (0..<7).map { scroll.source(of: $0) }
        == [.row(0), .row(1), .row(4), .row(5), .blank, .blank, .row(6)])
  }
}
