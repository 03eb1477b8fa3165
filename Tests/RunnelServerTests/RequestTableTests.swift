import RunnelBase
import RunnelServer
import RunnelSync
import TestSupport
import Testing

/// The rows of the tables over HTTP, on real sockets: parameters, errors of queries and writes, rules.
///
/// Source: wire protocol, sections C2 to C8.
@Suite struct RequestTableTests {
  private static let owner = ["Authorization": "Bearer owner"]
  private static let data = """
    {"open":{"n":4,"prio":{".value":"x",".priority":2},"list":["a","b"],"scores":{"b":1,"a":3},
    "dinosaurs":{"linhenykus":{"height":0.6},"triceratops":{"height":3},
    "stegosaurus":{"height":4}}},"secret":"x","ada":{"n":1}}
    """
  private static let rules = """
    {"rules":{"open":{".read":true,".write":true,"dinosaurs":{".indexOn":["height",".value"]},
    "scores":{".indexOn":".value"}},"ada":{".read":"auth.uid === 'ada'"}}}
    """

  private func withData(_ body: (TestServer) async throws -> Void) async throws {
    try await withServer(rules: RequestTableTests.rules) { server in
      _ = try server.request(
        "PUT", "/.json", RequestTableTests.data, headers: RequestTableTests.owner)
      try await body(server)
    }
  }

  private func encoded(_ target: String) -> String {
    target.replacing("\"", with: "%22").replacing("{", with: "%7B").replacing("}", with: "%7D")
  }

