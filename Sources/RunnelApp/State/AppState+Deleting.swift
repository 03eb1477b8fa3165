import RunnelBase
import RunnelDatabase
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

extension AppState {
  /// The most records that `y` alone deletes.
  static let deletedByYesMax = 100
  /// How many of them a question names.
  private static let namedMax = 3
  /// How many of them are named where all is told.
  private static let listedMax = 30

  // MARK: Questions

  /// Asks before the marked records are deleted, or the one under the cursor.
  mutating func deleteRecord() {
    let screen = lists[active]
    if screen.markCount > 0 { return confirmRemovalOfMarked(in: screen) }
    guard let record = screen.cursorRecord else { return }
    confirmRemoval(of: record.path, record.row.summary)
  }

  private mutating func confirmRemovalOfMarked(in screen: ListScreen) {
    let marked = screen.markedRecords
    if let record = marked.first, marked.count == 1 {
      return confirmRemoval(of: record.path, record.row.summary)
    }
    confirmRemoval(
      of: marked.map(\.path), kind: "records", hidden: screen.markCount - marked.count,
      word: marked.count > AppState.deletedByYesMax
        ? screen.definition.source.path.lastKey?.text ?? "all" : nil)
  }

  /// Asks before the marked nodes of the tree are deleted.
  mutating func deleteMarkedNodes() {
    let marked = tree.markedNodes
    if let node = marked.first, marked.count == 1 {
      return confirmRemoval(of: node.path, node.row.summary)
    }
    let isMuch =
      marked.count > AppState.deletedByYesMax
      || marked.contains { isCollection($0.path, $0.row.summary) }
    confirmRemoval(
      of: marked.map(\.path), kind: "nodes", hidden: 0,
      word: isMuch ? marked.first?.path.parent?.lastKey?.text ?? "all" : nil)
  }

  /// Asks before a node is removed.
  mutating func confirmRemoval(of path: Path, _ summary: NodeSummary) {
    let content =
      switch summary.kind {
      case .children(let count): count == 1 ? "1 child" : "\(count) children, and all below them"
      case .leaf(let leaf): AppState.short(FieldKind.text(of: leaf.json))
      case .empty: "nothing"
      }
    var removal = Removal(
      [path], content: content, warning: resources.warning(onRemovalOf: path),
      isOperation: [resources.isOperation(removalOf: path)])
    if case .children(let count) = summary.kind, holdsCollections(path) {
      removal.countingContent = count == 1 ? "1 child" : "\(count) children"
    }
    ask(
      removal, title: "Delete",
      word: isCollection(path, summary) ? path.lastKey?.text ?? "all" : nil)
  }

  /// True if the children of a node are collections: it is of interest how many records they have.
  private func holdsCollections(_ path: Path) -> Bool {
    let isParent = lists.contains { $0.definition.source.path.parent == path }
    guard !path.isRoot, let child = try? path.child(RunnelTree.Key("any")) else { return isParent }
    return isParent || resources.isAboveRecords(child)
  }

  private mutating func confirmRemoval(
    of paths: [Path], kind: String, hidden: Int, word: String?
  ) {
    guard let first = paths.first else { return }
    var removal = Removal(
      paths, content: "\(paths.count) \(kind)", warning: resources.warning(onRemovalOf: first),
      isOperation: paths.map(resources.isOperation))
    removal.hiddenCount = hidden
    ask(removal, title: "Delete \(paths.count) marked \(kind)", word: word)
  }

  /// A text for a question, however long it is.
  private static func short(_ text: String) -> String {
    let start = text.prefix(200)
    return start.endIndex < text.endIndex ? start + "…" : text
  }

  /// True if records stand below a node, or very many children: a key is too little to remove it.
  private func isCollection(_ path: Path, _ summary: NodeSummary) -> Bool {
    guard case .children(let count) = summary.kind else { return false }
    return count > AppState.deletedByYesMax || resources.isAboveRecords(path)
      || lists.contains { path.contains($0.definition.source.path) }
  }

