import Foundation
import RunnelBase
import RunnelServer
import RunnelSync
import TestSupport
import Testing

/// A served file that is moved while clients write to it.
@Suite struct ServedFileLossTests {
  /// By which way a client writes.
  enum Way: CaseIterable {
    case put, push, spooledPut, socket, service
  }

  private static let room = "/messages"

  /// Sends a write by a way; returns what reads the text of its answer.
  private static func write(
    by way: Way, to server: TestServer
  ) throws -> () throws -> (status: String, text: String) {
    switch way {
    case .socket:
      let socket = try server.socket()
      try socket.ask(1, "p", "{\"p\":\"\(room)/a\",\"d\":{\"text\":\"a\"}}")
      return {
        let answer = try socket.next()["b"]
        return (answer?["s"]?.string ?? "", answer?["d"]?.string ?? "")
      }
    case .put, .push, .spooledPut, .service:
      let client = try server.client()
      let text = way == .spooledPut ? String(repeating: "a", count: 3000) : "a"
      let isPut = way == .put || way == .spooledPut
      try client.sendRequest(
        isPut ? "PUT" : "POST", room + (isPut ? "/a.json" : way == .push ? ".json" : ""),
        "{\"text\":\"\(text)\"}", headers: way == .service ? [:] : ["Authorization": "Bearer owner"]
      )
      return {
        let answer = try client.readAnswer()
        return ("\(answer.status)", answer.body)
      }
    }
  }

  private static func server(in disk: FaultyDisk) async throws -> TestServer {
    let server = try await TestServer(rules: ServiceTesting.rules, in: disk.folder) {
      ServiceTesting.configure(&$0)
      $0.rest.spoolBytesMin = 1000
    }
    // The log is begun: each later write waits for the disk once.
    #expect(try server.request("PUT", "/messages/first.json", "{\"text\":\"first\"}").status == 200)
    return server
  }

  /// It is in the file that was open, as who moves that back finds.
  @Test(arguments: Way.allCases)
  func aWriteThatWasMadeBeforeTheLossWasSeenIsNotCalledUndone(way: Way) async throws {
    let disk = try FaultyDisk()
    let server = try await ServedFileLossTests.server(in: disk)
    disk.hold()
    let answer = try ServedFileLossTests.write(by: way, to: server)
    let other = try server.socket()
    for _ in 0..<100_000 where disk.syncCount == 0 { try ping(other) }
    #expect(rename(server.file, server.file + ".old") == 0)
    disk.release()
    let (status, text) = try answer()
    #expect(status == (way == .socket ? "unavailable" : "503"))
    #expect(text.contains("This was written, and then a file of the database was found"), "\(text)")
    #expect(!text.contains("nothing was done"), "\(text)")
    #expect(!text.contains(disk.folder), "\(text)")
    let later = try ServedFileLossTests.write(by: way, to: server)().text
    #expect(later.contains("nothing was done: try again later"), "\(later)")
    await server.stop()
    #expect(rename(server.file + ".old", server.file) == 0)
    let members = try OtherProcess.read("messages", in: server.file).object
    #expect(members?.count == 2, "the later one is not there")
  }

  /// Once, all but the first were told that nothing was done.
  @Test func allWritesOfATransactionAreToldWhatBecameOfThem() async throws {
    let disk = try FaultyDisk()
    let server = try await ServedFileLossTests.server(in: disk)
    let writers = try (0..<12).map { _ in try server.socket() }
    let other = try server.socket()
    disk.hold()
    try writers[0].ask(1, "p", "{\"p\":\"/messages/w0\",\"d\":{\"text\":\"a\"}}")
    for _ in 0..<100_000 where disk.syncCount == 0 { try ping(other) }
    for (index, writer) in writers.enumerated().dropFirst() {
      // One is not allowed, and stays so.
      let place = index == 1 ? "/hidden/x" : "/messages/w\(index)"
      try writer.ask(1, "p", "{\"p\":\"\(place)\",\"d\":{\"text\":\"a\"}}")
      // The messages before the ping have been handled.
      try ping(writer)
    }
    disk.step()
    #expect(try writers[0].next()["b"]?["s"] == "ok")
    for _ in 0..<100_000 where disk.syncCount == 0 { try ping(other) }
    #expect(rename(server.file, server.file + ".old") == 0)
    disk.release()
    var told: [Int: String] = [:]
    for (index, writer) in writers.enumerated().dropFirst() {
      let answer = try writer.next()["b"]
      #expect(answer?["s"] == (index == 1 ? "permission_denied" : "unavailable"))
      told[index] = answer?["d"]?.string
    }
    await server.stop()
    #expect(rename(server.file + ".old", server.file) == 0)
    let found = try OtherProcess.read("messages", in: server.file).object ?? []
    #expect(found.count == 12)
    for index in 2..<12 {
      let isDone = found.contains { $0.name == "w\(index)" }
      let text = told[index] ?? ""
      #expect(text.contains("This was written") == isDone, "w\(index): \(text)")
      #expect(text.contains("nothing was done") != isDone, "w\(index): \(text)")
    }
  }

