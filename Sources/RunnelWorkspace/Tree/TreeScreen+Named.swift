import RunnelBase
import RunnelStreams
import RunnelTree

// Children of a node whose children cannot be read, because the server's rules forbid it: only those that
// the user named are shown, for they may be read themselves.

extension TreeScreen {
  /// Shows a child that the user named, below a node whose children cannot be read.
  ///
  /// O(lines).
  mutating func show(named key: RunnelTree.Key, of parent: Path, height: Int) {
    guard var children = expanded[parent], children.child(key) == nil else { return }
    let summary = NodeSummary(kind: .children(count: 1), priority: nil)
    let row = TreeRow(key: key, value: .null, content: .summary(summary))
    var records = Array(children.rows)
    records.insert(
      Record(path: Path(unchecked: parent.keys + [key]), row: row), at: children.index(of: key))
    children.rows = Rows(records)
    expanded[parent] = children
    rebuild(height: height)
  }

  /// Returns whether the children of a node cannot be read.
  func isUnreadable(_ path: Path) -> Bool {
    if case .failed? = expanded[path]?.phase { true } else { false }
  }

  /// Returns the number of children of a node in words; a child that the user named is counted once its
  /// children are read.
  func keyCountText(of path: Path, _ count: Int) -> String {
    var count = count
    var more = ""
    if let parent = path.parent, isUnreadable(parent) {
      guard let children = expanded[path], children.phase.showsRows else { return "" }
      (count, more) = (children.rows.count, children.paging == .exhausted ? "" : "+")
    }
    return count == 1 && more.isEmpty ? "1 key" : "\(count)\(more) keys"
  }
}

extension TreeChildren {
  /// Keeps the children that the user named, if those of the node still cannot be read.
  mutating func keepNamed(of known: TreeChildren?) {
    guard rows.isEmpty, case .failed = phase, let known, case .failed = known.phase else { return }
    rows = known.rows
  }
}
