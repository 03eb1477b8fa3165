import RunnelBase
import RunnelServer
import TestSupport
import Testing

/// Services over REST, as the bytes of requests and answers.
///
/// Source: services protocol, sections 3, 7 and 13.
@Suite struct ServiceRequestTests {
  private func withServices(
    rules: String? = ServiceTesting.rules, _ body: (TestServer) async throws -> Void
  ) async throws {
    try await withServer(rules: rules, ServiceTesting.configure, body)
  }

  private func create(_ server: TestServer, _ record: String) throws {
    #expect(try server.request("POST", "/messages", record).status == 201)
  }

  private static let three = [1, 2, 10].map { #"{"id":"m\#($0)","n":\#($0),"text":"t\#($0)"}"# }

  @Test func aCreatedRecordComesBackWithItsID() async throws {
    try await withServices { server in
      let answer = try server.request("POST", "/messages", #"{"text":"a","n":1,"read":false}"#)
      #expect(answer.status == 201)
      let record = try JSONValue(parsing: answer.body)
      let id = try #require(record["id"]?.string)
      #expect(answer.body == #"{"text":"a","n":1,"read":false,"id":"\#(id)"}"#)
      #expect(answer.headers["content-type"] == "application/json; charset=utf-8")
      let found = try server.request("GET", "/messages/\(id)/")
      #expect(found.status == 200)
      #expect(try JSONValue(parsing: found.body)["text"] == "a")
      // The tree has it without the id, which is the key.
      #expect(
        try server.request("GET", "/messages/\(id).json").body
          == #"{"n":1,"read":false,"text":"a"}"#)
      let again = try server.request("POST", "/messages", #"{"id":"\#(id)"}"#)
      #expect(again.status == 409)
    }
  }

  @Test(
    arguments: [
      ("%24limit=1&%24skip=1&%24sort%5Bn%5D=-1", 3, 1, 1, [2]),
      ("$limit=0", 3, 0, 0, []), ("$limit=999", 3, 50, 0, [1, 2, 10]),
      ("$limit=abc", 3, 10, 0, [1, 2, 10]), ("n=2", 1, 10, 0, [2]),
      ("n[$gt]=1", 2, 10, 0, [2, 10]),
      ("n[$in][]=2&n[$in][]=10", 2, 10, 0, [2, 10]), ("n[$in]=2", 1, 10, 0, [2]),
      ("$or[0][n]=1&$or[1][text]=t10", 2, 10, 0, [1, 10]),
      ("$or[0][$and][0][n]=1&$or[0][$and][1][text]=t1", 1, 10, 0, [1]), ("text=none", 0, 10, 0, []),
    ] as [(String, Int, Int, Int, [Int])])
  func aPageHasWhatMatches(
    query: String, total: Int, limit: Int, skip: Int, numbers: [Int]
  ) async throws {
    try await withServices { server in
      for record in ServiceRequestTests.three { try create(server, record) }
      let answer = try server.request("GET", "/messages?\(query)")
      #expect(answer.status == 200, "\(answer.body)")
      let page = try JSONValue(parsing: answer.body)
      #expect(page.object?.map(\.name) == ["total", "limit", "skip", "data"])
      #expect(page["total"]?.int == total)
      #expect(page["limit"]?.int == limit)
      #expect(page["skip"]?.int == skip)
      #expect(Set((page["data"]?.array ?? []).compactMap { $0["n"]?.int }) == Set(numbers))
    }
  }

  @Test(
    arguments: [
      ("GET", "/messages/99", nil, 404, "NotFound", "No record found for id '99'"),
      ("DELETE", "/messages/", nil, 404, "NotFound", "No record found for id ''"),
      ("PATCH", "/messages/?n=1", "{}", 404, "NotFound", "No record found for id ''"),
      ("GET", "/messages?$foo=1", nil, 400, "BadRequest", "Invalid filter value $foo"),
      ("GET", "/messages/a/b", nil, 404, "NotFound", "Page not found"),
      ("GET", "/nosuch", nil, 404, "NotFound", "Page not found"),
      ("POST", "/nosuch/a", "{}", 404, "NotFound", "Page not found"),
      (
        "PUT", "/messages", #"{"x":1}"#, 400, "BadRequest",
        "You can not replace multiple instances. Did you mean 'patch'?"
      ),
      (
        "POST", "/plain", #"[{"x":1}]"#, 405, "MethodNotAllowed", "Can not create multiple entries"
      ),
      (
        "PATCH", "/plain?n=1", #"{"x":1}"#, 405, "MethodNotAllowed",
        "Can not patch multiple entries"
      ),
      ("DELETE", "/plain?n=1", nil, 405, "MethodNotAllowed", "Can not remove multiple entries"),
      (
        "DELETE", "/messages?%24limit=0", nil, 400, "BadRequest",
        "$limit does not limit what is changed: narrow the query instead."
      ),
      (
        "PATCH", "/messages?%24skip=1", #"{"x":1}"#, 400, "BadRequest",
        "$skip does not limit what is changed: narrow the query instead."
      ),
      ("OPTIONS", "/messages", nil, 405, "MethodNotAllowed", "Method OPTIONS not allowed"),
      ("POST", "/messages", "[1]", 400, "BadRequest", "The data of a record has to be an object."),
      (
        "POST", "/messages", #"{"id":true}"#, 400, "BadRequest",
        "The id of a record is a text or a number."
      ),
      (
        "POST", "/messages", #"{"id":{"a":1}}"#, 400, "BadRequest",
        "The id of a record is a text or a number."
      ),
      ("GET", "/hidden", nil, 401, "NotAuthenticated", "Not authenticated"),
      (
        "GET", "/authentication", nil, 405, "MethodNotAllowed",
        "Method 'find' not allowed on service 'authentication'"
      ),
      (
        "POST", "/authentication", "{}", 401, "NotAuthenticated",
        "Invalid authentication information (no `strategy` set)"
      ),
      (
        "POST", "/authentication", #"{"strategy":"local","email":"a","password":"b"}"#, 401,
        "NotAuthenticated",
        "Invalid authentication information (strategy not allowed in authStrategies)"
      ),
      (
        "DELETE", "/authentication", nil, 401, "NotAuthenticated",
        "Invalid authentication information (no `strategy` set)"
      ),
    ] as [(String, String, String?, Int, String, String)])
  func errorsHaveTheFormOfFeathers(
    method: String, target: String, body: String?, status: Int, name: String, message: String
  ) async throws {
    try await withServices { server in
      let answer = try server.request(method, target, body)
      #expect(answer.status == status)
      let json = try JSONValue(parsing: answer.body)
      #expect(json.object?.prefix(4).map(\.name) == ["name", "message", "code", "className"])
      #expect(json["name"] == .string(name))
      #expect(json["message"] == .string(message))
      #expect(json["code"]?.int == status)
    }
  }

  @Test func customMethodsAreNotThere() async throws {
    try await withServices { server in
      for name in ["find", "nope"] {
        let answer = try server.request(
          "POST", "/messages", "{}", headers: ["X-Service-Method": name])
        #expect(answer.status == 405)
      }
    }
  }

  @Test func recordsAreReplacedPatchedAndRemoved() async throws {
    try await withServices { server in
      for record in ServiceRequestTests.three { try create(server, record) }
      let patched = try server.request("PATCH", "/messages/m1", #"{"read":null,"n":5,"id":"x"}"#)
      #expect(
        try JSONValue(parsing: patched.body)
          == json(#"{"id":"m1","n":5,"text":"t1","read":null}"#))
      let replaced = try server.request("PUT", "/messages/m1", #"{"list":[],"id":"x"}"#)
      #expect(try JSONValue(parsing: replaced.body) == json(#"{"list":[],"id":"m1"}"#))
      #expect(try server.request("PATCH", "/messages/m2?n=3", #"{"x":1}"#).status == 404)
      let many = try server.request("PATCH", "/messages?n[$gt]=1", #"{"flag":1}"#)
      #expect(many.status == 200)
      #expect(try JSONValue(parsing: many.body).array?.count == 2)
      let removed = try server.request("DELETE", "/messages/m2")
      #expect(
        try JSONValue(parsing: removed.body)
          == json(#"{"id":"m2","flag":1,"n":2,"text":"t2"}"#))
      #expect(try server.request("DELETE", "/messages/m2").status == 404)
      #expect(try JSONValue(parsing: server.request("DELETE", "/messages").body).array?.count == 2)
      #expect(try server.request("GET", "/messages.json").body == "null")
    }
  }

  @Test func aPatchOfARecordWithoutFieldsKeepsWhatItGets() async throws {
    try await withServices { server in
      try create(server, #"{"id":"e"}"#)
      _ = try server.request("PATCH", "/messages/e", #"{"a":1}"#)
      #expect(try server.request("GET", "/messages/e").body == #"{"id":"e","a":1}"#)
      #expect(try server.request("GET", "/messages/e.json").body == #"{"a":1}"#)
    }
  }

  @Test func idsAndFieldsAreAnyTexts() async throws {
    try await withServices { server in
      let id = "a/b @%é.$#[]"
      try create(
        server,
        JSONValue.object([JSONMember("id", .string(id)), JSONMember("a.b/c", 1)]).jsonText())
      let answer = try server.request("GET", "/messages/a%2Fb%20@%25%C3%A9.%24%23%5B%5D")
      #expect(answer.status == 200)
      #expect(try JSONValue(parsing: answer.body)["a.b/c"] == 1)
      #expect(try server.request("GET", "/messages?$select[]=a.b/c").body.contains(id))
      // A number as an id keeps its kind.
      try create(server, #"{"id":7}"#)
      #expect(try server.request("GET", "/messages/7").body == #"{"id":7}"#)
    }
  }

  @Test func recordsOfOtherProgramsAreRecords() async throws {
    try await withServices { server in
      _ = try server.request("PUT", "/messages.json", #"{"k":{"text":"x"},"v":5}"#)
      let page = try JSONValue(parsing: server.request("GET", "/messages").body)
      let expected = try json(#"[{"id":"k","text":"x"},{"id":"v","value":5}]"#)
      #expect(page["data"] == expected)
    }
  }

  @Test func severalRecordsAreCreatedAtOnceOrNone() async throws {
    try await withServices { server in
      let answer = try server.request("POST", "/messages", #"[{"a":1},{"a":2},{"id":"z"}]"#)
      #expect(answer.status == 201)
      let ids = (try JSONValue(parsing: answer.body).array ?? []).compactMap { $0["id"]?.string }
      #expect(Set(ids).count == 3)
      #expect(try server.request("POST", "/messages", #"[{"id":"y"},{"id":"z"}]"#).status == 409)
      #expect(try server.request("GET", "/messages/y").status == 404)
      #expect(try server.request("POST", "/messages", "[]").body == "[]")
    }
  }

  // MARK: Who may

  @Test func theRulesDecideForTheCaller() async throws {
    try await withServices { server in
      let (ana, bo) = (ServiceTesting.bearer("ana"), ServiceTesting.bearer("bo"))
      let note = #"{"id":"n","owner":"ana","text":"x"}"#
      #expect(try server.request("POST", "/chat/notes", note).status == 401)
      #expect(try server.request("POST", "/chat/notes", note, headers: bo).status == 403)
      #expect(try server.request("POST", "/chat/notes", note, headers: ana).status == 201)
      #expect(try server.request("GET", "/chat/notes/n", headers: ana).status == 200)
      for method in ["GET", "PATCH", "PUT", "DELETE"] {
        for id in ["n", "absent"] {
          let answer = try server.request(
            method, "/chat/notes/\(id)", method == "GET" ? nil : "{}", headers: bo)
          #expect(answer.status == 403, "\(method) \(id): what is there is not told")
        }
      }
      // To find is to read the whole collection.
      #expect(try server.request("GET", "/chat/notes", headers: ana).status == 403)
      let owner = ["Authorization": "Bearer owner"]
      #expect(try server.request("GET", "/chat/notes", headers: owner).status == 200)
      // The record may not be given away.
      let given = try server.request(
        "PATCH", "/chat/notes/n", #"{"text":"y"}"#, headers: ana)
      #expect(given.status == 200)
    }
  }

  @Test(arguments: [
    ("Bearer ", 200), ("bearer ", 200), ("JWT ", 200), ("", 200), ("Basic ", 401),
  ])
  func tokensComeInEveryScheme(scheme: String, status: Int) async throws {
    try await withServices { server in
      let ana = ["Authorization": scheme + ServiceTesting.token("ana")]
      let note = #"{"id":"n","owner":"ana"}"#
      let made = try server.request(
        "POST", "/chat/notes", note, headers: ServiceTesting.bearer("ana"))
      #expect(made.status == 201)
      #expect(try server.request("GET", "/chat/notes/n", headers: ana).status == status)
    }
  }

  @Test func signingInByATokenShowsTheUser() async throws {
    try await withServices { server in
      let token = ServiceTesting.token("ana")
      let body = #"{"strategy":"jwt","accessToken":"\#(token)"}"#
      let answer = try server.request("POST", "/authentication", body)
      #expect(answer.status == 201)
      let json = try JSONValue(parsing: answer.body)
      #expect(json["accessToken"] == .string(token))
      #expect(json["authentication"]?["strategy"] == "jwt")
      #expect(json["authentication"]?["payload"]?["sub"] == "ana")
      #expect(json["user"]?["id"] == "ana")
      let headers = ["Authorization": "Bearer \(token)"]
      #expect(try server.request("DELETE", "/authentication", headers: headers).status == 200)
      #expect(try server.request("DELETE", "/authentication/x", headers: headers).status == 401)
      let damaged = try server.request(
        "GET", "/messages", headers: ["Authorization": "Bearer garbage"])
      #expect(damaged.status == 401)
      #expect(damaged.body.contains("jwt malformed"))
    }
  }

  @Test func withoutRulesPagesOfOtherSitesAreRefused() async throws {
    try await withServices(rules: nil) { server in
      let own = try server.request("GET", "/messages")
      #expect(own.status == 200)
      let headers = ["Origin": "https://elsewhere.example"]
      for path in ["/messages", "/socket.io/?EIO=4&transport=polling"] {
        let answer = try server.request("GET", path, headers: headers)
        #expect(answer.status == 403)
      }
    }
  }

  // MARK: Bounds

  @Test func tooMuchIsRefused() async throws {
    try await withServices { server in
      try create(server, #"{"id":"a"}"#)
      let many = (0...1000).map { "a=\($0)" }.joined(separator: "&")
      #expect(try server.request("GET", "/messages?\(many)").status == 400)
      let deep = String(repeating: "[", count: 600) + String(repeating: "]", count: 600)
      #expect(try server.request("POST", "/messages", #"{"a":\#(deep)}"#).status == 400)
      let deeper = String(repeating: #"{"a":"#, count: 40) + "1" + String(repeating: "}", count: 40)
      #expect(try server.request("POST", "/messages", deeper).status == 400)
      #expect(try server.request("POST", "/messages", "{").status == 400)
    }
  }
}
