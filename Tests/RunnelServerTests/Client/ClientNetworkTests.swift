import Glibc
import RunnelBase
import RunnelClient
import RunnelDatabase
import RunnelNetwork
import RunnelServer
import RunnelSync
import RunnelTree
import TestSupport
import Testing

/// Client connections that are cut, tunnelled and encrypted.
@Suite(.timeLimit(.minutes(2))) struct ClientNetworkTests {
  private let place: ReplicaPlace

  init() throws { place = try ReplicaPlace() }

  @Test func requestThatIsNotAnsweredEndsAfterItsTime() throws {
    // The system takes the connection; nobody reads from it.
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    try #require(listener >= 0)
    defer { close(listener) }
    var place = sockaddr_in()
    place.sin_family = sa_family_t(AF_INET)
    inet_pton(AF_INET, "127.0.0.1", &place.sin_addr)
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let status = withUnsafeMutablePointer(to: &place) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listener, $0, size) == 0 ? getsockname(listener, $0, &size) : -1
      }
    }
    try #require(status == 0 && listen(listener, 1) == 0)
    let port = UInt16(bigEndian: place.sin_port)
    var request = WebRequest(
      "GET", try #require(WebAddress("http://127.0.0.1:\(port)/")))
    request.headSeconds = 1
    let error = #expect(throws: NetworkError.self) {
      _ = try WebClient(userAgent: "test").send(request)
    }
    #expect(error?.message.contains("sent nothing for 1 s") == true)
  }

  @Test func requestThatFailsInTheHandshakeWasNotSent() async throws {
    try await withServer { server in
      // The server does not speak TLS here.
      let address = try #require(WebAddress("https://127.0.0.1:\(server.port)/x.json"))
      let error = await #expect(throws: NetworkError.self) {
        _ = try await WebClient(userAgent: "test").answer(
          to: WebRequest("PUT", address, body: [49]), bytesMax: 100)
      }
      #expect(error?.isSent == false)
    }
  }

  @Test func requestOfACancelledTaskIsNotSent() async throws {
    try await withServer { server in
      let address = try #require(WebAddress("http://127.0.0.1:\(server.port)/x.json"))
      let asking = Task { () -> NetworkError? in
        withUnsafeCurrentTask { $0?.cancel() }
        do throws(NetworkError) {
          _ = try await WebClient(userAgent: "test").answer(
            to: WebRequest("PUT", address, body: [49]), bytesMax: 100)
          return nil
        } catch {
          return error
        }
      }
      #expect(await asking.value?.isSent == false)
    }
  }

  @Test func cutConnectionsLoseNothingAndDoNothingTwice() async throws {
    let seed = UInt64.random(in: 0...(.max))
    var random = SeededRandom(seed: seed)
    try await withServer { server in
      let proxy = try await CuttingProxy.start(to: server.port)
      let database = try await place.connect(port: proxy.port)
      try await database.waitUntilLive()
      let count = try database.reference(withPath: "count")
      var receipts: [WriteReceipt] = []
      for number in 0..<100 {
        receipts.append(try await count.setValue([".sv": ["increment": 1]]))
        let key = "log/k\(number)"
        receipts.append(try await database.reference(withPath: key).setValue(true))
        if Int.random(in: 0..<10, using: &random) == 0 { proxy.cut() }
      }
      for receipt in receipts { try await receipt.acknowledgement() }
      #expect(try server.value("/count") == "100", "seed \(seed)")
      if case .object(let members) = try json(server.value("/log")) {
        #expect(members.count == 100, "seed \(seed)")
      }
      database.close()
      await proxy.stop()
    }
  }

  @Test func theExampleOfThePageOnSyncedCollectionsRuns() async throws {
    try await withServer { server in
      _ = try server.request("PUT", "/messages/a.json", "{\"text\": \"Hi\"}")
      let count = try await sayHello(
        to: "http://localhost:\(server.port)/?ns=test", file: place.file())
      #expect(count == 2)
    }
  }

  @Test func attemptsContinueWhileTheServerDoesNotAnswer() async throws {
    try await withServer { server in
      let proxy = try await CuttingProxy.start(to: server.port)
      let database = try await place.connect(port: proxy.port)
      try await database.wait("x", for: .null)
      proxy.cut(refusing: true)
      _ = try await database.wait { !$0.isLive }
      _ = try server.request("PUT", "/x.json", "7")
      proxy.mend()
      try await database.wait("x", for: 7)
      database.close()
      await proxy.stop()
    }
  }

  @Test func aServerWithTLSIsReachedThroughAProxy() async throws {
    let files = try certificateFiles()
    try await withServer({
      $0.isEmulator = true
      $0.tls = files
    }) { server in
      let proxy = try await CuttingProxy.start(to: server.port, opensTunnels: true)
      var options = ReplicaPlace.options
      options.trustedFile = files.certificate
      options.proxies = WebProxies(
        environment: ["https_proxy": "http://me:it%20is@127.0.0.1:\(proxy.port)"])
      let database = try await Database.connect(
        to: "https://localhost:9443/?ns=test", file: place.file(), options: options)
      try await database.reference(withPath: "x").setValue(1).acknowledgement()
      let head = try #require(proxy.heads.first)
      #expect(head.hasPrefix("CONNECT localhost:9443 HTTP/1.1\r\n"))
      #expect(head.contains("Proxy-Authorization: Basic bWU6aXQgaXM=\r\n"))
      database.close()
      await proxy.stop()
    }
  }

  @Test func anUnknownCertificateIsNotTrusted() async throws {
    let files = try certificateFiles()
    try await withServer({
      $0.isEmulator = true
      $0.tls = files
    }) { server in
      let database = try await Database.connect(
        to: "https://localhost:\(server.port)/?ns=test", file: place.file(),
        options: ReplicaPlace.options)
      let status = try await database.wait { status in
        if case .link(.waiting(_, _?)) = status.state { true } else { false }
      }
      guard case .link(.waiting(_, let reason?)) = status.state else { return }
      #expect(reason.lowercased().contains("certificate"), "\(reason)")
      database.close()
    }
  }

  @Test func theErrorSaysThatTheAnswerIsNotAWebSocket() async throws {
    // Each attempt gets the same answer, for the status may be seen after any of them.
    let answer = ScriptedWeb.Answer(status: 404, body: "{\"error\":\"There is none.\"}")
    try await withWeb(Array(repeating: answer, count: 1000)) { web, port in
      let database = try await place.connect(port: port)
      let status = try await database.wait { status in
        if case .link(.waiting(_, _?)) = status.state { true } else { false }
      }
      guard case .link(.waiting(_, let reason?)) = status.state else { return }
      // Once, the reason was shown as JSON.
      let text = "status 404 instead of a WebSocket: There is none."
      #expect(reason.contains(text) && !reason.contains("{"), "\(reason)")
      #expect(!reason.contains("feathers"), "\(reason)")
      #expect(web.asked.first == "/.ws?v=5&ns=test")
      database.close()
    }
  }

  /// Once, the page of a balancer was shown as it is.
  @Test func pageOfABalancerWithoutServersIsPutIntoWords() async throws {
    let page = "<html><body><h1>503 Service Unavailable</h1>\nNo server.\n</body></html>\n"
    let answer = ScriptedWeb.Answer(status: 503, body: page)
    try await withWeb(Array(repeating: answer, count: 1000)) { _, port in
      let database = try await place.connect(port: port)
      let status = try await database.wait { status in
        if case .link(.waiting(_, _?)) = status.state { true } else { false }
      }
      guard case .link(.waiting(_, let reason?)) = status.state else { return }
      #expect(reason.contains("no server behind it takes requests now"), "\(reason)")
      #expect(!reason.contains("<"), "\(reason)")
      database.close()
    }
  }

  @Test(arguments: ["{\"name\":\"NotFound\",\"code\":404}", "<html>", "Not Found", ""])
  func serverOfServicesIsHintedAt(body: String) async throws {
    let answer = ScriptedWeb.Answer(status: 404, body: body)
    try await withWeb(Array(repeating: answer, count: 1000)) { _, port in
      let database = try await place.connect(port: port)
      let status = try await database.wait { status in
        if case .link(.waiting(_, _?)) = status.state { true } else { false }
      }
      guard case .link(.waiting(_, let reason?)) = status.state else { return }
      let hint = "instead of a WebSocket; if it is a Feathers server, open feathers+http://"
      #expect(reason.contains(hint) && !reason.contains("{"), "\(reason)")
      database.close()
    }
  }
}

