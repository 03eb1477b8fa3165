// RunnelDatabase.docc shows what stands between the marks; a test holds the two equal.

// example begin
import RunnelBase
import RunnelDatabase

struct Player: Codable, Equatable {
  var name: String
  var score = 0
}

func play(file: String) async throws -> [Player] {
  let database = try await Database.open(file: file)
  defer { database.close() }
  let players = try database.reference(withPath: "players")

  try await players.updateChildValues([
    "ana": ["name": "Ana"], "bo": ["name": "Bo", "score": 7],
  ])
  try await players.child("ana").runTransaction { current in
    guard current.exists else { return .abort }
    return .success(Player(name: "Ana", score: 9))
  }
  let best = try players.queryOrdered(byChild: "score").queryLimited(toLast: 1)
  return try await best.get().children.map { try $0.decode(Player.self) }
}
// example end
