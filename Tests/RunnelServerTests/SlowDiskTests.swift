import CFaults
import Foundation
import RunnelBase
import RunnelServer
import TestSupport
import Testing

/// A disk that does not respond, or is full.
@Suite struct SlowDiskTests {
  @Test func readsAreAnsweredWhileALargeWriteIsBroughtToDisk() async throws {
    let disk = try FaultyDisk()
    let server = try await TestServer(in: disk.folder)
    #expect(try server.request("PUT", "/small.json", "{\"a\":7}").status == 200)
    let tag = ["X-Firebase-ETag": "true"]
    let before = try server.request("GET", "/small.json", headers: tag)
    let (writer, other) = (try server.client(), try server.socket())
    disk.hold()
    let text = String(repeating: "x", count: 2_000_000)
    try writer.sendRequest("PUT", "/large.json", "\"\(text)\"")
    for _ in 0..<100_000 where disk.syncCount == 0 { try ping(other) }
    #expect(disk.syncCount == 1)
    let during = try server.request("GET", "/small.json", headers: tag)
    #expect(during.body == before.body)
    #expect(during.headers["etag"] == before.headers["etag"])
    #expect(during.headers["content-length"] == before.headers["content-length"])
    #expect(try server.request("GET", "/large.json").body == "null")
    #expect(try server.request("GET", "/small.json?orderBy=1").status == 400)
    #expect(!writer.hasUnread)
    disk.release()
    #expect(try writer.readAnswer().status == 200)
    #expect(try server.request("GET", "/large.json").body.utf8.count == 2_000_002)
    await server.stop()
  }

