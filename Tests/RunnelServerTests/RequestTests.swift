import RunnelBase
import RunnelServer
import RunnelSync
import TestSupport
import Testing

// Requests over real sockets. Source: wire protocol, sections C3 to C8.

@Suite struct RequestTests {
  private static let dinosaurs = """
    {"dinosaurs":{"triceratops":{"height":3},"stegosaurus":{"height":4},
    "bruhathkayosaurus":{"height":25},"tiny":{"height":1}},"scores":{"a":3,"pterodactyl":93},
    "users":{"ada":{"age":36,"name":"Ada"}},"n":4}
    """

  @Test(arguments: [
    ("/users/ada.json", 200, #"{"age":36,"name":"Ada"}"#),
    ("/users/ada/.json", 200, #"{"age":36,"name":"Ada"}"#),
    ("/missing.json", 200, "null"),
    ("/users.json?shallow=true", 200, #"{"ada":true}"#),
    ("/users/ada/age.json?shallow=true", 200, "36"),
    ("/n.json?callback=f", 200, "f(4);"),
    ("/n.json?disableTriggers=true&unknown=1", 200, "4"),
    (
      "/dinosaurs.json?orderBy=%22height%22&startAt=3&limitToFirst=2", 200,
      #"{"triceratops":{"height":3},"stegosaurus":{"height":4}}"#
    ),
    ("/scores.json?orderBy=%22$value%22&limitToLast=1", 200, #"{"pterodactyl":93}"#),
    (
      "/dinosaurs.json?limitToFirst=2", 400,
      #"{"error":"orderBy must be defined when other query parameters are defined"}"#
    ),
    (
      "/dinosaurs.json?orderBy=height", 400,
      #"{"error":"orderBy must be a valid JSON encoded path"}"#
    ),
    (
      "/dinosaurs.json?orderBy=%22$key%22&limitToFirst=0", 400,
      #"{"error":"limitToFirst must be positive"}"#
    ),
    ("/.info/connected.json", 200, "null"),
    ("/users", 404, #"{"error":"append .json to your request URI to use the REST API."}"#),
    ("/n.json?ns=other", 404, #"{"error":"There is no database of this name here."}"#),
    ("/n.json?auth=garbage", 401, #"{"error":"Could not parse auth token."}"#),
  ])
  func readsAreAnsweredAsSpecified(target: String, status: Int, body: String) async throws {
    try await withServer { server in
      _ = try server.request("PUT", "/.json", RequestTests.dinosaurs)
      let answer = try server.request("GET", target)
      #expect(answer.status == status)
      #expect(answer.body == body)
    }
  }

  /// As in a terminal, where the words of an address are typed as they are.
  @Test func addressesMayHaveOtherBytesThanASCII() async throws {
    try await withServer { server in
      let client = try server.client()
      let body = #"{"a":{"fällig":2,"ä":"\u00e4"},"b":{"fällig":1}}"#
      #expect(try client.request("PUT", "/größe.json", body).status == 200)
      let first = try client.request("GET", "/größe.json?orderBy=\"fällig\"&limitToFirst=1")
      #expect(first.status == 200)
      #expect(first.body == #"{"b":{"fällig":1}}"#)
      #expect(try client.request("GET", "/gr%C3%B6%C3%9Fe/a/ä.json").body == "\"ä\"")
      // A request may arrive in any pieces.
      let request = "GET /größe/b.json?shallow=true HTTP/1.1\r\nHost: localhost\r\n\r\n"
      for byte in request.utf8 { try client.send([byte]) }
      #expect(try client.readAnswer(to: "GET").body == #"{"fällig":true}"#)
      #expect(try client.request("PUT", "/ö.json", "\"ö\"").body == "\"ö\"")
    }
  }

  /// Wherever one request ends and the next begins in the bytes that arrive.
  @Test(arguments: [1, 7, 64, 100_000])
  func requestsBehindOthersMayHaveOtherBytesThanASCII(pieceBytes: Int) async throws {
    try await withServer { server in
      let client = try server.client()
      let body = "{\n\n\"ä\":\r\n\r\n\"GET /é HTTP/1.1\"}"
      let host = "HTTP/1.1\r\nHost: localhost\r\n"
      let chunk = String(body.utf8.count, radix: 16)
      let requests = [
        "PUT /ä.json \(host)Content-Length: \(body.utf8.count)\r\n\r\n\(body)",
        "\r\nPUT /ö.json \(host)Transfer-Encoding: chunked\r\n\r\n\(chunk)\r\n\(body)\r\n0\r\n\r\n",
        "GET /ä/ä.json \(host)\r\n", "GET /ö/ä.json \(host)\r\n",
      ]
      var rest = Array(requests.joined().utf8)[...]
      while !rest.isEmpty {
        try client.send(rest.prefix(pieceBytes))
        rest = rest.dropFirst(pieceBytes)
      }
      for method in ["PUT", "PUT"] {
        #expect(try client.readAnswer(to: method).body == #"{"ä":"GET /é HTTP/1.1"}"#)
      }
      for _ in 0..<2 { #expect(try client.readAnswer().body == "\"GET /é HTTP/1.1\"") }
    }
  }

  @Test func writesAreAnsweredAsSpecified() async throws {
    try await withServer { server in
      let client = try server.client()
      #expect(try client.request("PUT", "/a.json", "{\"b\":1}").body == "{\"b\":1}")
      let silent = try client.request("PUT", "/a.json?print=silent", "{\"b\":2}")
      #expect(silent.status == 204)
      #expect(try client.request("POST", "/log.json", "\"\"").body.hasPrefix("{\"name\":\"-"))
      #expect(try client.request("PATCH", "/a.json", "{\"b\":3,\"c/d\":1}").status == 200)
      #expect(try client.request("GET", "/a.json").body == "{\"b\":3,\"c\":{\"d\":1}}")
      #expect(try client.request("PATCH", "/.json", "[1]").status == 400)
      #expect(try client.request("PUT", "/a.json", "").status == 400)
      #expect(try client.request("PUT", "/a.json", "{").status == 400)
      #expect(try client.request("DELETE", "/a.json").body == "null")
      #expect(try client.request("PROPFIND", "/a.json").status == 405)
      let patch = ["X-HTTP-Method-Override": "PATCH"]
      #expect(
        try client.request("POST", "/z.json", "{\"y\":1}", headers: patch).body == "{\"y\":1}")
      #expect(try client.request("GET", "/z.json").body == "{\"y\":1}")
    }
  }

  /// It was told as done, and was not.
  @Test func anotherWriteUnderAUsedNameIsRefused() async throws {
    try await withServer { server in
      func ask(
        _ method: String, _ target: String, _ body: String?, _ number: Int
      ) throws
        -> RawClient.Answer
      {
        try server.request(method, target, body, headers: ["X-Runnel-Write": "A \(number)"])
      }
      #expect(try ask("PUT", "/x.json", "1", 1).status == 200)
      let pushed = try ask("POST", "/l.json", "1", 2)
      #expect(pushed.status == 200)
      #expect(try ask("PATCH", "/p.json", "{\"a\":1}", 3).status == 200)
      let others = [
        ("PUT", "/y.json", "1", 1), ("PUT", "/x.json", "2", 1), ("DELETE", "/x.json", nil, 1),
        ("POST", "/x.json", "1", 1), ("POST", "/m.json", "1", 2), ("POST", "/l.json", "2", 2),
        ("PATCH", "/p.json", "{\"a\":2}", 3), ("PUT", "/p.json", "{\"a\":1}", 3),
      ]
      for (method, target, body, number) in others {
        let answer = try ask(method, target, body, number)
        #expect(answer.status == 400, "\(method) \(target)")
        #expect(answer.body.contains("was used for another write"), "\(answer.body)")
      }
      // The same ones are repetitions, also after much else.
      for number in 4..<50 { #expect(try ask("PUT", "/n.json", "\(number)", number).status == 200) }
      #expect(try ask("PUT", "/x.json", "1", 1).body == "1")
      #expect(try ask("POST", "/l.json", "1", 2).body == pushed.body)
      #expect(try ask("PATCH", "/p.json", "{\"a\":1}", 3).body == "{\"a\":1}")
      #expect(try server.request("GET", "/y.json").body == "null")
      #expect(try server.request("GET", "/x.json").body == "1")
    }
  }

  @Test func tagsMakeConditions() async throws {
    try await withServer { server in
      let client = try server.client()
      _ = try client.request("PUT", "/n.json", "4")
      let tagged = try client.request("GET", "/n.json", headers: ["X-Firebase-ETag": "true"])
      #expect(tagged.headers["etag"] == "eVih19a6ZDz3NL32uVBtg9KSgQY=")
      let stale = try client.request("PUT", "/n.json", "5", headers: ["if-match": "wrong"])
      #expect(stale.status == 412)
      #expect(stale.body == "4")
      let done = try client.request(
        "PUT", "/n.json", "5", headers: ["if-match": "eVih19a6ZDz3NL32uVBtg9KSgQY="])
      #expect(done.status == 200)
      #expect(done.headers["etag"] == "w28swksk9+tXf5jEdS9R5oSFAv8=")
      let same = try client.request(
        "GET", "/n.json", headers: ["if-none-match": "w28swksk9+tXf5jEdS9R5oSFAv8="])
      #expect(same.status == 304)
      let none = try client.request("GET", "/no.json", headers: ["X-Firebase-ETag": "true"])
      #expect(none.headers["etag"] == "null_etag")
    }
  }

  @Test func rulesBindAllButAdministrators() async throws {
    try await withServer(rules: "{\"rules\":{\"open\":{\".read\":true}}}") { server in
      let denied = try server.request("GET", "/secret.json")
      #expect(denied.status == 401)
      #expect(denied.body == "{\"error\":\"Permission denied\"}")
      #expect(try server.request("PUT", "/open.json", "1").status == 401)
      let owner = ["Authorization": "Bearer owner"]
      #expect(try server.request("PUT", "/secret.json", "\"x\"", headers: owner).status == 200)
      #expect(try server.request("GET", "/secret.json", headers: owner).body == "\"x\"")
      let other = "/secret.json?auth_variable_override=null"
      #expect(try server.request("GET", other, headers: owner).status == 401)
    }
  }

  @Test func rulesAreReadAndReplaced() async throws {
    try await withServer { server in
      let owner = ["Authorization": "Bearer owner"]
      let place = "/.settings/rules.json"
      #expect(try server.request("GET", place).status == 401)
      #expect(try server.request("GET", place, headers: owner).body.contains("\"rules\""))
      let wrong = try server.request(
        "PUT", place, "{\"rules\":{\".read\":\"data.foo()\"}}", headers: owner)
      #expect(wrong.status == 400)
      #expect(try server.request("GET", "/x.json").status == 200)
      let text = "{/* all */\"rules\":{\".read\":false}}"
      #expect(try server.request("PUT", place, text, headers: owner).body == "{\"status\":\"ok\"}")
      #expect(try server.request("GET", place, headers: owner).body == text)
      #expect(try server.request("GET", "/x.json").status == 401)
      #expect(try server.request("GET", "/x.json", headers: owner).status == 200)
    }
  }

  @Test func rulesOfARequestStayWhileTheirFileIsLoadedAnew() async throws {
    try await withServer { server in
      let files = server.server
      let loading = Task { while !Task.isCancelled { await files.reloadFiles() } }
      for number in 0..<150 {
        let isOpen = number.isMultiple(of: 2)
        let put = try server.request(
          "PUT", "/.settings/rules.json", "{\"rules\":{\"a\":{\".read\":\(isOpen)}}}",
          headers: ["Authorization": "Bearer owner"])
        try #require(put.status == 200)
        for _ in 0..<3 {
          try #require(try server.request("GET", "/a.json").status == (isOpen ? 200 : 401))
        }
      }
      loading.cancel()
      await loading.value
    }
  }

  @Test func largeTextsAreReceivedAndSentInPieces() async throws {
    try await withServer { server in
      let text = "\"" + String(repeating: "x", count: 1000) + "\""
      let object =
        "{" + (0..<3000).map { "\"k\($0)\":\(text)" }.joined(separator: ",") + "}"
      let put = try server.request(
        "PUT", "/big.json?print=silent", object, headers: ["Expect": "100-continue"])
      #expect(put.status == 204)
      let answer = try server.request("GET", "/big.json")
      #expect(answer.status == 200)
      #expect(try JSONValue(parsing: answer.body)["k2999"] == json(text))
      #expect(answer.body.utf8.count == object.utf8.count)
    }
  }

  @Test func aRequestWithoutAHostIsToldSo() async throws {
    try await withServer { server in
      let client = try server.client()
      try client.send("GET /x.json HTTP/1.0\r\n\r\n".utf8)
      let answer = try client.readAnswer()
      #expect(answer.body.contains("names no host"), "\(answer.body)")
    }
  }

  @Test func anAdministratorsLargePutIsStoredInAFileFirst() async throws {
    try await withServer { configuration in
      configuration.isEmulator = true
      configuration.rest.spoolBytesMin = 1000
      configuration.rest.writeBytesMax = 5000
    } _: { server in
      let object =
        "{" + (0..<3000).map { "\"k\($0)\":[1,2,3]" }.joined(separator: ",") + "}"
      let owner = ["Authorization": "Bearer owner"]
      #expect(try server.request("PUT", "/big.json", object).status == 400)
      let socket = try server.socket()
      #expect(try socket.status(1, "q", "{\"p\":\"/big/k7\",\"h\":\"\"}") == "ok")
      let path = "/big.json?print=silent"
      #expect(try server.request("PUT", path, object, headers: owner).status == 204)
      #expect(try server.request("GET", "/big/k2999/1.json").body == "2")
      #expect(try socket.next()["b"]?["p"] == "big/k7")
      #expect(try server.request("PUT", path, object + "}", headers: owner).status == 400)
    }
  }

  /// Wherever the pieces of the body end.
  @Test func serverValuesOfALargePutAreResolved() async throws {
    try await withServer { configuration in
      configuration.isEmulator = true
      configuration.rest.spoolBytesMin = 100
    } _: { server in
      #expect(try server.request("PUT", "/big.json", #"{"n":5,"old":1}"#).status == 200)
      let values = "{\"at\":{\".sv\":\"timestamp\"},\"n\":{\".sv\":{\"increment\":2}},\"x\":\""
      let body = values + String(repeating: "x", count: 200) + "\"}"
      let client = try server.client()
      try client.sendRequest(
        "PUT", "/big.json?print=silent",
        headers: ["Authorization": "Bearer owner", "Content-Length": "\(body.utf8.count)"])
      for byte in body.utf8 { try client.send([byte]) }
      #expect(try client.readAnswer(to: "PUT").status == 204)
      let read = try JSONValue(parsing: server.request("GET", "/big.json").body)
      #expect(read["n"] == 7)
      #expect(read["old"] == nil)
      guard case .number? = read["at"] else { throw RawClient.Failure(what: "no time") }

      let unknown = body.replacing("timestamp", with: "never")
      let answer = try server.request(
        "PUT", "/big.json", unknown, headers: ["Authorization": "Bearer owner"])
      #expect(answer.status == 400)
      #expect(answer.body.contains("/big/at") && answer.body.contains("Unknown server value"))
      #expect(try server.request("GET", "/big/n.json").body == "7")
    }
  }

  @Test func aConnectionServesRequestsInTheirOrder() async throws {
    try await withServer { server in
      let client = try server.client()
      for number in 0..<20 { try client.sendRequest("PUT", "/n.json", "\(number)") }
      for number in 0..<20 { #expect(try client.readAnswer().body == "\(number)") }
      #expect(try client.request("HEAD", "/n.json").status == 405)
      let last = try client.request("GET", "/n.json", headers: ["Connection": "close"])
      #expect(last.body == "19")
      #expect(client.isClosed())
    }
  }

  @Test func webPagesOfOtherOriginsMayNotUseAnOpenServer() async throws {
    try await withServer({
      $0.hostNames = ["box"]; $0.allowedOrigins = ["https://good.example"]
    }) {
      server in
      func status(_ headers: [String: String]) throws -> Int {
        try server.request("GET", "/x.json", headers: headers).status
      }
      #expect(try status(["Host": "localhost:9000"]) == 200)
      #expect(try status(["Host": "test.localhost"]) == 200)
      #expect(try status(["Host": "127.0.0.1"]) == 200)
      #expect(try status(["Host": "box:1"]) == 200)
      #expect(try status(["Host": "[::1]:9000"]) == 200)
      for host in ["evil.example", "[::1]evil", "localhost:80:90", "localhost:evil"] {
        #expect(try status(["Host": host]) == 403, "\(host)")
      }
      #expect(try status(["Host": "127.0.0.1.evil.example"]) == 403)
      #expect(try status(["Origin": "http://localhost:5173"]) == 200)
      #expect(try status(["Origin": "https://good.example"]) == 200)
      #expect(try status(["Origin": "https://evil.example"]) == 403)
      #expect(try status(["Origin": "null"]) == 403)
      // A script has no origin; browsers tell that another site loads it.
      func script(_ headers: [String: String]) throws -> Int {
        try server.request("GET", "/x.json?callback=f", headers: headers).status
      }
      #expect(try script([:]) == 200)
      #expect(try script(["Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"]) == 403)
      #expect(try status(["Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"]) == 403)
      #expect(try status(["Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"]) == 200)
      #expect(try script(["Sec-Fetch-Site": "same-origin"]) == 200)
      #expect(try script(["Referer": "http://evil.example/page"]) == 403)
      #expect(try script(["Referer": "http://localhost:5173/"]) == 200)
      let headers = RawClient.upgrade.merging(["Origin": "https://evil.example"]) { $1 }
      let refused = try server.request("GET", "/.ws?v=5", headers: headers)
      #expect(refused.status == 403)
    }
  }
}
