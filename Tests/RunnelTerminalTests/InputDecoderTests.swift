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
    "[?62;22c", "[<0;10;10M", "[1;1R9", "[99~", "[200;1;;X", "[55555555555555555~", "Oz",
    "[1;2", "[99999999u",
  ])
  func unknownSequencesRunNoCommand(sequence: String) {
    let typed = keys("\u{1B}" + sequence)
    #expect(typed.allSatisfy { $0 != "M-[" && $0 != "M-O" })
    #expect(typed.count <= 3)
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
    let count = InputDecoder.pasteScalarsMax
    var inputs: [RawInput] = Array(repeating: .scalar("x"), count: count + 5)
    inputs = [.pasteStart] + inputs + [.pasteEnd]
    let event = try #require(decode(inputs).first)
    guard case .paste(let text) = event else {
      Issue.record("not a paste")
      return
    }
    #expect(text.utf8.count == count)
  }

  @Test func endOfAPasteThatNeverBeganIsIgnored() {
    #expect(decode([.pasteEnd, .unknown]) == [])
  }
}
