import Foundation
import RunnelBase
import RunnelTerminal
import RunnelTree
import Testing

@testable import RunnelApp
@testable import RunnelDatabase
@testable import RunnelWorkspace

/// A copy of the whole database is saved on a thread of its own.
@Suite struct CopySavingTests {
  /// The tasks that were started, in order; they wait until the test runs them.
  private final class Tasks {
    var list: [FileTask] = []

    /// Runs the oldest task on this thread; what it reports goes to `tell`.
    func run(_ tell: @escaping (FileReport) -> Void) { list.removeFirst().run(tell) }
  }

  private func save(_ app: AppDriver, _ file: String) {
    app.press(":")
    app.type("save-copy \(file)")
    app.strike("Enter")
  }

  @Test func aCopyOfAFileThatIsThere() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small)
    let folder = try TestFolder()
    let before = try app.stored("/")
    save(app, folder.file("copy.db"))
    #expect(app.toast.hasPrefix("saving a copy to"))
    app.pump()
    #expect(app.toast.hasPrefix("saved all"), "\(app.toast)")
    #expect(app.state.files.copy == nil)
    #expect(try folder.names() == ["copy.db"])
    let copy = try DatabaseSession(
      file: folder.file("copy.db"), isReadOnly: true, environment: .system)
    #expect(try copy.node(at: .root).json == before)
    try copy.close()
    save(app, folder.file("copy.db"))
    app.pump()
    #expect(app.toast.contains("is there already"), "\(app.toast)")
  }

  @Test(arguments: [false, true])
  func itIsStoppedByTheKeyForThat(isLost: Bool) throws {
    let tasks = Tasks()
    let app = try AppDriver(
      Fixture.views(), json: Fixture.small, startFileTask: { tasks.list.append($0) })
    let folder = try TestFolder()
    if isLost {
      try app.loseFile()
      app.notice()
    }
    save(app, folder.file("copy.db"))
    #expect(app.state.files.copy != nil)
    app.press("C-c")
    #expect(!app.state.session.isLeaving)
    tasks.run { app.runtime.receive($0) }
    app.pump()
    #expect(app.toast == "no copy was saved")
    #expect(app.state.files.copy == nil)
    #expect(try folder.names().isEmpty)
  }

  @Test func oneIsSavedAtATimeAndSaysHowFarItIs() throws {
    let tasks = Tasks()
    let app = try AppDriver(
      Fixture.views(), json: Fixture.small, startFileTask: { tasks.list.append($0) })
    let folder = try TestFolder()
    save(app, folder.file("copy.db"))
    save(app, folder.file("other.db"))
    #expect(tasks.list.count == 1)
    app.press("Esc")
    app.take(.savingCopy(.progress(bytes: 1 << 20, of: 1 << 22)))
    #expect(!app.toast.contains("1 MiB"))
    app.wait(milliseconds: 300)
    app.take(.savingCopy(.progress(bytes: 1 << 20, of: 1 << 22)))
    #expect(app.toast == "saving a copy: 1 MiB of about 4 MiB · C-c stops")
    app.take(.savingCopy(.failed("the disk is full")))
    #expect(app.toast == "the disk is full")
    #expect(app.state.files.copy == nil)
  }

  @Test(arguments: [
    CopySaving.Report.progress(bytes: 1, of: 3), .done(file: "a.db", bytes: 3), .stopped,
    .failed("full"),
  ]) func reportIsRecorded(report: CopySaving.Report) throws {
    let action = AppAction.savingCopy(report)
    guard case .savingCopy(let read) = try AppAction(json: action.json()) else {
      Issue.record("another action")
      return
    }
    #expect(read == report)
  }

  @Test func anOlderRecordingHasItAsAnAnswer() throws {
    let answer: JSONValue = ["copied": "a.db", "bytes": 3]
    guard
      case .savingCopy(let report) = try AppAction(json: ["answered": 1, "answer": answer])
    else {
      Issue.record("another action")
      return
    }
    #expect(report == .done(file: "a.db", bytes: 3))
  }
}
