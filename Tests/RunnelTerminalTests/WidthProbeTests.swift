import Testing

@testable import RunnelTerminal

@Suite struct WidthProbeTests {
  @Test(arguments: [
    ("\u{1B}[24;3R", 3), ("\u{1B}[I\u{1B}[1;12R", 12), ("j\u{1B}[1;1R", 1),
  ])
  func reportTellsTheColumn(text: String, column: Int) {
    #expect(WidthProbe.column(in: Array(text.utf8)) == column)
  }

  @Test(arguments: ["", "R", "\u{1B}[R", "\u{1B}[1;2", "[1;2R", "\u{1B}[a;bR"])
  func whatIsNoReportTellsNothing(text: String) {
    #expect(WidthProbe.column(in: Array(text.utf8)) == nil)
  }

  @Test func typesOfTerminalsAreLookedUp() {
    let good = TerminalDescription(term: "xterm-256color")
    #expect(good.isKnown && good.placesCursor && good.isANSI)
    #expect(good.colorCount == 256)
    for name in ["", "dumb", "no-such-terminal"] {
      #expect(!TerminalDescription(term: name).placesCursor)
    }
  }
}
