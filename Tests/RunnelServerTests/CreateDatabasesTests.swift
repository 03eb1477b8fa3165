import Foundation
import RunnelBase
import RunnelServer
import TestSupport
import Testing

/// Requests make databases by writing, and not by listening.
@Suite struct CreateDatabasesTests {
  private func withFolder(
    rules: [String: String] = [:],
    _ body: (TestServer, _ names: () throws -> [String]) async throws -> Void
  ) async throws {
    let folder =
      FileManager.default.temporaryDirectory.path + "/runnel-many-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    // What is left is in the folder for temporary files.
    defer { try? FileManager.default.removeItem(atPath: folder) }
    for (name, text) in rules {
      try Data(text.utf8).write(to: URL(fileURLWithPath: "\(folder)/\(name).rules.json"))
    }
    try await withServer({
      $0.isEmulator = true
      $0.databases = .folder(folder)
      $0.creationsMax = 3
    }) { server in
      try await body(server) {
        try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(".db") }
      }
    }
  }

  @Test func aSocketThatListensMakesNoFile() async throws {
    try await withFolder { server, names in
      let reader = try server.socket("/.ws?v=5&ns=new")
      #expect(try reader.status(1, "q", "{\"p\":\"/a\",\"h\":\"\"}") == "ok")
      #expect(try reader.status(2, "g", "{\"p\":\"/b\"}") == "ok")
      let brief = try server.socket("/.ws?v=5&ns=new")
      #expect(try brief.status(1, "q", "{\"p\":\"/\",\"h\":\"\"}") == "ok")
      brief.client.hangUp()
      #expect(try server.request("GET", "/a.json?ns=new").body == "null")
      #expect(try names().isEmpty)
      // What others write then is told.
      #expect(try server.request("PUT", "/a.json?ns=new", "1").status == 200)
      #expect(try names() == ["new.db"])
      #expect(try reader.next() == json("{\"a\":\"d\",\"b\":{\"p\":\"a\",\"d\":1}}"))
      #expect(try reader.status(3, "p", "{\"p\":\"/b\",\"d\":2}") == "ok")
      #expect(try server.request("GET", "/.json?ns=new").body == #"{"a":1,"b":2}"#)
    }
  }

  @Test func theFirstWriteOfASocketMakesTheFile() async throws {
    try await withFolder { server, names in
      let socket = try server.socket("/.ws?v=5&ns=new")
      #expect(try socket.status(1, "q", "{\"p\":\"/a\",\"h\":\"\"}") == "ok")
      #expect(try names().isEmpty)
      try socket.ask(2, "p", "{\"p\":\"/a\",\"d\":5}")
      #expect(try socket.next()["b"]?["d"] == 5)
      #expect(try socket.next()["b"]?["s"] == "ok")
      #expect(try names() == ["new.db"])
      let other = try server.socket("/.ws?v=5&ns=other")
      #expect(try other.status(1, "o", "{\"p\":\"/gone\",\"d\":true}") == "ok")
      #expect(try names().sorted() == ["new.db", "other.db"])
    }
  }

  @Test func whatIsRefusedMakesNoFile() async throws {
    try await withFolder { server, names in
      for number in 0..<5 {
        let page = ["Origin": "http://evil.example", "Content-Type": "text/plain"]
        let posted = try server.request(
          "POST", "/x.json?ns=evil\(number)", "1", headers: page)
        #expect(posted.status == 403)
      }
      #expect(try server.request("PUT", "/a.json?ns=new", "no JSON").status == 400)
      #expect(try names().isEmpty)
      // They were not counted either.
      for name in ["one", "two"] {
        #expect(try server.request("PUT", "/a.json?ns=\(name)", "1").status == 200)
      }
      #expect(try names().sorted() == ["one.db", "two.db"])
    }
  }

  @Test func whatRulesDenyMakesNoFile() async throws {
    let rules = """
      {"rules":{".read":true,"open":{".write":true},"few":{".write":"!data.exists()"}}}
      """
    try await withFolder(rules: ["new": rules]) { server, names in
      #expect(try server.request("PUT", "/a.json?ns=new", "1").status == 401)
      #expect(try server.request("PATCH", "/.json?ns=new", "{\"a\":1,\"open\":1}").status == 401)
      #expect(try server.request("POST", "/a.json?ns=new", "1").status == 401)
      #expect(try server.request("DELETE", "/a.json?ns=new").status == 401)
      let socket = try server.socket("/.ws?v=5&ns=new")
      #expect(try socket.status(1, "q", "{\"p\":\"/open\",\"h\":\"\"}") == "ok")
      #expect(try socket.status(2, "p", "{\"p\":\"/a\",\"d\":1}") == "permission_denied")
      #expect(try socket.status(3, "o", "{\"p\":\"/a\",\"d\":1}") == "permission_denied")
      #expect(try names().isEmpty)
      // The first one that is allowed makes it, and is told.
      #expect(try server.request("PUT", "/open.json?ns=new", "1").status == 200)
      #expect(try names() == ["new.db"])
      #expect(try socket.next()["b"]?["d"] == 1)
      #expect(try server.request("GET", "/.json?ns=new").body == #"{"open":1}"#)
    }
  }

  @Test func aConditionThatDoesNotHoldMakesNoFile() async throws {
    try await withFolder { server, names in
      let put = try server.request("PUT", "/a.json?ns=new", "1", headers: ["if-match": "other"])
      #expect(put.status == 412)
      let socket = try server.socket("/.ws?v=5&ns=new")
      try socket.ask(1, "p", "{\"p\":\"/a\",\"d\":1,\"h\":\"other\"}")
      // First it is told what stands there.
      #expect(try socket.next()["b"]?["d"] == .null)
      #expect(try socket.next()["b"]?["s"] == "datastale")
      #expect(try names().isEmpty)
      #expect(try socket.status(2, "p", "{\"p\":\"/a\",\"d\":1,\"h\":\"\"}") == "ok")
      #expect(try names() == ["new.db"])
      #expect(try server.request("GET", "/.json?ns=new").body == #"{"a":1}"#)
    }
  }

  @Test func anEventStreamMakesNoFile() async throws {
    try await withFolder { server, names in
      let stream = try server.client()
      try stream.sendRequest("GET", "/a.json?ns=new", headers: ["Accept": "text/event-stream"])
      #expect(try stream.readHead().status == 200)
      #expect(try stream.readChunk()?.contains("\"data\":null") == true)
      #expect(try names().isEmpty)
      #expect(try server.request("PATCH", "/a.json?ns=new", "{\"x\":1}").status == 200)
      #expect(try names() == ["new.db"])
      #expect(try stream.readChunk()?.contains("x") == true)
    }
  }
}
