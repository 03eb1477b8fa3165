import Foundation
import RunnelBase
import TestSupport
import Testing

/// The workspace on the services of a Feathers server.
@Suite(.timeLimit(.minutes(5))) struct TerminalServicesTests {
  private static let data = """
    {"messages":{"m1":{"text":"one","rank":1},"m2":{"text":"two","rank":2}}}
    """

  private static func serve(_ database: TestDatabase, at port: Int? = nil) throws -> Served {
    let arguments = [database.file, "--emulator", "--services", "messages,multi"]
    guard let port else { return try Served(arguments) }
    return try Served(arguments, listen: "localhost:\(port)")
  }

  private static func text(_ key: String, _ database: TestDatabase) throws -> String {
    try database.run(["get", "/messages/\(key)/text"]).output
  }

  /// Opens the service as the profile says, in the order of `rank`.
  private static func opened(
    _ database: TestDatabase, _ served: Served, page: Int
  ) throws -> TmuxTerminal {
    try check(mkdir(database.folder.file("runnel"), 0o700), "mkdir")
    _ = try database.folder.write(
      """
      views:
        - name: Notes
          path: /messages
          order: rank
          page: \(page)
          columns: [{ field: text }]
          compose: text
      """, to: "runnel/notes.yaml")
    _ = try database.folder.write(
      """
      origins:
        notes:
          url: feathers+http://localhost:\(served.port)
          services: messages
          views: notes.yaml
      """, to: "runnel/config.yaml")
    let terminal = try TmuxTerminal()
    let home = database.folder.path
    try terminal.runnel(
      ["open", "notes", "--no-session"],
      before: "XDG_DATA_HOME='\(home)' XDG_CONFIG_HOME='\(home)'")
    try terminal.wait("the first page") { $0.contains("one") && $0.contains("● live") }
    return terminal
  }

  /// Changes the text of the first record.
  private static func edit(
    _ terminal: TmuxTerminal, to text: String, fields: String
  ) throws {
    // Behind the title of the section.
    try terminal.keys("g", "g", "j")
    try terminal.wait("the cursor on the first record") {
      $0.cursorLine?.contains("▾") == false
    }
    try terminal.keys("e")
    try terminal.wait(for: fields)
    try terminal.keys("C-u")
    try terminal.type(text)
    try terminal.keys("Enter")
  }

  /// A signal that such a thread takes is lost: the screen would not follow the terminal's size.
  @Test func noThreadButTheFirstTakesSignals() throws {
    let database = try TestDatabase(TerminalServicesTests.data)
    let served = try TerminalServicesTests.serve(database)
    let terminal = try TerminalServicesTests.opened(database, served, page: 50)
    let process = try terminal.foregroundProcess()
    let tasks = "/proc/\(process)/task"
    let threads = try FileManager.default.contentsOfDirectory(atPath: tasks)
    #expect(threads.count > 1, "there are threads of connections")
    for thread in threads where thread != "\(process)" {
      let status = try String(contentsOfFile: "\(tasks)/\(thread)/status", encoding: .utf8)
      let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("SigBlk:") })
      let blocked = UInt64(line.split(separator: "\t").last ?? "", radix: 16) ?? 0
      for signal in [SIGINT, SIGTERM, SIGHUP, SIGTSTP, SIGWINCH] {
        let isBlocked = blocked & (1 << UInt64(signal - 1)) != 0
        #expect(isBlocked, "signal \(signal) reaches \(status.prefix(40))")
      }
    }
    try terminal.resize(columns: 120, rows: 30)
    try terminal.wait(for: " Bookmarks")
  }

  @Test func serviceIsAListThatIsLiveAndCanBeEdited() throws {
    let database = try TestDatabase(TerminalServicesTests.data)
    let served = try TerminalServicesTests.serve(database)
    let terminal = try TerminalServicesTests.opened(database, served, page: 50)
    try terminal.wait(for: "two")
    let made = try Program.run([
      "service", "create", "http://localhost:\(served.port)", "messages",
      "{\"text\":\"by another\",\"rank\":3}",
    ])
    #expect(made.status == 0, "\(made.errors)")
    try terminal.wait(for: "by another")
    // A record of one's own gets the id of the server.
    try terminal.keys("a")
    try terminal.type("mine")
    try terminal.keys("Enter")
    try terminal.wait("the new record, with nothing that waits") {
      $0.contains("mine") && !$0.contains(" ~ ") && !$0.contains("↑")
    }
    let all = try database.run(["get", "/messages"]).output
    #expect(all.split(separator: "\"mine\"").count == 2, "\(all)")
    try terminal.keys("Escape")
    try terminal.wait(for: "? help")
    // The new record has no rank, so it is the first.
    let first = try #require(try database.run(["get", "/messages"]).output.firstKey(of: "mine"))
    try TerminalServicesTests.edit(terminal, to: "uno", fields: "1 field")
    try terminal.wait("the edit at the server") { _ in
      (try? TerminalServicesTests.text(first, database)) == "\"uno\"\n"
    }
    try terminal.keys("q")
    try terminal.wait("the list again") {
      $0.contains("by another") && $0.cursorLine?.contains("uno") == true
    }
    try terminal.keys("d")
    // A `y` that was struck before the question could be read does not count.
    try terminal.wait("the row gone") { screen in
      if screen.contains("y delete") { try? terminal.keys("y") }
      return !screen.contains("uno")
    }
    try terminal.wait("the deletion at the server") { _ in
      (try? TerminalServicesTests.text(first, database)) == "null\n"
    }
  }

  /// The server is stopped while a record is made, asked about and given its id.
  @Test func questionFollowsANewRecordOfASilentServer() throws {
    let database = try TestDatabase(TerminalServicesTests.data)
    let served = try TerminalServicesTests.serve(database)
    let terminal = try TerminalServicesTests.opened(database, served, page: 50)
    try served.program.send(SIGSTOP)
    defer { try? served.program.send(SIGCONT) }
    try terminal.keys("a")
    try terminal.type("mine")
    try terminal.keys("Enter")
    try terminal.wait("the new record that waits") { $0.contains("mine") && $0.contains("↑1") }
    try terminal.keys("Escape")
    try terminal.wait(for: "? help")
    // The new record has no rank, so it is the first, behind the title of the section.
    try terminal.keys("g", "g", "j")
    try terminal.wait("the cursor on the new record") { $0.cursorLine?.contains("mine") == true }
    try terminal.keys("d")
    try terminal.wait(for: "y delete")
    try terminal.wait(for: "not answering", seconds: 20)
    try served.program.send(SIGCONT)
    try terminal.wait("the id of the record") { _ in
      (try? database.run(["get", "/messages"]).output.firstKey(of: "mine")) != nil
    }
    try terminal.wait("the link live again") { $0.contains("● live") && !$0.contains("↑") }
    try terminal.keys("y")
    try terminal.wait("the deletion at the server") { _ in
      (try? database.run(["get", "/messages"]).output.contains("mine")) == false
    }
    try terminal.wait("the list without it") { !$0.contains("mine") && $0.contains("one") }
  }

  @Test func writesWaitWithoutTheServerAndAreSentOnce() throws {
    let database = try TestDatabase(TerminalServicesTests.data)
    let served = try TerminalServicesTests.serve(database)
    let terminal = try TerminalServicesTests.opened(database, served, page: 1)
    #expect(try !terminal.screen().text.contains("two"))
    try terminal.keys("G")
    try terminal.wait(for: "two")
    try served.program.send(SIGKILL)
    _ = try served.program.wait()
    try terminal.wait(for: "offline since")
    try TerminalServicesTests.edit(terminal, to: "uno", fields: "2 fields")
    try terminal.wait(for: "↑1")
    let again = try TerminalServicesTests.serve(database, at: served.port)
    try terminal.wait("that nothing waits", seconds: 60) {
      !$0.contains("↑") && $0.contains("● live")
    }
    #expect(try TerminalServicesTests.text("m1", database) == "\"uno\"\n")
    try again.program.send(SIGINT)
    _ = try again.program.wait()
    let history = try database.run(["history", "/messages/m1/text"]).output
    #expect(history.split(separator: "\n").count { $0.contains("uno") } == 1, "\(history)")
  }

  /// The server names records in the order in which it gets them.
  @Test func newRecordsThatWaitedKeepTheirOrder() throws {
    let database = try TestDatabase(TerminalServicesTests.data)
    let served = try TerminalServicesTests.serve(database)
    let terminal = try TerminalServicesTests.opened(database, served, page: 50)
    try served.program.send(SIGKILL)
    _ = try served.program.wait()
    try terminal.wait(for: "offline since")
    try terminal.keys("a")
    let texts = (0..<12).map { "line \(String(UnicodeScalar(UInt8(97 + $0))))" }
    for text in texts {
      try terminal.type(text)
      try terminal.keys("Enter")
    }
    try terminal.wait(for: "↑12")
    let again = try TerminalServicesTests.serve(database, at: served.port)
    try terminal.wait("that nothing waits", seconds: 60) {
      !$0.contains("↑") && $0.contains("● live")
    }
    try again.program.send(SIGINT)
    _ = try again.program.wait()
    let all = try JSONValue(parsing: try database.run(["get", "/messages"]).output)
    let made = (all.object ?? []).sorted { $0.name < $1.name }
      .compactMap { $0.value["text"]?.string }.filter { $0.hasPrefix("line") }
    #expect(made == texts)
  }

  @Test func columnsAreFoundForAServiceThatWasNeverOpened() throws {
    let database = try TestDatabase(TerminalServicesTests.data)
    let served = try TerminalServicesTests.serve(database)
    let terminal = try TmuxTerminal()
    try terminal.runnel(
      ["open", "feathers+http://localhost:\(served.port)/messages", "--no-session"],
      before: "XDG_DATA_HOME='\(database.folder.path)'")
    try terminal.wait("both messages with their columns") {
      $0.contains("one") && $0.contains("two") && $0.contains("rank") && $0.contains("● live")
    }
    try terminal.keys("g", "2")
    try terminal.wait("the services that are known") {
      $0.contains("the server lists no") && $0.contains("▸ messages")
        && !$0.contains("unavailable")
    }
  }

  @Test func otherCommandsSayWhatToUse() throws {
    let address = "feathers+http://localhost:1/messages"
    let outcome = try Program.run(["get", "/x", "-d", address])
    #expect(outcome.status == 2, "\(outcome.status)")
    #expect(outcome.errors.contains("is a Feathers server"), "\(outcome.errors)")
    let picture = try Program.run(["screenshot", "-d", address, "-"])
    #expect(picture.status == 2, "\(picture.status)")
    #expect(picture.errors.contains("is a Feathers server: `runnel service`"), "\(picture.errors)")
    // An address in the place of the file to make.
    let misplaced = try Program.run(["screenshot", address])
    #expect(misplaced.status == 2, "\(misplaced.status)")
    #expect(
      misplaced.errors.contains("The address of a server stands where"), "\(misplaced.errors)")
    #expect(!misplaced.errors.contains("does not exist"), "\(misplaced.errors)")
  }
}

extension String {
  /// The key of the record with a text, in the JSON of a collection.
  fileprivate func firstKey(of text: String) throws -> String? {
    let json = try JSONValue(parsing: Array(utf8))
    return json.object?.first { $0.value["text"]?.string == text }?.name
  }
}
