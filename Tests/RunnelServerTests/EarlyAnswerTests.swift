import TestSupport
import Testing

/// Answers to requests whose bodies have not come yet.
@Suite struct EarlyAnswerTests {
  /// Once, who sent the next request without the body had it taken for that: a proxy that passed the requests
  /// of several clients on, so that one client's refused request made another's fail.
  @Test(arguments: [["Content-Length": "16"], ["Transfer-Encoding": "chunked"]])
  func theConnectionEndsWithIt(headers: [String: String]) async throws {
    try await withServer { server in
      let client = try server.client()
      try client.sendRequest("POST", "/x.json?ns=unknown", headers: headers)
      let refused = try client.readAnswer()
      #expect(refused.status == 404)
      #expect(refused.headers["connection"] == "close")
      // Nothing is answered to what may be no request.
      try client.send("GET /x.json HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8)
      #expect(client.isClosed())
    }
  }

  /// Who waits for permission to send the body may as well send the next request.
  @Test func itEndsForWhoAwaitsPermissionToSendTheBody() async throws {
    try await withServer { server in
      let client = try server.client()
      let headers = ["Content-Length": "16", "Expect": "100-continue"]
      try client.sendRequest("PUT", "/x.json?ns=unknown", headers: headers)
      let refused = try client.readAnswer()
      #expect(refused.status == 404 && refused.headers["connection"] == "close")
      #expect(client.isClosed())
    }
  }

  @Test func whoReadsTheAnswerAfterSendingAllGetsIt() async throws {
    try await withServer { server in
      let client = try server.client()
      try client.sendRequest("PUT", "/x.json?ns=unknown", headers: ["Content-Length": "900000"])
      for _ in 0..<9 { try client.send(Array(repeating: 97, count: 100_000)) }
      #expect(try client.readAnswer().status == 404)
      #expect(client.isClosed())
    }
  }

  @Test func requestsWhoseBodyCameWithTheHeadKeepTheirConnection() async throws {
    try await withServer { server in
      let client = try server.client()
      for _ in 0..<3 {
        let refused = try client.request("PUT", "/x.json?ns=unknown", "123")
        #expect(refused.status == 404 && refused.headers["connection"] == nil)
      }
      #expect(try client.request("PUT", "/x.json", "1").status == 200)
    }
  }

  @Test func requestsWithoutABodyKeepTheirConnection() async throws {
    try await withServer { server in
      let client = try server.client()
      for headers in [[:], ["Content-Length": "0"]] {
        for method in ["GET", "DELETE"] {
          let refused = try client.request(method, "/x.json?ns=unknown", headers: headers)
          #expect(refused.status == 404 && refused.headers["connection"] == nil)
        }
      }
      #expect(try client.request("PUT", "/x.json", "1").status == 200)
      #expect(try client.request("GET", "/x.json").body == "1")
    }
  }
}
