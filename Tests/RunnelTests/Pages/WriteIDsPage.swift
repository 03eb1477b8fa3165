// WriteIDs.md shows what stands between the marks; a test holds the two equal.

// example begin
import Runnel

/// Jobs as they stand in a queue of the program, which outlives it; each has its number there.
struct Payment: Codable, Sendable {
  var number: Int64
  var amount: Int
}

func carryOut(_ jobs: [Payment], in database: Database) async throws -> Int {
  let total = try database.reference(withPath: "total")
  var applied = 0
  for job in jobs {
    guard let id = WriteID(client: "till-7", number: job.number) else { continue }
    let receipt = try await total.setValue(ServerValue.increment(job.amount), id: id)
    if receipt.isApplied { applied += 1 }  // false: a run before this one did it
  }
  return applied
}
// example end
