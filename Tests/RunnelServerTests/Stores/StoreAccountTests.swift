import PostgresCluster
import RunnelBase
import RunnelPostgres
import RunnelSync
@testable import RunnelServer
import TestSupport
import Testing

/// The accounts in a store behave as those in a file, and are the same for all its servers.
@Suite(.enabled(if: PostgresCluster.isInstalled, Comment(rawValue: PostgresCluster.advice)))
struct StoreAccountTests {
  private static let rules =
    "{\"rules\":{\"u\":{\"$id\":{\".read\":\"$id === auth.uid\",\".write\":\"$id === auth.uid\"}}}}"

  /// What holds of accounts in a file, by name.
  private static let conformance: [(name: String, test: @Sendable () async throws -> Void)] = [
    ("rules", { try await AccountServerTests().aUserSignsUpAndUsesTheDatabaseUnderRules() }),
    ("web clients", { try await AccountServerTests().aWebClientsCallsAreAnswered() }),
    ("old paths", { try await AccountServerTests().aPythonClientsOldPathsAreAnswered() }),
    ("published keys", { try await AccountServerTests().tokensAreVerifiedByThePublishedKeys() }),
    ("rotation", { try await AccountServerTests().keysRotateAndOldTokensStayValid() }),
    ("expiry", { try await AccountServerTests().tokensExpireForTheDatabaseToo() }),
    ("lock-outs", { try await AccountServerTests().whoGuessesPasswordsHasToWait() }),
  ]

  @Test(arguments: StoreAccountTests.conformance.map(\.name))
  func accountsInAStoreAreThoseOfAFile(name: String) async throws {
    let found = StoreAccountTests.conformance.first { $0.name == name }
    let test = try #require(found?.test)
    try await TestServer.onStore { try await test() }
  }

  /// Runs `body` with two servers of a new store that has accounts.
  private func withTwoServers(
    _ body: (_ one: TestServer, _ two: TestServer) async throws -> Void
  ) async throws {
    try await TestServer.onStore {
      try await withAccounts(rules: StoreAccountTests.rules) { one in
        try await withAccounts(rules: StoreAccountTests.rules) { two in try await body(one, two) }
      }
    }
  }

  @Test func eachServerAcceptsTheTokensOfTheOther() async throws {
    try await withTwoServers { one, two in
      let user = try one.signUp()
      let (id, token) = (user.text("localId"), user.text("idToken"))
      #expect(try two.request("PUT", "/u/\(id)/x.json?auth=\(token)", "1").status == 200)
      #expect(try two.signUp().error == "EMAIL_EXISTS")
      let again = try two.signIn()
      #expect(again.text("localId") == id)
      let other = again.text("idToken")
      #expect(try one.request("GET", "/u/\(id)/x.json?auth=\(other)").body == "1")
      let path = "/.well-known/jwks.json"
      #expect(try one.request("GET", path).body == two.request("GET", path).body)
    }
  }

