import Foundation
import RunnelBase
@testable import RunnelServer
import TestSupport
import Testing

/// The exchanges of the protocol over real sockets: the client's messages are those of the
/// specification, byte for byte, and the server answers as the specification says.
///
/// Source: wire protocol, sections A3 to A5.
@Suite struct WireExchangeTests {
  private static let rules = """
    {"rules":{"list":{".read":true,".write":true},"dinos":{".read":true,".write":true},
    "counter":{".read":true,".write":true},"presence":{".write":true},"nothing":{".read":true},
    "users":{".write":true,".read":"auth.uid === 'alice'"},"old":{".write":true},
    "log":{".read":true,".write":true}}}
    """
  private static let owner = ["Authorization": "Bearer owner"]

  /// Replays a transcript on a new connection to a server with this data.
  private func expect(_ transcript: String, from data: String = "{}") async throws {
    try await withServer(rules: WireExchangeTests.rules) { server in
      _ = try server.request("PUT", "/.json", data, headers: WireExchangeTests.owner)
      try replay(transcript, on: server.socket())
    }
  }

  private func replay(_ transcript: String, on socket: Socket) throws {
    for line in transcript.split(separator: "\n") {
      let text = String(line.dropFirst(4))
      if line.hasPrefix("C→S ") {
        try socket.send(text)
      } else {
        #expect(try JSONValue(parsing: socket.client.readMessage()) == json(text), "\(line)")
      }
    }
    // No other message was sent.
    try socket.send("{\"t\":\"c\",\"d\":{\"t\":\"p\",\"d\":{}}}")
    #expect(try socket.next() == json("{\"t\":\"o\",\"d\":{}}"))
  }

  @Test func handshakeStatisticsAndPings() async throws {
    try await withServer { server in
      let socket = try server.socket("/.ws?v=5&ns=test")
      let payload = try #require(socket.handshake["d"]?["d"])
      guard case .number(let time)? = payload["ts"] else {
        throw RawClient.Failure(what: "no time")
      }
      #expect(abs(time.double - Date().timeIntervalSince1970 * 1000) < 60_000)
      #expect(payload["v"] == "5")
      try replay(
        """
        C→S {"t":"d","d":{"r":1,"a":"s","b":{"c":{"sdk.js.11-0-0":1}}}}
        S→C {"t":"d","d":{"r":1,"b":{"s":"ok","d":""}}}
        C→S {"t":"c","d":{"t":"p","d":{}}}
        S→C {"t":"c","d":{"t":"o","d":{}}}
        """, on: socket)
    }
  }

