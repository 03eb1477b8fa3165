import RunnelTree

/// The undo or redo of a part of a step; `UndoHistory` takes its answer.
struct ReversalWrite: WriteKind {
  var place: String { "reversal" }
  var isOneOfMany: Bool { true }

  func fail(_ state: inout AppState, _ write: FailedWrite) {
    UndoHistory.failReversal(&state, of: write.id, write.refusal)
  }
}
