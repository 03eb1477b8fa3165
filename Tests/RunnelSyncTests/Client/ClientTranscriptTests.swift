import RunnelBase
import RunnelSync
import RunnelTree
import Testing

/// What the official client core was recorded to send, byte by byte.
///
/// Source: wire protocol, section A7.1.
@Suite struct ClientTranscriptTests {
  private func recorded() -> ScriptedClient {
    ScriptedClient {
      $0.appID = "1:app"
      $0.statistic = "sdk.node.11-0-0"
      $0.hasCredential = true
    }
  }

  private func ok(_ number: Int) -> String {
    #"{"t":"d","d":{"r":\#(number),"b":{"s":"ok","d":""}}}"#
  }

  private func begin(_ client: inout ScriptedClient) {
    client.change { $0.start(now: $1) }
    client.open()
    client.hear(ScriptedClient.handshake())
    client.change {
      $0.setCredential(Credential("owner", isAdministrator: true), now: $1)
    }
    client.hear(ok(1), ok(2))
  }

  @Test func theConnectionBeginsAsRecorded() {
    var client = recorded()
    begin(&client)
    #expect(
      client.take() == [
        "connect ws://localhost:9/.ws?v=5&p=1:app&ns=demo",
        #"{"t":"d","d":{"r":1,"a":"s","b":{"c":{"sdk.node.11-0-0":1}}}}"#, "ask",
        #"{"t":"d","d":{"r":2,"a":"gauth","b":{"cred":"owner"}}}"#, "connected",
      ])
  }

  @Test func aListenAndItsPushesAreAsRecorded() throws {
    var client = recorded()
    begin(&client)
    _ = client.take()
    let list = try Path("/list")
    let query = try Query(list).ordered(by: .key).limited(to: 2, from: .last)
    client.send(.listen(AskID(1), query, tag: 1, known: KnownHash(whole: "")))
    #expect(
      client.take() == [
        #"{"t":"d","d":{"r":3,"a":"q","b":{"p":"/list","q":{"l":2,"vf":"r","i":".key"},"t":1,"h":""}}}"#
      ])
    client.hear(
      #"{"t":"d","d":{"a":"d","b":{"p":"list","d":{"b":2,"c":3},"t":1}}}"#, ok(3),
      #"{"t":"d","d":{"a":"m","b":{"p":"list","d":{"d":4,"b":null},"t":1}}}"#,
      #"{"t":"d","d":{"a":"c","b":{"p":"/list","q":[{"l":2,"vf":"r","i":".key"}]}}}"#)
    let node = { (json: JSONValue) throws in try Node(json: json) }
    let merge = [
      Assignment(path: try Path("d"), target: .node(try node(4))),
      Assignment(path: try Path("b"), target: .node(.empty)),
    ]
    #expect(
      client.takeMessages() == [
        .push(.set(try node(["b": 2, "c": 3])), list, tag: 1), .listenComplete(AskID(1)),
        .push(.merge(merge), list, tag: 1),
        .listenRevoked(query, TreeError(.permissionDenied, "Permission denied", path: "/list")),
      ])
  }

  @Test func aTransactionIsAsRecorded() throws {
    var client = recorded()
    begin(&client)
    let list = try Query(Path("/list")).ordered(by: .key).limited(to: 2, from: .last)
    client.send(.listen(AskID(1), list, tag: 1, known: KnownHash(whole: "")))
    _ = client.take()
    let path = try Path("/counter")
    client.send(
      .listen(AskID(2), Query(path), tag: nil, known: KnownHash(whole: "")),
      .compareAndSet(id: 7, path, 1, hash: ""))
    #expect(
      client.take() == [
        #"{"t":"d","d":{"r":4,"a":"q","b":{"p":"/counter","h":""}}}"#,
        #"{"t":"d","d":{"r":5,"a":"p","b":{"p":"/counter","d":1,"h":""}}}"#,
      ])
    client.hear(
      #"{"t":"d","d":{"a":"d","b":{"p":"counter","d":42}}}"#,
      #"{"t":"d","d":{"r":5,"b":{"s":"datastale","d":"Transaction hash does not match"}}}"#)
    #expect(client.takeMessages().last == .stale(id: 7))
    client.send(.compareAndSet(id: 8, path, 43, hash: "bQ5XV5L9riGZgerGMb/8Z87RxeI="))
    #expect(
      client.take() == [
        #"{"t":"d","d":{"r":6,"a":"p","b":{"p":"/counter","d":43,"h":"bQ5XV5L9riGZgerGMb/8Z87RxeI="}}}"#
      ])
    client.hear(#"{"t":"d","d":{"a":"d","b":{"p":"counter","d":43}}}"#, ok(6))
    #expect(client.takeMessages().last == .acknowledged(id: 8))
    client.send(.unlisten(AskID(2), Query(path), tag: nil))
    #expect(client.take() == [#"{"t":"d","d":{"r":7,"a":"n","b":{"p":"/counter"}}}"#])
  }

  /// A server that does not say so compares only what is put at one place.
  @Test(arguments: [false, true]) func hashesOfAWriteAreSentAsTheServerTakesThem(
    isTaken: Bool
  ) throws {
    var client = ScriptedClient()
    client.change { $0.start(now: $1) }
    client.open()
    let extensions = isTaken ? #","x":["hs"]"# : ""
    client.hear(
      #"{"t":"c","d":{"t":"h","d":{"ts":1735689600123,"v":"5","h":"localhost:9","s":"s"\#(extensions)}}}"#
    )
    _ = client.take()
    let (a, b) = (PlaceHash(try Path("/r/a"), "A="), PlaceHash(try Path("/r/b"), ""))
    client.send(
      .writeIf(
        id: 7, .update(try Path("/r"), [JSONMember("a", 5), JSONMember("b", 6)]), hashes: [a, b]),
      .writeIf(id: 8, .set(a.path, .null), hashes: [a]))
    let sent = client.take().joined(separator: "\n")
    let hashes = #","hs":{"a":"A=","b":""}"#
    #expect(
      sent.contains(#""a":"m","b":{"p":"/r","d":{"a":5,"b":6}\#(isTaken ? hashes : "")}"#),
      "\(sent)")
    let removal =
      isTaken
      ? #""a":"m","b":{"p":"/r","d":{"a":null},"hs":{"a":"A="}}"#
      : #""a":"p","b":{"p":"/r/a","d":null,"h":"A="}"#
    #expect(sent.contains(removal), "\(sent)")
  }

  @Test func aStaleWriteIsTold() throws {
    var client = ScriptedClient()
    client.goLive()
    client.send(
      .writeIf(
        id: 7, .update(.root, [JSONMember("a", 5), JSONMember("b", 6)]),
        hashes: [PlaceHash(try Path("/a"), "")]))
    let sent = try #require(client.take().last)
    let number = try #require(
      JSONValue(parsing: sent)["d"]?["r"]?.int, "\(sent)")
    client.hear(
      #"{"t":"d","d":{"r":\#(number),"b":{"s":"datastale","d":"A hash does not match"}}}"#)
    #expect(client.takeMessages().last == .stale(id: 7))
  }

  @Test func aGetAndALeaveAreAsRecorded() throws {
    var client = recorded()
    begin(&client)
    _ = client.take()
    let query = try Query(Path("/d")).ordered(by: .child(Path("height")))
      .starting(at: .leaf(.number(3)), isInclusive: false)
    client.send(.get(id: 1, query))
    client.send(
      .onDisconnect(
        id: 2, .set(try Path("/p"), ["at": [".sv": "timestamp"], "state": "off"])))
    #expect(
      client.take() == [
        #"{"t":"d","d":{"r":3,"a":"g","b":{"p":"/d","q":{"sp":3,"sn":"[MAX_NAME]","sin":false,"i":"height"}}}}"#,
        #"{"t":"d","d":{"r":4,"a":"o","b":{"p":"/p","d":{"at":{".sv":"timestamp"},"state":"off"}}}}"#,
      ])
  }

  @Test func aBigPutIsSentInThreePieces() throws {
    var client = recorded()
    begin(&client)
    let path = try Path("/list")
    for id in 3...12 { client.send(.write(id: Int64(id), .set(path, 1))) }
    _ = client.take()
    client.send(
      .write(id: 1, .set(try Path("/big"), .string(String(repeating: "x", count: 40_000)))))
    let frames = client.take()
    #expect(frames.first == "3")
    #expect(frames.dropFirst().map(\.utf16.count) == [16_384, 16_384, 7_286])
  }

  @Test func aClientComesBackAsRecorded() throws {
    var client = recorded()
    begin(&client)
    _ = client.take()
    client.change { $0.stop(now: $1) }
    #expect(client.take() == ["close", "disconnected"])
    client.change { $0.start(now: $1) }
    client.open()
    client.hear(ScriptedClient.handshake(session: "sess2"))
    // The counter goes on, statistics are not sent again, and the credential is known.
    #expect(
      client.take() == [
        "connect ws://localhost:9/.ws?v=5&ls=sess1&p=1:app&ns=demo",
        #"{"t":"d","d":{"r":3,"a":"gauth","b":{"cred":"owner"}}}"#,
      ])
    client.hear(ok(3))
    _ = client.take()
    client.hear(#"{"t":"d","d":{"a":"ac","b":{"s":"expired_token","d":"Auth token is expired"}}}"#)
    #expect(client.take() == ["close", "disconnected"])
    client.comeBack()
    #expect(
      client.take() == ["connect ws://localhost:9/.ws?v=5&ls=sess2&p=1:app&ns=demo", "ask again"])
  }
}
