import Testing

@testable import RunnelTerminal

@Suite struct InputDecoderTests {
  private func scalars(_ text: String) -> [RawInput] {
    text.unicodeScalars.map { .scalar($0) }
  }

  private func decode(_ inputs: [RawInput], with decoder: inout InputDecoder) -> [InputEvent] {
    var rest = inputs[...]
    return decoder.decode { rest.popFirst() }
  }

  private func decode(_ inputs: [RawInput]) -> [InputEvent] {
    var decoder = InputDecoder()
    return decode(inputs, with: &decoder)
  }

  /// The notations of the keys that the text, as a terminal sends it, stands for.
  private func keys(_ text: String) -> [String] {
    decode(scalars(text)).map { if case .key(let stroke) = $0 { "\(stroke)" } else { "\($0)" } }
  }

  @Test(arguments: [
    ("j", "j"), ("\r", "Enter"), ("\n", "C-j"), ("\t", "Tab"), ("\u{7F}", "Backspace"),
    ("\u{8}", "Backspace"), ("\u{0}", "C-Space"), ("\u{1}", "C-a"), ("\u{1A}", "C-z"),
    ("\u{1C}", "C-\\"), ("\u{1D}", "C-]"), ("\u{1E}", "C-^"), ("\u{1F}", "C-_"), ("é", "é"),
    (" ", "Space"),
  ])
  func controlCodesBecomeKeys(text: String, key: String) {
    #expect(keys(text) == [key])
  }

  @Test func escapeAloneIsTheKeyAndBeforeACharacterMeta() {
    #expect(keys("\u{1B}") == ["Esc"])
    #expect(keys("\u{1B}x") == ["M-x"])
    #expect(keys("\u{1B}\u{7F}") == ["M-Backspace"])
    #expect(keys("\u{1B}\r") == ["M-Enter"])
    #expect(keys("\u{1B}\u{1}") == ["C-M-a"])
    #expect(keys("\u{1B}\u{1B}") == ["Esc", "Esc"])
    #expect(keys("\u{1B}[") == ["M-["])
    #expect(keys("\u{1B}O") == ["M-O"])
  }

