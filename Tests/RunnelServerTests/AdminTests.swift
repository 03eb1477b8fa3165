import Foundation
import RunnelBase
import RunnelNetwork
import RunnelServer
import TestSupport
import Testing

@Suite struct AdminTests {
  @Test func theSocketIsBesideTheDatabaseAndForItsOwnerOnly() async throws {
    try await withServer { server in
      let path = server.folder + "/test.admin.sock"
      #expect(server.adminPlaces == [path])
      var status = stat()
      #expect(stat(path, &status) == 0)
      #expect(status.st_mode & 0o777 == 0o600)
      #expect(status.st_mode & S_IFMT == S_IFSOCK)
      await server.stop()
      #expect(stat(path, &status) != 0)
    }
  }

  @Test func aSocketThatAKilledServerLeftIsReplaced() async throws {
    let first = try await TestServer()
    await first.stop()
    let path = first.folder + "/test.admin.sock"
    let left = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    let bound = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(left, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    #expect(bound == 0)
    close(left)
    let second = try await TestServer(in: first.folder)
    #expect(try second.administrator().request("GET", "/readyz").status == 200)
    await second.stop()
  }

  /// The address of a socket has 107 bytes.
  @Test func aSocketInADeepFolderAnswers() async throws {
    let top = FileManager.default.temporaryDirectory.path + "/runnel-deep-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: top) }
    let folder = top + "/" + String(repeating: "x", count: 120)
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let path = folder + "/test.admin.sock"
    for _ in 0..<2 {
      let server = try await TestServer(in: folder)
      #expect(server.adminPlaces == [path])
      var status = stat()
      #expect(stat(path, &status) == 0)
      #expect(status.st_mode & 0o777 == 0o600)
      let asker = SocketAsker(file: path)
      #expect(try asker.ask(.get, "/readyz").status == 200)
      let second = #expect(throws: NetworkError.self) {
        try SocketAsker.check(file: folder + "/" + String(repeating: "y", count: 120))
      }
      #expect(second?.message.contains("too long for a socket") == true)
      await server.stop()
      #expect(stat(path, &status) != 0)
    }
  }

  @Test func aFileThatIsNotASocketIsNotReplaced() async throws {
    let first = try await TestServer()
    await first.stop()
    let path = first.folder + "/test.admin.sock"
    try Data("mine".utf8).write(to: URL(fileURLWithPath: path))
    let second = try await TestServer(in: first.folder)
    #expect(second.adminPlaces.isEmpty)
    #expect(try second.request("GET", "/x.json").status == 200)
    await second.stop()
    #expect(try String(contentsOfFile: path, encoding: .utf8) == "mine")
  }

  @Test func healthAndMetricsAreReported() async throws {
    try await withServer { server in
      _ = try server.request("PUT", "/x.json", "1")
      let client = try server.administrator()
      #expect(try client.request("GET", "/healthz").body == "ok\n")
      #expect(try client.request("GET", "/readyz").body == "ready\n")
      let metrics = try client.request("GET", "/metrics")
      #expect(metrics.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8")
      #expect(metrics.body.contains("runnel_requests_total{status=\"200\"} 1\n"))
      #expect(try client.request("HEAD", "/healthz").status == 200)
      #expect(try client.request("GET", "/x.json").status == 404)
      #expect(try client.request("POST", "/metrics", "x").status == 405)
    }
  }

  /// So that they can be watched before anything happens.
  @Test func countersAreThereFromTheStart() async throws {
    try await withServer { server in
      let text = server.server.metricsText
      for line in [
        #"runnel_refused_total{reason="credential"} 0"#, #"runnel_refused_total{reason="host"} 0"#,
        #"runnel_requests_total{status="200"} 0"#, #"runnel_requests_total{status="503"} 0"#,
        #"runnel_storage_retries_total{database="test"} 0"#,
        #"runnel_jobs_total{database="test"} "#, #"runnel_listens{database="test"} 0"#,
        "runnel_sessions_total 0",
      ] {
        #expect(text.contains("\n" + line), "\(line)")
      }
    }
  }

