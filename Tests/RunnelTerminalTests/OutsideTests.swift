import Glibc
import Testing

@testable import RunnelTerminal

@Suite struct LinkOpenerTests {
  private func program(_ variables: [String: String], _ installed: Set<String>) -> String? {
    LinkOpener(environment: { variables[$0] }, isInstalled: { installed.contains($0) }).program
  }

  #if !os(macOS)
  @Test func linksAreOpenedOnADesktopOnly() {
    #expect(program(["DISPLAY": ":0"], ["xdg-open"]) == "xdg-open")
    #expect(program(["WAYLAND_DISPLAY": "w"], ["xdg-open"]) == "xdg-open")
    #expect(program([:], ["xdg-open"]) == nil)
    #expect(program([:], ["xdg-open", "wslview"]) == "wslview")
    #expect(program(["DISPLAY": ":0"], []) == nil)
  }
  #endif

  @Test func onlyLinksToTheWebAreOpened() {
    let opener = LinkOpener(environment: { _ in ":0" }, isInstalled: { _ in true })
    #expect(opener.open("file:///etc/passwd") == nil)
    #expect(opener.open("-x") == nil)
  }
}

@Suite struct ClipboardTests {
  @Test(arguments: [
    ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="),
    ("fooba", "Zm9vYmE="), ("foobar", "Zm9vYmFy"), ("Zoë ✓", "Wm/DqyDinJM="),
  ])
  func sequenceCarriesTheTextInBase64(text: String, encoded: String) {
    #expect(
      ClipboardSequence.bytes(for: text) == Array("\u{1B}]52;c;\(encoded)\u{7}".utf8))
  }

  @Test func tmuxGetsEscapesTwice() {
    #expect(
      ClipboardSequence.bytes(for: "f", wrapping: .tmux)
        == Array("\u{1B}Ptmux;\u{1B}\u{1B}]52;c;Zg==\u{7}\u{1B}\\".utf8))
  }

  @Test func screenGetsPieces() throws {
    let bytes = try #require(
      ClipboardSequence.bytes(for: String(repeating: "x", count: 600), wrapping: .screen))
    let pieces = String(decoding: bytes, as: UTF8.self).split(separator: "\u{1B}\\")
    #expect(pieces.count == 4)
    #expect(pieces.allSatisfy { $0.hasPrefix("\u{1B}P") && $0.utf8.count <= 254 })
    let joined = pieces.map { $0.dropFirst(2) }.joined()
    #expect(
      Array(joined.utf8)
        == ClipboardSequence.bytes(for: String(repeating: "x", count: 600)))
  }

  @Test func tooLongATextIsRefused() {
    let most = String(repeating: "x", count: ClipboardSequence.bytesMax)
    #expect(ClipboardSequence.bytes(for: most) != nil)
    #expect(ClipboardSequence.bytes(for: most + "x") == nil)
  }

  private func ways(_ variables: [String: String], _ installed: Set<String>) -> [Clipboard.Way] {
    Clipboard(environment: { variables[$0] }, isInstalled: { installed.contains($0) }).ways
  }

  @Test func programsOfTheDesktopGoFirstUnlessLoggedInFromAfar() {
    let desktop = ["DISPLAY": ":0", "WAYLAND_DISPLAY": "w"]
    let all: Set = ["wl-copy", "xclip", "xsel"]
    #expect(
      ways(desktop, all) == [
        .program(["wl-copy"]), .program(["xclip", "-selection", "clipboard"]),
        .program(["xsel", "--clipboard", "--input"]), .terminal(.none),
      ])
    #expect(ways(desktop.merging(["SSH_TTY": "/dev/pts/1"]) { $1 }, all) == [.terminal(.none)])
    #expect(ways(["DISPLAY": ""], all) == [.terminal(.none)])
    #expect(ways([:], ["pbcopy"]) == [.program(["pbcopy"]), .terminal(.none)])
  }

  @Test func multiplexersAreToldInTheirWay() {
    #expect(
      ways(["TMUX": "x", "SSH_TTY": "y"], ["tmux"])
        == [.program(["tmux", "load-buffer", "-w", "-"]), .terminal(.tmux)])
    #expect(ways(["STY": "x"], []) == [.terminal(.screen)])
  }

  @Test func terminalIsSentTheSequence() {
    let screen = MemoryScreen()
    let clipboard = Clipboard(environment: { _ in nil }, isInstalled: { _ in false })
    #expect(clipboard.copy("foo", to: screen) == .sent(byteCount: 3))
    #expect(screen.sent == [Array("\u{1B}]52;c;Zm9v\u{7}".utf8)])
    let long = String(repeating: "x", count: ClipboardSequence.bytesMax + 1)
    guard case .failed = clipboard.copy(long, to: screen) else {
      Issue.record("a text that is too long was copied")
      return
    }
    #expect(screen.sent.count == 1)
  }
}

