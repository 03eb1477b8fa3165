import Foundation
import TestSupport
import Testing

/// Notices of new rows, in a real terminal and by a program that stands for `notify-send`.
@Suite(.timeLimit(.minutes(5))) struct TerminalNoticeTests {
  @Test func newRowIsToldByTheTerminalAndByTheDesktop() throws {
    let database = try TestDatabase("{\"chat\":{\"m1\":{\"text\":\"one\"}},\"other\":{\"a\":1}}")
    let told = database.folder.file("told")
    try FileManager.default.createDirectory(
      atPath: database.folder.file("bin"), withIntermediateDirectories: true)
    let program = try database.folder.write(
      "#!/bin/sh\nprintf '%s\\n' \"$@\" >> '\(told)'\n", to: "bin/notify-send")
    try FileManager.default.setAttributes(
      [.posixPermissions: 0o755], ofItemAtPath: program)
    let views = try database.folder.write(
      """
      views:
        - { name: Other, path: /other, columns: [{ field: $value }] }
        - name: Chat
          path: /chat
          columns: [{ field: text }]
          notify: [bell, osc9, osc777, notify-send]
      """, to: "chat.yaml")
    let terminal = try TmuxTerminal()
    try terminal.record()
    try terminal.runnel(
      ["open", "--database", database.file, "--views", views, "--no-session"],
      before: "TMUX= PATH='\(database.folder.file("bin"))':\"$PATH\"")
    try terminal.wait(for: "1 Other")
    #expect(
      try database.run(["set", "/chat/m2", "{\"text\":\"; two & <three>\"}"]).status == 0)
    try terminal.wait("the desktop's notice") { _ in
      (try? String(contentsOfFile: told, encoding: .utf8))?.contains("two") == true
    }
    #expect(
      try String(contentsOfFile: told, encoding: .utf8)
        == "--app-name=runnel\n--\nChat\n; two &amp; &lt;three&gt;\n")
    let output = try terminal.recorded()
    #expect(output.contains("\u{1B}]9;Chat: ; two & <three>\u{07}"))
    #expect(output.contains("\u{1B}]777;notify;Chat;; two & <three>\u{07}"))
    try terminal.keys("q")
    try terminal.wait(for: TmuxTerminal.prompt)
  }
}
