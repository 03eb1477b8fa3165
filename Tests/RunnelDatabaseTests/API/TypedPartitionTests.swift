import Foundation
import RunnelBase
import RunnelDatabase
import RunnelStreams
import RunnelTree
import Testing

/// Sections of typed rows by a stored field and by days of dates.
@Suite(.timeLimit(.minutes(5)), .fewAtOnce) struct TypedPartitionTests {
  private struct Visit: Codable, Sendable {
    var team: String?
    var at: Date
  }

  private typealias Row = DecodedRecord<Visit>

  private let folder: TemporaryFolder
  private let database: Database
  private let visits: Reference

  init() async throws {
    folder = try TemporaryFolder()
    database = try await folder.open()
    visits = try database.reference(withPath: "visits")
    try await visits.setValue([
      "a": ["team": "red", "at": 86_400_000], "b": ["at": 86_399_999],
      "c": ["team": "red", "at": "soon"], "d": ["team": "blue", "at": 90_000_000],
    ])
  }

  private func sections(
    _ make: (QueryStream<Row>) throws -> any SectionedStream<Row>
  ) async throws -> [[String]] {
    let session = StreamSession(database)
    let parts = try make(session.stream(of: visits, as: Visit.self))
    try await session.waitUntil { parts.loadState == .loaded }
    return parts.sections.map { [$0.title ?? "none"] + $0.items.map(\.key) }
  }

  @Test func aFieldHasASectionOfEachStoredValue() async throws {
    let expected = [["none", "b"], ["blue", "d"], ["red", "a", "c"]]
    #expect(try await sections { try PartitionedStream($0, by: "team") } == expected)
    let team = try RowField("team")
    #expect(try await sections { PartitionedStream($0, by: team) } == expected)
  }

  @Test func aSectionOfAFieldIsNamedByItsValue() async throws {
    let session = StreamSession(database)
    let rows = session.stream(of: visits, as: Visit.self)
    let teams = try PartitionedStream(rows, by: "team")
    try await session.waitUntil { teams.loadState == .loaded }
    let blue = "blue"
    #expect(teams.sectionKeys == [.withoutValue, FieldSection(blue), "red"])
    teams.setCollapsed(true, for: "red")
    teams.setCollapsed(true, for: .withoutValue)
    #expect(teams.sections.map(\.items.count) == [0, 1, 0])
    #expect([FieldSection(3), true] == [FieldSection(.leaf(.number(3))), FieldSection(true)])
  }

  @Test func sectionsStandInTheOppositeOrderIfWanted() async throws {
    let teams = try await sections { try PartitionedStream($0, by: "team", isDescending: true) }
    #expect(teams == [["red", "a", "c"], ["blue", "d"], ["none", "b"]])
    let days = try await sections {
      PartitionedStream($0, byDayOf: { $0.at }, in: .gmt, isDescending: true)
    }
    #expect(days.map { Array($0.dropFirst()) } == [["c"], ["a", "d"], ["b"]])
  }

  @Test func aNameThatIsNoFieldIsRefused() throws {
    let session = StreamSession(database)
    let typed = session.stream(of: visits, as: Visit.self)
    #expect(throws: TreeError.self) { try PartitionedStream(typed, by: "$team") }
    let records = session.stream(of: visits)
    #expect(throws: TreeError.self) { try PartitionedStream(records, by: "") }
    #expect(throws: Never.self) { try PartitionedStream(records, by: "team") }
  }

  @Test func aDayBeginsAtMidnightOfTheZone() async throws {
    let keys = try await sections { PartitionedStream($0, byDayOf: { $0.at }, in: .gmt) }
    #expect(keys.map { Array($0.dropFirst()) } == [["b"], ["a", "d"], ["c"]])
    let east = try #require(TimeZone(secondsFromGMT: 3600))
    let later = try await sections { PartitionedStream($0, byDayOf: { $0.at }, in: east) }
    #expect(later.map { Array($0.dropFirst()) } == [["a", "b", "d"], ["c"]])
  }
}
