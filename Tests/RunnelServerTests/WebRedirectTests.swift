import RunnelNetwork
import TestSupport
import Testing

/// Redirects of requests: which are followed, and what goes with them.
@Suite struct WebRedirectTests {
  private let client = WebClient(userAgent: "test")

  private func request(_ method: String, _ port: Int, _ body: String? = nil) throws -> WebRequest {
    let address = try #require(WebAddress("http://127.0.0.1:\(port)/a.json?ns=n"))
    let credential = (name: "Authorization", value: "Bearer x")
    return WebRequest(method, address, headers: [credential], body: body.map { Array($0.utf8) })
  }

  private func redirect(
    _ status: Int, _ port: Int, host: String = "127.0.0.1"
  ) -> ScriptedWeb.Answer {
    .init(status: status, headers: ["Location": "http://\(host):\(port)/b.json?ns=n"])
  }

  @Test(arguments: [("PUT", 307), ("PATCH", 308), ("DELETE", 307)])
  func aWriteThatMayGoElsewhereIsSentOnAsItIs(method: String, status: Int) async throws {
    try await withWeb { web, port in
      web.add(redirect(status, port), .init(body: "done"))
      let body = method == "DELETE" ? nil : "{\"x\":1}"
      var request = try request(method, port, body)
      request.isSentOn = true
      #expect(try client.send(request).status == 200)
      let target = ["/a.json?ns=n", "/b.json?ns=n"]
      #expect(
        web.requests
          == target.map {
            .init(method: method, target: $0, credential: "Bearer x", body: body ?? "")
          })
    }
  }

  @Test(arguments: [("PUT", 301), ("PUT", 302), ("POST", 303)])
  func otherRedirectsOfWritesAreNotFollowed(method: String, status: Int) async throws {
    try await withWeb { web, port in
      web.add(redirect(status, port))
      var request = try request(method, port, "1")
      request.isSentOn = true
      #expect(try client.send(request).status == status)
      #expect(web.requests.count == 1)
    }
  }

  /// The body of an exchange of tokens is a credential itself.
  @Test func aBodyGoesNowhereElseUnlessTheRequestSaysSo() async throws {
    try await withWeb { web, port in
      web.add(redirect(307, port))
      let request = try request("POST", port, "secret")
      #expect(try client.send(request).status == 307)
      #expect(web.requests.count == 1)
    }
  }

  @Test func theCredentialIsNotSentToAnotherHost() async throws {
    try await withWeb { web, port in
      web.add(redirect(307, port, host: "localhost"), .init())
      var request = try request("PUT", port, "1")
      request.isSentOn = true
      #expect(try client.send(request).status == 200)
      #expect(web.requests.map(\.credential) == ["Bearer x", nil])
    }
  }

  @Test func redirectsAreFollowedAFewTimes() async throws {
    try await withWeb { web, port in
      for _ in 0..<9 { web.add(redirect(307, port)) }
      var request = try request("PUT", port, "1")
      request.isSentOn = true
      let sent = request
      let error = #expect(throws: NetworkError.self) { try client.send(sent) }
      #expect(error?.message.contains("redirects too often") == true)
      #expect(web.requests.count == 4)
    }
  }
}
