import RunnelBase
import RunnelClient
import RunnelDatabase
import RunnelNetwork
import RunnelServer
import RunnelSync
import RunnelTree
import Testing

/// Replicas of a real server's database, over real sockets.
@Suite(.timeLimit(.minutes(2))) struct ClientLinkTests {
  private let place: ReplicaPlace

  init() throws { place = try ReplicaPlace() }

  @Test func theServersDataAndEachChangeAreShown() async throws {
    try await withServer { server in
      _ = try server.request("PUT", "/list.json", "{\"a\":1,\"b\":{\"c\":true}}")
      let database = try await place.connect(port: server.port)
      try await database.wait("list", for: ["a": 1, "b": ["c": true]])
      _ = try server.request("PUT", "/list/d.json", "4")
      try await database.wait("list/d", for: 4)
      _ = try server.request("DELETE", "/list/a.json")
      try await database.wait("list", for: ["b": ["c": true], "d": 4])
      database.close()
    }
  }

  @Test func aWriteIsShownAtOnceAndAcknowledged() async throws {
    try await withServer { server in
      let database = try await place.connect(port: server.port)
      let reference = try database.reference(withPath: "n")
      let receipt = try await reference.setValue(["at": [".sv": "timestamp"], "x": 1])
      #expect(try await reference.child("x").get(from: .cache).value == 1)
      try await receipt.acknowledgement()
      #expect(try server.value("/n/x") == "1")
      #expect(try await database.pendingWrites().isEmpty)
      database.close()
    }
  }

  @Test func aRefusedWriteIsRevertedWithItsReason() async throws {
    let rules = "{\"rules\":{\".read\":true,\"open\":{\".write\":true}}}"
    try await withServer(rules: rules) { server in
      let database = try await place.connect(port: server.port)
      try await database.reference(withPath: "open").setValue(1).acknowledgement()
      let closed = try database.reference(withPath: "closed")
      let receipt = try await closed.setValue(1)
      let error = await #expect(throws: DatabaseError.self) {
        try await receipt.acknowledgement()
      }
      #expect(error?.code.rawValue == "PERMISSION_DENIED")
      #expect(try await closed.get().value == .null)
      database.close()
    }
  }

  @Test func offlineWritesAreSentInOrder() async throws {
    try await withServer { server in
      let database = try await place.connect(port: server.port)
      try await database.waitUntilLive()
      try await database.goOffline()
      let log = try database.reference(withPath: "log")
      var receipts: [WriteReceipt] = []
      for number in 0..<50 {
        receipts.append(try await log.setValue(.number(JSONNumber(Int64(number)))))
        receipts.append(
          try await database.reference(withPath: "count").setValue([".sv": ["increment": 1]]))
      }
      #expect(try await database.pendingWrites().count == 100)
      #expect(try server.value("/log") == "null")
      try await database.goOnline()
      for receipt in receipts { try await receipt.acknowledgement() }
      #expect(try server.value("/log") == "49")
      #expect(try server.value("/count") == "50")
      database.close()
    }
  }

  @Test func transactionsOfTwoClientsCountEachOnce() async throws {
    try await withServer { server in
      let databases = [
        try await place.connect(port: server.port, file: "a.db"),
        try await place.connect(port: server.port, file: "b.db"),
      ]
      try await withThrowingTaskGroup(of: Void.self) { group in
        for database in databases {
          group.addTask {
            for _ in 0..<10 {
              try await database.reference(withPath: "n").runTransaction { current in
                .success(.number(JSONNumber(Int64(current.value.int ?? 0) + 1)))
              }
            }
          }
        }
        try await group.waitForAll()
      }
      #expect(try server.value("/n") == "20")
      for database in databases { database.close() }
    }
  }

  @Test func disconnectWritesAreDoneWhenTheDatabaseIsClosed() async throws {
    try await withServer { server in
      let database = try await place.connect(port: server.port)
      let other = try await place.connect(port: server.port, file: "other.db")
      let presence = try database.reference(withPath: "here")
      try await presence.onDisconnectRemoveValue().acknowledgement()
      try await presence.setValue(true).acknowledgement()
      try await other.wait("here", for: true)
      database.close()
      try await other.wait("here", for: .null)
      other.close()
    }
  }

  @Test func aReplicaOpensWithItsDataWithoutTheServer() async throws {
    var port = 0
    try await withServer { server in
      port = server.port
      _ = try server.request("PUT", "/list.json", "{\"a\":1}")
      let database = try await place.connect(port: port)
      try await database.wait("list", for: ["a": 1])
      database.close()
    }
    let database = try await place.connect(port: port)
    try await database.wait("list", for: ["a": 1])
    let status = try await database.wait { status in
      if case .link(.waiting) = status.state { true } else { false }
    }
    #expect(status.offlineSince != nil)
    guard case .link(.waiting(_, let reason?)) = status.state else {
      Issue.record("no reason is told")
      return
    }
    #expect(reason.contains("cannot be reached: Connection refused"), "\(reason)")
    database.close()
  }

  /// Once, the name of a file in an own folder was told to be missing.
  @Test func aServerInsideTheProcessThatIsAwayIsToldInWords() async throws {
    var options = ReplicaPlace.options
    (options.socketFile, options.socketAbsence) = (place.file("none"), "it is being moved")
    let database = try await place.connect(port: 1, options: options)
    let status = try await database.wait { status in
      if case .link(.waiting(_, _?)) = status.state { true } else { false }
    }
    guard case .link(.waiting(_, let reason?)) = status.state else {
      Issue.record("no reason is told")
      return
    }
    #expect(reason.hasPrefix("it is being moved"), "\(reason)")
    database.close()
  }

  @Test func theClientReconnectsToARestartedServer() async throws {
    let server = try await TestServer()
    let database = try await place.connect(port: server.port)
    let reference = try database.reference(withPath: "n")
    try await reference.setValue(1).acknowledgement()
    await server.stop()
    _ = try await database.wait { !$0.isLive }
    let receipt = try await reference.setValue(2)
    let port = server.port
    let again = try await TestServer(in: server.folder) {
      $0.isEmulator = true
      $0.listen = ["localhost:\(port)"]
    }
    try await receipt.acknowledgement()
    #expect(try again.value("/n") == "2")
    database.close()
    await again.stop()
  }

  @Test func aReplicaHasOnlyOneOrigin() async throws {
    let database = try await place.connect(port: 1)
    database.close()
    let error = await #expect(throws: DatabaseError.self) { try await place.connect(port: 2) }
    #expect(error?.code == .refused)
  }

  @Test func manyBytesArriveInPieces() async throws {
    try await withServer { server in
      let text = String(repeating: "0123456789", count: 300_000)
      _ = try server.request("PUT", "/big.json", "{\"a\":\"\(text)\",\"b\":\"\(text)\"}")
      let database = try await place.connect(port: server.port)
      for try await snapshot in try database.reference(withPath: "big/b").values
      where snapshot.exists {
        #expect(snapshot.value == .string(text))
        break
      }
      let sent = try await database.reference(withPath: "back").setValue(.string(text))
      try await sent.acknowledgement()
      #expect(try server.value("/back").utf8.count == text.utf8.count + 2)
      database.close()
    }
  }
}

