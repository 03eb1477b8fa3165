// sync.md shows what stands between the marks; a test holds the two equal.

// example begin
import RunnelClient

func sayHello(to address: String, file: String? = nil) async throws -> Int {
  let database = try await Database.connect(to: address, file: file)
  defer { database.close() }
  let messages = try database.reference(withPath: "messages")
  let receipt = try await messages.childByAutoID().setValue(["text": "Hello"])  // visible at once
  try await receipt.acknowledgement()  // the server has it; it is sent when it can be
  return try await messages.get().childrenCount
}
// example end
