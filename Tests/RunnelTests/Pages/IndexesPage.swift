// Indexes.md shows what stands between the marks; a test holds the two equal.

// example begin
import Runnel

func openWithIndexes(_ file: String) async throws -> Database {
  let byPoints = try IndexDefinition("/players", by: "points")
  let pinnedFirst = try IndexDefinition("/rooms/$room", by: "pinned:desc,at")
  return try await Database.open(file: file, indexes: [byPoints, pinnedFirst])
}
// example end

// example begin
func declareLater(_ database: Database) async throws -> [String] {
  let players = try database.reference(withPath: "players")
  _ = try await players.queryOrdered(byChild: "age").queryLimited(toFirst: 3).get()
  let advice = try await database.takeIndexAdvice()  // what reads could have used
  try await database.declareIndexes(advice.map(\.definition)) { rows in
    print("\(rows) rows are entered")
  }
  return try await database.declaredIndexes().map { "\($0.pattern) by \($0.order)" }
}
// example end
