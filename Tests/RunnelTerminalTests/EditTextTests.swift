import RunnelBase
import Testing

@testable import RunnelTerminal

/// The characters of an edited text, against an array of characters.
@Suite struct EditTextTests {
  private static let pieces = [
    "a", "b", " ", "\n", "é", "e\u{301}", "日", "👨‍👩‍👧", "🇩🇪", "\r\n", "\t", "\u{301}", "ß", "\u{2028}",
  ]

  @Test(arguments: [1, 2, UInt64.random(in: 0...UInt64.max)])
  func randomEditsLeaveWhatAnArrayHolds(seed: UInt64) {
    var random = SeededRandom(seed: seed)
    var text = EditText()
    var oracle: [Character] = []
    for step in 0..<300 {
      let low = Int.random(in: 0...oracle.count, using: &random)
      let high = Int.random(in: low...min(low + 4, oracle.count), using: &random)
      let new = (0..<Int.random(in: 0...4, using: &random)).flatMap { _ in
        Array(Self.pieces.randomElement(using: &random) ?? "")
      }
      text.replaceSubrange(low..<high, with: new)
      oracle.replaceSubrange(low..<high, with: new)
      #expect(Array(text) == oracle, "seed \(seed), step \(step)")
      #expect(text.string == String(oracle), "seed \(seed), step \(step)")
      #expect(text.string(of: low..<oracle.count) == String(oracle[low...]), "seed \(seed)")
      #expect(text.lineEnds == oracle.indices.filter { oracle[$0].isNewline }, "seed \(seed)")
      #expect(text == EditText(String(oracle)) || String(oracle).count != oracle.count)
    }
  }

  @Test func textsOfOtherHistoriesAreEqualIfTheirCharactersAre() {
    var one = EditText("ae\u{301}b")
    one.replaceSubrange(0..<1, with: ["🇩🇪"])
    one.replaceSubrange(0..<1, with: ["a"])
    let other = EditText("ae\u{301}b")
    #expect(one == other && one.hashValue == other.hashValue)
    #expect(one != EditText("aeb") && EditText("ab") != EditText("ac"))
  }

  /// What is drawn and told of a text must not cost more the longer it is: a paste without brackets comes
  /// key by key.
  @Test func aKeyCostsNoMoreInALongText() {
    func cost(_ count: Int) -> Duration {
      var editor = LineEditor(String(repeating: "lorem ipsum ", count: count / 12))
      var canvas = Canvas(size: TerminalSize(columns: 60, rows: 1))
      let clock = ContinuousClock()
      // The least of several runs is that without others on the machine.
      return (0..<7).map { _ in
        clock.measure {
          for _ in 0..<20 {
            editor.insert("x")
            editor.draw(into: &canvas, rect: canvas.bounds)
          }
        }
      }.min() ?? .zero
    }
    let (short, long) = (cost(600), cost(60_000))
    #expect(long < short * 8, "\(short) with 600 characters, \(long) with 60,000")
  }
}
