// sync.md shows what stands between the marks; a test holds the two equal.

// example begin
import RunnelClient

func sayHello(to address: String, file: String? = nil) async throws -> Int {
  let database = try await Database.connect(to: address, file: file)
  defer { database.close() }
  let messages = try database.reference(withPath: "messages")
  try await messages.push(["text": "Hello"])  // visible at once; sent when it can be
  for try await snapshot in messages.values where !snapshot.hasPendingWrites {
    return snapshot.childrenCount
  }
  return 0  // the task was cancelled
}
// example end
