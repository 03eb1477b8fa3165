import RunnelBase
import RunnelSync
import RunnelTree
import Testing

/// The exchanges of the protocol's sections A3 to A5, byte by byte.
@Suite struct ServerTranscriptTests {
  /// Replays what the client says; what it is told must be the server's lines.
  private func expect(
    _ transcript: String, from json: String = "null",
    access: MemoryServedTree.Access = .init()
  ) throws {
    var world = try ServedWorld(json, access: access)
    let connection = world.connect()
    #expect(world.replay(transcript, by: connection) == ServedWorld.lines(transcript))
  }

  private static let closed = MemoryServedTree.Access(
    canRead: { query, caller, _ in !query.path.description.hasPrefix("/secret") },
    canWrite: { parts, _, _, _ in
      !parts.contains { ["/x", "/room/ada"].contains($0.path.description) }
    },
    isIndexed: { $0.index == .key || $0.index == .priority })

  @Test func theHandshakeIsTheFirstMessage() {
    var session = ServerSession(.init(name: "Ks0Qx8b1", host: "localhost:9000"))
    let effects = session.open(now: WireTime(calendar: 1_735_689_600_123, uptime: 5))
    let expected =
      #"{"t":"c","d":{"t":"h","d":{"ts":1735689600123,"v":"5","h":"localhost:9000","s":"Ks0Qx8b1","x":["w","hs"]}}}"#
    #expect(effects == [.send(Array(expected.utf8))])
  }

  @Test func aClientIsSentToAnotherHost() {
    var session = ServerSession(.init(name: "s", host: "a.example:9000"))
    let effects = session.redirect(to: "b.example:9000")
    #expect(effects.first == .send(Array(#"{"t":"c","d":{"t":"r","d":"b.example:9000"}}"#.utf8)))
    #expect(effects.count == 2)
    #expect(!session.isOpen)
  }

  @Test func statisticsAndPingsAreAnswered() throws {
    try expect(
      """
      C→S {"t":"d","d":{"r":1,"a":"s","b":{"c":{"sdk.node.11-0-0":1}}}}
      S→C {"t":"d","d":{"r":1,"b":{"s":"ok","d":""}}}
      C→S {"t":"c","d":{"t":"p","d":{}}}
      S→C {"t":"c","d":{"t":"o","d":{}}}
      """)
  }

