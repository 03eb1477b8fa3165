import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree

/// The undo of an entry of the action log.
struct LogUndoWrite: WriteKind {
  var place: String { "undo" }
  var replacesData: Bool { true }
  var isKept: Bool { false }

  func sayPerformed(_ state: inout AppState, _ performed: Performed) {
    guard let kind = performed.kind else { return }
    let what =
      switch kind {
      case .create: "is there again"
      case .update: "is as it was"
      case .destroy: "is gone"
      }
    state.say(.info, "taken back: \(performed.path) \(what)")
  }
}