  @Test func whoIsDisabledLosesAccessOnAllServers() async throws {
    try await withTwoServers { one, two in
      let place = try #require(TestServer.store)
      let user = try one.signUp()
      let (id, token) = (user.text("localId"), user.text("idToken"))
      let sockets = [try one.socket(), try two.socket()]
      for socket in sockets {
        #expect(try socket.status(1, "auth", "{\"cred\":\"\(token)\"}") == "ok")
      }
      let accounts = try AccountAdministration(store: PostgresPlace(place))
      try accounts.setDisabled(id, true)
      try accounts.close()
      for socket in sockets { #expect(try socket.next()["a"] == "ac") }
      for server in [one, two] {
        #expect(try server.signIn().error?.hasPrefix("USER_DISABLED") == true)
      }
    }
  }

  @Test func aSecretOfTheAccountsAdministersAllNamespaces() async throws {
    try await withTwoServers { one, two in
      let store = try PostgresStore(PostgresPlace(try #require(TestServer.store)))
      defer { store.close() }
      let accounts = try #require(try store.namespace(named: StoreAccounts.namespace))
      var secrets = ServerSecrets()
      let added = secrets.add("admin", now: 0)
      let secret = try #require(added).text
      for isThere in [true, false] {
        if !isThere { _ = secrets.remove("admin") }
        try store.changeKept(ServerSecrets.keptName, of: accounts, now: 1) { _ in
          String(decoding: secrets.bytes, as: UTF8.self)
        }
        let end = ContinuousClock.now + .seconds(20)
        for server in [one, two] {
          let status = {
            try server.request("GET", "/.json", headers: ["Authorization": "Bearer \(secret)"])
              .status
          }
          while try status() != (isThere ? 200 : 401) { try #require(ContinuousClock.now < end) }
          #expect(
            try server.request("GET", "/.json?auth=\(secret)").status == (isThere ? 200 : 401))
          let found = try server.administration(":lookup", #"{"localId":["x"]}"#, bearer: secret)
          #expect((found.status == 200) == isThere)
        }
      }
    }
  }

  /// Once, the accounts were not read while a write to them waited for the standby, for a minute.
  @Test func aRemovedSecretIsRefusedWhileWritesWaitForTheStandby() async throws {
    let pair = try PostgresPair()
    let store = try PostgresStore(PostgresPlace(pair.place))
    defer { store.close() }
    try store.makeTables()
    try store.makeNamespace(named: "test")
    try await TestServer.$store.withValue(pair.place) {
      try await withAccounts(rules: StoreAccountTests.rules) { server in
        let accounts = try #require(try store.namespace(named: StoreAccounts.namespace))
        var secrets = ServerSecrets()
        let added = secrets.add("admin", now: 0)
        let secret = try #require(added).text
        try store.changeKept(ServerSecrets.keptName, of: accounts, now: 1) { _ in
          String(decoding: secrets.bytes, as: UTF8.self)
        }
        let headers = ["Authorization": "Bearer \(secret)"]
        try wait { try server.request("GET", "/.json", headers: headers).status == 200 }
        // What this connection writes waits for its own disk only.
        let other = try PostgresConnection(PostgresPlace(pair.place))
        defer { other.close() }
        _ = try other.perform([
          PostgresStatement("BEGIN"), PostgresStatement("SET LOCAL synchronous_commit = local"),
          PostgresStatement(
            "SELECT 1 FROM namespace WHERE ns = $1 FOR UPDATE", .integer(accounts.number)),
        ])
        try pair.run(sql: "ALTER SYSTEM SET synchronous_standby_names = 'nobody'")
        try pair.run(sql: "SELECT pg_reload_conf()")
        defer {
          for sql in ["ALTER SYSTEM RESET synchronous_standby_names", "SELECT pg_reload_conf()"] {
            // The pair ends with the test anyway.
            _ = try? pair.run(sql: sql)
          }
        }
        try wait { try count("wait_event = 'SyncRep'", pair) > 0 }
        // A request about accounts writes, and waits: for this lock, and then for the standby.
        let client = try server.client()
        try client.sendRequest(
          "POST", "/identitytoolkit.googleapis.com/v1/accounts:signUp?key=k",
          #"{"email":"bob@x.org","password":"secret123"}"#)
        try wait { try count("wait_event_type = 'Lock'", pair) > 0 }
        try removeSecrets(of: accounts, by: other)
        try wait { try server.request("GET", "/.json", headers: headers).status != 200 }
        // The lease is not confirmed either, so it ends soon.
        let answer = try server.request("GET", "/.json", headers: headers)
        #expect([401, 503].contains(answer.status))
      }
    }
  }

  @Test func nobodyIsSignedInWhileTheAccountsCannotBeRead() async throws {
    let pair = try PostgresPair()
    defer { pair.thawPrimary() }
    let store = try PostgresStore(PostgresPlace(pair.place))
    try store.makeTables()
    try store.makeNamespace(named: "test")
    store.close()
    try await TestServer.$store.withValue(pair.place) {
      try await withAccounts(rules: StoreAccountTests.rules) { server in
        let user = try server.signUp()
        let (id, token) = (user.text("localId"), user.text("idToken"))
        let sign = "{\"cred\":\"\(token)\"}"
        let socket = try server.socket()
        #expect(try socket.status(1, "auth", sign) == "ok")
        try pair.freezePrimary()
        // What this answers depends on nothing but the accounts.
        let form =
          "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer"
          + "&assertion=eyJhbGciOiJSUzI1NiJ9.e30.AA"
        try wait { try server.request("POST", "/oauth2/token", form).status == 503 }
        #expect(try server.request("GET", "/u/\(id).json?auth=\(token)").status == 503)
        #expect(try server.administration(":lookup", bearer: "any").status == 503)
        try socket.ask(2, "q", "{\"p\":\"/u/\(id)\",\"h\":\"\"}")
        let text = CredentialRefusal.unconfirmed.text
        #expect(try socket.client.readCloseReason().text == text)
        let other = try server.socket()
        #expect(try other.status(1, "auth", sign) == "unavailable")
        #expect(try other.client.readCloseReason().text == text)
        pair.thawPrimary()
        try wait { try server.request("GET", "/u/\(id).json?auth=\(token)").status == 200 }
      }
    }
  }

  private func wait(_ isSo: () throws -> Bool) throws {
    let end = ContinuousClock.now + .seconds(20)
    while try !isSo() { try #require(ContinuousClock.now < end) }
  }

  /// The number of PostgreSQL's processes that wait so.
  private func count(_ waits: String, _ pair: PostgresPair) throws -> Int {
    Int(try pair.run(sql: "SELECT count(*) FROM pg_stat_activity WHERE \(waits)")) ?? 0
  }

  /// Removes the secrets in the transaction of a connection, which ends.
  private func removeSecrets(
    of accounts: PostgresStore.Namespace, by connection: PostgresConnection
  ) throws {
    let ns = PostgresValue.integer(accounts.number)
    _ = try connection.perform([
      PostgresStatement(
        "DELETE FROM meta WHERE ns = $1 AND name = $2", ns,
        .text("server." + ServerSecrets.keptName)),
      PostgresStatement(
        """
        INSERT INTO feed (ns, seq, at, server, batch, paths)
        SELECT ns, head + 1, last_at, '00000000-0000-4000-8000-000000000001', 1,
          '["/.settings/rules"]' FROM namespace WHERE ns = $1
        """, ns),
      PostgresStatement("UPDATE namespace SET head = head + 1 WHERE ns = $1", ns),
      PostgresStatement("COMMIT"),
    ])
  }

  @Test func accountsAreNotServedAndTheirFeedKeepsNoValues() async throws {
    try await TestServer.onStore {
      let place = try #require(TestServer.store)
      try await withAccounts(isEmulator: true) { server in
        #expect(try server.signUp().status == 200)
        let target = "/.json?ns=\(StoreAccounts.namespace)"
        let answer = try server.request(
          "GET", target, headers: ["Authorization": "Bearer owner"])
        #expect(answer.status != 200)
        #expect(!answer.body.contains("ada@x.org"))
      }
      let store = try PostgresStore(PostgresPlace(place))
      defer { store.close() }
      let found = try #require(try store.namespace(named: StoreAccounts.namespace))
      #expect(found.head > 0)
      #expect(try StoreCheck.run(on: found, of: store).faults == [])
      let result = try store.connection.perform([
        PostgresStatement(
          "SELECT count(parts) FROM feed WHERE ns = $1", .integer(found.number))
      ])[0]
      #expect(try result.integer(0, 0) == 0)
    }
  }

  @Test func requestsOutliveCutConnections() async throws {
    try await TestServer.onStore {
      let place = try #require(TestServer.store)
      try await withAccounts { server in
        #expect(try server.signUp().status == 200)
        for _ in 0..<3 {
          try PostgresCluster.shared().run(
            sql: """
              SELECT pg_terminate_backend(pid) FROM pg_stat_activity
              WHERE datname = current_database() AND pid <> pg_backend_pid()
              """, in: place)
          #expect(try server.signIn().status == 200)
        }
      }
    }
  }

  /// Once, the first use of a broken connection failed if an outage before had ended with a refusal.
  @Test func aConnectionThatBrokeIsNoOutage() async throws {
    try await TestServer.onStore {
      let place = PostgresPlace(try #require(TestServer.store))
      let lease = StoreLease(address: "")
      let connection = try PostgresConnection(place)
      defer { connection.close() }
      try lease.begin(connection)
      let accounts = try StoreAccounts(place, lease: lease, outageMax: .zero, now: { 0 }) { _ in }
      for _ in 0..<2 {
        try PostgresCluster.shared().run(
          sql: """
            SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE datname = current_database() AND pid <> pg_backend_pid()
            """, in: place.text)
        try accounts.catchUp()
      }
      try accounts.close()
    }
  }

  /// Once, it was answered 503, though the server was ready.
  @Test func theFirstWriteAfterTheEndOfAReplacedPrimaryIsDone() async throws {
    let pair = try PostgresPair()
    let store = try PostgresStore(PostgresPlace(pair.place))
    try store.makeTables()
    try store.makeNamespace(named: "test")
    store.close()
    try await TestServer.$store.withValue(pair.place) {
      try await withAccounts(rules: "{\"rules\":{\".write\":true}}") { server in
        try pair.setSynchronous(true)
        let token = try server.signUp().text("idToken")
        try pair.setSynchronous(false)
        try pair.promote()
        #expect(try server.request("PUT", "/n.json", "1").status == 200)
        try pair.killPrimary()
        // What it answers comes from the new primary.
        #expect(try server.request("PUT", "/n.json", "2").status == 200)
        let fields = #"{"idToken":"\#(token)","displayName":"Ada"}"#
        #expect(try server.accounts("update", fields).status == 200)
        #expect(try server.signIn().status == 200)
      }
    }
  }

  @Test func accountsInAStoreNeedAnIssuerAndAWayForMails() async throws {
    await TestServer.refuses("--issuer") { $0.accounts = .inStore }
    await TestServer.refuses("--mail-folder") {
      $0.accounts = .inStore
      $0.accounts?.issuer = "https://id.example"
    }
  }
}

extension TestServer {
  /// Expects that a server of a new store does not start, for a reason that holds a text.
  fileprivate static func refuses(
    _ reason: String, _ change: (inout ServerConfiguration) -> Void
  ) async {
    do {
      try await TestServer.onStore { try await withServer(change) { _ in } }
      Issue.record("The server started.")
    } catch {
      #expect((error as? ServerError)?.message.contains(reason) == true, "\(error)")
    }
  }
}
