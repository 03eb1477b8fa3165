import PostgresCluster
import RunnelPostgres
import TestSupport
import Testing

@testable import RunnelServer

/// A move of a namespace is broken off, and given up or done again: it is never in two stores.
@Suite(.enabled(if: PostgresCluster.isInstalled, Comment(rawValue: PostgresCluster.advice)))
struct GivenUpMoveTests {
  private static let patience = Duration.seconds(20)

  /// Three stores, `one`, `two` and `three`; the namespace `test` is in the first.
  private struct Stores {
    let places: [String]
    let all: [PostgresStore]

    init() throws {
      let cluster = try PostgresCluster.shared()
      places = try (0..<3).map { _ in try cluster.makeDatabase() }
      all = try places.map { try PostgresStore(PostgresPlace($0)) }
      for store in all { try store.makeTables() }
      try all[0].makeNamespace(named: "test", rules: "{\"rules\":{\".read\":true,\".write\":true}}")
    }

    func close() { for store in all { store.close() } }

    func found(_ index: Int) throws -> PostgresStore.Namespace {
      try #require(try all[index].namespace(named: "test"))
    }

    func move(_ first: Int, _ second: Int) throws -> StoreMove.Outcome {
      let name = ["one", "two", "three"][second]
      return try StoreMove.run(
        try found(first), from: all[first], to: all[second], address: "", name: name)
    }

    func giveUp(isForced: Bool = false, asks: Bool = true) throws -> StoreMove.GivenUp {
      try StoreMove.giveUp(try found(0), of: all[0], isForced: isForced) { name in
        if !asks { throw PostgresError(.disconnected, "It is gone.") }
        return try PostgresStore(PostgresPlace(places[name == "two" ? 1 : 2]))
      }
    }

    /// Breaks off a move to the second store while rows are copied, as if its process were killed.
    func breakOff() throws {
      let source = try PostgresStore(PostgresPlace(places[0]))
      #expect(throws: PostgresError.self) {
        try StoreMove.run(
          try found(0), from: source, to: all[1], address: "", name: "two"
        ) { _ in source.close() }
      }
      let end = ContinuousClock.now + GivenUpMoveTests.patience
      while try all[0].isBeingMoved(try found(0)) { try #require(ContinuousClock.now < end) }
    }

    /// Breaks off a move to the second store before it is opened there.
    func breakOffBeforeTheOpening() throws {
      let cluster = try PostgresCluster.shared()
      try cluster.run(
        sql: "ALTER TABLE namespace ADD CONSTRAINT shut CHECK (state > 0)", in: places[1])
      #expect(throws: PostgresError.self) { _ = try move(0, 1) }
      try cluster.run(sql: "ALTER TABLE namespace DROP CONSTRAINT shut", in: places[1])
      #expect(try found(0).state == .moved)
    }

    /// The names in `meta` of the first store that begin so.
    func noteCount(_ prefix: String) throws -> Int64? {
      let connection = try PostgresConnection(PostgresPlace(places[0]))
      defer { connection.close() }
      return try connection.perform([
        PostgresStatement(
          "SELECT count(*) FROM meta WHERE starts_with(name, $1)", .text(prefix))
      ])[0].integer(0, 0)
    }

    /// Breaks off a move to the second store when all rows are there.
    func breakOffAtTheEnd() throws {
      let cluster = try PostgresCluster.shared()
      try cluster.run(
        sql: "ALTER TABLE namespace ADD CONSTRAINT stays CHECK (state < 2)", in: places[0])
      #expect(throws: PostgresError.self) { _ = try move(0, 1) }
      try cluster.run(sql: "ALTER TABLE namespace DROP CONSTRAINT stays", in: places[0])
      #expect(try found(0).state == .frozen)
      #expect(try all[1].isArriving(try found(1)))
    }
  }

  private func withStores(_ body: (Stores) throws -> Void) throws {
    let stores = try Stores()
    defer { stores.close() }
    try body(stores)
  }

  @Test func aMoveWhoseTargetIsGoneIsGivenUp() throws {
    try withStores { stores in
      try stores.breakOff()
      #expect(try stores.found(0).state == .frozen)
      #expect(try stores.all[0].moveTarget(of: try stores.found(0)) == "two")
      #expect(try stores.giveUp(asks: false) == .opened(rest: "It is gone."))
      #expect(try stores.found(0).state == .open)
      #expect(try stores.giveUp() == .wasOpen)
      #expect(try stores.move(0, 1) == .moved)
      #expect(throws: PostgresError.self) { _ = try stores.giveUp() }
    }
  }

  @Test func aMoveThatWasBrokenOffGoesOnOrGoesElsewhere() throws {
    try withStores { stores in
      try stores.breakOff()
      #expect(try stores.move(0, 2) == .moved)
      #expect(throws: PostgresError.self) { _ = try stores.move(0, 1) }
      #expect(try stores.all[1].namespace(named: "test") == nil)
    }
  }

