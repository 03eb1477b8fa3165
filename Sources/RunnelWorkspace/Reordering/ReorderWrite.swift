import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree

/// The write of the new place of a record among the rows of its list.
struct ReorderWrite: WriteKind {
  let path: Path

  var place: String { "reorder \(path)" }

  func changedRecords(_ state: AppState, key: RunnelTree.Key?) -> [Path] { [path] }
}
