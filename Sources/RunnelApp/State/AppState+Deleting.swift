import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree

// Deleting records of a list: the one under the cursor, or all that are marked.

/// How far the deletion of several records is.
///
/// Each is a write of its own, by the operation of its resource: one that fails stops no other.
struct Deletion: Hashable, Sendable {
  /// How many there were.
  var count: Int
  /// How many are not answered yet.
  var waiting: Int
  /// The first one that is still there, and why.
  var failure: String?
  /// How many are still there.
  var failedCount = 0
}

extension ConfirmScreen {
  /// What it is about, in words.
  var subject: String {
    paths.count == 1 ? "\(paths[0])" : "\(paths.count) records"
  }
}

extension AppState {
  /// The most records that `y` alone deletes.
  static let deletedByYesMax = 100
  /// How many of them a question names.
  private static let namedMax = 3

  /// Asks before the marked records are deleted, or the one under the cursor.
  mutating func deleteRecord() {
    let screen = lists[active]
    if screen.markCount > 0 { return confirmRemovalOfMarked(in: screen) }
    guard let record = screen.cursorRecord else { return }
    confirmRemoval(of: record.path, record.row.summary)
  }

  private mutating func confirmRemovalOfMarked(in screen: ListScreen) {
    if refusesWriting() { return }
    let marked = screen.markedRecords
    if let record = marked.first, marked.count == 1 {
      return confirmRemoval(of: record.path, record.row.summary)
    }
    confirmRemoval(
      of: marked.map(\.path), kind: "records", hidden: screen.markCount - marked.count,
      word: screen.definition.source.path.lastKey?.text ?? "all")
  }

  /// Asks before the marked nodes of the tree are deleted.
  mutating func deleteMarkedNodes() {
    let marked = tree.markedNodes
    if let node = marked.first, marked.count == 1 {
      return confirmRemoval(of: node.path, node.row.summary)
    }
    confirmRemoval(
      of: marked.map(\.path), kind: "nodes", hidden: 0,
      word: marked.first?.path.parent?.lastKey?.text ?? "all")
  }

  private mutating func confirmRemoval(
    of paths: [Path], kind: String, hidden: Int, word: String
  ) {
    if paths.isEmpty { return }
    let title = "Delete \(paths.count) marked \(kind)"
    if paths.count > AppState.deletedByYesMax {
      let field = FormScreen.Field("type \(word)", kind: .string)
      return layers.append(
        .form(FormScreen(purpose: .deleteMarked(paths, word: word), title: title, fields: [field])))
    }
    var message = paths.prefix(AppState.namedMax).map { StyledLine($0.description) }
    let rest = paths.count - message.count
    if rest > 0 { message.append(StyledLine("and \(rest) more", .muted)) }
    if hidden > 0 { message.append(StyledLine("\(hidden) that the filter hides stay", .muted)) }
    if let path = paths.first, let warning = resources.warning(onRemovalOf: path) {
      message.append(StyledLine(warning, .warn))
    }
    let dialog = ConfirmDialog(
      title: title, message: message,
      hints: [hint(.dialogYes, "delete all"), hint(.dialogNo, "keep")].compactMap(\.self),
      isDanger: true)
    layers.append(.confirm(ConfirmScreen(dialog: dialog, paths: paths, openedAt: now)))
  }

  /// Deletes records, each by a write of its own.
  mutating func delete(_ paths: [Path]) {
    var deletion = self.deletion ?? Deletion(count: 0, waiting: 0)
    deletion.count += paths.count
    deletion.waiting += paths.count
    self.deletion = deletion
    marked.rangeStart = nil
    UndoHistory.joining("deleted \(paths.count) records", &self) { state in
      for path in paths {
        do throws(Refusal) {
          state.submit(.deleteMarked(path), try state.resources.removing(path))
        } catch {
          state.noteFailure(toDelete: path, error)
        }
      }
    }
  }

  /// One of several records is gone; it is marked no more.
  mutating func noteDeletion(of path: Path) {
    let key = Record.key(of: path)
    for view in lists.indices where lists[view].marks.contains(key) {
      lists[view].marks.remove(key)
    }
    tree.marks.remove(path.description)
    deletion?.waiting -= 1
    sayDeletion()
  }

  /// One of several records is still there; the others are deleted all the same.
  mutating func noteFailure(toDelete path: Path, _ refusal: Refusal) {
    deletion?.waiting -= 1
    deletion?.failedCount += 1
    if deletion?.failure == nil { deletion?.failure = "\(path): \(refusal.message)" }
    sayDeletion()
  }

  /// When the last one is answered, says what became of all.
  private mutating func sayDeletion() {
    guard let deletion, deletion.waiting == 0 else { return }
    self.deletion = nil
    guard let failure = deletion.failure else {
      return say(.info, "deleted \(deletion.count) records")
    }
    let done = deletion.count - deletion.failedCount
    let others = deletion.failedCount == 1 ? "" : " (and \(deletion.failedCount - 1) others)"
    say(.error, "deleted \(done) of \(deletion.count) records; not \(failure)\(others)")
  }
}