@Suite struct ChildProcessTests {
  @Test func statusIsThatOfTheProgram() throws {
    #expect(try ChildProcess.run(["true"], terminal: nil) == 0)
    #expect(try ChildProcess.run(["sh", "-c", "exit 7"], terminal: nil) == 7)
    #expect(try ChildProcess.run(["sh", "-c", "kill -TERM $$"], terminal: nil) == 128 + SIGTERM)
    #expect(try ChildProcess.run(["no-such-program-here"], terminal: nil) == 127)
  }

  @Test func inputArrivesWhole() {
    let text = Array(String(repeating: "0123456789", count: 100_000).utf8)
    let count = "[ $(wc -c) = \(text.count) ]"
    #expect(ChildProcess.run(["sh", "-c", count], input: text, milliseconds: 20_000) == 0)
    // Who does not read is no failure.
    #expect(ChildProcess.run(["true"], input: text, milliseconds: 20_000) == 0)
  }

  @Test func programThatTakesTooLongIsEnded() {
    #expect(ChildProcess.run(["sleep", "60"], input: [], milliseconds: 20) == nil)
    let much = [UInt8](repeating: 0, count: 1 << 20)
    #expect(ChildProcess.run(["sleep", "60"], input: much, milliseconds: 20) == nil)
  }
}

@Suite struct EditRoundTests {
  private let refusesOdd: (String) -> String? = { $0.count.isMultiple(of: 2) ? nil : "odd" }

  @Test func textRefusedByTheDatabaseIsGoneOnWith() {
    let refused = EditRound.Refused("new", reason: "is locked\nstill")
    var round = EditRound("text", refused: refused)
    #expect(round.firstContent == "#! is locked\n#! still\nnew")
    #expect(EditRound("text").firstContent == "text")
    let left = round.finish(round.firstContent, status: 0) { _ in nil }
    #expect(left == .kept("is locked\nstill"))
    let failed = round.finish(round.firstContent, status: 1) { _ in nil }
    #expect(failed == .kept("the editor ended with status 1"))
    let other = round.finish("#! is locked\nother", status: 0) { _ in nil }
    #expect(other == .accepted("other"))
    let back = round.finish("text", status: 0) { _ in nil }
    #expect(back == .unchanged)
  }

  @Test func textAsBeforeIsNoChange() {
    var round = EditRound("text")
    #expect(round.finish("text", status: 0, problem: refusesOdd) == .unchanged)
    #expect(round.finish("text", status: 1, problem: refusesOdd) == .unchanged)
  }

  @Test func acceptableTextIsAccepted() {
    var round = EditRound("text")
    #expect(round.finish("other!", status: 0, problem: refusesOdd) == .accepted("other!"))
  }

  @Test func refusedTextIsShownAgainWithTheReasonUntilItIsLeftAsItIs() {
    var round = EditRound("text")
    #expect(round.finish("odd", status: 0, problem: refusesOdd) == .again("#! odd\nodd"))
    #expect(
      round.finish("#! odd\nodder", status: 0, problem: refusesOdd) == .again("#! odd\nodder"))
    #expect(round.finish("#! odd\nodder", status: 0, problem: refusesOdd) == .kept("odd"))
    #expect(round.finish("#! odd\nevener", status: 0, problem: refusesOdd) == .accepted("evener"))
  }

  @Test func backToTheBeginningIsNoChange() {
    var round = EditRound("text")
    _ = round.finish("odd", status: 0, problem: refusesOdd)
    #expect(round.finish("#! odd\ntext", status: 0, problem: refusesOdd) == .unchanged)
  }

  @Test func failedEditorLosesNothing() {
    var round = EditRound("text")
    #expect(
      round.finish("new text", status: 2, problem: refusesOdd)
        == .kept("the editor ended with status 2"))
    _ = round.finish("odd", status: 0, problem: refusesOdd)
    #expect(
      round.finish("odd", status: 1, problem: refusesOdd)
        == .kept("the editor ended with status 1"))
  }

  @Test func onlyMarksAtTheTopAreTakenOff() {
    #expect(EditRound.withoutMarks("#! a\n#! b\ntext\n#! c\n") == "text\n#! c\n")
    #expect(EditRound.withoutMarks("#! a") == "#! a")
    #expect(EditRound.withoutMarks("") == "")
  }
}