  @Test func anErrorWhileRowsAreCopiedLeavesTheNamespaceOpen() throws {
    try withStores { stores in
      let namespace = try stores.found(0)
      #expect(throws: CancellationError.self) {
        try StoreMove.run(
          namespace, from: stores.all[0], to: stores.all[1], address: "", name: "two"
        ) { (_: Int) throws -> Void in throw CancellationError() }
      }
      #expect(try stores.found(0).state == .open)
      #expect(try stores.all[1].namespace(named: "test") == nil)
    }
  }

  @Test func anAlmostDoneMoveIsGivenUpOnlyAfterAsking() throws {
    try withStores { stores in
      try stores.breakOffAtTheEnd()
      let blind = #expect(throws: PostgresError.self) { _ = try stores.giveUp(asks: false) }
      #expect(blind?.message.contains("--force") == true)
      #expect(try stores.found(0).state == .frozen)
      let other = #expect(throws: PostgresError.self) { _ = try stores.move(0, 2) }
      #expect(other?.message.contains("give it up first") == true)
      #expect(try stores.giveUp() == .opened(rest: nil))
      #expect(try stores.found(0).state == .open)
      #expect(try stores.all[1].namespace(named: "test") == nil)
    }
  }

  @Test func whatAGivenUpMoveLeftIsReplacedAndNeverOpened() throws {
    try withStores { stores in
      try stores.breakOffAtTheEnd()
      #expect(try stores.giveUp(isForced: true, asks: false) == .opened(rest: "It is gone."))
      #expect(try stores.move(0, 2) == .moved)
      #expect(throws: PostgresError.self) { _ = try stores.move(0, 1) }
      #expect(try stores.all[1].isArriving(try stores.found(1)))
      #expect(try stores.move(2, 1) == .moved)
      #expect(try stores.found(1).state == .open)
      #expect(try StoreCheck.run(on: try stores.found(1), of: stores.all[1]).faults == [])
    }
  }

  /// The primary lost its newest commits: it does not know that the namespace is in the other store.
  @Test func aMoveWhoseEndWasLostIsNotGivenUp() throws {
    try withStores { stores in
      #expect(try stores.move(0, 1) == .moved)
      try PostgresCluster.shared().run(
        sql: """
          UPDATE namespace SET state = 1;
          INSERT INTO meta SELECT ns, 'moving', value FROM meta WHERE name = 'moved.number';
          INSERT INTO meta SELECT ns, 'moving.ready', value FROM meta WHERE name = 'moved.number';
          INSERT INTO meta VALUES (1, 'moving.store', 'two')
          """, in: stores.places[0])
      let error = #expect(throws: PostgresError.self) { _ = try stores.giveUp() }
      #expect(error?.message.contains("is live in the store two already") == true)
      #expect(try stores.move(0, 1) == .moved)
      #expect(try stores.found(0).state == .moved)
    }
  }

  /// Once, all its rows were replaced, though they were the only copy.
  @Test func theLeftoverOfAnotherNamespaceIsNotReplaced() throws {
    try withStores { stores in
      #expect(try stores.move(0, 1) == .moved)
      let left = try stores.found(0)
      try stores.all[2].makeNamespace(named: "test")
      let error = #expect(throws: PostgresError.self) { _ = try stores.move(2, 0) }
      #expect(error?.message.contains("was moved to the store two") == true)
      #expect(try stores.found(0) == left)
      #expect(try stores.found(2).state == .open)
      let outcome = try StoreMove.run(
        try stores.found(2), from: stores.all[2], to: stores.all[0], address: "", isForced: true)
      #expect(outcome == .moved)
      let now = try stores.found(0)
      // It is another one for servers too.
      #expect(now.state == .open && now.number != left.number)
    }
  }

  @Test func aNamespaceComesBackByAnotherWay() throws {
    try withStores { stores in
      for (first, second) in [(0, 1), (1, 2), (2, 0), (0, 1)] {
        let outcome = try stores.move(first, second)
        #expect(outcome == .moved)
      }
      #expect(try stores.found(1).state == .open)
    }
  }

  @Test func whatWasMovedAndNotOpenedIsGivenUpOrCompleted() throws {
    let cluster = try PostgresCluster.shared()
    for isGivenUp in [true, false] {
      try withStores { stores in
        let place = stores.places[1]
        try cluster.run(
          sql: "ALTER TABLE namespace ADD CONSTRAINT shut CHECK (state > 0)", in: place)
        #expect(throws: PostgresError.self) { _ = try stores.move(0, 1) }
        try cluster.run(sql: "ALTER TABLE namespace DROP CONSTRAINT shut", in: place)
        #expect(try stores.all[0].isUnopened(try stores.found(0)))
        #expect(try stores.found(0).state == .moved)
        if isGivenUp {
          #expect(try stores.giveUp() == .opened(rest: nil))
          #expect(try stores.found(0).state == .open)
          #expect(try stores.all[1].namespace(named: "test") == nil)
        } else {
          #expect(try stores.move(0, 1) == .moved)
          #expect(try stores.found(1).state == .open)
        }
        #expect(try !stores.all[0].isUnopened(try stores.found(0)))
      }
    }
  }

  /// Once, it was said that something was lost, and only `--force` ended it.
  @Test func aGiveUpThatIsBrokenOffIsRepeated() throws {
    let cluster = try PostgresCluster.shared()
    for isForced in [false, true] {
      try withStores { stores in
        try stores.breakOffBeforeTheOpening()
        let first = stores.places[0]
        try cluster.run(
          sql: "ALTER TABLE namespace ADD CONSTRAINT stays CHECK (state = 2)", in: first)
        #expect(throws: PostgresError.self) { _ = try stores.giveUp(isForced: isForced) }
        try cluster.run(sql: "ALTER TABLE namespace DROP CONSTRAINT stays", in: first)
        #expect(try stores.all[0].isBeingGivenUp(try stores.found(0)))
        #expect(try stores.all[1].namespace(named: "test") == nil)
        let blind = #expect(throws: PostgresError.self) { _ = try stores.giveUp(asks: false) }
        let again = #expect(throws: PostgresError.self) { _ = try stores.move(0, 1) }
        for error in [blind, again] {
          #expect(error?.message.contains("is being given up") == true)
          #expect(error?.message.contains("lost") == false)
        }
        #expect(try stores.giveUp(isForced: isForced) == .opened(rest: nil))
        #expect(try stores.found(0).state == .open)
        #expect(try !stores.all[0].isBeingGivenUp(try stores.found(0)))
        #expect(try stores.move(0, 1) == .moved)
      }
    }
  }

  @Test func aGiveUpThatRemovedNothingIsRepeatedOrTheMoveGoesOn() throws {
    let cluster = try PostgresCluster.shared()
    for isGivenUp in [true, false] {
      try withStores { stores in
        try stores.breakOffBeforeTheOpening()
        let second = stores.places[1]
        try cluster.run(
          sql: """
            CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql
              AS 'BEGIN RAISE EXCEPTION ''no''; END';
            CREATE TRIGGER stays BEFORE DELETE ON namespace EXECUTE FUNCTION refuse()
            """, in: second)
        #expect(throws: PostgresError.self) { _ = try stores.giveUp() }
        try cluster.run(sql: "DROP TRIGGER stays ON namespace", in: second)
        #expect(try stores.all[0].isBeingGivenUp(try stores.found(0)))
        if isGivenUp {
          let end = try stores.giveUp(isForced: true, asks: false)
          #expect(end != .opened(rest: nil) && end != .wasOpen)
          #expect(try stores.found(0).state == .open)
          // What is left there is never opened.
          #expect(try stores.all[1].isArriving(try stores.found(1)))
        }
        #expect(try stores.move(0, 1) == .moved)
        #expect(try stores.found(1).state == .open)
        #expect(try !stores.all[0].isBeingGivenUp(try stores.found(0)))
      }
    }
  }

  /// Once, all but one failed, after they had waited with frozen namespaces.
  @Test func movesIntoOneStoreAtOnceDoNotMeet() throws {
    try withStores { stores in
      for name in ["blog", "test"] { try stores.all[2].makeNamespace(named: name) }
      let blog = try #require(try stores.all[2].namespace(named: "blog"))
      let other = try PostgresStore(PostgresPlace(stores.places[1]))
      defer { other.close() }
      var isFirst = true
      let outcome = try StoreMove.run(
        try stores.found(0), from: stores.all[0], to: stores.all[1], address: "", name: "two"
      ) { _ in
        if !isFirst { return }
        isFirst = false
        let moved = try StoreMove.run(
          blog, from: stores.all[2], to: other, address: "", name: "two")
        let isMade = try other.makeNamespace(named: "news", attemptsMax: 1)
        #expect(moved == .moved && isMade)
        let error = #expect(throws: PostgresError.self) {
          try StoreMove.run(
            try stores.found(2), from: stores.all[2], to: other, address: "", name: "two")
        }
        #expect(error?.message.contains("is being moved by another command to") == true)
        #expect(try stores.found(2).state == .open)
      }
      #expect(outcome == .moved)
      let numbers = try stores.all[1].namespaces().map(\.number)
      #expect(Set(numbers).count == 3)
    }
  }

  @Test func theNumbersOfMovesDoNotPileUp() throws {
    try withStores { stores in
      for _ in 0..<2 {
        for (first, second) in [(0, 1), (1, 0)] {
          let outcome = try stores.move(first, second)
          #expect(outcome == .moved)
        }
      }
      #expect(try stores.noteCount("moved.came.") == 1)
      // What a forced end left in the other store is replaced.
      try stores.breakOffAtTheEnd()
      _ = try stores.giveUp(isForced: true, asks: false)
      #expect(try stores.noteCount("moved.not.") == 1)
      for (first, second) in [(0, 1), (1, 0)] {
        let outcome = try stores.move(first, second)
        #expect(outcome == .moved)
      }
      #expect(try stores.noteCount("moved.not.") == 0)
    }
  }

  /// Once, no command read or opened what was left.
  @Test func whatIsLostElsewhereIsOpenedAgain() throws {
    try withStores { stores in
      #expect(try stores.move(0, 1) == .moved)
      try stores.all[1].dropNamespace(try stores.found(1))
      try stores.all[1].makeNamespace(named: "test")
      #expect(throws: PostgresError.self) { _ = try stores.move(0, 1) }
      let error = #expect(throws: PostgresError.self) { _ = try stores.giveUp() }
      #expect(error?.message.contains("--force opens it again here") == true)
      #expect(try stores.found(0).state == .moved)
      let outcome = try stores.giveUp(isForced: true)
      #expect(outcome == .reopened(reason: "what is in the store two is another one."))
      #expect(try stores.found(0).state == .open)
      #expect(try stores.move(0, 2) == .moved)
    }
  }

  @Test func whatIsOpenElsewhereIsNotOpenedAgain() throws {
    try withStores { stores in
      let outcomes = [try stores.move(0, 1), try stores.move(1, 2)]
      #expect(outcomes == [.moved, .moved])
      let error = #expect(throws: PostgresError.self) { _ = try stores.giveUp(isForced: true) }
      #expect(error?.message.contains("is in the store three") == true)
      #expect(try stores.found(0).state == .moved)
    }
  }

  /// Once, the namespace was marked as moved to its own store, and then dropped as left over.
  @Test func aMoveToTheSameStoreIsNone() throws {
    try withStores { stores in
      let same = try PostgresStore(PostgresPlace(stores.places[0]))
      defer { same.close() }
      #expect(try StoreMove.areSame(stores.all[0], same))
      #expect(try !StoreMove.areSame(stores.all[0], stores.all[1]))
      try stores.breakOff()
      #expect(throws: PostgresError.self) {
        try StoreMove.run(
          try stores.found(0), from: stores.all[0], to: same, address: "", name: "same")
      }
      #expect(try stores.found(0).state == .frozen)
    }
  }

  @Test func onlyTheLeftoverOfAMoveHasArrivedElsewhere() throws {
    try withStores { stores in
      #expect(try stores.move(0, 1) == .moved)
      let left = try stores.found(0)
      let hasArrived = { (index: Int) in
        try stores.all[0].hasArrived(left, as: try stores.found(index), in: stores.all[index])
      }
      #expect(try hasArrived(1))
      #expect(try stores.move(1, 2) == .moved)
      #expect(try hasArrived(2) && !hasArrived(1))
      try stores.all[2].dropNamespace(try stores.found(2))
      try stores.all[2].makeNamespace(named: "test")
      #expect(try !hasArrived(2))
    }
  }

  @Test func aLeftoverThatWasMovedBackIsNotDropped() throws {
    try withStores { stores in
      #expect(try stores.move(0, 1) == .moved)
      let left = try stores.found(0)
      #expect(try stores.move(1, 0) == .moved)
      #expect(throws: PostgresError.self) { try stores.all[0].dropNamespace(left) }
      #expect(try stores.found(0).state == .open)
    }
  }

  @Test(arguments: [("", true), ("", false), ("b.example:1", false)])
  func aServerThatMayFollowSaysSo(address: String, mayFollow: Bool) {
    let text = MovedNamespace(
      name: "test", address: address, sendsClientsOn: true, mayFollow: mayFollow
    ).text
    #expect(text.hasPrefix("test was moved to another store: "))
    #expect(text.contains("try again in a moment") == mayFollow)
    #expect(text.contains("is not known here") == (address.isEmpty && !mayFollow))
  }

  @Test func whatIsNotOpenYetIsNotServed() async throws {
    let stores = try Stores()
    defer { stores.close() }
    try stores.breakOffAtTheEnd()
    try await TestServer.$store.withValue(stores.places[1]) {
      try await withServer { server in
        let wait = { (status: Int) in
          let end = ContinuousClock.now + GivenUpMoveTests.patience
          while try server.request("GET", "/n.json?ns=test").status != status {
            try #require(ContinuousClock.now < end)
          }
        }
        try wait(503)
        #expect(try stores.move(0, 1) == .moved)
        try wait(200)
      }
    }
  }
}
