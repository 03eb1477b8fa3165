import PostgresCluster
import Testing

@testable import RunnelPostgres

/// What a place with several hosts leads to, and what is told if it leads nowhere.
@Suite struct PrimaryChoiceTests {
  @Test func theHostsOfAPlaceHaveTheirPorts() {
    func texts(_ name: String, _ address: String, _ port: String) -> [String] {
      PostgresHost.all(name: name, address: address, port: port).map {
        "\($0.name)/\($0.address):\($0.port)"
      }
    }
    #expect(texts("", "", "5432") == ["/:5432"])
    #expect(texts("a,b", "", "5432") == ["a/:5432", "b/:5432"])
    #expect(texts("a,b", "", "1,2") == ["a/:1", "b/:2"])
    #expect(texts("a,b", "10.0.0.1,10.0.0.2", "1") == ["a/10.0.0.1:1", "b/10.0.0.2:1"])
    #expect(texts("", "::1,::2", "") == ["/::1:", "/::2:"])
  }

  /// Once, there were two full stops.
  @Test func anErrorIsASentenceBeforeAnotherOne() {
    let silent = PostgresError(.timedOut, "The database did not answer in time.")
    #expect(silent.sentence == "The database did not answer in time.")
    let locked = PostgresError(.refused, state: "55P03", "It is locked")
    #expect(locked.sentence == "It is locked (55P03).")
  }

