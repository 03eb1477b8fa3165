// README.md shows what stands between the marks; a test holds the two equal.

// example begin
import Runnel

func chat() async throws {
  let database = try await Database.open(file: "chat.db")
  let messages = try database.reference(withPath: "messages")
  try await messages.push(["text": "hi"])
  for try await change in messages.changes() {  // now, and whenever any process writes
    print(change.items.map { $0["text"].string ?? "" })
  }
}
// example end
