// from-firebase.md shows what stands between the marks; a test holds the two equal.

// example begin
import Runnel

struct Guest: Codable, Sendable {
  var name: String
  var seats = 1
}

func seatGuests(in database: Database) async throws -> [String] {
  let guests = try database.reference(withPath: "guests")
  let ana = try guests.childByAutoID()
  try await ana.setValue(Guest(name: "Ana"))
  try await guests.child("bo").setValue(["name": "Bo", "seats": 2])
  try await ana.child("seats").setValue(ServerValue.increment(2))

  let token = guests.observe(.added) { event in print(event.snapshot.key ?? "") }
  defer { token.cancel() }  // this observation, and no other

  let largest = try guests.queryOrdered(byChild: "seats").queryLimited(toLast: 1)
  for try await snapshot in largest.values {  // observe(.value) as a loop; its end ends it
    return try snapshot.children.map { try $0.decode(Guest.self).name }
  }
  return []
}
// example end
