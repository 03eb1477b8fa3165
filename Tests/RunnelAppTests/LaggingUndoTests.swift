import RunnelBase
import RunnelDatabase
import RunnelStreams
import RunnelTree
import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

/// Undo and deletions on a replica whose connection lags: what others wrote has not arrived.
@Suite struct LaggingUndoTests {
  private func conditions(_ request: WriteRequest) -> [WriteCondition] {
    let asked = Request.write(request).databaseRequest(1, ResourceRegistry()) {
      Key(unchecked: "new")
    }
    guard case .writeIf(_, _, let conditions) = asked else { return [] }
    return conditions
  }

  @Test func whatIsRemovedHasToBeAsItIsKnown() throws {
    let (notes, first) = (try Path("/notes"), try Path("/notes/n1"))
    #expect(conditions(.remove(first)) == [.known(at: first)])
    let keys = [Key(unchecked: "n1"), Key(unchecked: "n2")]
    #expect(
      try conditions(.removeAll(notes, keys)) == [.known(at: first), .known(at: Path("/notes/n2"))])
    let kept = WriteCondition(first, 1)
    #expect(conditions(.guarded(.remove(first), [kept])) == [kept, .known(at: first)])
  }

  /// A write of a value that undoes a step of this run.
  private func undoing(_ path: String) throws -> PendingWrite {
    let path = try Path(path)
    return PendingWrite(
      id: 7, write: .set(path, "old"),
      parts: [Assignment(path: path, target: .node(try Node(json: "old")))])
  }

  @Test func anUndoThatTheOriginRefusesIsNotRedoneNorSkipped() throws {
    var history = UndoHistory()
    var step = UndoHistory.Step(title: "changed /user/ana", parts: [.entry(1)])
    step.places = [try Path("/user/ana")]
    history.push(step, for: .redo)
    history.noteRefusal(of: try undoing("/user/bo/name"))
    #expect(history.steps(.redo) == [step] && history.refusedTitle == nil)
    history.noteRefusal(of: try undoing("/user/ana/name"))
    #expect(history.steps(.redo).isEmpty)
    #expect(history.refusedTitle == "changed /user/ana")
  }
}
