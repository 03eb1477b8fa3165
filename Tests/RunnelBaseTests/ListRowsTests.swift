import Testing

@testable import RunnelBase

@Suite struct ListRowsTests {
  /// Rows that are kept by somebody: numbers from one on.
  private struct Numbers: ListRowSource {
    var numbers: Range<Int>
    var count: Int { numbers.count }
    func ids(in range: Range<Int>) -> [String] {
      range.map { "\(numbers.lowerBound + $0)" }
    }
    func isCopy(of other: any ListRowSource) -> Bool { (other as? Numbers)?.numbers == numbers }
  }

  @Test func rowsOfASourceAreReadWhereTheyAre() {
    let rows = ListRows(Numbers(numbers: 3..<6))
    #expect(Array(rows) == ["3", "4", "5"])
    #expect(rows.first == "3" && rows.last == "5" && rows.firstIndex(of: "4") == 1)
    #expect(
      ListContent(sections: [ListSection(id: "a", rows: rows)]).indexPath(ofRow: "5")?.row == 2)
  }

  @Test(arguments: [1, 2, 15, 16, 17, 63, 64, 65, 79, 80, 81, 300])
  func rowsOfASourceAreTheSameInWhateverOrderTheyAreRead(count: Int) {
    var generator = ListGenerator(seed: UInt64(count))
    let rows = ListRows(Numbers(numbers: 5..<5 + count))
    for _ in 0..<500 {
      let index = Int.random(in: 0..<count, using: &generator)
      #expect(rows[index] == "\(5 + index)")
    }
    #expect(rows.map { $0 } == (5..<5 + count).map { "\($0)" })
  }

  @Test func theNumbersOfLinesFollowFoldsAndDividers() {
    let content = ListContent(sections: [
      ListSection(id: "a", rows: ["1", "2"]), ListSection(id: "b", rows: ["3"]),
    ])
    for _ in 0..<2 {
      #expect(ListLayout(content, folded: []).lineCount == 5)
      #expect(ListLayout(content, folded: ["a"]).lineCount == 3)
      let divided = content.divided(at: ListIndexPath(section: 1, row: 0))
      #expect(ListLayout(divided, folded: []).lineCount == 6)
      #expect(ListLayout(divided, folded: ["b"]).lineCount == 4)
    }
  }

  @Test func rowsAreEqualWhoeverKeepsThem() {
    let kept = ListRows(Numbers(numbers: 0..<2))
    #expect(kept == ["0", "1"] && kept == ListRows(Numbers(numbers: 0..<2)))
    #expect(kept != ["0"] && kept != ["0", "2"])
    #expect(Set([kept, ["0", "1"], ["1"]]).count == 2)
  }

  @Test(arguments: 0..<40 as Range<UInt64>)
  func rowsAreFollowedThroughUpdatesToWhereTheyAre(seed: UInt64) {
    var generator = ListGenerator(seed: seed)
    for _ in 0..<30 {
      let (old, new) = (Self.list(&generator), Self.list(&generator))
      let update = ListBatches.update(from: old, to: new)
      for (section, rows) in old.sections.map(\.rows).enumerated() {
        for (row, id) in rows.enumerated() {
          let path = ListIndexPath(section: section, row: row)
          let passage = old.passage(of: path, through: update, to: new)
          if let place = new.indexPath(ofRow: id) {
            #expect(passage == .init(path: place, isSameRow: true), "seed \(seed)")
          } else {
            #expect(passage?.isSameRow != true, "seed \(seed)")
            #expect((passage == nil) == new.sections.isEmpty, "seed \(seed)")
          }
        }
      }
    }
  }

  private static func list(_ generator: inout ListGenerator) -> ListContent {
    var sections = ["a", "b", "c"].shuffled(using: &generator)
      .prefix(Int.random(in: 0...3, using: &generator)).map { (id: $0, rows: [String]()) }
    if sections.isEmpty { return ListContent() }
    for row in (0..<8).shuffled(using: &generator) where Bool.random(using: &generator) {
      sections[Int.random(in: 0..<sections.count, using: &generator)].rows.append("\(row)")
    }
    return ListContent(sections: sections.map { ListSection(id: $0.id, rows: $0.rows) })
  }
}
