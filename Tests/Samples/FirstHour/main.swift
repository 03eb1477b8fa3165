// The first hour: open, define, write, a live typed list by score, a page, and a row that arrives.
import Runnel

struct Player: Codable, Sendable {
  var name: String
  var score: Int
}

let players = try await Database.open(file: CommandLine.arguments[1]).reference(withPath: "players")
for number in 0..<30 { try await players.push(Player(name: "p\(number)", score: number)) }

let session = StreamSession(players.database)
let best = session.stream(
  of: try players.queryOrdered(byChild: "score"), as: Player.self,
  paging: Paging(anchor: .last, count: 3), isDescending: true)
@MainActor func show(_ count: Int) async throws {
  try await session.waitUntil { best.count >= count }
  print(best.items.compactMap(\.name).joined(separator: " "))
}

try await show(3)
best.fetchMore(3)
try await show(6)
try await players.push(Player(name: "new", score: 99))  // the pages stay, and the row arrives
try await show(7)
