// LiveLists.md shows what stands between the marks; a test holds the two equal.

// example begin
import Runnel

struct Score: Codable, Equatable, Sendable {
  var name: String
  var points: Int
}

func waitForRecord(_ scores: Reference) async throws -> String {
  let best = try scores.queryOrdered(byChild: "points").queryLimited(toLast: 1)
  for try await top in best.values(as: [String: Score].self) {
    if let score = top.values.first, score.points >= 100 { return score.name }
  }
  return ""  // the task was cancelled
}
// example end

// example begin
func followList(_ scores: Reference, until isEnough: ([String]) -> Bool) async throws {
  let query = try scores.queryOrdered(byChild: "points")
  for try await change in query.changes(as: Score.self, isDescending: true) {
    let rows = change.items
    if isEnough(rows.map { "\($0.key) \($0.name ?? "?") \($0.points ?? 0)" }) { break }
  }
}
// example end

// example begin
func isFilled(_ scores: Reference, within limit: Duration) async throws -> Bool {
  let session = StreamSession(scores.database)
  let rows = session.stream(of: scores)
  do {
    try await session.waitUntil(within: limit) { rows.count > 0 }
    return true
  } catch let error as TreeDatabaseError where error.code == .timedOut {
    return rows.count > 0  // the session and its rows can still be used
  }
}
// example end

// example begin
actor ScoreBoard {
  private let session: StreamSession
  private let stream: QueryStream<DecodedRecord<Score>>
  private(set) var changeCount = 0

  init(_ scores: Reference) {
    session = StreamSession(scores.database)
    stream = session.stream(of: scores, as: Score.self)
  }

  func follow() async throws {  // in a task; cancel it to end
    let token = stream.observe { [weak self] _ in
      self?.assumeIsolated { $0.changeCount += 1 }
    }
    defer { token.cancel() }
    try await session.run()
  }

  var names: [String] { stream.items.compactMap(\.name) }
}
// example end

// example begin
@MainActor final class ScoreModel {
  private(set) var lines: [String] = []
  private let session: StreamSession
  private let stream: QueryStream<DecodedRecord<Score>>
  private var task: Task<Void, Never>?

  init(_ scores: Reference) {
    session = StreamSession(scores.database)
    stream = session.stream(of: scores, as: Score.self)
    _ = stream.observe { [weak self] change in
      if case .failed(let failure) = change.loadState {
        self?.lines = [failure.message]
      } else {
        self?.lines = change.items.map { row in
          "\(row.name ?? row.key)\(row.hasPendingWrites ? " ~" : "")"
        }
      }
    }
  }

  func appear() {
    task = Task {
      do { try await session.run() } catch { lines = ["\(error)"] }  // the database was closed
    }
  }
  func disappear() { task?.cancel() }
}
// example end

// example begin
func countBoth(_ first: Reference, _ second: Reference) async throws -> Int {
  let session = StreamSession(first.database)
  let union = UnionStream([session.stream(of: first), session.stream(of: second)]) {
    $0.key < $1.key
  }
  try await session.waitUntil { union.loadState == .loaded }
  return union.count
}
// example end

// example begin
func showByInitial(_ scores: Reference) async throws -> [String] {
  let session = StreamSession(scores.database)
  let stored = session.stream(of: scores, as: Score.self)
  stored.predicate = { ($0.points ?? 0) > 0 }
  let draft = try DecodedRecord(
    key: "~draft", in: scores.path, value: Score(name: "Ada", points: 0))
  let parts: [any SectionedStream<DecodedRecord<Score>>] = [stored, TransientStream([draft])]
  let all = UnionStream(parts) { $0.key < $1.key }
  let sections = PartitionedStream(all) { row in row.name.map { String($0.prefix(1)) } ?? "?" }
  try await session.waitUntil { sections.loadState == .loaded }
  return sections.sections.map { section in
    "\(section.title ?? ""): \(section.items.compactMap(\.name).joined(separator: " "))"
  }
}
// example end

// example begin
import Foundation

struct Visit: Codable, Sendable {
  var team: String?
  var at: Date
}

func countVisits(_ visits: Reference, since date: Date) async throws -> [String] {
  let session = StreamSession(visits.database)
  let recent = try visits.queryOrdered(byChild: "at").queryStarting(atValue: JSONValue(date))
  let rows = session.stream(of: recent, as: Visit.self)
  let teams = try PartitionedStream(rows, by: "team")
  let days = PartitionedStream(rows, byDayOf: { row in row.at }, in: .gmt, isDescending: true)
  try await session.waitUntil { days.loadState == .loaded && teams.loadState == .loaded }
  return teams.sections.map { "\($0.title ?? "no team") \($0.items.count)" }
    + ["\(days.sections.count) days"]
}
// example end

// example begin
func readPages(_ log: Reference) async throws -> [Int] {
  let session = StreamSession(log.database)
  let newest = session.stream(of: log, paging: Paging(anchor: .last, count: 10))
  try await session.waitUntil { newest.loadState == .loaded }
  var counts = [newest.count]
  while newest.fetchState == .more {
    newest.fetchMore(10)
    try await session.waitUntil { newest.fetchState != .fetching }
    counts.append(newest.count)
  }
  let middle = try session.stream(
    of: try log.queryOrdered(byChild: "points"), as: Score.self, around: 50, count: 5)
  try await session.waitUntil { middle.loadState == .loaded }
  middle.fetchMore(3, at: .start)
  middle.fetchMore(3, at: .end)
  try await session.waitUntil {
    middle.fetchState(at: .start) != .fetching && middle.fetchState(at: .end) != .fetching
  }
  return counts + [middle.count]
}
// example end
