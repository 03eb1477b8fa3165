import PostgresCluster
import RunnelPostgres
import TestSupport
import Testing

@testable import RunnelServer

/// A namespace was moved, and its move back is broken off and given up: the first store sends clients to where
/// it is, as before.
@Suite(.enabled(if: PostgresCluster.isInstalled, Comment(rawValue: PostgresCluster.advice)))
struct MoveBackTests {
  private static let patience = Duration.seconds(20)
  private static let names = ["one", "two"]
  private static let away = "the store two, at a.example:1"

  /// How a move back that was broken off is given up.
  enum Way: CaseIterable {
    case whereItIs
    case whereItWasToBe
    /// The first store did not answer.
    case withoutAsking
    /// The move was done, and not opened.
    case unopened
  }

  private let places: [String]
  private let all: [PostgresStore]

  init() throws {
    let cluster = try PostgresCluster.shared()
    places = try (0..<2).map { _ in try cluster.makeDatabase() }
    all = try places.map { try PostgresStore(PostgresPlace($0)) }
    for store in all { try store.makeTables() }
    let rules = "{\"rules\":{\".read\":true,\".write\":true}}"
    try all[0].makeNamespace(named: "test", rules: rules)
  }

  private func found(_ index: Int) throws -> PostgresStore.Namespace {
    try #require(try all[index].namespace(named: "test"))
  }

  @discardableResult
  private func move(_ first: Int, _ second: Int) throws -> StoreMove.Outcome {
    try StoreMove.run(
      try found(first), from: all[first], to: all[second],
      address: second == 1 ? "a.example:1" : "b.example:1", name: MoveBackTests.names[second],
      origin: MoveBackTests.names[first])
  }

  /// Runs `body` while the namespace of a store cannot be in some states.
  private func forbidding(
    _ states: String, _ index: Int, _ body: () throws -> Void
  ) throws {
    let cluster = try PostgresCluster.shared()
    try cluster.run(
      sql: "ALTER TABLE namespace ADD CONSTRAINT other CHECK (NOT state IN (\(states)))",
      in: places[index])
    try body()
    try cluster.run(sql: "ALTER TABLE namespace DROP CONSTRAINT other", in: places[index])
  }

  /// Breaks off the move back when all rows are there.
  private func breakOff() throws {
    try forbidding("2", 1) {
      #expect(throws: PostgresError.self) { try move(1, 0) }
    }
    #expect(try found(1).state == .frozen && all[0].isArriving(try found(0)))
  }

  private func giveUp(isForced: Bool = false, asks: Bool = true) throws -> StoreMove.GivenUp {
    try StoreMove.giveUp(try found(1), of: all[1], isForced: isForced) { _ in
      if !asks { throw PostgresError(.disconnected, "It is gone.") }
      return try PostgresStore(PostgresPlace(places[0]))
    }
  }

  private func giveUpArrival(
    isForced: Bool = false, asks: Bool = true
  ) throws -> StoreMove.ArrivalEnd {
    try StoreMove.giveUpArrival(
      of: try found(0), in: all[0], named: "one", isForced: isForced
    ) {
      if !asks { throw PostgresError(.disconnected, "It is gone.") }
      return try PostgresStore(PostgresPlace(places[1]))
    }
  }

  /// Once, nothing was left in the first store, and no command could write the address there again.
  @Test(arguments: Way.allCases) func theAddressStays(way: Way) throws {
    defer { for store in all { store.close() } }
    try move(0, 1)
    let number = try found(0).number
    for _ in 0..<2 {
      switch way {
      case .whereItIs:
        try breakOff()
        #expect(try giveUp() == .opened(rest: nil))
      case .whereItWasToBe:
        try breakOff()
        #expect(try giveUpArrival() == .givenUp)
      case .withoutAsking:
        try breakOff()
        #expect(try giveUp(isForced: true, asks: false) == .opened(rest: "It is gone."))
        #expect(try all[0].isArriving(try found(0)))
        #expect(try giveUpArrival() == .givenUpBefore)
      case .unopened:
        try forbidding("0", 0) {
          #expect(throws: PostgresError.self) { try move(1, 0) }
        }
        #expect(try giveUp() == .opened(rest: nil))
      }
      #expect(try found(1).state == .open)
      let left = try found(0)
      #expect(try left.state == .moved && all[0].newPlace(of: left).words == MoveBackTests.away)
      #expect(left.number == number)
      #expect(try move(0, 1) == .movedBefore)
      #expect(try StoreCheck.run(on: left, of: all[0]).faults == [])
    }
    #expect(try move(1, 0) == .moved)
    #expect(try found(0).state == .open)
  }