@Suite struct ExternalEditorTests {
  private func edit(
    _ text: String, by command: String, problem: (String) -> String? = { _ in nil }
  ) -> (ExternalEditor.Outcome, MemoryScreen) {
    let screen = MemoryScreen()
    let outcome = ExternalEditor(command: command, folder: "/tmp")
      .edit(text, screen: screen, problem: problem)
    return (outcome, screen)
  }

  @Test func whatTheEditorLeavesIsTaken() {
    let (outcome, screen) = edit("one\n", by: "sh -c 'echo two >> \"$1\"' sh")
    #expect(outcome == .accepted("one\ntwo\n"))
    #expect(screen.state == .active)
    #expect(edit("one", by: "true").0 == .unchanged)
    #expect(edit("one", by: "false").0 == .unchanged)
  }

  @Test func refusedTextIsEditedAgain() {
    // Each run of this editor adds a letter.
    let (outcome, _) = edit("", by: "sh -c 'printf x >> \"$1\"' sh") {
      $0.count < 3 ? "too short" : nil
    }
    #expect(outcome == .accepted("xxx"))
  }

  @Test func textThatCannotBeTakenStaysInItsFile() throws {
    let command = "sh -c 'grep -q wrong \"$1\" || echo wrong > \"$1\"' sh"
    guard case .kept(let file, let reason) = edit("right", by: command, problem: { _ in "bad" }).0
    else {
      Issue.record("a bad text was not kept")
      return
    }
    defer { unlink(file) }
    #expect(reason == "bad")
    var status = stat()
    #expect(stat(file, &status) == 0)
    #expect(status.st_mode & 0o777 == 0o600)
    #expect(try ChildProcess.run(["grep", "-q", "^wrong", file], terminal: nil) == 0)
  }

  @Test func aTextThatAKilledProcessLeftIsFoundOnceByAnotherName() throws {
    let folder = "/tmp/runnel-left-\(getpid())"
    mkdir(folder, 0o700)
    defer { _ = try? ChildProcess.run(["rm", "-r", folder], terminal: nil) }
    let editor = ExternalEditor(command: "true", folder: folder)
    // A process with this number was killed; that with the number 1 runs.
    let names = [
      "runnel-edit-\(getpid())-aB3dE6.json", "runnel-edit-1-aB3dE6.json", "runnel-x.json",
    ]
    for name in names { close(open("\(folder)/\(name)", O_CREAT | O_WRONLY, 0o600)) }
    #expect(editor.takeLeft() == ["\(folder)/runnel-aB3dE6.json"])
    #expect(editor.takeLeft().isEmpty)
    #expect(access("\(folder)/runnel-aB3dE6.json", F_OK) == 0)
    #expect(names.dropFirst().allSatisfy { access("\(folder)/\($0)", F_OK) == 0 })
  }

  @Test func aTextThatIsBeingEditedIsNotLeft() throws {
    let folder = "/tmp/runnel-held-\(getpid())"
    mkdir(folder, 0o700)
    defer { _ = try? ChildProcess.run(["rm", "-r", folder], terminal: nil) }
    let editor = ExternalEditor(command: "sh -c 'echo more >> \"$1\"' sh", folder: folder)
    var left: [String] = []
    let outcome = editor.edit("one\n", screen: MemoryScreen()) { _ in
      left += editor.takeLeft()
      return nil
    }
    #expect(outcome == .accepted("one\nmore\n"))
    #expect(left.isEmpty)
  }

  @Test func absentEditorOrFolderIsSaid() {
    guard case .failed(let message) = edit("x", by: "no-such-editor").0 else {
      Issue.record("there was an editor")
      return
    }
    #expect(message.contains("no-such-editor"))
    let outcome = ExternalEditor(command: "true", folder: "/nonexistent")
      .edit("x", screen: MemoryScreen()) { _ in nil }
    guard case .failed = outcome else {
      Issue.record("there was a folder")
      return
    }
  }
}
