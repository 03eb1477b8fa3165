import Foundation
import TestSupport
import Testing

/// Two users of one server with rules, each in a workspace of their own.
@Suite(.timeLimit(.minutes(5))) struct TerminalTwoUsersTests {
  private static let rules = """
    {"rules":{"board":{".read":"auth !== null","$id":{
      ".write":"auth !== null && newData.child('by').val() === auth.uid"}}}}
    """
  private static let views = """
    views:
      - name: Board
        path: /board
        columns: [{ field: text }]
        compose: text
        new: { by: $me }
    """
  private static let greeting = "Any key closes this"

  private let database: TestDatabase
  private let served: Served

  init() throws {
    database = try TestDatabase(
      "{\"board\":{\"first\":{\"by\":\"none\",\"text\":\"welcome\"}}}")
    let rules = try database.folder.write(Self.rules, to: "test.rules.json")
    served = try Served([
      database.file, "--accounts", database.folder.file("accounts.db"), "--rules", rules,
      "--name", "test",
    ])
    try FileManager.default.createDirectory(
      atPath: database.folder.file("config/runnel"), withIntermediateDirectories: true)
    _ = try database.folder.write(
      """
      origins:
        chat:
          url: http://localhost:\(served.port)/?ns=test
          views: chat.views.yaml
      """, to: "config/runnel/config.yaml")
    _ = try database.folder.write(Self.views, to: "config/runnel/chat.views.yaml")
  }

  private func environment(_ user: String) -> [String: String] {
    [
      "XDG_STATE_HOME": database.folder.file("\(user)/state"),
      "XDG_DATA_HOME": database.folder.file("\(user)/data"),
      "XDG_CONFIG_HOME": database.folder.file("config"),
    ]
  }

  private func password(of user: String) -> String { "correct horse of \(user)" }

  /// Opens a workspace that records its session, and signs a new user up in it.
  private func open(_ user: String) throws -> TmuxTerminal {
    let terminal = try TmuxTerminal(columns: 100)
    let words = environment(user).map { "\($0)='\($1)'" }.sorted().joined(separator: " ")
    try terminal.runnel(
      ["open", "chat", "--record", database.folder.file("\(user).session")], before: words)
    try terminal.wait("the first screen") {
      $0.contains(Self.greeting) || $0.contains("not signed in")
    }
    if try terminal.screen().contains(Self.greeting) { try terminal.keys("Escape") }
    try terminal.wait(forNo: Self.greeting)
    try terminal.keys("A")
    try terminal.wait(for: "nobody is signed in")
    try terminal.keys("a")
    try terminal.wait(for: "New account")
    for (index, text) in ["\(user)@x.org", password(of: user), password(of: user)].enumerated() {
      if index > 0 { try terminal.keys("Tab") }
      try terminal.type(text)
    }
    try terminal.keys("Enter")
    try terminal.wait("the board of \(user)", seconds: 90) {
      $0.contains("\(user)@x.org") && $0.contains("welcome") && $0.contains("● live")
    }
    return terminal
  }

  /// The tokens of a user, as the file of the session has them.
  private func tokens(of user: String) throws -> [String] {
    let folder = database.folder.file("\(user)/state/runnel/accounts")
    let names = try #require(FileManager.default.enumerator(atPath: folder))
    var tokens: [String] = []
    for case let name as String in names where name.hasSuffix(".json") {
      let data = try #require(FileManager.default.contents(atPath: "\(folder)/\(name)"))
      let json = try JSONSerialization.jsonObject(with: data) as? [String: Any]
      tokens += ["idToken", "refreshToken"].compactMap { json?[$0] as? String }
    }
    return tokens
  }

  /// The files below the test's folder that hold one of some texts.
  private func files(with texts: [String]) throws -> [String] {
    let folder = database.folder.path
    let names = try #require(FileManager.default.enumerator(atPath: folder))
    var found: [String] = []
    for case let name as String in names {
      // Folders and sockets have no contents.
      guard let data = FileManager.default.contents(atPath: "\(folder)/\(name)") else { continue }
      if texts.contains(where: { data.range(of: Data($0.utf8)) != nil }) { found.append(name) }
    }
    return found
  }

  @Test func eachSeesWhatTheOtherWritesAndChangesOnlyTheirOwn() throws {
    let (ana, bo) = (try open("ana"), try open("bo"))
    try ana.keys("a")
    try ana.type("a word of ana")
    try ana.keys("Enter")
    try bo.wait(for: "a word of ana")
    try bo.keys("a")
    try bo.type("a word of bo")
    try bo.keys("Enter")
    try ana.wait(for: "a word of bo")
    // The rules let bo change no record of ana, and what was tried is kept for bo.
    try bo.keys("Escape")
    try bo.wait(forNo: "Enter send")
    try bo.keys("g", "g", "j", "e")
    try bo.wait(for: "2 fields")
    try bo.keys("C-u")
    try bo.type("forged")
    try bo.keys("Enter")
    try bo.wait("the refusal") { $0.contains("Permission denied") && $0.contains("!1") }
    #expect(try !ana.screen().contains("forged"))
    try bo.keys("C-g", "q")
    try bo.wait(for: TmuxTerminal.prompt)
    try ana.keys("C-g", "q")
    try ana.wait(for: TmuxTerminal.prompt)
    // A password is in no file, and a token only in that of its session.
    let sessions = try ["ana", "bo"].map { try tokens(of: $0) }
    for (user, tokens) in zip(["ana", "bo"], sessions) {
      #expect(tokens.count == 2, "\(user)")
      #expect(try files(with: [password(of: user)]).isEmpty, "\(user)")
      let holders = try files(with: tokens)
      #expect(holders.count == 1 && holders[0].hasPrefix("\(user)/state/"), "\(holders)")
      let log = try served.program.errors()
      #expect(!tokens.contains { log.contains($0) } && !log.contains(password(of: user)))
    }
  }
}