@Suite struct WebProxiesTests {
  private func isProxied(_ address: String, _ environment: [String: String]) throws -> Bool {
    let address = try #require(WebAddress(address))
    return WebProxies(environment: environment).isUsed(for: address)
  }

  @Test func lowerCaseVariablesTakePrecedence() throws {
    let address = "https://a.example/"
    #expect(try isProxied(address, ["HTTPS_PROXY": "http://p:1"]))
    #expect(try isProxied(address, ["https_proxy": "p:1"]))
    #expect(try !isProxied(address, ["HTTPS_PROXY": "http://p:1", "https_proxy": ""]))
    #expect(try !isProxied(address, [:]))
    #expect(try !isProxied("http://a.example/", ["https_proxy": "http://p:1"]))
    #expect(try !isProxied(address, ["https_proxy": "ftp://p:1"]))
  }

  @Test(arguments: [
    ("a.example", true), ("b.a.example", true), ("ba.example", false), ("10.1.2.3", true),
    ("11.1.2.3", false), ("c.example", false), ("d.example", true), ("x.e.example", true),
  ])
  func someHostsAreReachedWithoutAProxy(host: String, isExcepted: Bool) throws {
    let environment = [
      "https_proxy": "http://p:1",
      "no_proxy": "a.example, 10.0.0.0/8,c.example:80,d.example:443,.e.example",
    ]
    #expect(try isProxied("https://\(host)/", environment) != isExcepted)
    #expect(try !isProxied("https://\(host)/", ["https_proxy": "p:1", "NO_PROXY": "*"]))
  }
}
