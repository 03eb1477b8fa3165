// Runnel.md shows what stands between the marks; a test holds the two equal.

// example begin
import Runnel

struct Competitor: Codable, Sendable {
  var name: String
  var score = 0
}

func firstHour(file: String) async throws -> [String] {
  let database = try await Database.open(file: file)
  defer { database.close() }
  let players = try database.reference(withPath: "players")
  try await players.push(Competitor(name: "Ana", score: 7))  // on disk when it returns
  try await players.push(Competitor(name: "Bo"))

  let byScore = try players.queryOrdered(byChild: "score")
  for try await change in byScore.changes(as: Competitor.self, isDescending: true) {  // live
    let rows = change.items
    return rows.map { "\($0.name ?? "?") \($0.score ?? 0)" }
  }
  return []
}
// example end
