import RunnelBase
import Testing

@testable import RunnelDemo

@Suite struct DemoDataTests {
  /// Mon 24 Aug 2026, 18:20 in UTC.
  static let end: Int64 = 1_787_595_600_000
  static let demo = DemoData(DemoFixture.texts, seed: 7, endingAt: end)
  static let tree = demo.json()

  private func members(_ path: String...) throws -> [JSONMember] {
    var value = Self.tree
    for name in path { value = try #require(value[name]) }
    guard case .object(let members) = value else {
      Issue.record("no object at \(path)")
      return []
    }
    return members
  }

  private func created(_ message: JSONValue) throws -> Int64 {
    guard case .number(let number)? = message["created"] else { return -1 }
    return try #require(number.integer)
  }

  private func text(_ value: JSONValue?) throws -> String {
    guard case .string(let text)? = value else { return "" }
    return text
  }

  @Test func sameSeedGivesTheSameBytes() {
    let again = DemoData(DemoFixture.texts, seed: 7, endingAt: Self.end).json()
    #expect(again.jsonBytes() == Self.tree.jsonBytes())
    let other = DemoData(DemoFixture.texts, seed: 8, endingAt: Self.end).json()
    #expect(other != Self.tree)
  }

  @Test(arguments: [1, 4_096, 65_536, 1_000_000])
  func streamedTextIsThatOfTheTree(chunkBytes: Int) {
    var bytes: [UInt8] = []
    Self.demo.write(chunkBytes: chunkBytes) { bytes += $0 }
    #expect(bytes == Self.tree.jsonBytes())
  }

  @Test func countsAreThoseAskedFor() throws {
    #expect(try members("group").map(\.name) == ["allotment", "committee", "kitchen"])
    #expect(try members("group_message", "allotment").count == 2_400)
    #expect(try members("group_message", "kitchen").count == 120)
    #expect(try members("group_message", "committee").count == 60)
    #expect(try members("user").count == 40)
    let organizers = try members("user").filter { $0.value["role"] == "organizer" }
    #expect(organizers.count == 8)
  }

  @Test(arguments: [0, 1, 2, 17, 500])
  func smallDemosHaveTheirCountToo(count: Int) throws {
    let tree = DemoData(DemoFixture.texts, seed: 3, messageCount: count, endingAt: Self.end).json()
    guard case .object(let messages)? = tree["group_message"]?["allotment"] else {
      Issue.record("no messages")
      return
    }
    #expect(messages.count == count)
  }

  @Test func keysAscendThroughoutTheTree() throws {
    func check(_ value: JSONValue) {
      guard case .object(let members) = value else { return }
      for (left, right) in zip(members, members.dropFirst()) {
        #expect(left.name.utf8.lexicographicallyPrecedes(right.name.utf8))
      }
      for member in members { check(member.value) }
    }
    check(Self.tree)
  }

  @Test func keysAreValidInATree() throws {
    func check(_ value: JSONValue) {
      guard case .object(let members) = value else { return }
      for member in members {
        #expect(!member.name.isEmpty)
        #expect(!member.name.contains { ".#$/[]".contains($0) })
        check(member.value)
      }
    }
    check(Self.tree)
  }

  @Test(arguments: DemoFixture.texts.groups.map(\.id))
  func messagesAscendByTimeAndTheirKeysSayIt(group: String) throws {
    let alphabet = Array("-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz")
    let start = Self.end - Int64(DemoCalendar.dayCount) * 86_400_000
    var previous = start
    for message in try members("group_message", group) {
      let time = try created(message.value)
      #expect(time > previous)
      previous = time
      #expect(message.name.count == 20)
      let decoded = try message.name.prefix(8).reduce(into: Int64(0)) { time, character in
        time = time * 64 + Int64(try #require(alphabet.firstIndex(of: character)))
      }
      #expect(decoded == time)
    }
    #expect(previous == Self.end)
  }

  @Test func pushIDsAreThoseOfTheSpecification() {
    var random = SeededRandom(seed: 1)
    for (time, prefix) in [
      (1, "-------0"), (1_700_000_000_000, "-NjEtLV-"), (1_735_689_600_000, "-OFU9Mk-"),
      (1_753_142_400_123, "-OVjQWGv"),
    ] as [(Int64, String)] {
      #expect(DemoPushIDs.id(at: time, using: &random).hasPrefix(prefix))
    }
  }

  @Test func messagesAreByUsersWhoAreThere() throws {
    var joined: [String: Int64] = [:]
    var away: Set<String> = []
    for user in try members("user") {
      guard case .number(let number)? = user.value["joined"] else { continue }
      joined[user.name] = number.integer
      if user.value["away"] == true { away.insert(user.name) }
    }
    #expect(!away.isEmpty)
    for group in DemoFixture.texts.groups {
      for message in try members("group_message", group.id) {
        let time = try created(message.value)
        let from = try text(message.value["from"])
        #expect(try #require(joined[from]) < time)
        #expect(!away.contains(from) || time < Self.demo.cast.awayFrom)
        let person = try #require(DemoFixture.texts.people.first { $0.id == from })
        #expect(person.isOrganizer || !group.isForOrganizers)
      }
    }
  }

  @Test func pinnedMessagesAreFewAndSpread() throws {
    let pinned = try members("group_message", "allotment").filter { $0.value["pinned"] != nil }
    #expect(6...10 ~= pinned.count)
    for message in pinned {
      #expect(message.value["pinned"] == true)
      let from = try text(message.value["from"])
      let person = try #require(DemoFixture.texts.people.first { $0.id == from })
      #expect(person.isOrganizer)
    }
    let days = try pinned.map { (Self.end - (try created($0.value))) / 86_400_000 }
    #expect(days.filter { $0 < 5 }.count == 2)
    #expect(Set(days).count == days.count)
    #expect(try #require(days.first) > 50)
  }

  @Test func nightsAreQuiet() throws {
    var counts = [Int](repeating: 0, count: 24)
    for message in try members("group_message", "allotment") {
      counts[CivilTime(milliseconds: try created(message.value)).hour] += 1
    }
    let night = counts[0..<5].reduce(0, +)
    #expect(0..<60 ~= night)
    #expect(counts[18..<21].reduce(0, +) > 400)
  }

  @Test func noSlotOrChoiceIsLeftInATextAndNoneIsEmpty() throws {
    for group in DemoFixture.texts.groups {
      for message in try members("group_message", group.id) {
        let text = try text(message.value["text"])
        #expect(!text.isEmpty)
        #expect(!text.contains { "{}[]|".contains($0) }, "\(text)")
        #expect(!text.contains("  ") && !text.hasSuffix(" ") && !text.contains("\n"), "\(text)")
      }
    }
  }

  @Test func textsAreOfManyScriptsAndLengths() throws {
    let texts = try members("group_message", "allotment").map { try text($0.value["text"]) }
    #expect(texts.filter { $0.count > 200 }.count >= 10)
    #expect(texts.filter { !$0.utf8.allSatisfy { $0 < 0x80 } }.count > 200)
    let distinct = Set(texts).count
    #expect(distinct > texts.count / 2, "\(distinct) distinct")
  }

  /// Every script is read with every seed that chooses its turns, so a slot that nothing fills is
  /// found here and not by a user.
  @Test func everyTextCanBeFilled() {
    let time = CivilTime(milliseconds: Self.end)
    for group in DemoFixture.texts.groups {
      let announcements = group.announcements.map(\.script)
      for script in group.scripts + group.exchanges + group.remarks + announcements {
        let people = Dictionary(uniqueKeysWithValues: script.parts.enumerated().map { ($1, $0) })
        for seed in 0..<40 as Range<UInt64> {
          var slots = DemoSlots(
            people: people, in: DemoFixture.texts, random: SeededRandom(seed: seed))
          for turn in script.turns { #expect(!slots.fill(turn.text, at: time).isEmpty) }
        }
      }
    }
  }

  @Test func conversationsAreManyAndOfUsefulLength() {
    let scripts = DemoFixture.texts.groups.flatMap(\.scripts)
    #expect(scripts.count >= 45)
    #expect(scripts.allSatisfy { 4...12 ~= $0.turns.count })
    #expect(DemoFixture.texts.groups.contains { $0.remarks.count >= 100 })
  }
}