  @Test func aRefusalHasItsCode() {
    let wrong = ConnectionRefusal(
      """
      connection to server at "127.0.0.1", port 5432 failed: FATAL:  28P01: password authentication \
      failed for user "u"
      LOCATION:  auth_failed, auth.c:334

      """)
    #expect(wrong.state == "28P01")
    #expect(
      wrong.text == "connection to server at \"127.0.0.1\", port 5432 failed: FATAL:  password "
        + "authentication failed for user \"u\"")
    #expect(wrong.error(isStart: false).isPermanent)
    // A server that runs goes on: its operator may just be changing the password.
    #expect(wrong.error(isStart: false).isWorthRetrying)
    let starting = ConnectionRefusal("failed: FATAL:  57P03: the database system is starting up\n")
    #expect(!starting.error(isStart: false).isPermanent)
    let away = ConnectionRefusal(
      "failed: Connection refused\n\tIs the server running on that host?\n")
    #expect(away.state == nil)
    #expect(away.text == "failed: Connection refused. Is the server running on that host?")
    #expect(!away.error(isStart: true).isPermanent)
    let bare = ConnectionRefusal("failed: fe_sendauth: no password supplied\n").error(
      isStart: false)
    #expect(bare.isPermanent)
    #expect(bare.message.contains("~/.pgpass"))
    for text in ["invalid connection option \"hosst\"", "definition of service \"x\" not found"] {
      #expect(ConnectionRefusal(text).error(isStart: true).isPermanent, "\(text)")
    }
  }

  @Test(needsPostgreSQL) func faultsOfPlacesAreFound() {
    #expect(PostgresPlace("host=a,b dbname=d user=u").fault == nil)
    #expect(PostgresPlace("postgresql://u@h/d").fault == nil)
    #expect(PostgresPlace("hosst=a").fault?.contains("hosst") == true)
    #expect(PostgresPlace("nonsense").fault != nil)
  }

  @Test(needsPostgreSQL) func aPlaceThatCannotWorkIsToldAsSuch() throws {
    let place = try PostgresCluster.shared().makeDatabase()
    for change in [" dbname=nothing_here", " user=nobody_here", " hosst=x"] {
      let error = #expect(throws: PostgresError.self) {
        _ = try PostgresConnection(PostgresPlace(place + change))
      }
      #expect(error?.isPermanent == true, "\(change): \(error?.message ?? "")")
      #expect(error?.message.contains("LOCATION") == false)
    }
  }

  @Test(needsPostgreSQL) func aHostThatIsAwayKeepsNobodyFromTheOthers() throws {
    let place = try PostgresCluster.shared().makeDatabase()
    let words = place.split(separator: " ").map { word in
      word.hasPrefix("host=") ? "host=/nowhere,\(word.dropFirst(5))" : String(word)
    }
    let connection = try PostgresConnection(PostgresPlace(words.joined(separator: " ")))
    #expect(connection.isOpen)
    #expect(connection.replacedPrimaries == [])
    connection.close()
    let none = words.map { $0.hasPrefix("host=") ? "host=/nowhere,/neither" : $0 }
    let error = #expect(throws: PostgresError.self) {
      _ = try PostgresConnection(PostgresPlace(none.joined(separator: " ")))
    }
    #expect(error?.message.contains("/nowhere") == true)
    #expect(error?.message.contains("/neither") == true)
    #expect(error?.isWorthRetrying == true)
  }

  @Test(needsPostgreSQL) func aConnectionThatBrokeLeadsToTheNewPrimary() throws {
    let pair = try PostgresPair()
    let place = PostgresPlace(pair.place)
    let before = try PostgresConnection(place)
    #expect(before.name.hasSuffix(":5432"))
    let reader = try PostgresConnection(place)
    #expect(reader.name.hasSuffix(":5432"))
    try pair.promote()
    // The old primary goes on, and does not answer.
    let waiting = [PostgresStatement("SELECT pg_sleep(60)")]
    #expect(throws: PostgresError.self) {
      try before.perform(waiting, within: .milliseconds(100))
    }
    let after = try PostgresConnection(place)
    #expect(after.name.hasSuffix(":5433"))
    #expect(after.replacedPrimaries.count == 1)
    after.close()
    // Nobody reads on from the old one.
    let error = #expect(throws: PostgresError.self) {
      try reader.perform([PostgresStatement("SELECT 1")])
    }
    #expect(error?.kind == .disconnected)
    #expect(!reader.isOpen)
  }

  /// Once, the request to stop the statement waited for the frozen primary without end.
  @Test(needsPostgreSQL) func aPrimaryThatHangsKeepsNobodyFromTheNewOne() throws {
    let pair = try PostgresPair()
    defer { pair.thawPrimary() }
    var patience = PostgresConnection.Patience()
    patience.connecting = .seconds(2)
    let place = PostgresPlace(pair.place)
    let before = try PostgresConnection(place, patience: patience)
    try pair.freezePrimary()
    let error = #expect(throws: PostgresError.self) {
      try before.perform([PostgresStatement("SELECT 1")], within: .milliseconds(100))
    }
    #expect(error?.kind == .timedOut)
    #expect(!before.isOpen)
    // Its port is open, so a connection is begun, and nothing comes.
    let alone = #expect(throws: PostgresError.self) {
      _ = try PostgresConnection(place, patience: patience)
    }
    #expect(alone?.isWorthRetrying == true)
    try pair.promote()
    let after = try PostgresConnection(place, patience: patience)
    #expect(after.name.hasSuffix(":5433"))
  }

  @Test(needsPostgreSQL) func aPrimaryThatWasReplacedIsNotTaken() throws {
    let pair = try PostgresPair()
    let place = PostgresPlace(pair.place)
    let port = { (connection: PostgresConnection) in connection.name.split(separator: ":").last }
    // The standby takes over while the old primary goes on, as after a loss of the network.
    try pair.promote()
    for round in 1...2 {
      // The first connection of the process looks at all hosts, the next one knows the newer primary.
      let connection = try PostgresConnection(place)
      #expect(port(connection) == "5433", "round \(round)")
      if round == 1 {
        #expect(connection.replacedPrimaries.count == 1)
        #expect(connection.replacedPrimaries.first?.hasSuffix(":5432") == true)
      }
      connection.close()
    }
    let old = pair.place.split(separator: " ").map { word in
      word.hasPrefix("port=") ? "port=5432,1" : String(word)
    }
    let error = #expect(throws: PostgresError.self) {
      _ = try PostgresConnection(PostgresPlace(old.joined(separator: " ")))
    }
    #expect(error?.message.contains(":5432 was replaced by another primary") == true)
    #expect(error?.isWorthRetrying == true)
  }
}