  @Test func aListenOfAClientThatHasNothingIsToldAll() throws {
    try expect(
      """
      C→S {"t":"d","d":{"r":2,"a":"q","b":{"p":"/list","h":""}}}
      S→C {"t":"d","d":{"a":"d","b":{"p":"list","d":{"a":1,"b":2}}}}
      S→C {"t":"d","d":{"r":2,"b":{"s":"ok","d":{}}}}
      """, from: #"{"list":{"a":1,"b":2}}"#)
  }

  @Test func aListenOfAClientThatHasAllIsToldNothing() throws {
    try expect(
      """
      C→S {"t":"d","d":{"r":9,"a":"q","b":{"p":"/list","h":"AUZnXhNqrfbznYVxcCvNpzpjvTU="}}}
      S→C {"t":"d","d":{"r":9,"b":{"s":"ok","d":{}}}}
      """, from: #"{"list":{"a":1,"b":2}}"#)
  }

  @Test func aQueryIsToldUnderItsTag() throws {
    try expect(
      """
      C→S {"t":"d","d":{"r":3,"a":"q","b":{"p":"/list","q":{"l":2,"vf":"r","i":".key"},"t":1,"h":""}}}
      S→C {"t":"d","d":{"a":"d","b":{"p":"list","d":{"b":2,"c":3},"t":1}}}
      S→C {"t":"d","d":{"r":3,"b":{"s":"ok","d":{}}}}
      """, from: #"{"list":{"a":1,"b":2,"c":3}}"#)
  }

  @Test func aQueryWithoutAnIndexIsToldAllWithAWarning() throws {
    try expect(
      """
      C→S {"t":"d","d":{"r":4,"a":"q","b":{"p":"/dinos","q":{"sp":3,"sin":true,"i":"height"},"t":2,"h":""}}}
      S→C {"t":"d","d":{"a":"d","b":{"p":"dinos","d":{"x":{"height":1},"y":{"height":5}},"t":2}}}
      S→C {"t":"d","d":{"r":4,"b":{"s":"ok","d":{"w":["no_index"]}}}}
      C→S {"t":"d","d":{"r":5,"a":"p","b":{"p":"/dinos/x/height","d":2}}}
      S→C {"t":"d","d":{"a":"d","b":{"p":"dinos/x/height","d":2,"t":2}}}
      S→C {"t":"d","d":{"r":5,"b":{"s":"ok","d":""}}}
      """, from: #"{"dinos":{"x":{"height":1},"y":{"height":5}}}"#,
      access: ServerTranscriptTests.closed)
  }

  @Test func aListenIsDeniedAndAnotherEnds() throws {
    try expect(
      """
      C→S {"t":"d","d":{"r":5,"a":"q","b":{"p":"/secret","h":""}}}
      S→C {"t":"d","d":{"r":5,"b":{"s":"permission_denied","d":"Permission denied"}}}
      C→S {"t":"d","d":{"r":6,"a":"n","b":{"p":"/list","q":{"l":2,"vf":"r","i":".key"},"t":1}}}
      S→C {"t":"d","d":{"r":6,"b":{"s":"ok","d":""}}}
      """, from: #"{"secret":1}"#, access: ServerTranscriptTests.closed)
  }

  @Test func aPutIsToldToItsWriterBeforeItsAnswer() throws {
    try expect(
      """
      C→S {"t":"d","d":{"r":1,"a":"q","b":{"p":"/list","h":""}}}
      S→C {"t":"d","d":{"r":1,"b":{"s":"ok","d":{}}}}
      C→S {"t":"d","d":{"r":7,"a":"p","b":{"p":"/list/c","d":3}}}
      S→C {"t":"d","d":{"a":"d","b":{"p":"list/c","d":3}}}
      S→C {"t":"d","d":{"r":7,"b":{"s":"ok","d":""}}}
      """)
  }

  @Test func aConditionalPutIsStaleAndThenDone() throws {
    try expect(
      """
      C→S {"t":"d","d":{"r":8,"a":"p","b":{"p":"/counter","d":5,"h":"eVih19a6ZDz3NL32uVBtg9KSgQY="}}}
      S→C {"t":"d","d":{"a":"d","b":{"p":"counter","d":42}}}
      S→C {"t":"d","d":{"r":8,"b":{"s":"datastale","d":"Transaction hash does not match"}}}
      C→S {"t":"d","d":{"r":9,"a":"p","b":{"p":"/counter","d":43,"h":"bQ5XV5L9riGZgerGMb/8Z87RxeI="}}}
      S→C {"t":"d","d":{"r":9,"b":{"s":"ok","d":""}}}
      """, from: #"{"counter":42}"#)
  }

  @Test func aPutIsDenied() throws {
    try expect(
      """
      C→S {"t":"d","d":{"r":10,"a":"p","b":{"p":"/x","d":{".sv":"timestamp"}}}}
      S→C {"t":"d","d":{"r":10,"b":{"s":"permission_denied","d":"Permission denied"}}}
      """, access: ServerTranscriptTests.closed)
  }

  @Test func aMergeIsDoneAtOnce() throws {
    try expect(
      """
      C→S {"t":"d","d":{"r":11,"a":"m","b":{"p":"/","d":{"users/ada/age":37,"log/k1":true,"old":null}}}}
      S→C {"t":"d","d":{"r":11,"b":{"s":"ok","d":""}}}
      """)
  }

  /// The hashes are those of 4 and of 42.
  @Test func aMergeWithHashesIsStaleAndThenDone() throws {
    try expect(
      """
      C→S {"t":"d","d":{"r":8,"a":"m","b":{"p":"/r","d":{"a":5,"b":6},"hs":{"a":"eVih19a6ZDz3NL32uVBtg9KSgQY=","b":""}}}}
      S→C {"t":"d","d":{"a":"d","b":{"p":"r/a","d":42}}}
      S→C {"t":"d","d":{"r":8,"b":{"s":"datastale","d":"A hash does not match"}}}
      C→S {"t":"d","d":{"r":9,"a":"m","b":{"p":"/r","d":{"a":5,"b":6},"hs":{"a":"bQ5XV5L9riGZgerGMb/8Z87RxeI=","b":""}}}}
      S→C {"t":"d","d":{"r":9,"b":{"s":"ok","d":""}}}
      """, from: #"{"r":{"a":42}}"#)
  }

  @Test func aMergeIsToldAsOne() throws {
    try expect(
      """
      C→S {"t":"d","d":{"r":1,"a":"q","b":{"p":"/list","h":""}}}
      S→C {"t":"d","d":{"a":"d","b":{"p":"list","d":{"b":1}}}}
      S→C {"t":"d","d":{"r":1,"b":{"s":"ok","d":{}}}}
      C→S {"t":"d","d":{"r":12,"a":"m","b":{"p":"/list","d":{"a":9,"b/.priority":1}}}}
      S→C {"t":"d","d":{"a":"m","b":{"p":"list","d":{"a":9,"b/.priority":1}}}}
      S→C {"t":"d","d":{"r":12,"b":{"s":"ok","d":""}}}
      """, from: #"{"list":{"b":1}}"#)
  }

  @Test func whatIsLeftForTheEndIsAnswered() throws {
    try expect(
      """
      C→S {"t":"d","d":{"r":13,"a":"o","b":{"p":"/presence/ada","d":{"state":"offline","at":{".sv":"timestamp"}}}}}
      S→C {"t":"d","d":{"r":13,"b":{"s":"ok","d":""}}}
      C→S {"t":"d","d":{"r":14,"a":"om","b":{"p":"/room","d":{"ada":null}}}}
      S→C {"t":"d","d":{"r":14,"b":{"s":"permission_denied","d":"Permission denied"}}}
      C→S {"t":"d","d":{"r":15,"a":"oc","b":{"p":"/presence/ada","d":null}}}
      S→C {"t":"d","d":{"r":15,"b":{"s":"ok","d":""}}}
      """, access: ServerTranscriptTests.closed)
  }

  @Test func credentialsAreAnswered() throws {
    try expect(
      """
      C→S {"t":"d","d":{"r":2,"a":"auth","b":{"cred":"user:alice:1735689603600"}}}
      S→C {"t":"d","d":{"r":2,"b":{"s":"ok","d":{"auth":{"uid":"alice"},"expires":1735689603}}}}
      C→S {"t":"d","d":{"r":3,"a":"gauth","b":{"cred":"owner"}}}
      S→C {"t":"d","d":{"r":3,"b":{"s":"ok","d":{"auth":null}}}}
      C→S {"t":"d","d":{"r":4,"a":"gauth","b":{"cred":"owner","authvar":{"uid":"bob"}}}}
      S→C {"t":"d","d":{"r":4,"b":{"s":"ok","d":{"auth":{"uid":"bob"}}}}}
      C→S {"t":"d","d":{"r":5,"a":"auth","b":{"cred":"garbage"}}}
      S→C {"t":"d","d":{"r":5,"b":{"s":"invalid_token","d":"Could not parse auth token."}}}
      C→S {"t":"d","d":{"r":6,"a":"auth","b":{"cred":"user:alice:1"}}}
      S→C {"t":"d","d":{"r":6,"b":{"s":"expired_token","d":"Auth token is expired"}}}
      C→S {"t":"d","d":{"r":7,"a":"auth","b":{"cred":"user:alice","noauth":true}}}
      S→C {"t":"d","d":{"r":7,"b":{"s":"permission_denied","d":"Only administrators speak for others."}}}
      C→S {"t":"d","d":{"r":8,"a":"unauth","b":{}}}
      S→C {"t":"d","d":{"r":8,"b":{"s":"ok","d":""}}}
      C→S {"t":"d","d":{"r":9,"a":"appcheck","b":{"token":"x"}}}
      S→C {"t":"d","d":{"r":9,"b":{"s":"ok","d":{}}}}
      C→S {"t":"d","d":{"r":10,"a":"unappeck","b":{}}}
      S→C {"t":"d","d":{"r":10,"b":{"s":"ok","d":{}}}}
      """)
  }

  @Test func aGetIsAnsweredWithItsData() throws {
    try expect(
      """
      C→S {"t":"d","d":{"r":20,"a":"g","b":{"p":"/list","q":{}}}}
      S→C {"t":"d","d":{"r":20,"b":{"s":"ok","d":{"a":1,"b":2}}}}
      C→S {"t":"d","d":{"r":21,"a":"g","b":{"p":"/nothing","q":{"l":1,"vf":"l"}}}}
      S→C {"t":"d","d":{"r":21,"b":{"s":"ok","d":null}}}
      C→S {"t":"d","d":{"r":22,"a":"g","b":{"p":"/secret","q":{}}}}
      S→C {"t":"d","d":{"r":22,"b":{"s":"permission_denied","d":"Permission denied"}}}
      C→S {"t":"d","d":{"r":23,"a":"g","b":{"p":"/dinos","q":{"sp":3,"sin":true,"i":"height"}}}}
      S→C {"t":"d","d":{"r":23,"b":{"s":"failed","d":"Index not defined, add \\".indexOn\\": \\"height\\", for path \\"/dinos\\", to the rules"}}}
      """, from: #"{"list":{"a":1,"b":2},"secret":5}"#, access: ServerTranscriptTests.closed)
  }

  /// The window of limitToLast(2) slides: one push, who enters first.
  @Test func aWindowThatSlidesIsOnePush() throws {
    try expect(
      """
      C→S {"t":"d","d":{"r":3,"a":"q","b":{"p":"/list","q":{"l":2,"vf":"r","i":".key"},"t":1,"h":""}}}
      S→C {"t":"d","d":{"a":"d","b":{"p":"list","d":{"b":2,"c":3},"t":1}}}
      S→C {"t":"d","d":{"r":3,"b":{"s":"ok","d":{}}}}
      C→S {"t":"d","d":{"r":4,"a":"p","b":{"p":"/list/d","d":4}}}
      S→C {"t":"d","d":{"a":"m","b":{"p":"list","d":{"d":4,"b":null},"t":1}}}
      S→C {"t":"d","d":{"r":4,"b":{"s":"ok","d":""}}}
      C→S {"t":"d","d":{"r":5,"a":"p","b":{"p":"/list/aa","d":4}}}
      S→C {"t":"d","d":{"r":5,"b":{"s":"ok","d":""}}}
      C→S {"t":"d","d":{"r":6,"a":"p","b":{"p":"/list/d","d":null}}}
      S→C {"t":"d","d":{"a":"m","b":{"p":"list","d":{"b":2,"d":null},"t":1}}}
      S→C {"t":"d","d":{"r":6,"b":{"s":"ok","d":""}}}
      C→S {"t":"d","d":{"r":7,"a":"p","b":{"p":"/list","d":5}}}
      S→C {"t":"d","d":{"a":"d","b":{"p":"list","d":null,"t":1}}}
      S→C {"t":"d","d":{"r":7,"b":{"s":"ok","d":""}}}
      """, from: #"{"list":{"a":1,"b":2,"c":3}}"#)
  }

  @Test func rangesThatDifferAreTold() throws {
    let hashes = #"["YkodEihR5l3UXCbbKSqqVp082GU=","pfduDpANk3ljVHkUt4HdLwrlDao=",""]"#
    try expect(
      """
      C→S {"t":"d","d":{"r":5,"a":"q","b":{"p":"/log","h":"x","ch":{"hs":\(hashes),"ps":["2","10"]}}}}
      S→C {"t":"d","d":{"a":"rm","b":{"p":"log","d":[{"s":"2","e":"10","m":{"10":"TEN"}},{"s":"10","m":{"11":"eleven"}}]}}}
      S→C {"t":"d","d":{"r":5,"b":{"s":"ok","d":{}}}}
      """, from: #"{"log":{"1":"one","2":"two","10":"TEN","11":"eleven"}}"#)
  }

  /// What the official client core said, and a server that answers it as the transcript does.
  @Test func theRecordedTranscriptIsAnswered() throws {
    try expect(
      """
      C→S {"t":"d","d":{"r":1,"a":"s","b":{"c":{"sdk.node.11-0-0":1}}}}
      S→C {"t":"d","d":{"r":1,"b":{"s":"ok","d":""}}}
      C→S {"t":"d","d":{"r":2,"a":"gauth","b":{"cred":"owner"}}}
      S→C {"t":"d","d":{"r":2,"b":{"s":"ok","d":{"auth":null}}}}
      C→S {"t":"d","d":{"r":3,"a":"q","b":{"p":"/list","q":{"l":2,"vf":"r","i":".key"},"t":1,"h":""}}}
      S→C {"t":"d","d":{"a":"d","b":{"p":"list","d":{"b":2,"c":3},"t":1}}}
      S→C {"t":"d","d":{"r":3,"b":{"s":"ok","d":{}}}}
      C→S {"t":"d","d":{"r":4,"a":"q","b":{"p":"/counter","h":""}}}
      S→C {"t":"d","d":{"a":"d","b":{"p":"counter","d":42}}}
      S→C {"t":"d","d":{"r":4,"b":{"s":"ok","d":{}}}}
      C→S {"t":"d","d":{"r":5,"a":"p","b":{"p":"/counter","d":1,"h":""}}}
      S→C {"t":"d","d":{"a":"d","b":{"p":"counter","d":42}}}
      S→C {"t":"d","d":{"r":5,"b":{"s":"datastale","d":"Transaction hash does not match"}}}
      C→S {"t":"d","d":{"r":6,"a":"p","b":{"p":"/counter","d":43,"h":"bQ5XV5L9riGZgerGMb/8Z87RxeI="}}}
      S→C {"t":"d","d":{"a":"d","b":{"p":"counter","d":43}}}
      S→C {"t":"d","d":{"r":6,"b":{"s":"ok","d":""}}}
      C→S {"t":"d","d":{"r":7,"a":"n","b":{"p":"/counter"}}}
      S→C {"t":"d","d":{"r":7,"b":{"s":"ok","d":""}}}
      C→S {"t":"d","d":{"r":9,"a":"g","b":{"p":"/d","q":{"sp":3,"sn":"[MAX_NAME]","sin":false,"i":"height"}}}}
      S→C {"t":"d","d":{"r":9,"b":{"s":"ok","d":{"y":{"height":4}}}}}
      C→S {"t":"d","d":{"r":11,"a":"o","b":{"p":"/p","d":{"at":{".sv":"timestamp"},"state":"off"}}}}
      S→C {"t":"d","d":{"r":11,"b":{"s":"ok","d":""}}}
      """,
      from: #"{"list":{"a":1,"b":2,"c":3},"counter":42,"d":{"x":{"height":3},"y":{"height":4}}}"#)
  }
}
