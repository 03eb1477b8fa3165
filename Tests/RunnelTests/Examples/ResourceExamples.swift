// ComingFromStreamBaseKitResources.md shows what stands between the marks; a test holds them equal.

// example begin
import Foundation
import RunnelBase
import RunnelDatabase
import RunnelStreams
import RunnelTree

struct ChatGroup: Resource {
  var key: String?
  var name: String
  var messageCount: Int?
}

struct ChatMessage: Resource {
  var key: String?
  var text: String
  var from: String
  var pinned: Bool?
}

struct ChatLike: Resource {
  var key: String?
  @ServerTimestamp var created: Date? = nil
}

func chatRegistry() throws -> ResourceRegistry {
  var registry = ResourceRegistry()
  try registry.resource(ChatGroup.self, path: "/group/@")
  try registry.resource(
    ChatMessage.self, path: "/group_message/$group/@", parents: ["group": "ChatGroup"])
  try registry.resource(
    ChatLike.self, path: "/message_like/$group/$message/$user",
    parents: ["message": "ChatMessage"])
  try registry.counter(ChatGroup.self, name: "messageCount", countingType: ChatMessage.self)
  try registry.counter(ChatMessage.self, name: "likeCount", countingType: ChatLike.self)
  try registry.cascade(from: ChatGroup.self, to: ChatMessage.self)
  try registry.cascade(from: ChatMessage.self, to: ChatLike.self)
  try registry.log(at: "/action")
  return registry
}
// example end

// example begin
func firstMessage(_ base: ResourceBase) async throws -> ResourceResult<ChatMessage> {
  let root = try base.context()
  let group = try await root.create(ChatGroup(name: "Garden")).object  // has its key now

  let here = try root.push(["group": group])
  var message = try await here.create(ChatMessage(text: "Tea?", from: "ana")).object
  message.pinned = true
  try await here.update(message)
  message.pinned = nil
  return try await here.update(message)  // removes the field
}
// example end

// example begin
func sendAll(_ texts: [String], to group: ChatGroup, _ base: ResourceBase) async throws {
  try await withThrowingTaskGroup(of: Void.self) { tasks in
    for text in texts {
      tasks.addTask {
        let here = try base.context(["group": group])  // a context for each task
        try await here.create(ChatMessage(text: text, from: "ana"))
      }
    }
    try await tasks.waitForAll()
  }
}
// example end

// example begin
nonisolated(nonsending) func like(
  _ message: ChatMessage, by user: ChatUser, in here: BoundContext
) async throws -> Bool {
  let place = try here.push(["message": message, "user": user])
  return try await place.toggle(ChatLike()).kind == .create
}

struct ChatUser: Resource {
  var key: String?
}
// example end

// example begin
func chatBase(
  _ database: Database, notify: @escaping @Sendable (String) async -> Void
) throws -> ResourceBase {
  let messages: Set = ["ChatMessage"]
  return try ResourceBase(
    database, chatRegistry(),
    hooks: [
      ResourceHook(
        "trim", for: ResourceScope(messages, kinds: [.create]),
        .before { change in
          var record = change.new
          let text = change.new["text"]?.string ?? ""
          record["text"] = .string(text.trimmingCharacters(in: .whitespaces))
          return .write(record)
        }),
      ResourceHook(
        "willCreate", for: ResourceScope(messages, kinds: [.create]),
        .before { change in change.new["text"] == "" ? .veto("A message says something.") : .allow }
      ),
      ResourceHook(
        "didCreate", for: ResourceScope(messages, kinds: [.create]),
        .committed { await notify("written \($0.path)") }),
      ResourceHook("didPersist", .acknowledged { await notify("final \($0.path)") }),
      ResourceHook("didFail", .rejected { await notify("taken back \($0.path): \($1)") }),
    ])
}
// example end

// example begin
func mailOut(
  _ database: Database, send: @escaping @Sendable (String) async throws -> Void
) async throws {
  let cursor = ActionLogCursor(log: try Path("/action"), checkpoint: try Path("/consumer/mail"))
  try await ActionLogConsumer(database, cursor).run { entry in
    guard entry.resource == "ChatMessage", entry.kind == .create else { return }
    try await send("\(entry.author): \(entry.new["text"]?.jsonText() ?? "")")
  }
}
// example end
