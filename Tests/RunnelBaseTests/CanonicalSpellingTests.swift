import RunnelBase
import Testing

@Suite struct CanonicalSpellingTests {
  @Test(arguments: [
    ("ren\u{E9}", "rene\u{301}"), ("\u{1E69}", "s\u{323}\u{307}"), ("\u{C5}", "A\u{30A}"),
    ("\u{AC00}", "\u{1100}\u{1161}"), ("", ""), ("plain", "plain"),
  ])
  func aTextHasOneComposedAndOneDecomposedSpelling(composed: String, decomposed: String) {
    for text in [composed, decomposed] {
      #expect(text.composed.utf8.elementsEqual(composed.utf8))
      #expect(text.decomposed.utf8.elementsEqual(decomposed.utf8))
    }
  }

  @Test func marksStandInOneOrderAndLookalikesStayApart() {
    #expect("s\u{307}\u{323}".composed.utf8.elementsEqual("\u{1E69}".utf8))
    #expect("\u{FB01}".composed == "\u{FB01}")
    #expect("\u{430}".composed != "a")
  }
}
