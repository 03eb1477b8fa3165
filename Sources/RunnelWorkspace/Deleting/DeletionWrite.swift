import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree

/// The deletion of a record or a value.
struct DeletionWrite: WriteKind {
  let path: Path

  var place: String { "delete \(path)" }
  var deletedPaths: [Path] { [path] }

  func finish(_ state: inout AppState, _ write: FinishedWrite) {
    state.say(.info, "deleted\(state.database.waitingWords)")
  }
}

/// The deletion of some of several records that are deleted together.
struct MarkedDeletionWrite: WriteKind {
  let paths: [Path]

  var place: String {
    paths.count == 1 ? "delete \(paths[0])" : "delete \(paths.count) from \(paths[0])"
  }

  var isOneOfMany: Bool { true }
  var deletedPaths: [Path] { paths }

  func finish(_ state: inout AppState, _ write: FinishedWrite) {
    Deleting.noteDeletion(&state, of: paths)
  }

  func fail(_ state: inout AppState, _ write: FailedWrite) {
    if Deleting.goOn(&state, toDelete: paths, write) { return }
    Deleting.noteFailure(&state, toDelete: paths, write.refusal)
  }
}
