// Presence.md shows what stands between the marks; a test holds the two equal.

// example begin
import Runnel

func comeOnline(_ name: String, in database: Database) async throws {
  let me = try database.reference(withPath: "online").child(name)
  try await me.onDisconnectRemoveValue()  // first, so that nothing is missed
  try await me.setValue(["since": ServerValue.timestamp])
}

func waitUntilAlone(_ database: Database) async throws {
  let online = try database.reference(withPath: "online")
  for try await snapshot in online.values where snapshot.childrenCount <= 1 { return }
}
// example end
