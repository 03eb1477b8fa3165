import RunnelNetwork
import RunnelServer
import TestSupport
import Testing

/// A client that sends no more gets its answers; what goes on for as long as it is there ends.
@Suite struct HalfClosedTests {
  @Test func aRequestIsAnswered() async throws {
    try await withServer { server in
      for (method, body) in [("PUT", "123"), ("POST", "4"), ("GET", nil)] {
        let client = try server.client()
        try client.sendRequest(method, "/\(method).json", body)
        client.endSending()
        let answer = try client.readAnswer()
        #expect(answer.status == 200, "\(method)")
        #expect(client.isClosed())
      }
      #expect(try server.request("GET", "/PUT.json").body == "123")
    }
  }

  @Test func requestsThatWaitForEachOtherAreAnswered() async throws {
    try await withServer { server in
      let client = try server.client()
      for number in 0..<5 { try client.sendRequest("PUT", "/n.json", "\(number)") }
      client.endSending()
      for number in 0..<5 { #expect(try client.readAnswer().body == "\(number)") }
      #expect(client.isClosed())
    }
  }

  @Test func aLargeAnswerIsWhole() async throws {
    try await withServer { server in
      let text = "\"" + String(repeating: "x", count: 3_000_000) + "\""
      #expect(try server.request("PUT", "/x.json?print=silent", text).status == 204)
      let client = try RawClient(port: server.port, receiveBytes: 4096)
      try client.sendRequest("GET", "/x.json")
      client.endSending()
      #expect(try client.readAnswer().body.utf8.count == text.utf8.count)
      #expect(client.isClosed())
    }
  }

  @Test func halfARequestIsNotDone() async throws {
    try await withServer { server in
      let client = try server.client()
      try client.send("PUT /x.json HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n1".utf8)
      client.endSending()
      #expect(client.isClosed())
      let idle = try server.client()
      #expect(try idle.request("GET", "/x.json").body == "null")
      idle.endSending()
      #expect(idle.isClosed())
    }
  }

  @Test func streamsAndSocketsEnd() async throws {
    try await withServer { server in
      let stream = try server.client()
      try stream.sendRequest("GET", "/x.json", headers: ["Accept": "text/event-stream"])
      #expect(try stream.readHead().status == 200)
      let socket = try server.socket()
      #expect(try socket.status(1, "o", "{\"p\":\"/gone\",\"d\":true}") == "ok")
      for client in [stream, socket.client] {
        client.endSending()
        #expect(client.isClosed())
      }
      var body = ""
      for _ in 0..<10_000 where body != "true" {
        body = try server.request("GET", "/gone.json").body
      }
      #expect(body == "true")
    }
  }
}