  @Test func connectionsAreListedInPieces() async throws {
    try await withServer { server in
      let sockets = try (0..<300).map { _ in try server.socket() }
      #expect(try sockets[7].status(1, "q", "{\"p\":\"/x\",\"h\":\"\"}") == "ok")
      let answer = try server.administrator().request("GET", "/connections")
      #expect(answer.headers["transfer-encoding"] == "chunked")
      let lines = try answer.body.split(separator: "\n").map { try json(String($0)) }
      #expect(lines.count == 300)
      #expect(lines[7]["kind"] == "socket")
      #expect(lines[7]["database"] == "test")
      #expect(lines[7]["address"] == "127.0.0.1")
      #expect(lines[7]["listens"] == 1)
      #expect(lines[6]["listens"] == 0)
      withExtendedLifetime(sockets) {}
    }
  }

  @Test func connectionsOfOneDatabaseAreListedUpToALimit() async throws {
    try await withServer { server in
      let sockets = try (0..<5).map { _ in try server.socket() }
      func count(_ parameters: String) throws -> Int {
        try server.administrator().request("GET", "/connections?" + parameters).body
          .split(separator: "\n").count
      }
      #expect(try count("limit=3") == 3)
      #expect(try count("limit=0") == 0)
      #expect(try count("database=test&limit=9") == 5)
      #expect(
        try server.administrator().request("GET", "/connections?database=other").status == 404)
      for limit in ["x", "-1", ""] {
        let answer = try server.administrator().request("GET", "/connections?limit=\(limit)")
        #expect(answer.status == 400)
      }
      withExtendedLifetime(sockets) {}
    }
  }

  @Test func theUserOfAStreamIsListed() async throws {
    try await withServer { server in
      let client = try server.client()
      try client.sendRequest(
        "GET", "/x.json", headers: ["Accept": "text/event-stream", "Authorization": "Bearer owner"])
      _ = try client.readHead()
      _ = try client.readEvent()
      let line = try json(server.administrator().request("GET", "/connections").body)
      #expect(line["kind"] == "stream")
      #expect(line["user"] == "administrator")
    }
  }

  @Test func socketsOfAFileAreThoseOfServersThatMayServeIt() {
    func paths(_ file: String) -> [String] {
      AdminSocket.places(of: file).map { $0.path + ($0.database.map { " " + $0 } ?? "") }
    }
    #expect(paths("/data/chat.db") == ["/data/chat.admin.sock", "/data/admin.sock chat"])
    #expect(paths("chat.db") == ["chat.admin.sock", "./admin.sock chat"])
    // No server of a folder serves these.
    #expect(paths("/data/Chat 2.db") == ["/data/Chat 2.admin.sock"])
    #expect(paths("/data/chat.sqlite") == ["/data/chat.admin.sock"])
  }

  @Test func theListIsEmptyWithoutConnections() async throws {
    try await withServer { server in
      let answer = try server.administrator().request("GET", "/connections")
      #expect(answer.body.isEmpty)
    }
  }

  @Test func aConnectionIsEnded() async throws {
    try await withServer { server in
      let (socket, other) = (try server.socket(), try server.socket())
      let client = try server.administrator()
      let list = try client.request("GET", "/connections").body.split(separator: "\n")
      let first = try #require(list.first)
      let id = try #require(json(String(first))["id"]?.int)
      let ended = try client.request("DELETE", "/connections/\(id)").status
      #expect(ended == 204)
      #expect(try socket.client.readClose() == 1008)
      #expect(socket.client.isClosed())
      #expect(try other.status(1, "s", "{\"c\":{}}") == "ok")
      #expect(try client.request("DELETE", "/connections/4711").status == 404)
      #expect(try client.request("DELETE", "/connections/x").status == 404)
      let read = try client.request("GET", "/connections/\(id)").status
      #expect(read == 405)
    }
  }

  @Test func anAdministratorsAddressMustBeOfThisMachine() async throws {
    try await withServer({ $0.adminAddress = "localhost:0" }) { server in
      let place = try #require(server.adminPlaces.dropFirst().first)
      let port = try #require(place.split(separator: ":").last.flatMap { Int($0) })
      let client = try RawClient(port: port)
      #expect(try client.request("GET", "/readyz").status == 200)
      let evil = ["Host": "evil.example"]
      #expect(try client.request("GET", "/connections", headers: evil).status == 403)
    }
    await #expect(throws: ServerError.self) {
      try await TestServer { $0.adminAddress = "*:0" }
    }
  }
}
