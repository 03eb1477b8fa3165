import Testing

import RunnelBase

/// How much may be done in a second.
@Suite struct AllowanceTests {
  @Test func asMuchAsASecondMayBeDoneAtOnce() {
    var allowance = Allowance(perSecond: 10)
    for _ in 0..<10 { allowance.spend(1, now: 5) }
    #expect(allowance.readyTime == 5)
    allowance.spend(1, now: 5)
    #expect(allowance.readyTime == 105)
  }

  @Test func timePaysOff() {
    var allowance = Allowance(perSecond: 10)
    allowance.spend(30, now: 0)
    #expect(allowance.readyTime == 2000)
    allowance.spend(1, now: 2000)
    #expect(allowance.readyTime == 2100)
    allowance.spend(1, now: 1_000_000)
    #expect(allowance.readyTime == 1_000_000)
  }

  /// In the long run it is as much as is allowed, however it is spent.
  @Test(arguments: [1, 3, 7, 40]) func theAverageIsKept(amount: Int) {
    var allowance = Allowance(perSecond: 20)
    var (now, spent) = (Int64(0), 0)
    while now < 100_000 {
      allowance.spend(amount, now: now)
      spent += amount
      now = max(now, allowance.readyTime)
      if amount <= 7, allowance.readyTime <= now { now += 1 }
    }
    #expect(spent <= 20 * 101 + amount)
    #expect(spent >= 20 * 90)
  }

  @Test func nothingIsOwedWithoutALimit() {
    var allowance = Allowance(perSecond: nil)
    allowance.spend(.max / 2000, now: 7)
    #expect(allowance.readyTime <= 7)
  }

  /// Times and numbers that are far apart do not overflow.
  @Test func longPausesPayOffEverything() {
    var allowance = Allowance(perSecond: .max / 2000)
    allowance.spend(5, now: 0)
    allowance.spend(5, now: .max / 2)
    #expect(allowance.readyTime == .max / 2)
  }
}
