import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree

/// The toggling of the user's own record at another one, such as a like.
struct ToggleWrite: WriteKind {
  var place: String { "toggle" }
  var isKept: Bool { false }

  func sayPerformed(_ state: inout AppState, _ performed: Performed) {
    switch performed.kind {
    case .create?: state.say(.info, "added your `\(performed.resource)`")
    case .destroy?: state.say(.info, "took your `\(performed.resource)` back")
    case .update?, nil: break
    }
  }
}
