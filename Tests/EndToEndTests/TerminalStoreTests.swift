import Foundation
import PostgresCluster
import TestSupport
import Testing

/// The workspace on a namespace of a store, without asking a server.
@Suite(
  .timeLimit(.minutes(5)),
  .enabled(if: PostgresCluster.isInstalled, Comment(rawValue: PostgresCluster.advice)))
struct TerminalStoreTests {
  private let folder: TemporaryFolder
  private let environment: [String: String]

  init() throws {
    folder = try TemporaryFolder()
    let place = try PostgresCluster.shared().makeDatabase()
    try FileManager.default.createDirectory(
      atPath: folder.file("runnel"), withIntermediateDirectories: true)
    _ = try folder.write("stores:\n  main: \(place)\n", to: "runnel/config.yaml")
    environment = ["XDG_CONFIG_HOME": folder.path, "XDG_DATA_HOME": folder.path]
    #expect(try run("store", "init", "chat").status == 0)
    let document = try folder.write("{\"greeting\":\"hello\"}", to: "chat.json")
    #expect(try run("store", "import", "chat", document).status == 0)
  }

  private func run(_ words: String...) throws -> Program.Outcome {
    try Program.run(words, environment: environment)
  }

  private func opened() throws -> TmuxTerminal {
    let terminal = try TmuxTerminal()
    let home = folder.path
    try terminal.runnel(
      ["open", "--store", "main", "--namespace", "chat", "--no-session"],
      before: "XDG_DATA_HOME='\(home)' XDG_CONFIG_HOME='\(home)'")
    try terminal.wait("the namespace") { $0.contains("greeting") && $0.contains("live") }
    return terminal
  }

  @Test func aNamespaceIsReadAndWrittenLiveBesideAServer() throws {
    // No rules are asked here: they deny everything.
    let rules = try folder.write(
      "{\"rules\":{\".read\":false,\".write\":false,\"another\":{\".read\":true,\".write\":true}}}",
      to: "rules.json")
    #expect(try run("store", "rules", "put", "chat", rules).status == 0)
    let terminal = try opened()
    let served = try Served(["--store", "main", "--no-access-log"], environment: environment)
    #expect(try served.client().request("PUT", "/another.json", "1").status == 200)
    try terminal.wait(for: "another")
    try terminal.keys("g", "g", "j")
    try terminal.wait("the cursor on the new row") {
      $0.cursorLine?.contains("another") == true
    }
    try terminal.keys("e")
    try terminal.wait(for: "Edit /another")
    try terminal.keys("C-u")
    try terminal.type("2")
    try terminal.keys("Enter")
    try terminal.wait("the new value at the server") { _ in
      (try? served.client().request("GET", "/another.json").body) == "2"
    }
    try terminal.keys("q")
    try terminal.wait(for: TmuxTerminal.prompt)
    // Its lease ended with it: only that of the server is left.
    let status = try run("store", "status").output
    #expect(status.split(separator: "\n").count { $0.hasPrefix("server ") } == 1, "\(status)")
  }

  private func makeSecond() throws {
    let place = try PostgresCluster.shared().makeDatabase()
    let file = folder.file("runnel/config.yaml")
    let text = try String(contentsOfFile: file, encoding: .utf8)
    try "\(text)  second: \(place)\n".write(toFile: file, atomically: true, encoding: .utf8)
    #expect(try run("store", "init", "--store", "second").status == 0)
  }

  /// Once, the workspace stayed offline for good.
  @Test func aMoveThatIsTakenBackIsFollowed() throws {
    try makeSecond()
    let terminal = try opened()
    #expect(try run("store", "move", "chat", "--to", "second").status == 0)
    let there = try folder.write("{\"greeting\":\"hello\",\"there\":1}", to: "there.json")
    let filled = try run("store", "import", "chat", there, "--store", "second", "--replace")
    #expect(filled.status == 0, "\(filled.errors)")
    try terminal.wait(for: "there")
    let drop = try run("store", "drop", "chat", "--store", "second", "--force")
    #expect(drop.status == 0, "\(drop.errors)")
    let back = try run("store", "move", "chat", "--give-up", "--force")
    #expect(back.status == 0, "\(back.errors)")
    let again = try run("store", "move", "chat", "--store", "second", "--give-up")
    #expect(again.status == 0 && again.output.contains("nothing was to do"), "\(again.errors)")
    let here = try folder.write("{\"greeting\":\"hello\",\"here\":1}", to: "here.json")
    let refilled = try run("store", "import", "chat", here, "--replace")
    #expect(refilled.status == 0, "\(refilled.errors)")
    try terminal.wait("the first store") { $0.contains("here") && !$0.contains("there") }
    let status = try run("sync", "status").output
    #expect(status.contains("\"chat in the store main\""), "\(status)")
  }

