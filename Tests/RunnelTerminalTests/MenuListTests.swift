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
    let longest = String(repeating: "x", count: FuzzyMatch.textMax)
    #expect(FuzzyMatch(longest, in: longest + "x") != nil)
    #expect(FuzzyMatch(longest + "x", in: longest + "x") == nil)
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

@Suite struct MenuListTests {
  private let items = [
    MenuList.Item(id: "1", title: "down", name: "row.down", keys: "j"),
    MenuList.Item(id: "2", title: "page down", name: "page.down", keys: "C-f"),
    MenuList.Item(
      id: "3", title: "delete the record…", name: "record.delete", refusal: "read-only"),
  ]

  @Test func lettersNarrowAndOrder() {
    var menu = MenuList(items)
    #expect(menu.shown.map(\.id) == ["1", "2", "3"])
    menu.narrow(to: "pd")
    #expect(menu.shown.map(\.id) == ["2"])
    menu.narrow(to: "down")
    #expect(menu.shown.map(\.id) == ["1", "2"])
    menu.narrow(to: "zzz")
    #expect(menu.shown == [])
    #expect(menu.selected == nil)
    menu.move(by: 1)
    menu.movePage(by: 1, height: 5)
    #expect(menu.itemCount == 3)
  }

  @Test func selectionGoesRoundAndBeginsAnewWithOtherLetters() {
    var menu = MenuList(items)
    #expect(menu.selected?.id == "1")
    menu.move(by: -1)
    #expect(menu.selected?.id == "3")
    menu.move(by: 1)
    #expect(menu.selected?.id == "1")
    menu.move(by: -7)
    #expect(menu.selected?.id == "3")
    menu.narrow(to: "d")
    #expect(menu.selected?.id == menu.shown.first?.id)
  }

  @Test func pagesEndAtTheEnds() {
    var menu = MenuList((0..<30).map { MenuList.Item(id: "\($0)", title: "item \($0)") })
    menu.movePage(by: 1, height: 11)
    #expect(menu.selected?.id == "10")
    menu.movePage(by: 9, height: 11)
    #expect(menu.selected?.id == "29")
    menu.movePage(by: -9, height: 11)
    #expect(menu.selected?.id == "0")
  }

  @Test func otherItemsKeepTheSelection() {
    var menu = MenuList(items)
    menu.select("2")
    menu.replaceItems(with: items.reversed())
    #expect(menu.selected?.id == "2")
    menu.replaceItems(with: [items[0]])
    #expect(menu.selected?.id == "1")
    menu.replaceItems(with: [])
    #expect(menu.selected == nil)
  }

  @Test func boxHasFieldItemsKeysNotesAndReasons() {
    var canvas = Canvas(size: TerminalSize(columns: 50, rows: 7))
    var menu = MenuList(
      items + [MenuList.Item(id: "4", title: "dense", note: "by key", isChosen: true)])
    menu.narrow(to: "de")
    menu.draw(into: &canvas, box: canvas.bounds, title: "Do", editor: LineEditor("de"))
    let lines = canvas.textLines()
    #expect(lines[0].hasPrefix("┌─ Do "))
    #expect(lines[1].hasPrefix("│ de"))
    #expect(lines.contains { $0.contains("delete the record…") && $0.contains("read-only") })
    #expect(lines.contains { $0.contains("* dense") && $0.contains("by key") })
    #expect(lines[2].hasPrefix("│>"))
    #expect(canvas.cursor == Position(row: 1, column: 4))
  }

  @Test func selectionStaysInSight() {
    let many = (0..<30).map { MenuList.Item(id: "\($0)", title: "item \($0)") }
    var menu = MenuList(many)
    for step in 0..<30 {
      var canvas = Canvas(size: TerminalSize(columns: 20, rows: 8))
      menu.draw(into: &canvas, rect: canvas.bounds)
      let line = canvas.textLines().firstIndex { $0.hasPrefix(">  item \(step)") }
      #expect(line != nil)
      var clicked = menu
      #expect(clicked.select(line: line ?? -1, height: 8) && clicked.selected == menu.selected)
      menu.move(by: 1)
    }
    #expect(menu.select(line: 9, height: 8) == false)
  }

  @Test func menuFitsEverywhere() {
    for rows in 0...5 {
      for columns in 0...12 {
        var canvas = Canvas(size: TerminalSize(columns: columns, rows: rows))
        MenuList(items).draw(into: &canvas, rect: canvas.bounds)
        MenuList(items)
          .draw(into: &canvas, box: canvas.bounds, title: "Do", editor: LineEditor("d"))
      }
    }
  }
}
