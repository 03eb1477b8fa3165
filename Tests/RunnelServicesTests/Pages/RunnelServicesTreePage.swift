// RunnelServicesTree.md shows what stands between the marks; a test holds the two equal.

// example begin
import RunnelBase
import RunnelDatabase
import RunnelServices
import RunnelServicesTree

/// Stores two notes by the service, and returns the titles that the database and the service give.
func keepNotes(in database: Database) async throws -> [String] {
  let place = try database.reference(withPath: "notes")
  let notes = try await Feathers().use("notes", TreeService(place, multi: [.create]))
  try await notes.create([["title": "Bread"], ["title": "Milk"]])
  let stored = try await place.get().children.compactMap { $0.value["title"]?.string }
  let found = try await notes.find(ServiceQuery().eq("title", "Milk")).records
  return stored + found.compactMap { $0["title"]?.string }
}
// example end
