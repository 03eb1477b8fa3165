import Testing

@testable import RunnelTerminal

/// Notices outside of the screen.
@Suite struct TerminalNoticeTests {
  private func sender(
    _ variables: [String: String] = [:], programs: Set<String> = []
  )
    -> NoticeSender
  {
    NoticeSender(environment: { variables[$0] }, isInstalled: programs.contains)
  }

  private func sent(_ notice: TerminalNotice, _ sender: NoticeSender) -> (bytes: [String], Int) {
    let screen = MemoryScreen(size: TerminalSize(columns: 10, rows: 2))
    sender.send(notice, to: screen)
    return (screen.sent.map { String(decoding: $0, as: UTF8.self) }, screen.bellCount)
  }

  @Test func sequencesCarryTitleAndText() {
    let notice = TerminalNotice(title: "Chat; all", text: "ana: hi; you", by: [.osc9, .osc777])
    let (bytes, bells) = sent(notice, sender())
    #expect(
      bytes == [
        "\u{1B}]9;Chat; all: ana: hi; you\u{07}",
        "\u{1B}]777;notify;Chat, all;ana: hi; you\u{07}",
      ])
    #expect(bells == 0)
  }

  @Test func sequencesAreWrappedInTmux() {
    let notice = TerminalNotice(title: "a", text: "b", by: [.osc9])
    let (bytes, _) = sent(notice, sender(["TMUX": "/tmp/x"]))
    #expect(bytes == ["\u{1B}Ptmux;\u{1B}\u{1B}]9;a: b\u{07}\u{1B}\\"])
  }

  @Test func controlCharactersCannotEndASequence() {
    let hostile = "x\u{07}\u{1B}]52;c;evil\u{9C}\n\u{202E}y"
    let notice = TerminalNotice(title: hostile, text: hostile, by: TerminalNotice.Way.allCases)
    for text in [notice.title, notice.text] {
      #expect(text == "x  ]52;c;evil   y")
    }
    #expect(notice.osc9.count { $0 == 0x1B } == 1 && notice.osc777.count { $0 == 0x07 } == 1)
  }

  @Test func longTextsAreCut() {
    let notice = TerminalNotice(title: "a", text: String(repeating: "é", count: 300), by: [])
    #expect(notice.text.count == 201 && notice.text.hasSuffix("…"))
  }

  @Test func argumentsOfTheProgramAreEscapedAndNoOptions() {
    let notice = TerminalNotice(title: "--x", text: "<b>&", by: [.notifySend])
    #expect(notice.arguments == ["--app-name=runnel", "--", "--x", "&lt;b&gt;&amp;"])
  }

  @Test func bellRingsOnceAlsoInsteadOfAMissingProgram() {
    let both = TerminalNotice(title: "a", text: "b", by: [.bell, .notifySend])
    #expect(sent(both, sender()).1 == 1)
    let program = TerminalNotice(title: "a", text: "b", by: [.notifySend])
    #expect(sent(program, sender()).1 == 1)
    #expect(sent(TerminalNotice(title: "a", text: "b", by: []), sender()).1 == 0)
  }
}