  @Test func escapeBeforeAKeyIsMeta() {
    #expect(
      decode([.scalar("\u{1B}"), .key(KeyStroke(.up))]) == [.key(KeyStroke(.up, meta: true))])
  }

  @Test func escapeBeforeAnEventIsTheKey() {
    #expect(
      decode([.scalar("\u{1B}"), .focus(true)]) == [.key(KeyStroke(.escape)), .focus(true)])
  }

  @Test(arguments: [
    ("[A", "Up"), ("[1;5C", "C-Right"), ("[1;3D", "M-Left"), ("[1;2H", "S-Home"), ("OF", "End"),
    ("[3;5~", "C-Del"), ("[24~", "F12"), ("[1;2P", "S-F1"), ("[Z", "S-Tab"), ("OM", "Enter"),
    ("[97;5u", "C-a"), ("[27;6;65~", "C-a"), ("[13;2u", "S-Enter"), ("[97;2u", "A"),
  ])
  func sequencesThatTerminfoMissesBecomeKeys(sequence: String, key: String) {
    #expect(keys("\u{1B}" + sequence) == [key])
  }

  @Test(arguments: [
    "[?62;22x", "[<0;10M", "[<64;1;1m", "[<35;1;1M", "[1;1R9", "[99~", "[200;1;;X",
    "[55555555555555555~", "Oz",
    "[1;2", "[99999999u",
  ])
  func unknownSequencesRunNoCommand(sequence: String) {
    let typed = keys("\u{1B}" + sequence)
    #expect(typed.allSatisfy { $0 != "M-[" && $0 != "M-O" })
    #expect(typed.count <= 3)
  }

  private func mouse(_ text: String) -> [InputEvent] { decode(scalars("\u{1B}" + text)) }

  private func event(
    _ row: Int, _ column: Int, _ kind: MouseEvent.Kind, _ button: MouseEvent.Button = .none
  ) -> InputEvent {
    .mouse(MouseEvent(position: Position(row: row, column: column), kind: kind, button: button))
  }

  @Test func reportsOfTheMouseAreEvents() {
    #expect(mouse("[<0;10;5M") == [event(4, 9, .press, .left)])
    #expect(mouse("[<0;10;5m") == [event(4, 9, .release, .left)])
    #expect(mouse("[<2;300;200M") == [event(199, 299, .press, .right)])
    #expect(mouse("[<32;11;5M") == [event(4, 10, .drag, .left)])
    #expect(mouse("[<64;1;1M") == [event(0, 0, .wheelUp)])
    #expect(mouse("[<65;1;1M") == [event(0, 0, .wheelDown)])
    #expect(mouse("[<68;1;1M") == [event(0, 0, .wheelLeft)])
    #expect(mouse("[<69;1;1M") == [event(0, 0, .wheelRight)])
    #expect(mouse("[<66;1;1M") == [event(0, 0, .wheelLeft)])
    #expect(mouse("[<8;1;1M") == [event(0, 0, .press, .left)])
  }

  @Test func reportsOfOldTerminalsAreEvents() {
    #expect(mouse("[M !!") == [event(0, 0, .press, .left)])
    #expect(mouse("[M#*%") == [event(4, 9, .release)])
    #expect(mouse("[M`!!") == [event(0, 0, .wheelUp)])
    #expect(mouse("[M@!!") == [event(0, 0, .drag, .left)])
    #expect(mouse("[M \u{FFFD}!x") == [.key(KeyStroke(.character("x")))])
    #expect(mouse("[M") == [])
  }

  @Test(arguments: [
    ("11;rgb:1c1c/ffff/0000", RGB(0x1C, 0xFF, 0)), ("11;rgb:f/8/0", RGB(255, 136, 0)),
    ("11;rgb:ff/00/80", RGB(255, 0, 128)),
  ])
  func answersOfTheTerminalAreReplies(text: String, color: RGB) {
    for end in ["\u{7}", "\u{1B}\\"] {
      #expect(
        decode(scalars("\u{1B}]\(text)\(end)j"))
          == [.reply(.background(color)), .key(KeyStroke(.character("j")))])
    }
  }

  @Test func attributesOfTheTerminalAreAReply() {
    #expect(decode(scalars("\u{1B}[?62;22c")) == [.reply(.attributes)])
  }

  @Test(arguments: [
    "]11;rgb:zz/00/00\u{7}", "]11;rgb:1/2\u{7}", "]10;rgb:0/0/0\u{7}", "]52;c;AAAA\u{1B}\\",
    "]11;rgb:-1/2/3\u{7}", "]11;rgb:12345/2/3\u{7}",
  ])
  func otherAnswersAreSwallowed(text: String) {
    #expect(decode(scalars("\u{1B}" + text)) == [])
  }

  @Test func bracketWithMetaIsAKey() {
    #expect(keys("\u{1B}]") == ["M-]"])
    #expect(keys("\u{1B}]x") == ["M-]", "x"])
  }

  @Test func pasteIsOneEventWithLineFeeds() {
    let inputs: [RawInput] = [.pasteStart] + scalars("a\r\nb\rc\td") + [.pasteEnd, .scalar("j")]
    #expect(
      decode(inputs) == [.paste("a\nb\nc\td"), .key(KeyStroke(.character("j")))])
  }

  @Test func pasteContinuesInTheNextRead() {
    var decoder = InputDecoder()
    #expect(decode([.pasteStart] + scalars("e"), with: &decoder) == [])
    #expect(decode(scalars("\u{301}x"), with: &decoder) == [])
    #expect(decode([.pasteEnd], with: &decoder) == [.paste("e\u{301}x")])
  }

  @Test func pasteRunsNoCommand() {
    let inputs: [RawInput] = [
      .pasteStart, .scalar("\u{1B}"), .scalar("d"), .key(KeyStroke(.delete)), .pasteEnd,
    ]
    #expect(decode(inputs) == [.paste("\u{1B}d")])
  }

  @Test func cancelEndsAPasteWithoutItsEnd() {
    let inputs: [RawInput] = [.pasteStart] + scalars("ab\u{3}j")
    #expect(
      decode(inputs) == [
        .key(KeyStroke(.character("c"), control: true)), .key(KeyStroke(.character("j"))),
      ])
  }

  @Test func pasteHasALimit() throws {
    let count = InputEvent.pasteScalarsMax
    let most = [.pasteStart] + Array(repeating: RawInput.scalar("x"), count: count)
    #expect(decode(most + [.pasteEnd]) == [.paste(String(repeating: "x", count: count))])
    #expect(
      decode(most + scalars("yz") + [.pasteEnd] + scalars("j"))
        == [.pasteTooLong(count + 2), .key(KeyStroke(.character("j")))])
  }

  @Test func endOfAPasteThatNeverBeganIsIgnored() {
    #expect(decode([.pasteEnd, .unknown]) == [])
  }

  // MARK: Pastes read as bytes

  /// What comes of a paste and of what follows it, of which so many bytes are read at once.
  private func pasted(_ text: String, by size: Int) -> [InputEvent] {
    var decoder = InputDecoder()
    var isStarted = false
    var rest = Array(text.utf8)[...]
    return decoder.decode(
      {
        if isStarted { return rest.popFirst().map(RawInput.byte) }
        isStarted = true
        return .pasteStart
      },
      bytes: {
        defer { rest = rest.dropFirst(size) }
        return Array(rest.prefix(size))
      })
  }

  private let end = "\u{1B}[201~"

  @Test(arguments: 1...40)
  func pasteOfBytesIsOneEventHoweverTheyCome(size: Int) {
    #expect(
      pasted("a\r\nb\rc\td é漢\(end)j\u{1B}[A", by: size) == [
        .paste("a\nb\nc\td é漢"), .key(KeyStroke(.character("j"))), .key(KeyStroke(.up)),
      ])
    #expect(
      pasted("x\u{1B}[20y\u{1B}\(end)", by: size) == [.paste("x\u{1B}[20y\u{1B}")])
    #expect(
      pasted("a\(end)\u{1B}[200~b\(end)q", by: size) == [
        .paste("a"), .paste("b"), .key(KeyStroke(.character("q"))),
      ])
    #expect(
      pasted("ab\u{3}j", by: size) == [
        .key(KeyStroke(.character("c"), control: true)), .key(KeyStroke(.character("j"))),
      ])
  }

  @Test func pasteOfBytesHasTheSameLimit() {
    let count = InputEvent.pasteScalarsMax
    let most = String(repeating: "é", count: count)
    #expect(pasted(most + end, by: 65_536) == [.paste(most)])
    #expect(
      pasted(most + "xy" + end + "j", by: 65_536) == [
        .pasteTooLong(count + 2), .key(KeyStroke(.character("j"))),
      ])
  }

  @Test func pasteOfBytesThatAreNoTextLosesNothingElse() {
    var decoder = InputDecoder()
    var inputs: [RawInput] = [.pasteStart]
    var bytes: [[UInt8]] = [[0x61, 0xFF, 0xC3], [0x28, 0x62] + Array(end.utf8)]
    let events = decoder.decode(
      { inputs.popLast() }, bytes: { bytes.isEmpty ? [] : bytes.removeFirst() })
    #expect(events == [.paste("a\u{FFFD}\u{FFFD}(b")])
  }
}
