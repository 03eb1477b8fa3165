import RunnelBase
import RunnelDatabase
import RunnelStreams
import RunnelTree
import Testing

/// The examples of the page for those who come from StreamBaseKit's persistence layer, run.
@Suite(.timeLimit(.minutes(5))) struct ResourceExampleTests {
  @Test func theExamplesDoWhatThePageSays() async throws {
    let folder = try TemporaryFolder()
    let database = try await folder.open()
    let log = EventLog()
    let base = try chatBase(database) { log.note($0) }
    let result = try await firstMessage(base)
    let message = result.object
    #expect(log.texts.count { $0.hasPrefix("written /group_message/") } == 1)
    #expect(log.texts.count { $0.hasPrefix("final ") } == 4)
    #expect(
      try await result.reference.get().value == [
        "from": "ana", "likeCount": 0, "text": "Tea?",
      ])
    let group = try #require(result.reference.parent?.key)
    let here = try base.context(["group": ChatGroup(key: group, name: "Garden")])
    let user = ChatUser(key: "bo")
    #expect(try await like(message, by: user, in: here))
    #expect(try await result.reference.child("likeCount").get().value == 1)
    #expect(try await !like(message, by: user, in: here))
    await #expect(throws: ResourceError.self) {
      try await here.create(ChatMessage(text: " ", from: "ana"))
    }
    #expect(try await here.create(ChatMessage(text: " Cake ", from: "ana")).object.text == "Cake")
    try await sendAll(["one", "two"], to: ChatGroup(key: group, name: "Garden"), base)
    let messages = try here.collection(of: ChatMessage.self)
    #expect(try await messages.get().childrenCount == 4)
    let mail = Task { try await mailOut(database) { log.note($0) } }
    try await log.wait(for: #": "Tea?""#)
    mail.cancel()
    _ = await mail.result
  }
}
