import Testing

@testable import RunnelTerminal

@Suite struct FuzzyMatchTests {
  @Test func lettersFitInOrderAndTheirPlacesAreTold() throws {
    #expect(FuzzyMatch("rdn", in: "row.down")?.positions == [0, 4, 7])
    #expect(FuzzyMatch("down", in: "row.down")?.positions == [4, 5, 6, 7])
    #expect(FuzzyMatch("nd", in: "down") == nil)
    #expect(FuzzyMatch("", in: "x")?.positions == [])
    #expect(FuzzyMatch("xx", in: "x") == nil)
    #expect(FuzzyMatch("a b", in: "ab") != nil)
  }

  @Test func upperCaseFitsOnlyItself() {
    #expect(FuzzyMatch("r", in: "Row") != nil)
    #expect(FuzzyMatch("R", in: "row") == nil)
    #expect(FuzzyMatch("é", in: "Été") != nil)
  }

  @Test(arguments: [
    ("rd", "row.down", "hardly"), ("page", "page down", "a p-a-g-e"),
    ("fold", "fold", "unfold all"),
    ("gt", "go to", "night"), ("view", "next view", "vienna we"),
  ])
  func betterFitScoresMore(pattern: String, better: String, worse: String) throws {
    let good = try #require(FuzzyMatch(pattern, in: better))
    let bad = try #require(FuzzyMatch(pattern, in: worse))
    #expect(good.score > bad.score)
  }

  /// Every way in which a pattern fits, scored by the rules.
  private func bestByAllWays(_ pattern: [Character], _ text: [Character]) -> Int? {
    var best: Int?
    func go(_ row: Int, _ from: Int, _ last: Int?, _ score: Int) {
      guard row < pattern.count else {
        best = max(best ?? .min, score)
        return
      }
      for place in from..<max(from, text.count) where text[place] == pattern[row] {
        let isStart = place == 0 || !(text[place - 1].isLetter || text[place - 1].isNumber)
        var next = score + 16 + (isStart ? 12 : 0)
        if let last {
          next += place == last + 1 ? 16 : -(place - last - 1)
        } else {
          next -= min(place, 8)
        }
        go(row + 1, place + 1, place, next)
      }
    }
    go(0, 0, nil, 0)
    return best
  }

  @Test func bestWayIsFoundInEverySmallText() {
    let letters: [Character] = ["a", "b", " "]
    for length in 1...7 {
      for number in 0..<Self.power(3, length) {
        var rest = number
        let text = (0..<length).map { _ in
          defer { rest /= 3 }
          return letters[rest % 3]
        }
        for pattern in ["a", "ab", "aba", "bba"] {
          let match = FuzzyMatch(pattern, in: String(text))
          #expect(match?.score == bestByAllWays(Array(pattern), text), "\(pattern) in \(text)")
          #expect(match.map { $0.positions.map { text[$0] } } ?? Array(pattern) == Array(pattern))
        }
      }
    }
  }

  private static func power(_ base: Int, _ exponent: Int) -> Int {
    (0..<exponent).reduce(1) { result, _ in result * base }
  }
}

@Suite struct PaletteTests {
  private let items = [
    Palette.Item(id: "1", title: "down", name: "row.down", keys: "j"),
    Palette.Item(id: "2", title: "page down", name: "page.down", keys: "C-f"),
    Palette.Item(id: "3", title: "delete the record…", name: "record.delete", refusal: "read-only"),
  ]

  @Test func typingNarrowsAndOrders() {
    var palette = Palette(items)
    #expect(palette.shown.map(\.id) == ["1", "2", "3"])
    palette.insert("pd")
    #expect(palette.shown.map(\.id) == ["2"])
    #expect(palette.perform(.inputKillToStart) == true)
    palette.insert("down")
    #expect(palette.shown.map(\.id) == ["1", "2"])
    palette.insert("zzz")
    #expect(palette.shown == [])
    #expect(palette.selected == nil)
    palette.move(by: 1)
  }

  @Test func selectionGoesRoundAndBeginsAnewWithTyping() {
    var palette = Palette(items)
    #expect(palette.selected?.id == "1")
    #expect(palette.perform(.inputPrevious) == true)
    #expect(palette.selected?.id == "3")
    #expect(palette.perform(.inputNext) == true)
    #expect(palette.selected?.id == "1")
    palette.move(by: -7)
    #expect(palette.selected?.id == "3")
    palette.insert("d")
    #expect(palette.selected?.id == palette.shown.first?.id)
    #expect(palette.perform(ActionID("input.accept")) == false)
  }