  @Test func listensOfClientsThatHaveNothingOrEverything() async throws {
    try await expect(
      """
      C→S {"t":"d","d":{"r":2,"a":"q","b":{"p":"/list","h":""}}}
      S→C {"t":"d","d":{"a":"d","b":{"p":"list","d":{"a":1,"b":2}}}}
      S→C {"t":"d","d":{"r":2,"b":{"s":"ok","d":{}}}}
      """, from: #"{"list":{"a":1,"b":2}}"#)
    try await expect(
      """
      C→S {"t":"d","d":{"r":9,"a":"q","b":{"p":"/list","h":"AUZnXhNqrfbznYVxcCvNpzpjvTU="}}}
      S→C {"t":"d","d":{"r":9,"b":{"s":"ok","d":{}}}}
      """, from: #"{"list":{"a":1,"b":2}}"#)
  }

  @Test func queriesWithAndWithoutAnIndex() async throws {
    try await expect(
      """
      C→S {"t":"d","d":{"r":3,"a":"q","b":{"p":"/list","q":{"l":2,"vf":"r","i":".key"},"t":1,"h":""}}}
      S→C {"t":"d","d":{"a":"d","b":{"p":"list","d":{"b":2,"c":3},"t":1}}}
      S→C {"t":"d","d":{"r":3,"b":{"s":"ok","d":{}}}}
      C→S {"t":"d","d":{"r":6,"a":"n","b":{"p":"/list","q":{"l":2,"vf":"r","i":".key"},"t":1}}}
      S→C {"t":"d","d":{"r":6,"b":{"s":"ok","d":""}}}
      C→S {"t":"d","d":{"r":4,"a":"q","b":{"p":"/dinos","q":{"sp":3,"sin":true,"i":"height"},"t":2,"h":""}}}
      S→C {"t":"d","d":{"a":"d","b":{"p":"dinos","d":{"x":{"height":1},"y":{"height":5}},"t":2}}}
      S→C {"t":"d","d":{"r":4,"b":{"s":"ok","d":{"w":["no_index"]}}}}
      """, from: #"{"list":{"a":1,"b":2,"c":3},"dinos":{"x":{"height":1},"y":{"height":5}}}"#)
  }

  @Test func deniedListensWritesAndGets() async throws {
    try await expect(
      """
      C→S {"t":"d","d":{"r":5,"a":"q","b":{"p":"/secret","h":""}}}
      S→C {"t":"d","d":{"r":5,"b":{"s":"permission_denied","d":"Permission denied"}}}
      C→S {"t":"d","d":{"r":10,"a":"p","b":{"p":"/x","d":{".sv":"timestamp"}}}}
      S→C {"t":"d","d":{"r":10,"b":{"s":"permission_denied","d":"Permission denied"}}}
      C→S {"t":"d","d":{"r":14,"a":"om","b":{"p":"/room","d":{"ada":null}}}}
      S→C {"t":"d","d":{"r":14,"b":{"s":"permission_denied","d":"Permission denied"}}}
      C→S {"t":"d","d":{"r":22,"a":"g","b":{"p":"/secret","q":{}}}}
      S→C {"t":"d","d":{"r":22,"b":{"s":"permission_denied","d":"Permission denied"}}}
      """, from: #"{"secret":1}"#)
  }

  @Test func putsAreSentToTheirWriterFirstAndMayHaveConditions() async throws {
    try await expect(
      """
      C→S {"t":"d","d":{"r":2,"a":"q","b":{"p":"/list","h":""}}}
      S→C {"t":"d","d":{"r":2,"b":{"s":"ok","d":{}}}}
      C→S {"t":"d","d":{"r":7,"a":"p","b":{"p":"/list/c","d":3}}}
      S→C {"t":"d","d":{"a":"d","b":{"p":"list/c","d":3}}}
      S→C {"t":"d","d":{"r":7,"b":{"s":"ok","d":""}}}
      C→S {"t":"d","d":{"r":8,"a":"p","b":{"p":"/counter","d":5,"h":"eVih19a6ZDz3NL32uVBtg9KSgQY="}}}
      S→C {"t":"d","d":{"a":"d","b":{"p":"counter","d":42}}}
      S→C {"t":"d","d":{"r":8,"b":{"s":"datastale","d":"Transaction hash does not match"}}}
      C→S {"t":"d","d":{"r":9,"a":"p","b":{"p":"/counter","d":43,"h":"bQ5XV5L9riGZgerGMb/8Z87RxeI="}}}
      S→C {"t":"d","d":{"r":9,"b":{"s":"ok","d":""}}}
      """, from: #"{"counter":42}"#)
  }

  @Test func mergesAreAtomic() async throws {
    try await expect(
      """
      C→S {"t":"d","d":{"r":11,"a":"m","b":{"p":"/","d":{"users/ada/age":37,"log/k1":true,"old":null}}}}
      S→C {"t":"d","d":{"r":11,"b":{"s":"ok","d":""}}}
      C→S {"t":"d","d":{"r":1,"a":"q","b":{"p":"/list","h":""}}}
      S→C {"t":"d","d":{"a":"d","b":{"p":"list","d":{"b":1}}}}
      S→C {"t":"d","d":{"r":1,"b":{"s":"ok","d":{}}}}
      C→S {"t":"d","d":{"r":12,"a":"m","b":{"p":"/list","d":{"a":9,"b/.priority":1}}}}
      S→C {"t":"d","d":{"a":"m","b":{"p":"list","d":{"a":9,"b/.priority":1}}}}
      S→C {"t":"d","d":{"r":12,"b":{"s":"ok","d":""}}}
      """, from: #"{"list":{"b":1}}"#)
  }

  @Test func disconnectWritesAreStoredAndCancelled() async throws {
    try await expect(
      """
      C→S {"t":"d","d":{"r":13,"a":"o","b":{"p":"/presence/ada","d":{"state":"offline","at":{".sv":"timestamp"}}}}}
      S→C {"t":"d","d":{"r":13,"b":{"s":"ok","d":""}}}
      C→S {"t":"d","d":{"r":14,"a":"om","b":{"p":"/presence/ada","d":{"x":1}}}}
      S→C {"t":"d","d":{"r":14,"b":{"s":"ok","d":""}}}
      C→S {"t":"d","d":{"r":15,"a":"oc","b":{"p":"/presence/ada","d":null}}}
      S→C {"t":"d","d":{"r":15,"b":{"s":"ok","d":""}}}
      """)
  }

  @Test func credentialsAreAcceptedRefusedAndTakenBack() async throws {
    try await expect(
      """
      C→S {"t":"d","d":{"r":2,"a":"gauth","b":{"cred":"owner"}}}
      S→C {"t":"d","d":{"r":2,"b":{"s":"ok","d":{"auth":null}}}}
      C→S {"t":"d","d":{"r":3,"a":"gauth","b":{"cred":"owner","authvar":{"uid":"bob"}}}}
      S→C {"t":"d","d":{"r":3,"b":{"s":"ok","d":{"auth":{"uid":"bob"}}}}}
      C→S {"t":"d","d":{"r":4,"a":"auth","b":{"cred":"garbage"}}}
      S→C {"t":"d","d":{"r":4,"b":{"s":"invalid_token","d":"Could not parse auth token."}}}
      C→S {"t":"d","d":{"r":5,"a":"unauth","b":{}}}
      S→C {"t":"d","d":{"r":5,"b":{"s":"ok","d":""}}}
      C→S {"t":"d","d":{"r":6,"a":"appcheck","b":{"token":"x"}}}
      S→C {"t":"d","d":{"r":6,"b":{"s":"ok","d":{}}}}
      C→S {"t":"d","d":{"r":7,"a":"unappeck","b":{}}}
      S→C {"t":"d","d":{"r":7,"b":{"s":"ok","d":{}}}}
      """)
  }

  /// The unsigned token of the specification, which an emulator accepts although it has expired.
  @Test func unsignedTokenOfTheSpecification() async throws {
    let token = """
      eyJhbGciOiJub25lIiwidHlwIjoiSldUIn0.eyJzdWIiOiJhbGljZSIsInVzZXJfaWQiOiJhbGljZSIsImlzcyI6Imh0dHBz\
      Oi8vc2VjdXJldG9rZW4uZ29vZ2xlLmNvbS9kZW1vIiwiYXVkIjoiZGVtbyIsImlhdCI6MCwiZXhwIjozNjAwLCJhdXRoX3Rp\
      bWUiOjAsImZpcmViYXNlIjp7InNpZ25faW5fcHJvdmlkZXIiOiJjdXN0b20iLCJpZGVudGl0aWVzIjp7fX19.
      """
    try await withServer(rules: WireExchangeTests.rules) { server in
      let socket = try server.socket()
      #expect(try socket.status(1, "g", "{\"p\":\"/users\",\"q\":{}}") == "permission_denied")
      try socket.ask(2, "auth", "{\"cred\":\"\(token)\"}")
      let answer = try socket.next()
      #expect(answer["b"]?["s"] == "ok")
      let auth = answer["b"]?["d"]?["auth"]
      #expect(auth?["uid"] == "alice")
      #expect(auth?["provider"] == "custom")
      #expect(auth?["token"]?["sub"] == "alice")
      #expect(try socket.status(3, "g", "{\"p\":\"/users\",\"q\":{}}") == "ok")
    }
  }

  @Test func getsAreAnsweredWithTheirData() async throws {
    try await expect(
      """
      C→S {"t":"d","d":{"r":20,"a":"g","b":{"p":"/list","q":{}}}}
      S→C {"t":"d","d":{"r":20,"b":{"s":"ok","d":{"a":1,"b":2}}}}
      C→S {"t":"d","d":{"r":21,"a":"g","b":{"p":"/nothing","q":{"l":1,"vf":"l"}}}}
      S→C {"t":"d","d":{"r":21,"b":{"s":"ok","d":null}}}
      C→S {"t":"d","d":{"r":23,"a":"g","b":{"p":"/dinos","q":{"sp":3,"sin":true,"i":"height"}}}}
      S→C {"t":"d","d":{"r":23,"b":{"s":"failed","d":"Index not defined, add \\".indexOn\\": \\"height\\", for path \\"/dinos\\", to the rules"}}}
      """, from: #"{"list":{"a":1,"b":2}}"#)
  }

  @Test func windowThatSlidesAndRangesThatDiffer() async throws {
    try await expect(
      """
      C→S {"t":"d","d":{"r":3,"a":"q","b":{"p":"/list","q":{"l":2,"vf":"r","i":".key"},"t":1,"h":""}}}
      S→C {"t":"d","d":{"a":"d","b":{"p":"list","d":{"b":2,"c":3},"t":1}}}
      S→C {"t":"d","d":{"r":3,"b":{"s":"ok","d":{}}}}
      C→S {"t":"d","d":{"r":4,"a":"p","b":{"p":"/list/d","d":4}}}
      S→C {"t":"d","d":{"a":"m","b":{"p":"list","d":{"d":4,"b":null},"t":1}}}
      S→C {"t":"d","d":{"r":4,"b":{"s":"ok","d":""}}}
      C→S {"t":"d","d":{"r":5,"a":"q","b":{"p":"/log","h":"x","ch":{"hs":["YkodEihR5l3UXCbbKSqqVp082GU=","pfduDpANk3ljVHkUt4HdLwrlDao=",""],"ps":["2","10"]}}}}
      S→C {"t":"d","d":{"a":"rm","b":{"p":"log","d":[{"s":"2","e":"10","m":{"10":"TEN"}},{"s":"10","m":{"11":"eleven"}}]}}}
      S→C {"t":"d","d":{"r":5,"b":{"s":"ok","d":{}}}}
      """,
      from: """
        {"list":{"b":2,"c":3},"log":{"1":"one","2":"two","10":"TEN","11":"eleven"}}
        """)
  }

  @Test func listensThatNewRulesDenyAreRevoked() async throws {
    try await withServer(rules: WireExchangeTests.rules) { server in
      let socket = try server.socket()
      #expect(try socket.status(1, "q", "{\"p\":\"/list\",\"h\":\"\"}") == "ok")
      let query = "{\"l\":2,\"vf\":\"r\",\"i\":\".key\"}"
      #expect(
        try socket.status(2, "q", "{\"p\":\"/list\",\"q\":\(query),\"t\":1,\"h\":\"\"}") == "ok")
      _ = try server.request(
        "PUT", "/.settings/rules.json", "{\"rules\":{}}", headers: WireExchangeTests.owner)
      let told = [try socket.next(), try socket.next()]
      for message in told {
        #expect(message["a"] == "c")
        #expect(message["b"]?["p"] == "/list")
      }
      let queries = told.compactMap { $0["b"]?["q"] }
      #expect(queries.count == 1)
      guard case .array(let elements)? = queries.first, let asked = elements.first else {
        throw RawClient.Failure(what: "no list of queries: \(told)")
      }
      for name in ["l", "vf", "i"] { #expect(try asked[name] == json(query)[name]) }
    }
  }

  @Test func credentialThatEndsIsRevoked() async throws {
    let server = try await TestServer(rules: WireExchangeTests.rules) { _ in }
    var secrets = try ServerSecrets(file: "/nowhere")
    let added = secrets.add("x", now: 0)
    let secret = try #require(added).text
    try secrets.write(to: ServerSecrets.file(beside: server.file))
    await server.server.reloadFiles()
    let socket = try server.socket()
    #expect(try socket.status(1, "gauth", "{\"cred\":\"\(secret)\"}") == "ok")
    #expect(try socket.status(2, "q", "{\"p\":\"/hidden\",\"h\":\"\"}") == "ok")
    try ServerSecrets(file: "/nowhere").write(to: ServerSecrets.file(beside: server.file))
    await server.server.reloadFiles()
    let told = [try socket.next(), try socket.next()]
    #expect(told.contains { $0["a"] == "ac" }, "\(told)")
    #expect(told.contains { $0["a"] == "c" && $0["b"]?["p"] == "/hidden" }, "\(told)")
    await server.stop()
  }
}
