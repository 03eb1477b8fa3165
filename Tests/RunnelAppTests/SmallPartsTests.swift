import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree
import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

@Suite struct AgeTests {
  @Test(
    arguments: [
      (0, "now"), (4_999, "now"), (5_000, "5s"), (59_999, "59s"), (60_000, "1m"),
      (3_599_999, "59m"), (3_600_000, "1h"), (86_399_999, "23h"), (86_400_000, "1d"),
      (14 * 86_400_000 - 1, "13d"), (14 * 86_400_000, "2w"), (365 * 86_400_000 - 1, "52w"),
      (365 * 86_400_000, "1y"), (-1, "soon"), (999 * 365 * 86_400_000, "999y"),
      (1000 * 365 * 86_400_000, "long"), (-59_999, "soon"), (-60_000, "+1m"), (-7_200_000, "+2h"),
      (-300 * 86_400_000, "+42w"), (-365 * 86_400_000, "+1y"), (-100 * 365 * 86_400_000, "far"),
    ] as [(Int64, String)])
  func agesHaveAtMostFourCharacters(elapsed: Int64, text: String) {
    #expect(Age.text(of: Fixture.now - elapsed, now: Fixture.now) == text)
    #expect(text.count <= 4)
  }

  @Test func nextChangeIsTheFirstMomentWithAnotherText() throws {
    var random = SeededRandom(seed: 11)
    for _ in 0..<500 {
      let scale = Int64(1) << Int64.random(in: 0..<38, using: &random)
      let time = Fixture.now - Int64.random(in: -scale...scale, using: &random)
      let change = try #require(Age.nextChange(of: time, now: Fixture.now))
      let text = Age.text(of: time, now: Fixture.now)
      #expect(change > Fixture.now)
      #expect(Age.text(of: time, now: change - 1) == text, "\(time)")
      #expect(Age.text(of: time, now: change) != text, "\(time)")
    }
  }

  @Test func anyNumbersMayBeGiven() {
    for time in [Int64.min, -1, 0, .max] {
      for now in [Int64.min, -1, 0, Fixture.now, .max] {
        #expect(Age.text(of: time, now: now).count <= 4)
        #expect(Age.nextChange(of: time, now: now).map { $0 > now } ?? true)
      }
    }
  }
}

@Suite struct FieldKindTests {
  @Test(
    arguments: [
      (FieldKind.string, " x ", " x "), (.number, " 12 ", 12), (.number, "-3.50", -3.5),
      (.number, "1e3", 1000), (.boolean, "TRUE", true), (.boolean, " no ", false),
      (.boolean, "1", true),
      (.json, "{\"a\": [1]}", ["a": [1]]), (.json, "\"x\"", "x"), (.string, "", ""),
    ] as [(FieldKind, String, JSONValue)])
  func textIsReadAsItsKind(kind: FieldKind, text: String, value: JSONValue) throws {
    #expect(try kind.value(of: text) == value)
  }

  @Test(arguments: [
    (FieldKind.number, ""), (.number, "x"), (.number, "1 2"), (.number, "NaN"), (.number, "true"),
    (.boolean, ""), (.boolean, "maybe"), (.json, ""), (.json, "x"), (.json, "null"), (.json, "{}"),
    (.json, "[null]"),
  ])
  func otherTextIsRefusedWithAReason(kind: FieldKind, text: String) {
    let error = #expect(throws: InputError.self) { try kind.value(of: text) }
    #expect(error?.message.isEmpty == false)
  }

  @Test func everyScalarSurvivesBeingEdited() throws {
    for value in ["text", "", 5, -0.25, 9_007_199_254_740_993, true, false] as [JSONValue] {
      #expect(try FieldKind(value).value(of: FieldKind.text(of: value)) == value)
    }
  }

  @Test func kindsComeInTurn() {
    var kind = FieldKind.string
    var seen: [FieldKind] = []
    for _ in FieldKind.allCases {
      seen.append(kind)
      kind = kind.next
    }
    #expect(kind == .string)
    #expect(Set(seen) == Set(FieldKind.allCases))
  }
}

@Suite struct SectionIDTests {
  @Test func textOfAnIDIsReadBack() {
    for id in [
      SectionID(rule: 2, rank: 20_000, value: ""), SectionID(rule: 0, rank: -7, value: "a|b|c"),
      SectionID(rule: 1, rank: 0, value: "漢字"),
    ] {
      #expect(SectionID(id.text) == id)
    }
  }

  @Test func rulesThenRanksThenValuesOrderSections() {
    let ids = [
      SectionID(rule: 0, value: ""), SectionID(rule: 1, rank: -1, value: "z"),
      SectionID(rule: 1, rank: 3, value: "a"), SectionID(rule: 1, rank: 3, value: "b"),
      SectionID(rule: 2, value: ""),
    ]
    #expect(ids.shuffled().sorted() == ids)
  }

  @Test func daysAreThoseOfTheUsersClock() throws {
    let views = try Fixture.views()
    let east = LocalTime { _ in 6 * 3600 }
    let record = RunnelTree.Node(children: [
      Child(
        key: try Key("created"),
        node: RunnelTree.Node(.number(JSONNumber(Fixture.now))))
    ])
    let key = try Key("m")
    let id = SectionID(of: record, key: key, in: views[0], local: .utc)
    let later = SectionID(of: record, key: key, in: views[0], local: east)
    #expect(later.rank == id.rank + 1)
    #expect(id.title(in: views[0], now: Fixture.now, local: .utc).hasPrefix("Today"))
  }

  @Test func recordThatFitsNoRuleHasAPlace() throws {
    let views = try Fixture.views()
    let id = SectionID(
      of: RunnelTree.Node(.string("odd")), key: try Key("m"), in: views[0], local: .utc)
    #expect(id.title(in: views[0], now: 0, local: .utc) == "Others")
  }
}

@Suite struct LocalTimeTests {
  @Test func midnightIsAfterNowAndNotAfterTomorrow() {
    for offset in [-12, -1, 0, 3, 14] {
      let local = LocalTime { _ in offset * 3600 }
      for now in stride(from: Fixture.now, to: Fixture.now + 2 * Fixture.day, by: 5_000_011) {
        let midnight = local.midnight(after: now)
        #expect(midnight > now && midnight <= now + Fixture.day)
        #expect(local.civil(midnight).timeText == "00:00")
      }
    }
  }

  @Test func everyNumberIsSomeMoment() {
    for number in [Int64.min, .min + 1, -1, 0, 1 << 53, .max] {
      #expect(!LocalTime.utc.civil(number).dateText.isEmpty)
      #expect(!LocalTime.system.civil(number).dateText.isEmpty)
    }
  }
}
