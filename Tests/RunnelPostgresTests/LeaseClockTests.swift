import RunnelBase
import RunnelPostgres
import Testing

/// When a server gives up its lease, and where clients belong.
@Suite struct LeaseClockTests {
  private let start = ContinuousClock.now

  private func after(_ seconds: Double) -> ContinuousClock.Instant {
    start + .milliseconds(Int64(seconds * 1000))
  }

  private func clock() -> LeaseClock { LeaseClock(now: start, patience: .seconds(60)) }

  @Test func aPrimaryThatConfirmsNothingEndsTheLeaseAfterSixSeconds() {
    var clock = clock()
    clock.didFail(start: after(2), isReachable: true)
    #expect(clock.loss(after(4)) == nil)
    clock.didFail(start: after(4.25), isReachable: true)
    #expect(clock.loss(after(5.9)) == nil)
    #expect(clock.loss(after(6)) != nil)
    #expect(!clock.isHeld)
    #expect(clock.loss(after(7)) == nil)
  }

  @Test func aPrimaryThatCannotBeReachedIsWaitedFor() {
    var clock = clock()
    clock.didFail(start: after(2), isReachable: true)
    for second in stride(from: 2.25, to: 59, by: 2.25) {
      clock.didFail(start: after(second), isReachable: false)
      #expect(clock.loss(after(second)) == nil)
    }
    var other = clock
    #expect(clock.loss(after(60)) != nil)
    // A successor that comes in time is as good as the primary was.
    other.didRenew(after(59))
    #expect(other.isHeld)
    #expect(other.loss(after(100)) == nil)
  }

  @Test func othersAreJudgedAfterTenSecondsWithoutPause() {
    var clock = clock()
    for second in stride(from: 2.0, through: 8, by: 2) { clock.didRenew(after(second)) }
    #expect(!clock.mayEndOthers(after(9)))
    clock.didRenew(after(10))
    #expect(clock.mayEndOthers(after(10)))
    // After an outage the leases of all servers are old.
    clock.didRenew(after(20))
    #expect(!clock.mayEndOthers(after(20)))
  }

  @Test func theNextLeaseBeginsWhenTheSessionsHaveEnded() {
    var clock = clock()
    #expect(!clock.isDue(after(1)))
    #expect(clock.isDue(after(2)))
    clock.didLose(after(3))
    #expect(!clock.isHeld)
    #expect(!clock.isDue(after(4)))
    #expect(clock.isDue(after(5)))
    clock.didRenew(after(5))
    #expect(clock.isHeld)
    #expect(!clock.mayEndOthers(after(14)))
  }

  // MARK: Placement

  private func servers(_ count: Int) -> [LiveServer] {
    var random = SeededRandom(seed: 5)
    return (0..<count).map { number in
      LiveServer(identifier: PostgresIdentifier(using: &random), address: "s\(number):1")
    }
  }

  @Test func allServersChooseTheSameOne() {
    let all = servers(3)
    var counts: [String: Int] = [:]
    for number in 0..<300 {
      let chosen = all.map { own in
        Placement(own: own.identifier, among: all).address(of: "n\(number)") ?? own.address
      }
      #expect(Set(chosen).count == 1)
      counts[chosen[0], default: 0] += 1
    }
    for server in all { #expect((60...140).contains(counts[server.address] ?? 0), "\(counts)") }
  }

  @Test func onlyTheNamespacesOfAServerThatIsGoneMove() {
    let all = servers(4)
    let placement = Placement(own: all[0].identifier, among: all)
    let rest = Placement(own: all[0].identifier, among: Array(all.prefix(3)))
    for number in 0..<200 {
      let before = placement.address(of: "n\(number)")
      if before != all[3].address { #expect(rest.address(of: "n\(number)") == before) }
    }
  }

  @Test func aServerWithoutAddressSendsNobodyAway() {
    var all = servers(2)
    let own = all[0].identifier
    all[0].address = ""
    let placement = Placement(own: own, among: all)
    let other = Placement(own: all[1].identifier, among: all)
    for number in 0..<50 {
      #expect(placement.address(of: "n\(number)") == nil)
      #expect(other.address(of: "n\(number)") == nil)
    }
  }
}