  @Test func onlyWritesWaitAndAreCommittedTogether() async throws {
    let disk = try FaultyDisk()
    let server = try await TestServer(in: disk.folder)
    let writers = try (0..<64).map { _ in try server.socket() }
    let other = try server.socket()
    disk.hold()
    try writers[0].ask(1, "p", "{\"p\":\"/n/0\",\"d\":0}")
    // Each ping gives the server time to reach the disk.
    for _ in 0..<100_000 where disk.syncCount == 0 { try ping(other) }
    #expect(disk.syncCount == 1)
    for (index, writer) in writers.enumerated().dropFirst() {
      try writer.ask(1, "p", "{\"p\":\"/n/\(index)\",\"d\":\(index)}")
      // The messages before the ping have been handled.
      try ping(writer)
    }
    #expect(try server.administrator().request("GET", "/healthz").status == 200)
    #expect(try server.administrator().request("GET", "/connections").status == 200)
    try ping(server.socket())
    #expect(writers.allSatisfy { !$0.client.hasUnread })
    disk.release()
    for writer in writers { #expect(try writer.next()["b"]?["s"] == "ok") }
    #expect(disk.syncCount <= 5, "64 writes share the waits for the disk")
    #expect(try server.request("GET", "/n.json?shallow=true").body.contains("\"63\":true"))
    await server.stop()
  }

  @Test(arguments: [FAULTS_FULL, FAULTS_IO])
  func serverIsNotReadyWhileTheDiskTakesNoWrites(kind: faults_kind) async throws {
    let disk = try FaultyDisk()
    let server = try await TestServer(in: disk.folder)
    let client = try server.administrator()
    #expect(try server.request("PUT", "/x.json", "1").status == 200)
    #expect(try client.request("GET", "/readyz").status == 200)
    disk.fill(kind)
    #expect(try server.request("PUT", "/x.json", "2").status == 503)
    let answer = try client.request("GET", "/readyz")
    #expect(answer.status == 503)
    #expect(answer.body == "test cannot be written: see the log.\n")
    #expect(try client.request("GET", "/healthz").status == 200)
    disk.empty()
    #expect(try server.request("PUT", "/x.json", "3").status == 200)
    #expect(try client.request("GET", "/readyz").body == "ready\n")
    await server.stop()
  }

  @Test func serverIsReadyAgainWithoutAWriteOfAClient() async throws {
    let disk = try FaultyDisk()
    let server = try await TestServer(in: disk.folder)
    let client = try server.administrator()
    disk.fill()
    #expect(try server.request("PUT", "/x.json", "2").status == 503)
    // A write that is refused for itself proves nothing.
    #expect(try server.request("PUT", "/x.json", "{").status == 400)
    #expect(try client.request("GET", "/readyz").status == 503)
    disk.empty()
    var status = 0
    for _ in 0..<1_000_000 where status != 200 {
      status = try client.request("GET", "/readyz").status
    }
    #expect(status == 200)
    #expect(try server.request("GET", "/.json?shallow=true").body == "null")
    await server.stop()
  }

  /// Once, the session went on: what it wrote next was done, and the refused write after it, when its client
  /// sent that again.
  @Test(arguments: [FAULTS_FULL, FAULTS_IO])
  func aSessionWritesNothingAfterAWriteThatTheDiskRefused(kind: faults_kind) async throws {
    let disk = try FaultyDisk()
    let server = try await TestServer(in: disk.folder)
    let socket = try server.socket()
    // A write that nothing can change ends nothing.
    #expect(try socket.status(1, "p", "{\"p\":\"/a\",\"d\":{\"b/c\":1}}") != "ok")
    #expect(try socket.status(2, "p", "{\"p\":\"/a\",\"d\":0}") == "ok")
    disk.fill(kind)
    #expect(try socket.status(3, "p", "{\"p\":\"/a\",\"d\":1}") == "unavailable")
    disk.empty()
    // The connection may have ended already.
    try? socket.ask(4, "p", "{\"p\":\"/a\",\"d\":2}")
    #expect(throws: (any Error).self) { _ = try socket.next() }
    #expect(try server.request("GET", "/a.json").body == "0")
    await server.stop()
  }

  /// The cause is told, and no file of the server.
  @Test func clientsAreToldThatNoSpaceIsLeft() async throws {
    let disk = try FaultyDisk()
    let server = try await TestServer(rules: ServiceTesting.rules, in: disk.folder) {
      ServiceTesting.configure(&$0)
    }
    let socket = try SocketIOClient(server)
    let call: JSONValue = ["create", "messages", ["text": "a"]]
    #expect(try socket.ask(call)["text"] == "a")
    disk.fill()
    let error = try socket.ask(call)
    #expect(error["code"] == 503)
    let post = try server.request("POST", "/messages", "{\"text\":\"b\"}").body
    let put = try server.request("PUT", "/messages/c.json", "{\"text\":\"c\"}").body
    for text in [error["message"]?.string ?? "", post, put] {
      #expect(text.contains("has no space left, and nothing was done"), "\(text)")
      #expect(!text.contains("runnel-disk"), "\(text)")
    }
    disk.empty()
    #expect(try socket.ask(call)["text"] == "a")
    await server.stop()
  }

  /// The rules of a file are no write of the database.
  @Test func rulesAreReplacedWhileTheDatabaseTakesNoWrites() async throws {
    let disk = try FaultyDisk()
    let rules = "{\"rules\":{\".read\":true,\".write\":true}}"
    let server = try await TestServer(rules: rules, in: disk.folder)
    let owner = ["Authorization": "Bearer owner"]
    disk.fill()
    #expect(try server.request("PUT", "/x.json", "2").status == 503)
    let place = "/.settings/rules.json"
    let closed = "{\"rules\":{}}"
    #expect(try server.request("PUT", place, closed, headers: owner).status == 200)
    #expect(try server.request("GET", "/x.json").status == 401)
    // Something stands where the new file is made.
    try FileManager.default.createDirectory(
      atPath: disk.folder + "/test.rules.json.new", withIntermediateDirectories: false)
    let failed = try server.request("PUT", place, rules, headers: owner)
    #expect(failed.status == 503)
    #expect(failed.body.contains("cannot be written, and the old rules are in force"))
    #expect(!failed.body.contains("runnel-disk"))
    #expect(try server.request("GET", "/x.json").status == 401)
    disk.empty()
    await server.stop()
  }

  /// Once, it was done when the server was started anew.
  @Test func whatASessionLeftOnAFullDiskIsDoneWhenThereIsRoom() async throws {
    let disk = try FaultyDisk()
    let server = try await TestServer(in: disk.folder)
    let socket = try server.socket()
    let body = "{\"p\":\"/gone\",\"d\":{\".sv\":{\"increment\":1}}}"
    #expect(try socket.status(1, "o", body) == "ok")
    disk.fill()
    #expect(try socket.status(2, "p", "{\"p\":\"/a\",\"d\":1}") == "unavailable")
    #expect(throws: (any Error).self) { _ = try socket.next() }
    #expect(try server.request("PUT", "/a.json", "2").status == 503)
    #expect(try server.request("GET", "/gone.json").body == "null")
    #expect(server.server.metricsText.contains("runnel_writable{database=\"test\"} 0"))
    disk.empty()
    let client = try server.client()
    var count = "null"
    for _ in 0..<1_000_000 where count == "null" {
      count = try client.request("GET", "/gone.json").body
    }
    #expect(count == "1")
    #expect(try client.request("PUT", "/a.json", "3").status == 200)
    #expect(try server.administrator().request("GET", "/readyz").status == 200)
    #expect(server.server.metricsText.contains("runnel_writable{database=\"test\"} 1"))
    await server.stop()
    #expect(try OtherProcess.read("gone", in: server.file) == 1)
  }

  private func ping(_ socket: Socket) throws {
    try socket.send("{\"t\":\"c\",\"d\":{\"t\":\"p\",\"d\":{}}}")
    #expect(try socket.next() == json("{\"t\":\"o\",\"d\":{}}"))
  }
}