  @Test func parametersOfReadsShapeTheAnswer() async throws {
    try await withData { server in
      let rows = [
        ("n.json?print=pretty", "4"), ("n.json?print=other", "4"),
        ("list.json?print=pretty", "[\n  \"a\",\n  \"b\"\n]"),
        ("dinosaurs.json?shallow=true&limitToFirst=1&timeout=3s", #"{"linhenykus":true}"#),
        ("n.json?shallow=true", "4"), ("none.json?shallow=true", "null"),
        ("prio.json?format=export", #"{".value":"x",".priority":2}"#), ("prio.json", #""x""#),
        ("n.json?callback=show.me", "show.me(4);"), ("n.json?timeout=30000ms", "4"),
        ("n.json?timeout=15min", "4"), ("n.json?writeSizeLimit=tiny&disableTriggers=true", "4"),
        ("n.json?unknown=%F0%9F%99%82", "4"), ("n.json?ns=test", "4"),
        (#"scores.json?orderBy="$key"&limitToFirst=1"#, #"{"a":3}"#),
        (#"scores.json?orderBy="$value"&limitToFirst=1"#, #"{"b":1}"#),
        (#"scores.json?orderBy="$priority"&limitToLast=1"#, #"{"b":1}"#),
        (#"dinosaurs.json?orderBy="height"&equalTo=4"#, #"{"stegosaurus":{"height":4}}"#),
        (#"dinosaurs.json?orderBy="height"&startAfter=3"#, #"{"stegosaurus":{"height":4}}"#),
        (#"dinosaurs.json?orderBy="height"&endBefore=3"#, #"{"linhenykus":{"height":0.6}}"#),
        (#"dinosaurs.json?orderBy="height"&startAt=3,"u""#, #"{"stegosaurus":{"height":4}}"#),
        (#"dinosaurs.json?orderBy="height"&endAt=0.6"#, #"{"linhenykus":{"height":0.6}}"#),
        (#"n.json?orderBy="$key"&limitToFirst=1"#, "null"),
      ]
      let client = try server.client()
      for (target, body) in rows {
        let answer = try client.request("GET", "/open/" + encoded(target))
        #expect(answer.status == 200, "\(target)")
        #expect(answer.body == body, "\(target)")
      }
      #expect(try client.request("GET", "/open/n.json?print=silent").status == 204)
      let script = try client.request("GET", "/open/n.json?callback=f")
      #expect(script.headers["content-type"] == "application/javascript; charset=utf-8")
      let saved = try client.request("GET", "/open/n.json?download=my%22.json")
      #expect(saved.headers["content-disposition"] == "attachment; filename=\"my.json\"")
      let plain = try client.request("GET", "/open/n.json", headers: ["Origin": "http://localhost"])
      #expect(plain.headers["content-type"] == "application/json; charset=utf-8")
      #expect(plain.headers["cache-control"] == "no-cache")
      #expect(plain.headers["access-control-allow-origin"] == "*")
      #expect(plain.headers["access-control-expose-headers"] == "ETag")
    }
  }

  @Test func wrongQueriesAreRefusedWithTheirReason() async throws {
    try await withData { server in
      let equal =
        "equalTo cannot be specified in addition to startAfter, startAt, endAt, or endBefore"
      let rows = [
        ("orderBy=height", "orderBy must be a valid JSON encoded path"),
        ("orderBy=7", "orderBy must be a valid JSON encoded path"),
        ("limitToFirst=2", "orderBy must be defined when other query parameters are defined"),
        ("startAt=1", "orderBy must be defined when other query parameters are defined"),
        (#"orderBy="$key"&limitToFirst=x"#, "limitToFirst must be an integer"),
        (#"orderBy="$key"&limitToLast=1.5"#, "limitToLast must be an integer"),
        (#"orderBy="$key"&limitToFirst=0"#, "limitToFirst must be positive"),
        (#"orderBy="$key"&limitToLast=-1"#, "limitToLast must be positive"),
        (
          #"orderBy="$key"&limitToLast=1&limitToFirst=1"#,
          "Only one of limitToFirst and limitToLast may be specified"
        ),
        (#"orderBy="height"&equalTo=1&endBefore=1"#, equal),
        (#"orderBy="height"&startAt={}"#, "Constraint index field must be a JSON primitive"),
        (#"orderBy="height"&startAt=1,2"#, "Constraint key field must be a valid key name"),
        (#"orderBy="$key"&startAt=1"#, "Provided key index type is invalid, must be string"),
        (
          #"orderBy="weight"&limitToFirst=1"#,
          #"Index not defined, add ".indexOn": "weight", for path "/open/dinosaurs", to the rules"#
        ),
      ]
      for (parameters, text) in rows {
        let target = "/open/dinosaurs.json?" + encoded(parameters)
        for headers in [[:], ["Accept": "text/event-stream"]] {
          let answer = try server.request("GET", target, headers: headers)
          #expect(answer.status == 400, "\(parameters)")
          #expect(try json(answer.body) == ["error": .string(text)], "\(parameters)")
        }
      }
      let list = try server.request("GET", encoded(#"/open/list.json?orderBy="$value"&equalTo=1"#))
      #expect(list.body.contains(#"\".indexOn\": \".value\", for path \"/open/list\""#))
    }
  }

  @Test func answersAndErrorsOfWrites() async throws {
    try await withServer(rules: RequestTableTests.rules) {
      $0.isEmulator = true
      $0.rest.writeBytesMax = 5000
    } _: { server in
      let invalid = "Invalid data; couldn't parse JSON object, array, or value."
      let rows = [
        ("PUT", "open/x.json", "{", 400, invalid),
        ("PUT", "open/x.json", "", 400, "Error: No data supplied."),
        ("POST", "open/x.json", "", 400, "Error: No data supplied."),
        ("PATCH", "open/x.json", "", 400, "Error: No data supplied."),
        ("PATCH", "open/x.json", "[1]", 400, invalid), ("PATCH", "open/x.json", "7", 400, invalid),
        ("PUT", "open/x.json", #"{"a.b":1}"#, 400, invalid + " Perhaps you're using invalid"),
        ("PUT", "open/a%23b.json", "1", 400, "Invalid path: "),
        (
          "PUT", "open/x.json", "\"" + String(repeating: "x", count: 5000) + "\"", 400,
          "Data to write exceeds the maximum size that can be modified with a single request."
        ),
        ("PUT", "secret.json", "1", 401, "Permission denied"),
        ("PATCH", ".json", #"{"open/x":1,"secret":1}"#, 401, "Permission denied"),
        ("PUT", "open/x.json?ns=other", "1", 404, "There is no database of this name here."),
        ("PUT", "open/x", "1", 404, "append .json to your request URI to use the REST API."),
        ("MKCOL", "open/x.json", "1", 405, "The method MKCOL is not known here"),
      ]
      for (method, target, body, status, text) in rows {
        let answer = try server.request(method, "/" + target, body)
        #expect(answer.status == status, "\(method) \(target)")
        guard case .string(let told)? = try json(answer.body)["error"] else {
          throw RawClient.Failure(what: answer.body)
        }
        #expect(told.hasPrefix(text), "\(method) \(target): \(told)")
      }
      let read = try server.request("GET", "/.json", headers: RequestTableTests.owner)
      #expect(read.body == "null")
      for size in ["tiny", "small", "medium", "large", "unlimited"] {
        let answer = try server.request("PUT", "/open/x.json?writeSizeLimit=\(size)", "{\"a\":1}")
        #expect(answer.body == "{\"a\":1}")
      }
      for (method, body) in [("PUT", "1"), ("POST", "1"), ("PATCH", "{\"a\":1}"), ("DELETE", nil)] {
        let answer = try server.request(method, "/open/y.json?print=silent", body)
        #expect(answer.status == 204, "\(method)")
        #expect(answer.body.isEmpty)
      }
      let over = try server.request(
        "POST", "/open/z.json?x-http-method-override=PATCH", #"{"k":{".sv":"timestamp"}}"#)
      #expect(try json(over.body)["k"]?.int != nil, "\(over.body)")
      #expect(try server.request("PUT", "/open/z.json", "{}").body == "{}")
      #expect(try server.request("GET", "/open/z.json").body == "null")
    }
  }

  @Test func aPriorityIsAResourceOfItsOwn() async throws {
    try await withData { server in
      #expect(try server.request("GET", "/open/prio/.priority.json").body == "2")
      #expect(try server.request("PUT", "/open/n/.priority.json", "7").body == "7")
      let exported = try server.request("GET", "/open/n.json?format=export")
      #expect(exported.body == #"{".value":4,".priority":7}"#)
      #expect(try server.request("DELETE", "/open/prio/.priority.json").body == "null")
      #expect(try server.request("GET", "/open/prio.json?format=export").body == #""x""#)
      // The rules decide as for the node.
      #expect(try server.request("GET", "/secret/.priority.json").status == 401)
      #expect(try server.request("PUT", "/secret/.priority.json", "1").status == 401)
      #expect(try server.request("DELETE", "/secret/.priority.json").status == 401)
    }
  }

  @Test func requestsNeedTheCredentialThatTheRulesWant() async throws {
    try await withData { server in
      func status(_ target: String, _ token: String? = nil) throws -> Int {
        let headers = token.map { ["Authorization": "Bearer \($0)"] } ?? [:]
        return try server.request("GET", "/" + encoded(target), headers: headers).status
      }
      #expect(try status("secret.json") == 401)
      #expect(try status("secret.json", "owner") == 200)
      #expect(try status("secret.json?access_token=owner") == 200)
      #expect(try status("ada.json") == 401)
      #expect(try status(#"ada.json?auth_variable_override={"uid":"ada"}"#, "owner") == 200)
      #expect(try status(#"ada.json?auth_variable_override={"uid":"bo"}"#, "owner") == 401)
      #expect(try status("secret.json?auth_variable_override=null", "owner") == 401)
      #expect(try status(#"ada.json?auth_variable_override={"uid":"ada"}"#) == 401)
      #expect(try status("open/n.json?auth_variable_override=7", "owner") == 400)
      let wrong = try server.request("GET", "/open/n.json?auth=garbage")
      #expect(wrong.body == #"{"error":"Could not parse auth token."}"#)
    }
  }

  @Test func preflightAllowsTheMethodAndHeadersThatAreAskedFor() async throws {
    try await withData { server in
      let answer = try server.request(
        "OPTIONS", "/open/n.json",
        headers: [
          "Origin": "http://localhost:5173", "Access-Control-Request-Method": "PATCH",
          "Access-Control-Request-Headers": "content-type,x-firebase-etag",
        ])
      #expect(answer.status == 204)
      #expect(answer.headers["access-control-allow-methods"]?.contains("PATCH") == true)
      #expect(answer.headers["access-control-allow-headers"] == "content-type,x-firebase-etag")
    }
  }

  @Test func rulesAreReadTriedAndReplaced() async throws {
    try await withData { server in
      let place = "/.settings/rules.json"
      func put(_ text: String, _ parameters: String = "") throws -> RawClient.Answer {
        try server.request("PUT", place + parameters, text, headers: RequestTableTests.owner)
      }
      let text = "// All of it.\n{\"rules\":{\".read\":true /* so */,\".write\":\"auth != null\"}}"
      #expect(try server.request("GET", place).body == #"{"error":"Unauthorized request."}"#)
      #expect(try server.request("PUT", place, text).status == 401)
      #expect(try put(text, "?dryRun=true").body == #"{"status":"ok"}"#)
      #expect(try server.request("GET", "/secret.json").status == 401)
      let wrong = try put("{\"rules\":\n{\".read\":\"data.foo()\"}}")
      #expect(wrong.status == 400)
      guard case .string(let message)? = try json(wrong.body)["error"] else {
        throw RawClient.Failure(what: wrong.body)
      }
      #expect(message.hasPrefix("2:"), "\(message)")
      #expect(message.contains("foo"))
      #expect(try put("{", "?dryRun=true").status == 400)
      #expect(try server.request("GET", "/secret.json").status == 401)
      #expect(try put(text).body == #"{"status":"ok"}"#)
      #expect(try server.request("GET", "/secret.json").body == #""x""#)
      let stored = try server.request("GET", place, headers: RequestTableTests.owner)
      #expect(stored.body == text)
      let strict = try server.request(
        "GET", place + "?format=strict", headers: RequestTableTests.owner)
      #expect(try json(strict.body) == ["rules": [".read": true, ".write": "auth != null"]])
      let post = try server.request("POST", place, text, headers: RequestTableTests.owner)
      #expect(post.status == 405)
    }
  }
}
