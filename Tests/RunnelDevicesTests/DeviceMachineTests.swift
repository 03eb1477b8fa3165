import AccountSimulation
import RunnelBase
import RunnelStore
import Testing

@testable import RunnelAccounts
@testable import RunnelDevices

/// Random sequences of sign-ins, switches, offline spells and kills, with two devices.
@Suite struct DeviceMachineTests {
  /// The lists as they have to be: each device stands with its token in the list of its user only.
  private func expected(_ world: DeviceWorld) -> [String: [String: String]] {
    var lists: [String: [String: String]] = [:]
    for node in world.nodes {
      if let user = node.user { lists[user, default: [:]][node.name] = node.token }
    }
    return lists
  }

  private func tokens(_ world: DeviceWorld) -> [String: [String: String]] {
    world.lists.lists.mapValues { $0.mapValues(\.token) }.filter { !$0.value.isEmpty }
  }

  @Test(arguments: 0..<10) func theListsAreWhatHappened(block: Int) {
    var writeCount = 0
    for seed in (block * 100)..<((block + 1) * 100) {
      let world = DeviceWorld(seed: UInt64(seed))
      for _ in 0..<250 { world.step(revokes: false) }
      world.settle()
      #expect(tokens(world) == expected(world), "seed \(seed)")
      #expect(world.nodes.allSatisfy { $0.openCount == 0 }, "seed \(seed)")
      #expect(world.nodes.allSatisfy { $0.memory.departing().isEmpty }, "seed \(seed)")
      writeCount += world.writeCount
    }
    #expect(writeCount > 500, "hardly anything was written")
  }

  /// A session that was ended at the service cannot remove its device: then the device takes another
  /// token before it stands elsewhere.
  @Test(arguments: 0..<4) func noTokenStandsUnderAnotherUserAlsoIfSessionsWereEnded(block: Int) {
    var endedCount = 0
    for seed in (block * 100)..<((block + 1) * 100) {
      let world = DeviceWorld(seed: UInt64(10_000 + seed))
      for _ in 0..<250 { world.step(revokes: true) }
      world.settle()
      // Whoever was ended meanwhile is followed by another user.
      for node in world.nodes where node.user == nil {
        node.signIn(["ana", "bo", "cy"][Int.random(in: 0..<3, using: &world.random)])
        endedCount += 1
      }
      world.settle()
      for node in world.nodes {
        guard let user = node.user else { continue }
        #expect(
          world.lists.lists[user]?[node.name]?.token == node.token, "seed \(world.seed)")
        for (other, list) in world.lists.lists where other != user {
          #expect(
            list[node.name]?.token != node.token,
            "seed \(world.seed): the token of \(node.name) stands under \(other) too")
        }
      }
    }
    #expect(endedCount > 10, "hardly any session was ended")
  }

  private func machine(_ holders: [String] = []) -> DeviceMachine {
    DeviceMachine(
      Device(id: "d", token: "", name: "n", os: "o", type: "t"), holders: holders, seed: 1)
  }

  private func isPut(_ effect: DeviceEffect) -> Bool {
    if case .put = effect { true } else { false }
  }

  @Test func aDenialIsAnErrorAndNothingIsWritten() {
    var machine = machine()
    _ = machine.handle(.account("ana", isFresh: false, departing: []), now: 0)
    #expect(machine.handle(.subscribe(1), now: 0) == [.askPermission])
    let denial = DeviceFailure(.permissionDenied, "no")
    #expect(machine.handle(.permission(denial), now: 0) == [.finish(1, .failure(denial))])
    #expect(machine.handle(.token("t"), now: 0).isEmpty)
    #expect(machine.phase == .off)
  }

  @Test func subscribingTwiceIsOnce() {
    var machine = machine()
    _ = machine.handle(.account("ana", isFresh: false, departing: []), now: 0)
    var effects = machine.handle(.subscribe(1), now: 0)
    effects += machine.handle(.subscribe(2), now: 0)
    #expect(effects == [.askPermission])
    effects = machine.handle(.permission(nil), now: 0)
    effects += machine.handle(.subscribe(3), now: 0)
    #expect(effects.filter { $0 == .watchTokens }.count == 1)
    effects = machine.handle(.token("t"), now: 0)
    #expect(effects.filter(isPut).count == 1)
    effects = machine.handle(.answered(1, nil), now: 0)
    #expect(effects.last == .standsAt("ana"))
    #expect(machine.handle(.subscribe(4), now: 0) == [.finish(4, .success(.done))])
  }

  @Test func lateAnswersAfterUnsubscribeWriteNothing() {
    var machine = machine()
    _ = machine.handle(.account("ana", isFresh: false, departing: []), now: 0)
    _ = machine.handle(.subscribe(1), now: 0)
    _ = machine.handle(.unsubscribe, now: 0)
    for event: DeviceEvent in [
      .permission(nil), .token("t"), .account("bo", isFresh: true, departing: []), .time,
    ] {
      #expect(!machine.handle(event, now: 0).contains(where: isPut))
    }
  }

  @Test func aTokenThatMayStandElsewhereIsReplacedFirst() {
    var machine = machine(["ana"])
    _ = machine.handle(.account("bo", isFresh: false, departing: []), now: 0)
    _ = machine.handle(.subscribe(1), now: 0)
    _ = machine.handle(.permission(nil), now: 0)
    #expect(machine.handle(.token("old"), now: 0) == [.renewToken])
    let effects = machine.handle(.token("new"), now: 0)
    let tokens = effects.compactMap { effect -> String? in
      if case .put(_, let device, _, _) = effect { device.token } else { nil }
    }
    #expect(tokens == ["new"])
  }

  @Test func aRefusalIsReportedAndNotRepeated() {
    var machine = machine()
    _ = machine.handle(.account("ana", isFresh: false, departing: []), now: 0)
    _ = machine.handle(.subscribe(1), now: 0)
    _ = machine.handle(.permission(nil), now: 0)
    _ = machine.handle(.token("t"), now: 0)
    let refusal = DeviceFailure(.refused, "no")
    #expect(machine.handle(.answered(1, refusal), now: 0) == [.finish(1, .failure(refusal))])
    #expect(machine.handle(.time, now: 1_000_000).isEmpty && machine.deadline == nil)
    #expect(machine.handle(.token("other"), now: 0).contains(where: isPut))
    let effects = machine.handle(.answered(2, refusal), now: 0)
    #expect(effects == [.report(refusal)])
  }
}
