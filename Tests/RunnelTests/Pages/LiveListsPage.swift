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
actor ScoreBoard {
  private let session: StreamSession
  private let stream: QueryStream<DecodedRecord<Score>>

  init(_ scores: Reference) {
    session = StreamSession(scores.database)
    stream = session.stream(of: scores, as: Score.self)
  }

  func follow() async throws { try await session.run() }  // in a task; cancel it to end
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
      self?.lines = change.items.map { row in
        "\(row.name ?? row.key)\(row.hasPendingWrites ? " ~" : "")"
      }
    }
  }

  func appear() { task = Task { try? await session.run() } }  // it throws if the database is closed
  func disappear() { task?.cancel() }
}
// example end

// example begin
func countBoth(_ first: Reference, _ second: Reference) async throws -> Int {
  let session = StreamSession(first.database)
  let union = UnionStream([session.stream(of: first), session.stream(of: second)]) {
    $0.key < $1.key
  }
  while union.loadState != .loaded { try await session.receive() }
  return union.count
}
// example end

// example begin
func readPages(_ log: Reference) async throws -> [Int] {
  let session = StreamSession(log.database)
  let newest = session.stream(of: log, paging: Paging(anchor: .last, count: 10))
  while newest.loadState != .loaded { try await session.receive() }
  var counts = [newest.count]
  while newest.fetchState == .more {
    newest.fetchMore(10)
    while newest.fetchState == .fetching { try await session.receive() }
    counts.append(newest.count)
  }
  let middle = try session.stream(
    of: try log.queryOrdered(byChild: "points"), as: Score.self, around: 50, count: 5)
  while middle.loadState != .loaded { try await session.receive() }
  middle.fetchMore(3, at: .start)
  middle.fetchMore(3, at: .end)
  while middle.count < 16 { try await session.receive() }
  return counts + [middle.count]
}
// example end
