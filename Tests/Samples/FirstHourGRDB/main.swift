// The same as `FirstHour` with GRDB. A page is a new observation with a larger limit, and the list follows
// the limit: to keep the rows that were read, the program has to count them itself.
import Foundation
import GRDB

struct Player: Codable, FetchableRecord, PersistableRecord {
  var id: String
  var name: String
  var score: Int
}

let database = try DatabasePool(path: CommandLine.arguments[1])
try database.write { db in
  try db.create(table: "player") { table in
    table.primaryKey("id", .text)
    table.column("name", .text).notNull()
    table.column("score", .integer).notNull().indexed()
  }
}
func add(_ name: String, _ score: Int) async throws {
  let player = Player(id: UUID().uuidString, name: name, score: score)
  try await database.write { db in try player.insert(db) }
}
func best(_ count: Int) -> AsyncValueObservation<[Player]> {
  ValueObservation.tracking { db in
    try Player.order(Column("score").desc).limit(count).fetchAll(db)
  }.values(in: database)
}
func show(_ players: [Player]) { print(players.map(\.name).joined(separator: " ")) }

for number in 0..<30 { try await add("p\(number)", number) }
for try await players in best(3) {
  show(players)
  break
}
for try await players in best(6) {
  show(players)
  break
}
try await add("new", 99)
for try await players in best(7) where players.first?.name == "new" {
  show(players)
  break
}