  /// Once, the workspace stayed offline, and what was written in it had no way to the other store.
  @Test func aMoveToAnotherStoreIsFollowed() throws {
    try makeSecond()
    let terminal = try opened()
    let move = try run("store", "move", "chat", "--to", "second", "--address", "two.example:1")
    #expect(move.status == 0, "\(move.errors)")
    try terminal.keys("g", "g", "j")
    try terminal.wait("the cursor") { $0.cursorLine?.contains("greeting") == true }
    try terminal.keys("e")
    try terminal.wait(for: "Edit /greeting")
    try terminal.keys("C-u")
    try terminal.type("\"moved\"")
    try terminal.keys("Enter")
    try terminal.wait("the new value in the other store") { _ in
      (try? run("store", "export", "chat", "--store", "second").output)?.contains("moved") == true
    }
    try terminal.wait(for: "live")
    try terminal.keys("q")
    try terminal.wait(for: TmuxTerminal.prompt)
    // Its replica is that of the first store, also when nothing is left there.
    #expect(try run("store", "drop", "chat").status == 0)
    let again = try opened()
    try again.wait(for: "is in the store second")
    let push = try run("sync", "push", "http://main.store.localhost/?ns=chat")
    #expect(push.errors.contains("runnel open --store main --namespace chat"), "\(push.errors)")
  }

  /// Once, the replica was not shown without a primary, not even with a write that waited in it.
  @Test func aNamespaceIsShownFromItsReplicaWhileNoPrimaryAnswers() throws {
    let file = folder.file("runnel/config.yaml")
    let text = try String(contentsOfFile: file, encoding: .utf8)
    try "stores:\n  main: host=\(folder.path) dbname=gone\n"
      .write(toFile: file, atomically: true, encoding: .utf8)
    let unknown = try TmuxTerminal()
    let before = "XDG_DATA_HOME='\(folder.path)' XDG_CONFIG_HOME='\(folder.path)'"
    let words = ["open", "--store", "main", "--namespace", "chat", "--no-session"]
    try unknown.runnel(words, before: before)
    try unknown.wait(for: "[3] ready$")
    try text.write(toFile: file, atomically: true, encoding: .utf8)
    let online = try opened()
    try online.keys("q")
    try online.wait(for: TmuxTerminal.prompt)
    try "stores:\n  main: host=\(folder.path) dbname=gone\n"
      .write(toFile: file, atomically: true, encoding: .utf8)
    let terminal = try TmuxTerminal()
    try terminal.runnel(words, before: before)
    try terminal.wait("the replica") { $0.contains("greeting") }
    try text.write(toFile: file, atomically: true, encoding: .utf8)
    try terminal.wait("the store") { $0.contains("greeting") && $0.contains("live") }
  }

  @Test func whatCannotBeOpenedIsSaid() throws {
    let missing = try run("open", "--namespace", "none")
    #expect(missing.status == 1)
    #expect(missing.errors.contains("has no namespace none"))
    let lonely = try run("open", "--store", "main")
    #expect(lonely.status == 2 && lonely.errors.contains("--namespace"))
    let twice = try run("open", "x.db", "--namespace", "chat")
    #expect(twice.status == 2, "\(twice.errors)")
    let unknown = try run("open", "--me", "X", "--store", "main", "--namespace", "chat")
    #expect(unknown.status == 2 && unknown.errors.contains("Unknown option '--me'"))
    let piped = try run("open", "--namespace", "chat")
    #expect(piped.status == 2 && piped.errors.contains("runnel store export"))
    let secret = try run("open", "--store", "host=x password=secret", "--namespace", "chat")
    #expect(secret.status == 2 && !secret.errors.contains("secret"))
  }
}
