import Testing

@testable import RunnelTerminal

/// Links that terminals make clickable.
@Suite struct HyperlinksTests {
  private func line(_ text: StyledLine, width: Int = 60) -> CanvasLine {
    var line = CanvasLine(width: width)
    line.put(text, at: 0, width: width, glyphs: .unicode)
    return line
  }

  private let links = Hyperlinks(theme: Theme(.dark, depth: .extended), term: "xterm-256color")

  @Test func linkIsWrittenAgainAsOneAndTheCursorComesBack() throws {
    let text = StyledLine([StyledRun("see "), StyledRun("https://a.example/x", .link)])
    let sequence = try #require(links).sequence(for: line(text), row: 2)
    #expect(
      sequence
        == "\u{1B}7\u{1B}[3;5H\u{1B}[0;38;5;75m\u{1B}]8;;https://a.example/x\u{1B}\\"
        + "https://a.example/x\u{1B}]8;;\u{1B}\\\u{1B}8")
  }

  @Test(arguments: ["see nothing", "https://plain.example"])
  func textThatIsNoLinkIsNotWrittenAgain(text: String) throws {
    #expect(try #require(links).sequence(for: line(StyledLine(text)), row: 0) == "")
  }

  @Test func labelOfALinkIsNoTarget() throws {
    let text = StyledLine("a label", .link)
    #expect(try #require(links).sequence(for: line(text), row: 0) == "")
  }

  @Test func bytesThatAreNotASCIIAreEncodedInTheTarget() throws {
    let text = StyledLine("https://a.example/é", .link)
    let sequence = try #require(links).sequence(for: line(text), row: 0)
    #expect(sequence.contains("]8;;https://a.example/%C3%A9\u{1B}"))
  }

  @Test(arguments: ["linux", "vt220", "dumb", ""])
  func terminalThatMayNotKnowLinksGetsNone(term: String) {
    #expect(Hyperlinks(theme: Theme(.dark, depth: .extended), term: term) == nil)
  }

  @Test func linkThatIsCutStaysText() {
    let links = WebLink.all(in: "go to https://a.example/long/path now")
    #expect(StyledLine("go to https://a.exam…").marking(links: links).runs.count == 1)
    let whole = StyledLine("go to https://a.example/long/path now").marking(links: links)
    #expect(whole.runs.map(\.role) == [.text, .link, .text])
    #expect(whole.text == "go to https://a.example/long/path now")
  }

  @Test func longerOfTwoLinksWithOneBeginningIsFound() {
    let links = ["https://a.example", "https://a.example/b"]
    let line = StyledLine("https://a.example/b https://a.example").marking(links: links)
    #expect(line.runs.filter { $0.role == .link }.map(\.text) == links.reversed())
  }
}
