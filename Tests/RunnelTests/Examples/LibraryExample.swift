// Resources/docs/library.md shows what stands between the marks; a test holds the two equal.

// example begin
import Foundation
import Runnel

struct Message: Codable {
  var from: String
  var text: String
  @ServerTimestamp var created: Date? = nil
}

func chat(file: String) async throws {
  let database = try await Database.open(file: file)
  defer { database.close() }
  let messages = try database.reference(withPath: "rooms/kitchen/messages")

  let token = messages.observe(.added) { event in
    print("new:", event.snapshot.key ?? "", event.snapshot.value.jsonText())
  }
  try await messages.push(Message(from: "ana", text: "Tea?"))  // on disk when it returns
  token.cancel()

  let last = try messages.queryOrdered(byChild: "created").queryLimited(toLast: 20)
  for message in try await last.get().children { print(try message.decode(Message.self).text) }

  let unread = try database.reference(withPath: "rooms/kitchen/unread")
  try await unread.setValue(ServerValue.increment(1))
  for try await snapshot in unread.values {  // now, and after each write, until the loop is left
    print("unread:", snapshot.value.jsonText())
    break
  }
}
// example end
