import Foundation
import RunnelBase
import RunnelTerminal
import RunnelTree
import Testing

@testable import RunnelApp
@testable import RunnelDatabase
@testable import RunnelWorkspace

/// What an origin refused is on disk until the user has dealt with it, however the program ends.
@Suite struct RefusalFileTests {
  private func open() throws -> AppDriver {
    try AppDriver(Fixture.views(), json: Fixture.small, origin: "home")
  }

  private func file(of app: AppDriver) throws -> RefusalFile {
    RefusalFile(database: try #require(app.backend.databaseFile))
  }

  private func write(_ id: Int64, _ text: String) throws -> KeptRefusal {
    let path = try Path("/notes/n\(id)")
    return KeptRefusal(
      write: PendingWrite(
        id: id, write: .set(path, .string(text)),
        parts: [Assignment(path: path, target: .node(try Node(json: .string(text))))],
        bases: [.empty]),
      refusal: Refusal("no", fields: [.init(name: "text", message: "is too long.")]), at: 7,
      tries: 2)
  }

  @Test func refusedWriteIsOnDiskAtOnceAndListedAfterTheNextStart() throws {
    let app = try open()
    app.press("a")
    app.type("hello")
    app.press("Enter C-g")
    app.runtime.receive([.rejected(nil, write: 1, TreeError(.permissionDenied, "too late"))])
    // Nothing else is done before a kill.
    var kept = try file(of: app)
    let refused = kept.read()
    #expect(refused.map(\.write.id) == [1])
    let next = try open()
    next.take(.refusedBefore(refused))
    #expect(next.screen[0].contains("!1"))
    next.press("S")
    #expect(next.cursorLine.contains("refused  set /"))
    next.press("Enter")
    #expect(next.line(of: "too late") != nil && next.line(of: "hello") != nil)
    // The text goes back into its line, and once it is sent the refusal is dealt with.
    next.press("e")
    guard case .compose(let composer)? = next.state.layers.last else {
      Issue.record("the line is not open: \(next.toast)")
      return
    }
    #expect(composer.editor.text == "hello")
    next.press("Enter")
    #expect(next.state.writes.queue.refused.isEmpty)
  }

  @Test func whatIsDealtWithIsOnDiskNoMore() throws {
    let app = try open()
    for number in 1...2 { try app.set("/notes/n\(number)", "mine") }
    for number in 1...2 {
      app.runtime.receive([
        .rejected(nil, write: Int64(number), TreeError(.permissionDenied, "no"))
      ])
    }
    var kept = try file(of: app)
    #expect(kept.read().map(\.write.id) == [1, 2])
    app.press("S gg j r")
    #expect(kept.read().map(\.write.id) == [2])
    app.press("gg j d")
    app.wait(milliseconds: 200)
    app.press("y")
    #expect(kept.read().isEmpty && !FileManager.default.fileExists(atPath: kept.path))
  }

  @Test func leavingDoesNotAskForWhatIsKept() throws {
    let app = try open()
    try app.set("/notes/n1", "mine")
    app.runtime.receive([.rejected(nil, write: 1, TreeError(.permissionDenied, "no"))])
    app.press("q")
    #expect(app.state.session.isLeaving)
  }

  @Test func workspacesOnOneReplicaKeepTheRefusalsOfBoth() throws {
    let app = try open()
    var (one, other) = (try file(of: app), try file(of: app))
    let (first, second, third) = (try write(1, "a"), try write(2, "b"), try write(3, "c"))
    #expect(one.read().isEmpty && other.read().isEmpty)
    #expect(one.write([first]) == nil)
    #expect(other.write([second, third]) == nil)
    #expect(other.write([third]) == nil)
    var later = try file(of: app)
    #expect(Set(later.read()) == [first, third])
    #expect(one.write([]) == nil)
    #expect(later.read() == [third])
    #expect(other.write([]) == nil)
    #expect(later.read().isEmpty)
  }

  @Test func recordedSessionHasThem() throws {
    let kept = [try write(1, "a"), try write(2, "b")]
    #expect(kept.map { KeptRefusal($0.json) } == kept)
    let app = try AppDriver(
      Fixture.views(), json: Fixture.small, origin: "home", isRecording: true)
    app.take(.refusedBefore(kept))
    let replay = try SessionReplay(parsing: app.recording, file: "recording")
    #expect(replay.state.writes.queue.kept == kept)
  }
}