  @Test func paletteDrawsFieldItemsKeysAndReasons() {
    var canvas = Canvas(size: TerminalSize(columns: 40, rows: 6))
    var palette = Palette(items)
    palette.insert("de")
    palette.draw(into: &canvas, rect: canvas.bounds, title: "Do")
    let lines = canvas.textLines()
    #expect(lines[0].hasPrefix("┌─ Do "))
    #expect(lines[1].hasPrefix("│ de"))
    #expect(lines[2].hasPrefix("│ > delete the record…"))
    #expect(lines[2].contains("read-only"))
    #expect(canvas.roleLines()[2].contains("qq"))
    #expect(canvas.cursor == Position(row: 1, column: 4))
  }

  @Test func selectionStaysInSight() {
    let many = (0..<30).map { Palette.Item(id: "\($0)", title: "item \($0)") }
    var palette = Palette(many)
    for step in 0..<30 {
      var canvas = Canvas(size: TerminalSize(columns: 20, rows: 8))
      palette.draw(into: &canvas, rect: canvas.bounds, title: "x")
      #expect(canvas.textLines().contains { $0.contains("> item \(step) ") })
      palette.move(by: 1)
    }
  }

  @Test func paletteFitsEverywhere() {
    for rows in 0...5 {
      for columns in 0...12 {
        var canvas = Canvas(size: TerminalSize(columns: columns, rows: rows))
        Palette(items).draw(into: &canvas, rect: canvas.bounds, title: "Do")
      }
    }
  }
}

@Suite struct FilterLineTests {
  private let fields = ["author", "age", "likes"]

  @Test func completionGoesThroughWhatBeginsLikeTheWordAndBack() {
    var line = FilterLine("likes > 3 and a")
    #expect(line.word == "a")
    let completed = (0..<4).map { _ in
      #expect(line.complete(with: fields) == true)
      return line.text
    }
    #expect(
      completed == [
        "likes > 3 and author", "likes > 3 and age", "likes > 3 and a", "likes > 3 and author",
      ])
    #expect(line.complete(with: fields, isBackward: true) == true)
    #expect(line.text == "likes > 3 and a")
  }

  @Test func typingEndsACompletion() {
    var line = FilterLine("a")
    _ = line.complete(with: fields)
    line.insert(" == l")
    #expect(line.complete(with: fields) == true)
    #expect(line.text == "author == likes")
    #expect(!FilterLineTests.completes("z", fields))
    #expect(!FilterLineTests.completes("likes", fields))
  }

  private static func completes(_ text: String, _ fields: [String]) -> Bool {
    var line = FilterLine(text)
    return line.complete(with: fields)
  }

  @Test func wordEndsAtBlanksAndBrackets() {
    #expect(FilterLine("not (au").word == "au")
    #expect(FilterLine("x == \"a").word == "a")
    #expect(FilterLine("x ").word == "")
  }

  @Test func historyComesWithUpAndGoesWithDown() {
    var line = FilterLine("", history: LineHistory(["one"]))
    line.insert("two")
    #expect(line.accept() == "two")
    line.insert("!")
    let texts = [ActionID.inputPrevious, .inputPrevious, .inputNext, .inputNext, .inputDeleteBack]
      .map { action in
        #expect(line.perform(action) == true)
        return line.text
      }
    #expect(texts == ["two", "one", "two", "two!", "two"])
  }

  @Test func resultStandsAtTheEndAndTheErrorBelow() {
    var canvas = Canvas(size: TerminalSize(columns: 30, rows: 2))
    FilterLine("likes >").draw(
      into: &canvas, rect: canvas.bounds, label: "filter", result: "3 of 9",
      error: "a value is missing")
    #expect(canvas.textLines() == ["filter likes >          3 of 9", "! a value is missing"])
    for columns in 0...9 {
      var small = Canvas(size: TerminalSize(columns: columns, rows: 1))
      FilterLine("likes").draw(into: &small, rect: small.bounds, label: "f", result: "3 of 9")
    }
  }
}