  /// Those who listen are told what was written just before the loss, and a session that ended meanwhile
  /// does what it promised.
  @Test func aFileThatIsBackAsItWasIsUsedAgain() async throws {
    let disk = try FaultyDisk()
    let log = KeptLog()
    try await log.during {
      let server = try await ServedFileLossTests.server(in: disk)
      let (listener, leaver) = (try server.socket(), try server.socket())
      #expect(try listener.status(1, "q", "{\"p\":\"/messages/a\",\"h\":\"\"}") == "ok")
      let last = "{\"p\":\"/messages/gone\",\"d\":{\"text\":\"gone\"}}"
      #expect(try leaver.status(1, "o", last) == "ok")
      let administrator = try server.administrator()
      disk.hold()
      let answer = try ServedFileLossTests.write(by: .put, to: server)
      for _ in 0..<100_000 where disk.syncCount == 0 { try ping(listener) }
      #expect(rename(server.file, server.file + ".old") == 0)
      disk.release()
      #expect(try answer().text.contains("This was written"))
      leaver.client.hangUp()
      let ready = try administrator.request("GET", "/readyz")
      #expect(ready.body == "test cannot be used: see the log.\n")
      #expect(try server.request("PUT", "/messages/b.json", "{\"text\":\"b\"}").status == 503)
      #expect(rename(server.file + ".old", server.file) == 0)
      #expect(try server.request("PUT", "/messages/b.json", "{\"text\":\"b\"}").status == 200)
      #expect(try administrator.request("GET", "/readyz").body == "ready\n")
      #expect(try listener.next()["b"]?["d"] == ["text": "a"])
      var gone = "null"
      for _ in 0..<1_000_000 where gone == "null" {
        gone = try server.request("GET", "/messages/gone/text.json").body
      }
      #expect(gone == "\"gone\"")
      await server.stop()
    }
    let told = log.messages.filter {
      $0.contains("uses it again when it is at its place as it was")
    }
    // Each state is told, and there may be one on the way.
    #expect((1...3).contains(told.count), "\(log.messages)")
    #expect(log.messages.contains { $0.hasSuffix("as it was, and is used again") })
  }

  /// Another program began a log meanwhile.
  @Test func aFileThatMayHaveBeenWrittenMeanwhileTakesARestart() async throws {
    let disk = try FaultyDisk()
    let log = KeptLog()
    try await log.during {
      let server = try await ServedFileLossTests.server(in: disk)
      let (file, old) = (server.file, server.file + ".old")
      for suffix in ["", "-wal"] { #expect(rename(file + suffix, old + suffix) == 0) }
      let first = try server.request("PUT", "/messages/a.json", "{\"text\":\"a\"}")
      #expect(first.body.contains("nothing was done: try again later"), "\(first.body)")
      #expect(rename(old, file) == 0)
      try Data("another".utf8).write(to: URL(fileURLWithPath: file + "-wal"))
      let second = try server.request("PUT", "/messages/a.json", "{\"text\":\"a\"}")
      #expect(second.status == 503)
      #expect(
        second.body.contains(
          "cannot be used until the server is restarted, and nothing was done"), "\(second.body)")
      let ready = try server.administrator().request("GET", "/readyz")
      #expect(ready.status == 503)
      #expect(ready.body == "test cannot be used until this server is restarted: see the log.\n")
      await server.stop()
    }
    let last = try #require(log.messages.last { $0.contains("test.db is ") })
    #expect(last.contains("is at its place again, but may have been written meanwhile"), "\(last)")
    #expect(last.contains("only after a restart"), "\(last)")
    #expect(!last.contains("rename"), "the advice for a file that is away is not true any more")
  }

  private func ping(_ socket: Socket) throws {
    try socket.send("{\"t\":\"c\",\"d\":{\"t\":\"p\",\"d\":{}}}")
    #expect(try socket.next() == json("{\"t\":\"o\",\"d\":{}}"))
  }
}