  private mutating func ask(_ removal: Removal, title: String, word: String?) {
    if refusesWriting() { return }
    let dialog = ConfirmDialog(title: title, message: [], hints: [], isDanger: true)
    var question = ConfirmScreen(dialog: dialog, openedAt: now)
    question.removal = removal
    question.word = word.map { ConfirmScreen.Word(word: $0) }
    offer(removal.paths.count == 1 ? "delete" : "delete all", "keep", in: &question)
    describe(removal, in: &question)
    layers.append(.confirm(question))
    if let next = removal.next { ask(.excerpt(next), for: .preview(next)) }
  }

  /// Says in a question what is known of what it removes.
  private func describe(_ removal: Removal, in question: inout ConfirmScreen) {
    let isFull = question.isFull
    if isFull { question.toggleFull() }
    let named = removal.paths.prefix(AppState.namedMax)
    var message = named.map { StyledLine($0.description) }
    let rest = removal.paths.count - named.count
    if rest > 0 { message.append(StyledLine("and \(rest) more", .muted)) }
    message.append(StyledLine("\(removal.content) · \(removal.size)", .muted))
    if removal.hiddenCount > 0 {
      message.append(StyledLine("\(removal.hiddenCount) that the filter hides stay", .muted))
    }
    if let warning = removal.warning { message.append(StyledLine(warning, .warn)) }
    if let undoing = removal.undoing(listKeys(for: .editUndo)) { message.append(undoing) }
    question.dialog.message = message
    question.explanation = explanation(of: removal, named: named.count)
    if isFull { question.toggleFull() }
  }

  private func listKeys(for action: ActionID) -> String? {
    (isTree ? treeKeys : listKeys).keys(action)
  }

  /// What will happen, in full.
  private func explanation(of removal: Removal, named: Int) -> [StyledLine] {
    var lines: [StyledLine] = []
    for path in removal.paths.dropFirst(named).prefix(AppState.listedMax) {
      lines.append(StyledLine(path.description))
    }
    lines.append(
      StyledLine("What stands there goes at once, also from the screens of others.", .muted))
    if removal.lostCount > 0, let keys = listKeys(for: .dataExport) {
      lines.append(StyledLine("\(keys) writes it to a file first.", .muted))
    }
    if removal.paths.count > 1 {
      lines.append(
        StyledLine("Each is deleted by itself: one that is refused stops no other.", .muted))
    }
    if removal.isOperation.contains(true) {
      lines.append(
        StyledLine(
          "Counters follow. With more than \(UndoHistory.recordsMax) records that belong to one, "
            + "it cannot be taken back.", .muted))
    }
    if removal.isOperation.contains(false) {
      lines.append(
        StyledLine(
          "It can be taken back as long as nobody writes there, and the history keeps it.", .muted))
    }
    return lines
  }

  /// What stands at a place was read: a question about its removal says how large it is.
  mutating func weigh(_ path: Path, _ excerpt: NodeExcerpt?) {
    for (index, layer) in layers.enumerated() {
      guard case .confirm(var question) = layer, var removal = question.removal,
        removal.next == path
      else { continue }
      removal.take(excerpt)
      question.removal = removal
      describe(removal, in: &question)
      layers[index] = .confirm(question)
      if let next = removal.next { ask(.excerpt(next), for: .preview(next)) }
    }
  }

  // MARK: Deleting

  /// Deletes records, each by a write of its own.
  mutating func delete(_ paths: [Path]) {
    var deletion = self.deletion ?? Deletion(count: 0, waiting: 0)
    deletion.count += paths.count
    deletion.waiting += paths.count
    self.deletion = deletion
    marked.rangeStart = nil
    let words = paths.count == 1 ? "1 record" : "\(paths.count) records"
    UndoHistory.joining("deleted \(words)", &self) { state in
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
