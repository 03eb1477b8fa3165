import Foundation
import TestSupport
import Testing

/// The workspace on a server's database.
@Suite(.timeLimit(.minutes(5))) struct TerminalOriginTests {
  @Test func theServersDataIsShownLiveAndOffline() throws {
    let database = try TestDatabase("{\"greeting\":\"hello\"}")
    let served = try Served([database.file, "--emulator"])
    let url = "http://localhost:\(served.port)/?ns=test"
    let terminal = try TmuxTerminal()
    try terminal.runnel(
      ["open", url, "--no-session"], before: "XDG_DATA_HOME='\(database.folder.path)'")
    try terminal.wait(for: "greeting")
    try terminal.wait(for: "live")
    _ = try served.client().request("PUT", "/another.json", "1")
    try terminal.wait(for: "another")
    try served.program.send(SIGKILL)
    _ = try served.program.wait()
    try terminal.wait(for: "offline since")
    let again = try Served([database.file, "--emulator"], listen: "localhost:\(served.port)")
    try terminal.wait(for: "live")
    _ = try again.client().request("PUT", "/third.json", "1")
    try terminal.wait(for: "third")
  }

  /// A token that nobody signed: an emulator takes it, and other servers do not.
  private func token(of user: String) -> String {
    let made = Int(Date().timeIntervalSince1970)
    let parts = ["{\"alg\":\"none\",\"typ\":\"JWT\"}", "{\"sub\":\"\(user)\",\"iat\":\(made)}"]
    return parts.map { Data($0.utf8).base64EncodedString().filter { $0 != "=" } }
      .joined(separator: ".") + "."
  }

  @Test func whatIsWrongWithTheFileOfTheTokenIsSaid() throws {
    let database = try TestDatabase("{\"greeting\":\"hello\"}")
    let folder = database.folder
    let rules = try folder.write("{\"rules\":{\".read\":true}}", to: "test.rules.json")
    let options = [database.file, "--rules", rules, "--name", "test"]
    var served = try Served(options + ["--emulator"])
    let port = served.port
    func serve(_ more: [String]) throws {
      try served.program.send(SIGKILL)
      _ = try served.program.wait()
      served = try Served(options + more, listen: "localhost:\(port)")
    }
    _ = try folder.write(token(of: "ana"), to: "token")
    let terminal = try TmuxTerminal(columns: 160)
    try terminal.runnel(
      ["open", "http://localhost:\(port)/?ns=test", "--token-file", "token", "--no-session"],
      before: "cd '\(folder.path)' && XDG_DATA_HOME='\(folder.path)'")
    try terminal.wait(for: "greeting")
    try terminal.wait(for: "live")
    _ = try folder.write(token(of: "bo"), to: "token")
    try serve(["--emulator"])
    try terminal.wait(
      for: "token holds a token of bo: this replica needs one of ana; the token from before is used"
    )
    try terminal.wait(for: "live")
    try serve([])
    try terminal.wait(for: "the server takes the token no longer, and token holds a token of bo")
    _ = try folder.write("", to: "token")
    try terminal.keys("g", "L")
    try terminal.wait(for: "no longer, and token is empty: it holds no token")
    try check(unlink(folder.file("token")), "unlink")
    try terminal.keys("g", "L")
    try terminal.wait(for: "no longer, and token cannot be read")
    try terminal.keys("q")
    try terminal.wait(for: TmuxTerminal.prompt)
  }

  @Test func readOnlyProfileIsTheHeaderAndCannotBeWritten() throws {
    let database = try TestDatabase("{\"greeting\":\"hello\"}")
    let served = try Served([database.file, "--emulator"])
    let url = "http://localhost:\(served.port)/?ns=test"
    try check(mkdir(database.folder.file("runnel"), 0o700), "mkdir")
    _ = try database.folder.write(
      "origins: { prod: { url: \"\(url)\", read-only: true, color: red } }",
      to: "runnel/config.yaml")
    let terminal = try TmuxTerminal()
    let home = database.folder.path
    try terminal.runnel(
      ["open", "prod", "--no-session"],
      before: "XDG_DATA_HOME='\(home)' XDG_CONFIG_HOME='\(home)'")
    try terminal.wait(for: "greeting")
    let screen = try terminal.screen()
    #expect(screen.text.contains(" prod ▸ / "))
    #expect(screen.text.contains("read-only"))
    let header = try terminal.coloredScreen().split(separator: "\n").first ?? ""
    #expect(header.contains("48;5;88m prod ▸ / "), "\(header)")
    try terminal.keys("j", "e")
    try terminal.wait(for: "nothing can be changed in this database")
    try terminal.keys("d")
    #expect(try !terminal.screen().text.contains("Delete"))
    try terminal.keys("q")
    try terminal.wait(for: TmuxTerminal.prompt)
  }

  @Test func workspacesShowWhoIsHereUntilTheyGo() throws {
    let database = try TestDatabase(
      "{\"chat\":{\"m1\":{\"text\":\"one\"},\"m2\":{\"text\":\"two\"}}}")
    let served = try Served([database.file, "--emulator"])
    let terminals = try ["ana", "bo"].map { name in
      let terminal = try TmuxTerminal()
      let home = terminal.folder.path
      try check(mkdir(terminal.folder.file("runnel"), 0o700), "mkdir")
      _ = try terminal.folder.write(
        "views: [{ name: Chat, path: /chat, columns: [{ field: text }], compose: text }]",
        to: "runnel/chat.yaml")
      _ = try terminal.folder.write(
        """
        origins:
          team:
            url: "http://localhost:\(served.port)/?ns=test"
            presence: /presence
            views: chat.yaml
        """, to: "runnel/config.yaml")
      try terminal.runnel(
        ["open", "team", "--no-session"],
        before: "USER=\(name) XDG_DATA_HOME='\(home)' XDG_CONFIG_HOME='\(home)'")
      try terminal.wait(for: "live")
      return terminal
    }
    try terminals[0].wait(for: "with bo")
    try terminals[1].wait(for: "with ana")
    try terminals[1].keys("G")
    try terminals[0].wait("bo at the last row") { screen in
      screen.text.split(separator: "\n").contains { $0.contains("two") && $0.contains("▸bo") }
    }
    try terminals[1].keys("a")
    try terminals[1].type("hel")
    try terminals[0].wait(for: "bo is typing")
    try terminals[0].keys("g", "P")
    try terminals[0].wait(for: "bo in Chat, typing")
    try terminals[1].keys("C-u")
    try terminals[0].wait(for: "bo in Chat")
    try terminals[1].keys("C-g")
    try terminals[1].wait(for: "q leave")
    try terminals[1].keys("q")
    try terminals[1].wait(for: TmuxTerminal.prompt)
    try terminals[0].wait(forNo: "with bo")
    let entries = try database.run(["get", "/presence", "--shallow"]).output
    #expect(entries.split(separator: "\n").count <= 3, "\(entries)")
  }

  @Test func listThatTheServerAnswersLaterOpensAtItsNewestRow() throws {
    let messages = (100..<400).map { number in
      "\"m\(number)\":{\"text\":\"message \(number)\",\"pinned\":\(number == 380)}"
    }
    let database = try TestDatabase("{\"chat\":{\(messages.joined(separator: ","))}}")
    let served = try Served([database.file, "--emulator"])
    let terminal = try TmuxTerminal()
    let views = try terminal.folder.write(
      """
      views:
        - name: Chat
          path: /chat
          anchor: last
          also: [{ order: pinned, equal-to: true }]
          sections: [{ title: Pinned, where: { pinned: true } }, { field: pinned }]
          columns: [{ field: text }]
      """, to: "chat.yaml")
    try terminal.runnel(
      ["open", "http://localhost:\(served.port)/?ns=test", "--views", views, "--no-session"],
      before: "XDG_DATA_HOME='\(terminal.folder.path)'")
    try terminal.wait("the newest row under the cursor") {
      $0.cursorLine?.contains("message 399") == true
    }
    #expect(try !terminal.screen().text.contains(" new"))
  }

  /// Opens three workspaces on a server: Ana and Bo share a replica, and Eve has another.
  private func openSharing(_ served: Served, _ folder: TemporaryFolder) throws -> [TmuxTerminal] {
    try check(mkdir(folder.file("runnel"), 0o700), "mkdir")
    _ = try folder.write(
      """
      origins:
        team: { url: "http://localhost:\(served.port)/?ns=test", presence: /presence }
      """, to: "runnel/config.yaml")
    return try [("ana", "one"), ("bo", "one"), ("eve", "other")].map { name, data in
      let terminal = try TmuxTerminal()
      let folders = "XDG_DATA_HOME='\(folder.file(data))' XDG_CONFIG_HOME='\(folder.path)'"
      try terminal.runnel(
        ["open", "team", "--no-session"], before: "USER=\(name) \(folders)")
      try terminal.wait(for: "live")
      return terminal
    }
  }

  @Test func workspacesThatShareAReplicaAreAllShownUntilEachEnds() throws {
    let database = try TestDatabase("{\"chat\":{\"m1\":{\"text\":\"one\"}}}")
    let served = try Served([database.file, "--emulator"])
    let terminals = try openSharing(served, database.folder)
    let (ana, bo, eve) = (terminals[0], terminals[1], terminals[2])
    try eve.wait("the two others") { $0.contains("ana") && $0.contains("bo") }
    try ana.wait("the two others") { $0.contains("bo") && $0.contains("eve") }
    try bo.wait("the two others") { $0.contains("ana") && $0.contains("eve") }
    // The one without the connection is killed, and the other removes its entry.
    try bo.send(SIGKILL)
    try eve.wait("Ana alone") { $0.contains("with ana") && !$0.contains("ana bo") }
    try ana.keys("q")
    try ana.wait(for: TmuxTerminal.prompt)
    try eve.wait(forNo: "with ana")
  }

  @Test func whoSharesAReplicaStaysWhenTheOneWithTheConnectionIsKilled() throws {
    let database = try TestDatabase("{\"chat\":{\"m1\":{\"text\":\"one\"}}}")
    let served = try Served([database.file, "--emulator"])
    let terminals = try openSharing(served, database.folder)
    let eve = terminals[2]
    try eve.wait("the two others") { $0.contains("ana") && $0.contains("bo") }
    try terminals[0].send(SIGKILL)
    try eve.wait("Bo alone") { $0.contains("with bo") && !$0.contains("ana") }
  }

  /// Two workspaces, each on a replica of its own, write while the server is gone.
  @Test func writesOfTwoWorkspacesArriveOnceAndInOrderAfterTheServerCameBack() throws {
    let database = try TestDatabase("{\"a\":\"a0\",\"b\":\"b0\"}")
    let served = try Served([database.file, "--emulator"])
    let url = "http://localhost:\(served.port)/?ns=test"
    let terminals = try (0..<2).map { index in
      let terminal = try TmuxTerminal()
      try terminal.runnel(
        ["open", url, "--no-session"], before: "XDG_DATA_HOME='\(terminal.folder.path)'")
      try terminal.wait(for: "live")
      try terminal.wait(for: "b0")
      // The first stands on a, the second on b.
      try terminal.keys(contentsOf: Array(repeating: "j", count: index + 1))
      try terminal.wait(for: "▸ /" + ["a", "b"][index])
      return terminal
    }
    // What is told over the connection is in the replica.
    for (name, value) in [("a", "x0"), ("b", "y0")] {
      #expect(try database.run(["set", "/\(name)", "\"\(value)\""]).status == 0)
    }
    for terminal in terminals {
      try terminal.wait("followed values") { $0.contains("x0") && $0.contains("y0") }
    }
    try served.program.send(SIGKILL)
    _ = try served.program.wait()
    for (index, terminal) in terminals.enumerated() {
      try terminal.wait(for: "offline since")
      for number in 1...5 {
        try terminal.keys("e")
        try terminal.wait(for: "Preview of the write")
        try terminal.keys("C-u")
        try terminal.type("\(["a", "b"][index])\(number)")
        try terminal.keys("Enter")
        try terminal.wait(for: "↑\(number)")
        try terminal.wait(forNo: "Preview of the write")
      }
    }
    let again = try Served([database.file, "--emulator"], listen: "localhost:\(served.port)")
    for terminal in terminals {
      try terminal.wait("both values, and that nothing waits", seconds: 60) {
        $0.contains("a5") && $0.contains("b5") && $0.contains("● live") && !$0.contains("↑")
      }
    }
    try again.program.send(SIGINT)
    _ = try again.program.wait()
    for name in ["a", "b"] {
      let history = try database.run(["history", "/\(name)"]).output
      let values = history.split(separator: "\n").compactMap { line in
        line.split(separator: "\"new\":\"").last?.prefix { $0 != "\"" }
      }
      let written = values.filter { $0.hasPrefix(name) }.reversed().map(String.init)
      #expect(written == (1...5).map { "\(name)\($0)" }, "\(history)")
    }
  }
}
