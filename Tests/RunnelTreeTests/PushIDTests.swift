import RunnelBase
import RunnelTree
import Testing

@Suite struct PushIDTests {
  private static let alphabet = Array(
    "-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz")

  /// Gives the characters of a text, as the generator of random numbers from 0 to 63 would.
  private struct Scripted: RandomNumberGenerator {
    var values: [UInt64]
    mutating func next() -> UInt64 { values.isEmpty ? 0 : values.removeFirst() }
  }

  @Test(
    arguments: [
      (1, "-------0"), (1_700_000_000_000, "-NjEtLV-"), (1_735_689_600_000, "-OFU9Mk-"),
      (1_753_142_400_123, "-OVjQWGv"), (0, "--------"), (-5, "--------"),
      (0xFFFF_FFFF_FFFF, "zzzzzzzz"), (.max, "zzzzzzzz"), (.min, "--------"),
    ] as [(Int64, String)])
  func theFirstEightCharactersAreTheTime(row: (Int64, String)) {
    var generator = PushIDGenerator()
    var random = SeededRandom(seed: 1)
    let text = generator.next(now: row.0, random: &random).text
    #expect(String(text.prefix(8)) == row.1)
    #expect(text.count == 20)
    #expect(text.allSatisfy { PushIDTests.alphabet.contains($0) })
  }

  @Test func keysOfOneMillisecondCountUpwards() throws {
    var generator = PushIDGenerator()
    var random = SeededRandom(seed: 7)
    var previous = generator.next(now: 5, random: &random)
    for _ in 0..<200 {
      let next = generator.next(now: 5, random: &random)
      #expect(previous < next)
      #expect(number(next) == number(previous) + 1)
      previous = next
    }
  }

  /// The last characters as a number; enough of them for a carry to be seen.
  private func number(_ key: Key) -> Int {
    key.text.suffix(9).reduce(0) { sum, character in
      sum * 64 + (PushIDTests.alphabet.firstIndex(of: character) ?? 0)
    }
  }

  @Test func theCarryRunsThroughTrailingLastCharacters() throws {
    // `…abcdefghijzz` is followed by `…abcdefghik--`: found by counting until it happens.
    var generator = PushIDGenerator()
    var random = SeededRandom(seed: 3)
    var previous = generator.next(now: 5, random: &random).text
    for _ in 0..<5000 {
      let next = generator.next(now: 5, random: &random).text
      if previous.hasSuffix("zz") {
        #expect(next.hasSuffix("--"))
        #expect(next.prefix(17) == previous.prefix(17))
        return
      }
      previous = next
    }
    Issue.record("No carry in 5000 keys.")
  }

  @Test func aClockThatGoesBackDoesNotTakeKeysBack() {
    var generator = PushIDGenerator()
    var random = SeededRandom(seed: 1)
    let first = generator.next(now: 1000, random: &random)
    let second = generator.next(now: 400, random: &random)
    let third = generator.next(now: 1001, random: &random)
    #expect(first < second)
    #expect(second < third)
    #expect(second.text.prefix(8) == first.text.prefix(8))
  }

  @Test func anOverflowIsAnsweredByANewRandomNumber() {
    var generator = PushIDGenerator()
    var last = Scripted(values: Array(repeating: .max, count: 12))
    let first = generator.next(now: 1, random: &last)
    #expect(first.text == "-------0zzzzzzzzzzzz")
    var fresh = SeededRandom(seed: 1)
    let second = generator.next(now: 1, random: &fresh)
    #expect(second.text.hasPrefix("-------0"))
    #expect(second != first)
  }

  @Test func keysOfManyMillisecondsAscend() {
    var generator = PushIDGenerator()
    var random = SeededRandom(seed: 11)
    let keys = (0..<1000).map { generator.next(now: Int64(1000 + $0 / 3), random: &random) }
    #expect(keys == keys.sorted())
    #expect(Set(keys).count == keys.count)
  }

  @Test func newKeyComesAfterThoseThatStandThere() throws {
    let stored = Key(unchecked: "-OVjQWGv0123456789ab")
    let tree = MemoryTree(
      Node(children: [
        Child(
          key: try Key("list"),
          node: Node(children: [
            Child(key: try Key("-note"), node: Node(.bool(true))),
            Child(key: stored, node: Node(.bool(true))),
            Child(key: try Key("zoe"), node: Node(.bool(true))),
            Child(key: try Key("7"), node: Node(.bool(true))),
          ]))
      ]))
    func key(_ text: String, _ path: String) throws -> String {
      try tree.pushID(Key(unchecked: text), in: Path(path)).text
    }
    // The clock went back, stands still, and goes on.
    #expect(try key("-OVjQWGu0123456789ab", "/list") == "-OVjQWGv0123456789ac")
    #expect(try key(stored.text, "/list") == "-OVjQWGv0123456789ac")
    #expect(try key("-OVjQWGw0123456789ab", "/list") == "-OVjQWGw0123456789ab")
    #expect(try key("-OVjQWGu0123456789ab", "/other") == "-OVjQWGu0123456789ab")
  }
}
