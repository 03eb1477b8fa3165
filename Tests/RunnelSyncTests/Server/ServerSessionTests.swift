import RunnelBase
import RunnelSync
import RunnelTree
import TestSupport
import Testing

/// What a session holds besides single exchanges.
@Suite struct ServerSessionTests {
  private func put(_ number: Int, _ path: String, _ json: String) -> String {
    #"{"t":"d","d":{"r":\#(number),"a":"p","b":{"p":"\#(path)","d":\#(json)}}}"#
  }

  private func listen(_ number: Int, _ path: String) -> String {
    #"{"t":"d","d":{"r":\#(number),"a":"q","b":{"p":"\#(path)","h":""}}}"#
  }

  private func request(_ number: Int, _ action: String, _ body: String) -> String {
    #"{"t":"d","d":{"r":\#(number),"a":"\#(action)","b":\#(body)}}"#
  }

  private func ok(_ number: Int, _ data: String = "\"\"") -> String {
    #"{"t":"d","d":{"r":\#(number),"b":{"s":"ok","d":\#(data)}}}"#
  }

  // MARK: Conditions

  /// Who may not read a place is refused every condition on it, right or wrong.
  @Test func aConditionTellsNothingThatMayNotBeRead() throws {
    let access = MemoryServedTree.Access(canRead: { _, _, _ in false })
    var world = try ServedWorld(#"{"pin":"4711"}"#, access: access)
    let connection = world.connect()
    let right = try Node(json: "4711").contentHash
    let hashes = [("pin", right), ("pin", "wrong"), ("pin", ""), ("none", "")]
    for (number, (key, hash)) in hashes.enumerated() {
      let told = world.send(
        request(number, "p", #"{"p":"/\#(key)","d":"4711","h":"\#(hash)"}"#), by: connection)
      #expect(told.count == 1 && told[0].contains(#""s":"permission_denied""#), "\(told)")
    }
    #expect(world.tree.writeCount == 0)
  }

  // MARK: Order

  @Test func othersAreToldOfAWrite() throws {
    var world = try ServedWorld()
    let (writer, listener) = (world.connect(), world.connect())
    world.send(listen(1, "/a"), by: listener)
    world.send(put(1, "/a/b", "1"), by: writer)
    #expect(world.take(listener) == [#"{"t":"d","d":{"a":"d","b":{"p":"a/b","d":1}}}"#])
  }

  @Test func aWriteThatChangesNothingIsNotTold() throws {
    var world = try ServedWorld(#"{"a":{"b":1}}"#)
    let connection = world.connect()
    world.send(listen(1, "/a"), by: connection)
    #expect(world.send(put(2, "/a/b", "1"), by: connection) == [ok(2)])
    #expect(world.send(put(3, "/a", #"{"b":1}"#), by: connection) == [ok(3)])
    #expect(world.send(put(4, "/a/b/c", "null"), by: connection) == [ok(4)])
  }

  @Test func aWriteAboveIsToldWithWhatStandsThere() throws {
    var world = try ServedWorld()
    let connection = world.connect()
    world.send(listen(1, "/a/b"), by: connection)
    let told = world.send(put(2, "/", #"{"a":{"b":{"c":1}},"z":2}"#), by: connection)
    #expect(told == [#"{"t":"d","d":{"a":"d","b":{"p":"a/b","d":{"c":1}}}}"#, ok(2)])
  }

  @Test(arguments: [false, true], [1000, 60])
  func aRunIsToldAsItsPushesWouldBe(isTagged: Bool, unsentBytesMax: Int) throws {
    var limits = WireLimits()
    limits.unsentBytesMax = unsentBytesMax
    var world = try ServedWorld()
    let (together, apart) = (world.connect(limits: limits), world.connect(limits: limits))
    let query = #""q":{"i":".key","l":5,"vf":"r"},"t":7,"#
    for connection in [together, apart] {
      world.change(connection) { session, _ in
        session.sent(session.unsentBytes)
        return []
      }
      let body = #"{"p":"/a",\#(isTagged ? query : "")"h":""}"#
      world.send(request(1, "q", body), by: connection)
    }
    let pushes = try (0..<5).map { number in
      let node = try Node(json: .number(JSONNumber(Int64(number))))
      return EncodedPush(.put(try Path("/a/b"), .node(node)))
    }
    let listen = ListenNumber(1)
    world.change(together) { session, _ in session.tell(listen, PushRun(pushes)) }
    for push in pushes { world.change(apart) { session, _ in session.tell(listen, push) } }
    let told = world.take(together)
    #expect(told == world.take(apart))
    #expect(!told.isEmpty)
    #expect((told.count == 5) == (unsentBytesMax == 1000))
    #expect(world.closes[together] == world.closes[apart])
    #expect(world.sessions[together]?.unsentBytes == world.sessions[apart]?.unsentBytes)
  }

  @Test func requestsAreAnsweredInTheirOrder() throws {
    var world = try ServedWorld()
    let connection = world.connect()
    world.isSlow = true
    for number in 1...5 { world.send(put(number, "/n", "\(number)"), by: connection) }
    #expect(world.take(connection).isEmpty)
    world.operate()
    #expect(world.take(connection) == (1...5).map { ok($0) })
  }

  /// What was asked before a credential was shown is done for nobody, what comes after it for the user,
  /// however long it takes to verify it.
  @Test func whatFollowsACredentialWaitsForIt() throws {
    let access = MemoryServedTree.Access(
      canRead: { _, caller, _ in caller.auth["uid"] == .string("ana") })
    var world = try ServedWorld(#"{"a":1}"#, access: access)
    let connection = world.connect()
    world.isVerifierSlow = true
    let denied = world.send(listen(1, "/a"), by: connection)
    #expect(denied.first?.contains("permission_denied") == true)
    #expect(world.send(request(2, "auth", #"{"cred":"user:ana"}"#), by: connection).isEmpty)
    #expect(world.send(listen(3, "/a"), by: connection).isEmpty)
    #expect(world.others[connection] == [.pauseReading])
    world.verify()
    #expect(
      world.take(connection) == [
        ok(2, #"{"auth":{"uid":"ana"}}"#), #"{"t":"d","d":{"a":"d","b":{"p":"a","d":1}}}"#,
        ok(3, "{}"),
      ])
    #expect(world.others[connection] == [.pauseReading, .resumeReading])
  }

  // MARK: Listens

  @Test func aSecondListenReplacesTheFirst() throws {
    var world = try ServedWorld()
    let connection = world.connect()
    world.send(listen(1, "/a"), by: connection)
    world.send(listen(2, "/a"), by: connection)
    #expect(world.tree.listenCount == 1)
    #expect(world.send(put(3, "/a", "1"), by: connection).count == 2)
  }

  @Test func aListenThatEndedIsToldNothing() throws {
    var world = try ServedWorld()
    let connection = world.connect()
    world.send(listen(1, "/a"), by: connection)
    world.send(request(2, "n", #"{"p":"/a"}"#), by: connection)
    #expect(world.send(put(3, "/a", "1"), by: connection) == [ok(3)])
    #expect(world.tree.listenCount == 0)
  }

  /// The tree answers a listen that was ended while it was slow: it is answered, and nothing is told.
  @Test func anAnswerToAListenThatEndedTellsNothing() throws {
    var world = try ServedWorld(#"{"a":1}"#)
    let connection = world.connect()
    world.isSlow = true
    world.send(listen(1, "/a"), by: connection)
    #expect(world.send(request(2, "n", #"{"p":"/a"}"#), by: connection) == [ok(2)])
    world.operate()
    #expect(world.take(connection) == [ok(1, "{}")])
    #expect(world.tree.listenCount == 0)
  }

  @Test func oneConnectionListensToSoManyAndNoMore() throws {
    var limits = WireLimits()
    limits.listensMax = 2
    var world = try ServedWorld()
    let connection = world.connect(limits: limits)
    world.send(listen(1, "/a"), by: connection)
    #expect(world.send(listen(2, "/b"), by: connection) == [ok(2, "{}")])
    #expect(world.send(listen(3, "/c"), by: connection).first?.contains(#""s":"failed""#) == true)
    // One that is asked again replaces the old one.
    #expect(world.send(listen(4, "/b"), by: connection) == [ok(4, "{}")])
    world.send(request(5, "n", #"{"p":"/a"}"#), by: connection)
    #expect(world.send(listen(6, "/c"), by: connection) == [ok(6, "{}")])
  }

  @Test func aDeniedListenIsNotRegistered() throws {
    let access = MemoryServedTree.Access(canRead: { _, _, _ in false })
    var world = try ServedWorld(access: access)
    let connection = world.connect()
    world.send(listen(1, "/a"), by: connection)
    #expect(world.tree.listenCount == 0)
    #expect(world.sessions[connection]?.listenCount == 0)
    try world.write(.set(Path("/a"), 1))
    #expect(world.take(connection).isEmpty)
  }

  // MARK: Credentials and rules

  @Test func listensEndWithWhatAllowedThem() throws {
    let access = MemoryServedTree.Access(
      canRead: { query, caller, _ in caller.auth != .null || query.path.description == "/open" })
    var world = try ServedWorld(access: access)
    let connection = world.connect()
    let query = #"{"p":"/list","q":{"l":2,"vf":"r","i":".key"},"t":1,"h":""}"#
    world.send(request(1, "auth", #"{"cred":"user:ana"}"#), by: connection)
    world.send(listen(2, "/list"), by: connection)
    world.send(request(3, "q", query), by: connection)
    world.send(listen(4, "/open"), by: connection)
    #expect(
      world.send(request(5, "unauth", "{}"), by: connection) == [
        #"{"t":"d","d":{"a":"c","b":{"p":"/list"}}}"#,
        #"{"t":"d","d":{"a":"c","b":{"p":"/list","q":[{"i":".key","l":2,"vf":"r"}]}}}"#, ok(5),
      ])
    #expect(world.tree.listenCount == 1)
    try world.write(.set(Path("/list/a"), 1))
    #expect(world.take(connection).isEmpty)
  }

  /// Without an index everything is sent, so that this must be allowed, at first and when rules change.
  @Test func aListenWithoutAnIndexIsDecidedByWhatItIsSent() throws {
    let access = MemoryServedTree.Access(
      canRead: { query, _, _ in query.limit != nil }, isIndexed: { $0.index == .key })
    var world = try ServedWorld(#"{"list":{"a":{"x":1},"b":{"x":2}}}"#, access: access)
    let connection = world.connect()
    let query = #"{"p":"/list","q":{"l":1,"vf":"r","i":"x"},"t":1,"h":""}"#
    let told = world.send(request(1, "q", query), by: connection)
    #expect(told.count == 1 && told[0].contains(#""s":"permission_denied""#), "\(told)")
    #expect(world.tree.listenCount == 0)
    world.tree.access.canRead = { _, _, _ in true }
    #expect(world.send(request(2, "q", query), by: connection).last?.contains("no_index") == true)
    world.tree.access.canRead = access.canRead
    world.change(connection) { session, _ in session.review() }
    #expect(world.take(connection).first?.contains(#""a":"c""#) == true)
    #expect(world.tree.listenCount == 0)
  }

  @Test func rulesThatChangedAreAskedAgain() throws {
    var world = try ServedWorld()
    let connection = world.connect()
    world.send(listen(1, "/list"), by: connection)
    world.tree.access = MemoryServedTree.Access(canRead: { _, _, _ in false })
    world.change(connection) { session, _ in session.review() }
    #expect(world.take(connection) == [#"{"t":"d","d":{"a":"c","b":{"p":"/list"}}}"#])
  }

  @Test func aCredentialEndsInTime() throws {
    let access = MemoryServedTree.Access(canRead: { _, caller, _ in caller.auth != .null })
    var world = try ServedWorld(access: access)
    let connection = world.connect()
    let expiry = world.now.calendar + 5000
    world.send(request(1, "auth", #"{"cred":"user:ana:\#(expiry)"}"#), by: connection)
    world.send(listen(2, "/list"), by: connection)
    #expect(world.sessions[connection]?.deadline(now: world.now) == 5000)
    world.now.calendar += 4999
    world.change(connection) { $0.advance(now: $1) }
    #expect(world.take(connection).isEmpty)
    world.now.calendar += 1
    world.change(connection) { $0.advance(now: $1) }
    #expect(
      world.take(connection) == [
        #"{"t":"d","d":{"a":"ac","b":{"s":"expired_token","d":"Auth token is expired"}}}"#,
        #"{"t":"d","d":{"a":"c","b":{"p":"/list"}}}"#,
      ])
    #expect(world.sessions[connection]?.caller == .nobody)
  }

  @Test func aRefusedCredentialChangesNothing() throws {
    var world = try ServedWorld()
    let connection = world.connect()
    world.send(request(1, "auth", #"{"cred":"user:ana"}"#), by: connection)
    world.send(request(2, "auth", #"{"cred":"garbage"}"#), by: connection)
    #expect(world.sessions[connection]?.caller == Caller(auth: ["uid": "ana"]))
  }

  /// Nothing is done for somebody who may have been removed: the client comes again.
  @Test func aCredentialThatCannotBeJudgedNowEndsTheConnection() throws {
    var world = try ServedWorld()
    let connection = world.connect()
    world.isVerifierSlow = true
    world.send(request(1, "auth", #"{"cred":"later"}"#), by: connection)
    world.send(put(2, "/a", "1"), by: connection)
    world.verify()
    #expect(
      world.take(connection) == [
        #"{"t":"d","d":{"r":1,"b":{"s":"unavailable","d":"Try again later."}}}"#
      ])
    #expect(world.closes[connection] == .goingAway("Try again later."))
    #expect(world.tree.tree.root.exportJSON == .null)
  }

  /// Who may not read a place is not told what stands there because his guess is wrong.
  @Test func aStaleConditionTellsNothingThatMayNotBeRead() throws {
    let access = MemoryServedTree.Access(canRead: { _, _, _ in false })
    var world = try ServedWorld(#"{"a":42}"#, access: access)
    let connection = world.connect()
    let told = world.send(request(1, "p", #"{"p":"/a","d":1,"h":"x"}"#), by: connection)
    #expect(
      told == [
        #"{"t":"d","d":{"r":1,"b":{"s":"permission_denied","d":"Permission denied"}}}"#
      ])
  }

  // MARK: Writes with names

  @Test func aWriteWithANameIsDoneOnce() throws {
    var world = try ServedWorld()
    let body = #"{"p":"/n","d":{".sv":{"increment":1}},"w":["c",1]}"#
    let first = world.connect()
    #expect(world.send(request(1, "p", body), by: first) == [ok(1)])
    let second = world.connect()
    #expect(world.send(request(1, "p", body), by: second) == [ok(1)])
    #expect(world.tree.tree.root.exportJSON == ["n": 1])
  }

  /// It was not done: its writer may have shown another credential meanwhile.
  @Test func aRefusedWriteWithANameMayBeDoneWhenItIsSentAgain() throws {
    let access = MemoryServedTree.Access(canWrite: { _, caller, _, _ in caller.auth != .null })
    var world = try ServedWorld(access: access)
    let connection = world.connect()
    let body = #"{"p":"/n","d":1,"w":["c",1]}"#
    let first = world.send(request(1, "p", body), by: connection)
    #expect(first.first?.contains("permission_denied") == true)
    world.send(request(2, "auth", #"{"cred":"user:ana"}"#), by: connection)
    #expect(world.send(request(3, "p", body), by: connection) == [ok(3)])
  }

  // MARK: The end

  @Test func whatWasLeftIsDoneOnceAtTheEnd() throws {
    var world = try ServedWorld()
    let (connection, watcher) = (world.connect(), world.connect())
    world.send(request(1, "o", #"{"p":"/p","d":{".sv":{"increment":1}}}"#), by: connection)
    world.send(listen(1, "/p"), by: watcher)
    #expect(world.tree.tree.root.isEmpty)
    world.change(connection) { session, _ in session.closed() }
    world.change(connection) { session, _ in session.closed() }
    #expect(world.take(watcher) == [#"{"t":"d","d":{"a":"d","b":{"p":"p","d":1}}}"#])
    world.tree.restart(now: 0)
    #expect(world.tree.tree.root.exportJSON == ["p": 1])
  }

  @Test func whatWasTakenBackIsNotDone() throws {
    var world = try ServedWorld(#"{"p":{"a":1,"b":2,"c":3}}"#)
    let connection = world.connect()
    world.send(request(1, "o", #"{"p":"/p","d":{"a":9,"b":9}}"#), by: connection)
    world.send(request(2, "oc", #"{"p":"/p/a","d":null}"#), by: connection)
    world.change(connection) { session, _ in session.closed() }
    #expect(world.tree.tree.root[try Path("/p")].exportJSON == ["a": 1, "b": 9, "c": 3])
  }

  @Test func whatIsDeniedIsNotLeft() throws {
    let access = MemoryServedTree.Access(
      canWrite: { parts, _, _, _ in parts.allSatisfy { $0.path.description != "/no" } })
    var world = try ServedWorld(access: access)
    let connection = world.connect()
    world.send(request(1, "o", #"{"p":"/yes","d":1}"#), by: connection)
    let told = world.send(request(2, "o", #"{"p":"/no","d":1}"#), by: connection)
    #expect(told.first?.contains("permission_denied") == true)
    world.send(request(3, "o", #"{"p":"/yes2","d":1}"#), by: connection)
    world.change(connection) { session, _ in session.closed() }
    #expect(world.tree.tree.root.exportJSON == ["yes": 1, "yes2": 1])
  }

  @Test func whatIsDeniedAtTheEndIsDroppedAndTheRestIsDone() throws {
    var world = try ServedWorld()
    let connection = world.connect()
    world.send(request(1, "o", #"{"p":"/a","d":1}"#), by: connection)
    world.send(request(2, "o", #"{"p":"/b","d":1}"#), by: connection)
    world.tree.access = MemoryServedTree.Access(
      canWrite: { parts, _, _, _ in parts.allSatisfy { $0.path.description != "/a" } })
    world.change(connection) { session, _ in session.closed() }
    #expect(world.tree.tree.root.exportJSON == ["b": 1])
  }

  /// The user is gone, although the connection stays: nobody may do later what he asked for.
  @Test func whatWasLeftIsDoneOnceForTheUserWhoseCredentialEnds() throws {
    let access = MemoryServedTree.Access(canWrite: { _, caller, _, _ in caller.auth != .null })
    var world = try ServedWorld(#"{"online":{"ana":true}}"#, access: access)
    let (connection, watcher) = (world.connect(), world.connect())
    world.send(request(1, "auth", #"{"cred":"user:ana"}"#), by: connection)
    world.send(request(2, "o", #"{"p":"/online/ana","d":null}"#), by: connection)
    world.send(request(3, "o", #"{"p":"/ends","d":{".sv":{"increment":1}}}"#), by: connection)
    world.send(listen(1, "/online"), by: watcher)
    world.change(connection) { session, _ in session.revokeCredential() }
    #expect(world.take(watcher).count == 1)
    #expect(world.tree.tree.root.exportJSON == ["ends": 1])
    world.change(connection) { session, _ in session.closed() }
    world.tree.restart(now: 0)
    #expect(world.tree.tree.root.exportJSON == ["ends": 1])
  }

  /// The tree has not kept yet what was asked for last.
  @Test func whatIsBeingKeptAsACredentialEndsIsDone() throws {
    let access = MemoryServedTree.Access(canWrite: { _, caller, _, _ in caller.auth != .null })
    var world = try ServedWorld(access: access)
    let connection = world.connect()
    world.send(request(1, "auth", #"{"cred":"user:ana"}"#), by: connection)
    world.send(request(2, "o", #"{"p":"/a","d":1}"#), by: connection)
    world.isSlow = true
    world.send(request(3, "o", #"{"p":"/b","d":1}"#), by: connection)
    world.change(connection) { session, _ in session.revokeCredential() }
    world.isSlow = false
    world.operate()
    #expect(world.tree.tree.root.exportJSON == ["a": 1, "b": 1])
  }

  /// What was answered `ok` is done although the server ended first.
  @Test func whatWasLeftIsDoneAfterARestart() throws {
    var world = try ServedWorld()
    let connection = world.connect()
    world.send(request(1, "o", #"{"p":"/p","d":"gone"}"#), by: connection)
    world.tree.restart(now: 0)
    #expect(world.tree.tree.root.exportJSON == ["p": "gone"])
  }

  @Test func aClientTakesOverFromItsOldSession() throws {
    var world = try ServedWorld()
    let connection = world.connect(previous: "s9")
    #expect(world.others[connection] == [.endSession("s9")])
  }

  @Test func nothingFollowsTheEnd() throws {
    var world = try ServedWorld()
    let connection = world.connect()
    world.isSlow = true
    world.send(put(1, "/a", "1"), by: connection)
    world.send(listen(2, "/a"), by: connection)
    world.change(connection) { session, _ in session.close(.goingAway("The server ends.")) }
    world.operate()
    world.send(put(3, "/b", "1"), by: connection)
    world.change(connection) { session, _ in session.review() }
    #expect(world.take(connection).isEmpty)
    #expect(world.tree.tree.root.exportJSON == ["a": 1])
    #expect(world.tree.listenCount == 0)
    #expect(world.sessions[connection]?.deadline(now: world.now) == nil)
  }

  @Test func whatWasTakenIsAnsweredBeforeAnOrderlyEnd() throws {
    var world = try ServedWorld()
    let connection = world.connect()
    world.isSlow = true
    world.send(request(1, "o", #"{"p":"/gone","d":1}"#), by: connection)
    // It waits until the first one is kept.
    world.send(put(2, "/a", "1"), by: connection)
    world.change(connection) { session, _ in session.endWhenDone(.goingAway("The server ends.")) }
    #expect(world.closes[connection] == nil)
    world.send(put(3, "/b", "1"), by: connection)
    for _ in 0..<3 { world.operate() }
    #expect(world.take(connection) == [ok(1), ok(2)])
    #expect(world.closes[connection] == .goingAway("The server ends."))
    #expect(world.tree.tree.root.exportJSON == ["a": 1, "gone": 1])
    let idle = world.connect()
    world.change(idle) { session, _ in session.endWhenDone(.goingAway("The server ends.")) }
    #expect(world.closes[idle] == .goingAway("The server ends."))
  }

  @Test func aShutdownIsSaid() throws {
    var world = try ServedWorld()
    let connection = world.connect()
    world.change(connection) { session, _ in session.close(.goingAway("bye"), isForGood: true) }
    #expect(world.take(connection) == [#"{"t":"c","d":{"t":"s","d":"bye"}}"#])
    #expect(world.closes[connection] == .goingAway("bye"))
  }
}