  /// What another move replaces before the first store was asked is kept, too.
  @Test func theAddressStaysThroughTwoMovesBack() throws {
    defer { for store in all { store.close() } }
    try move(0, 1)
    try breakOff()
    #expect(try giveUp(isForced: true, asks: false) == .opened(rest: "It is gone."))
    try breakOff()
    #expect(try giveUp() == .opened(rest: nil))
    #expect(try all[0].newPlace(of: try found(0)).words == MoveBackTests.away)
  }

  /// A command that is killed in between has changed one store only.
  @Test func aMoveThatIsHalfGivenUpIsGivenUpOrDone() throws {
    defer { for store in all { store.close() } }
    try move(0, 1)
    for isGivenUp in [true, false] {
      try breakOff()
      try forbidding("0", 1) {
        #expect(throws: PostgresError.self) { _ = try giveUp() }
      }
      #expect(try found(1).state == .frozen && found(0).state == .moved)
      if isGivenUp {
        #expect(try giveUp() == .opened(rest: nil))
      } else {
        #expect(try move(1, 0) == .moved)
        #expect(try found(0).state == .open && found(1).state == .moved)
      }
    }
  }

  /// Once, it was said only that it is in the other store.
  @Test func whereAMoveBackIsFrozenIsTold() throws {
    defer { for store in all { store.close() } }
    try move(0, 1)
    try breakOff()
    try forbidding("0", 1) {
      #expect(throws: PostgresError.self) { _ = try giveUp() }
    }
    #expect(try found(1).state == .frozen && found(0).state == .moved)
    let refused = #expect(throws: PostgresError.self) {
      _ = try StoreMove.giveUp(try found(0), of: all[0]) { _ in
        try PostgresStore(PostgresPlace(places[1]))
      }
    }
    let words = refused?.message ?? ""
    #expect(words.contains("is frozen in the store two by a move from there"), "\(words)")
    #expect(words.contains("`runnel store move test --store two --give-up`"), "\(words)")
    #expect(try giveUp() == .opened(rest: nil))
  }

  @Test func whatComesFromALostStoreIsOpenedOnlyIfForced() throws {
    defer { for store in all { store.close() } }
    try move(0, 1)
    try breakOff()
    let refused = #expect(throws: PostgresError.self) { _ = try giveUpArrival(asks: false) }
    #expect(refused?.message.contains("--force opens it here") == true)
    #expect(try all[0].isArriving(try found(0)))
    let opened = try giveUpArrival(isForced: true, asks: false)
    guard case .opened = opened else { return #expect(opened == .opened(reason: "")) }
    #expect(try found(0).state == .open)
    // The other store comes back: it is in one of them only.
    #expect(throws: PostgresError.self) { _ = try giveUp() }
    #expect(try move(1, 0) == .moved)
    #expect(try found(0).state == .open && found(1).state == .moved)
  }

  /// Of rows that were dropped it is known where the namespace is.
  @Test func whereItWentIsKnownAfterADrop() throws {
    defer { for store in all { store.close() } }
    try move(0, 1)
    try all[0].dropNamespace(try found(0))
    try breakOff()
    #expect(try giveUp() == .opened(rest: nil))
    #expect(try all[0].namespace(named: "test") == nil)
    #expect(try all[0].formerPlace(of: "test")?.words == MoveBackTests.away)
  }

  @Test func clientsAreSentOnAgain() async throws {
    defer { for store in all { store.close() } }
    try await TestServer.$store.withValue(places[0]) {
      try await withServer { server in
        let wait = { (status: Int) in
          let end = ContinuousClock.now + MoveBackTests.patience
          while try server.request("GET", "/n.json?ns=test").status != status {
            try #require(ContinuousClock.now < end)
          }
        }
        try wait(200)
        try move(0, 1)
        try wait(307)
        try breakOff()
        try wait(503)
        #expect(try giveUp() == .opened(rest: nil))
        try wait(307)
        let location = try server.request("GET", "/n.json?ns=test").headers["location"]
        #expect(location == "http://a.example:1/n.json?ns=test")
      }
    }
  }
}