/// The credentials of clients.
@Suite(.timeLimit(.minutes(2))) struct ClientAccessTests {
  private let place: ReplicaPlace
  private static let rules = "{\"rules\":{\"$user\":{\".read\":\"auth.uid === $user\"}}}"

  init() throws { place = try ReplicaPlace() }

  private func token(of user: String) throws -> String {
    let head = TestTokens.encoded(Array("{\"alg\":\"none\",\"type\":\"JWT\"}".utf8))
    let claims = "{\"sub\":\"\(user)\",\"user_id\":\"\(user)\",\"iat\":0,\"exp\":3600}"
    return head + "." + TestTokens.encoded(Array(claims.utf8)) + "."
  }

  @Test func aTokenIdentifiesTheUserAndNamesTheReplica() async throws {
    let access = OriginAccess.token(try token(of: "ana"))
    #expect(access.user == "ana")
    try await withServer(rules: ClientAccessTests.rules) { server in
      _ = try server.request(
        "PUT", "/ana.json", "5", headers: ["Authorization": "Bearer owner"])
      let database = try await place.connect(port: server.port, as: access)
      try await database.wait("ana", for: 5)
      await #expect(throws: DatabaseError.self) {
        for try await _ in try database.reference(withPath: "bo").values {}
      }
      database.close()
    }
  }

  @Test(arguments: [
    (#"{"v":0,"iat":1,"d":{"uid":"etta"}}"#, "etta"),
    (#"{"iat":1,"sub":"ana","user_id":"ana"}"#, "ana"),
    (#"{"iat":1,"user_id":"bo"}"#, "bo"),
    (#"{"v":0,"iat":1,"d":{"uid":"etta"},"admin":true}"#, "admin"),
    (#"{"iat":1,"sub":"ana","admin":true}"#, "ana"),
    (#"{"v":0,"iat":1,"d":{"uid":"admin"}}"#, "uid:admin"),
    (#"{"v":0,"iat":1,"d":{"uid":"user"}}"#, "uid:user"),
  ])
  func theReplicaIsThatOfTheUserInTheToken(_ claims: String, _ user: String) {
    #expect(OriginAccess.token(ClientAccessTests.token(claims: claims)).user == user)
  }

  @Test func theRulesKnowTheUserOfATokenByItsID() {
    func id(_ claims: String) -> String? {
      OriginAccess.token(ClientAccessTests.token(claims: claims)).userID
    }
    #expect(id(#"{"v":0,"iat":1,"d":{"uid":"admin"}}"#) == "admin")
    #expect(id(#"{"iat":1,"user_id":"bo"}"#) == "bo")
    #expect(id(#"{"v":0,"iat":1,"d":{"team":"a"}}"#) == nil)
  }

  @Test func tokensWithoutAUserShareAReplicaOnlyIfTheyMeanTheSame() {
    let users = [
      #"{"v":0,"iat":1,"d":{"team":"a"}}"#, #"{"v":0,"iat":2,"d":{"team":"a"}}"#,
      #"{"v":0,"iat":1,"d":{"team":"b"}}"#, #"{"iat":1,"team":"a"}"#, #"{"iat":2,"team":"a"}"#,
    ].map { OriginAccess.token(ClientAccessTests.token(claims: $0)).user }
    #expect(users[0] == users[1])
    #expect(users[3] == users[4])
    #expect(Set(users).count == 3)
    #expect(!users.contains("user"))
  }

  @Test func pendingWritesOfASharedReplicaAreToldAndStayWhereTheyAre() throws {
    let address = try OriginAddress("http://localhost:1/?ns=test")
    let environment = ["XDG_DATA_HOME": place.folder]
    let file = try ReplicaFolder.file(for: address, user: "user", environment: environment)
    #expect(ReplicaFolder.sharedFile(for: address, environment: environment) == nil)
    let session = try DatabaseSession(file: file, environment: .system)
    try session.becomeReplica(ofOrigin: address.name)
    #expect(ReplicaFolder.sharedFile(for: address, environment: environment) == nil)
    _ = try session.write(.set(Path("a"), 1))
    try session.close()
    let shared = try #require(ReplicaFolder.sharedFile(for: address, environment: environment))
    #expect(shared.file == file)
    #expect(shared.pendingCount == 1)
    let user = OriginAccess.token(
      ClientAccessTests.token(claims: #"{"v":0,"iat":1,"d":{"uid":"user"}}"#)
    ).user
    #expect(
      try ReplicaFolder.file(for: address, user: user, environment: environment) != file)
  }

  @Test func writesInReplicasAreFoundByTheirUsersAndDropped() throws {
    let address = try OriginAddress("http://localhost:1/?ns=test")
    let environment = ["XDG_DATA_HOME": place.folder]
    let user = "Ana ü@x.org"
    for name in [user, "public", "admin", "claims:1", "user"] {
      let file = try ReplicaFolder.file(for: address, user: name, environment: environment)
      let session = try DatabaseSession(file: file, environment: .system)
      try session.becomeReplica(ofOrigin: address.name)
      _ = try session.write(.set(Path("a"), 1))
      try session.close()
    }
    #expect(Set(ReplicaFolder.users(of: address, environment: environment)) == [user, "public"])
    let other = try OriginAddress("http://localhost:1/?ns=other")
    #expect(ReplicaFolder.users(of: other, environment: environment).isEmpty)
    try ReplicaFolder.dropWaiting(of: address, user: user, environment: environment)
    #expect(
      ReplicaFolder.waitingFile(for: address, user: user, environment: environment) == nil)
    let left = ReplicaFolder.waitingFiles(for: address, environment: environment).map(\.user)
    #expect(!left.contains(user) && left.contains("public"))
    // There is nothing to drop for who has no replica.
    try ReplicaFolder.dropWaiting(of: address, user: "none", environment: environment)
  }

  private static func token(claims: String) -> String {
    "\(TestTokens.encoded(Array("{}".utf8))).\(TestTokens.encoded(Array(claims.utf8)))."
  }

  @Test func aSecretGivesAdministratorAccess() async throws {
    #expect(OriginAccess.token("owner").user == "admin")
    try await withServer(rules: ClientAccessTests.rules) { server in
      let database = try await place.connect(port: server.port, as: .token("owner"))
      try await database.reference(withPath: "bo/x").setValue(1).acknowledgement()
      database.close()
    }
  }

  @Test func aTokenThatIsRefusedTwiceEndsTheConnection() async throws {
    try await withServer { server in
      let asked = Counter()
      let access = OriginAccess(user: "ana") { isRefresh in
        asked.add(isRefresh)
        return Credential("x.y.z", isAdministrator: false)
      }
      let database = try await place.connect(port: server.port, as: access)
      let status = try await database.wait { status in
        if case .link(.offline(.refused)) = status.state { true } else { false }
      }
      #expect(!status.isLive)
      #expect(asked.all == [false, true])
      database.close()
    }
  }

  @Test func aServiceAccountRequestsItsTokenAutomatically() async throws {
    let folder = place.folder
    let server = try await TestServer(rules: "{\"rules\":{}}", in: folder) { _ in }
    let other = server.port
    var accounts = try ServiceAccounts(file: ServiceAccounts.file(beside: server.file))
    let made = try accounts.add(
      "ci", for: server.file, server: "http://localhost:\(other)", now: 0)
    try accounts.write(to: ServiceAccounts.file(beside: server.file))
    await server.stop()
    let again = try await TestServer(in: folder) { $0.listen = ["localhost:\(other)"] }
    let key = try ServiceAccountKey(JSONValue(parsing: #require(made)))
    let client = WebClient(userAgent: "test")
    let database = try await place.connect(
      port: other, as: .serviceAccount(key, by: client))
    try await database.reference(withPath: "x").setValue(1).acknowledgement()
    database.close()
    await again.stop()
  }

  /// A device that was revoked, or whose user signed out, while the server was away.
  @Test func aReconnectionThatMayNotBeSendsNothingOfWhatWaits() async throws {
    let server = try await TestServer()
    let (asked, mayConnect) = (Counter(), Flag())
    var access = OriginAccess(user: "ana") { isRefresh in
      asked.add(isRefresh)
      if asked.all.count > 1, !mayConnect.isSet { throw NotSeen() }
      return Credential("owner", isAdministrator: true)
    }
    access.isAskedEachTime = true
    let database = try await place.connect(port: server.port, as: access)
    let reference = try database.reference(withPath: "n")
    try await reference.setValue(1).acknowledgement()
    let port = server.port
    await server.stop()
    _ = try await database.wait { !$0.isLive }
    let receipt = try await reference.setValue(2)
    let again = try await TestServer(in: server.folder) {
      $0.isEmulator = true
      $0.listen = ["localhost:\(port)"]
    }
    _ = try await database.wait { status in
      guard case .link(.waiting(_, let reason?)) = status.state else { return false }
      return reason.contains("there is no credential")
    }
    // A new token opens no connection either.
    await database.originLink?.setCredential(Credential("owner", isAdministrator: true))
    #expect(try again.value("/n") == "1")
    #expect(try await database.pendingWrites().count == 1)
    mayConnect.set()
    try await receipt.acknowledgement()
    #expect(try again.value("/n") == "2")
    database.close()
    await again.stop()
    // It removes the folder.
    withExtendedLifetime(server) {}
  }

  @Test func aFailedCredentialRequestIsRetried() async throws {
    try await withServer { server in
      let asked = Counter()
      let access = OriginAccess(user: "ana") { isRefresh in
        asked.add(isRefresh)
        if asked.all.count < 3 { throw NotSeen() }
        return Credential("owner", isAdministrator: true)
      }
      let database = try await place.connect(port: server.port, as: access)
      try await database.waitUntilLive()
      #expect(asked.all == [false, false, false])
      database.close()
    }
  }
}
