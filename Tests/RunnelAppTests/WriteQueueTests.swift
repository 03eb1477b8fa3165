import RunnelDatabase
import RunnelTerminal
import Testing

@testable import RunnelApp

/// What was refused stays until it is written or dropped.
@Suite struct WriteQueueTests {
  private let refusal = DatabaseError(.refused, "the disk is full")

  @Test func refusedNewRecordOutlivesAnotherOfItsKind() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small)
    app.backend.refusal = refusal
    app.press("g2 a")
    app.type("Zed")
    app.press("C-s C-g")
    #expect(app.state.queue.refused.count == 1)
    app.backend.refusal = nil
    app.press("a")
    app.type("Yan")
    app.press("C-s")
    #expect(app.screen.contains { $0.contains("Yan") })
    #expect(app.state.queue.refused.count == 1)
    app.press("S j e C-s")
    #expect(app.screen.contains { $0.contains("Zed") })
    #expect(app.state.queue.refused.isEmpty)
  }

  @Test func messageThatIsEditedAgainTakesNoDraftsPlace() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small)
    app.backend.refusal = refusal
    app.press("a")
    app.type("first")
    app.press("Enter")
    app.press("C-u")
    app.backend.refusal = nil
    app.type("second")
    app.press("C-g S j e")
    #expect(app.toast.contains("another draft"))
    #expect(app.list.draft == "second")
    #expect(app.state.queue.refused.count == 1)
  }
}
