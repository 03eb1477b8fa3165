import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree

// Deleting records of a list: the one under the cursor, or all that are marked.

/// The progress of a deletion of several records.
///
/// A record of a resource is deleted by an operation of its own, other records by common writes. A
/// write that fails does not stop the others.
package struct Deletion: Hashable, Sendable {
  /// The number of records to delete.
  package var count: Int
  /// The number of records whose write is not answered yet.
  package var waiting: Int
  /// The first record that could not be deleted, and the reason.
  package var failure: String?
  /// The number of records that could not be deleted.
  var failedCount = 0
  /// The records that others removed before, or that have left the list.
  var gone: [Path] = []
  /// Whether others removed all of them, as far as the list can tell.
  var areRemoved = true
  /// The records that are left because others changed them where the list does not show it.
  var changed: [Path] = []
  /// What must still hold of records that the list does not load any more.
  var kept: [Path: [WriteCondition]] = [:]
}

/// Deletes records and nodes, after a question.
enum Deleting {
  /// The greatest number of records that `y` alone deletes; more need a typed word.
  static let deletedByYesMax = 100
  /// The number of records that a question names.
  private static let namedMax = 3
  /// The number of further records that the full explanation names.
  private static let listedMax = 30

  // MARK: Questions

  /// Asks before the marked records are deleted, or the one under the cursor.
  static func deleteRecord(_ state: inout AppState) {
    guard let screen = state.tabs.frontList else { return }
    if screen.markCount > 0 { return confirmRemovalOfMarked(&state, in: screen) }
    guard let record = screen.cursorRecord else { return }
    confirmRemoval(&state, of: record.path, record.row.summary)
  }

  private static func confirmRemovalOfMarked(_ state: inout AppState, in screen: ListScreen) {
    let marked = screen.markedRecords
    if let record = marked.first, marked.count == 1, screen.markCount == 1 {
      return confirmRemoval(&state, of: record.path, record.row.summary)
    }
    confirmRemoval(
      &state, of: marked.map(\.path), kind: marked.count == 1 ? "record" : "records",
      hidden: screen.markCount - marked.count,
      word: marked.count > deletedByYesMax
        ? screen.definition.source.path.lastKey?.text ?? "all" : nil)
  }

  /// Asks before the marked nodes of the tree are deleted.
  static func deleteMarkedNodes(_ state: inout AppState) {
    let marked = state.tabs.tree.markedNodes
    if let node = marked.first, marked.count == 1 {
      return confirmRemoval(&state, of: node.path, node.row.summary)
    }
    let isMuch =
      marked.count > deletedByYesMax
      || marked.contains {
        state.tabs.tree.isListed($0.path) || isCollection(state, $0.path, $0.row.summary)
      }
    confirmRemoval(
      &state, of: marked.map(\.path), kind: "nodes", hidden: 0,
      word: isMuch ? marked.first?.path.parent?.lastKey?.text ?? "all" : nil)
  }

  /// Asks before a node is removed.
  static func confirmRemoval(_ state: inout AppState, of path: Path, _ summary: NodeSummary) {
    let fact = state.tabs.front == .tree ? state.tabs.tree.fact(of: path) : nil
    let content =
      switch summary.kind {
      case .children where fact != nil: "all that stands there"
      case .children(let count): count == 1 ? "1 child" : "\(count) children, and all below them"
      case .leaf(let leaf): short(FieldKind.text(of: leaf.json))
      case .empty: "nothing"
      }
    var removal = Removal(
      [path], content: content, warning: state.database.resources.warning(onRemovalOf: path),
      isOperation: [state.database.resources.isOperation(removalOf: path)])
    removal.isListed = fact != nil
    if case .children(let count) = summary.kind, fact == nil, holdsCollections(state, path) {
      removal.countingContent = count == 1 ? "1 child" : "\(count) children"
    }
    ask(
      &state, removal, title: "Delete",
      word: fact != nil || isCollection(state, path, summary) ? path.lastKey?.text ?? "all" : nil)
  }

  /// Whether the children of a node are collections, so that the number of their records is of
  /// interest.
  private static func holdsCollections(_ state: AppState, _ path: Path) -> Bool {
    let isParent = state.tabs.lists.contains { $0.definition.source.path.parent == path }
    guard !path.isRoot, let child = try? path.child(RunnelTree.Key("any")) else { return isParent }
    return isParent || state.database.resources.isAboveRecords(child)
  }

  private static func confirmRemoval(
    _ state: inout AppState, of paths: [Path], kind: String, hidden: Int, word: String?
  ) {
    guard let first = paths.first else { return }
    var removal = Removal(
      paths, content: "\(paths.count) \(kind)",
      warning: state.database.resources.warning(onRemovalOf: first),
      isOperation: paths.map(state.database.resources.isOperation))
    removal.hiddenCount = hidden
    removal.isListed =
      state.tabs.front == .tree && paths.contains(where: state.tabs.tree.isListed)
    ask(&state, removal, title: "Delete \(paths.count) marked \(kind)", word: word)
  }

  /// The first 200 characters of a text, for a question.
  private static func short(_ text: String) -> String {
    let start = text.prefix(200)
    return start.endIndex < text.endIndex ? start + "…" : text
  }

  /// Whether records stand below a node, or very many children: then a single key is not enough to
  /// remove the node.
  private static func isCollection(_ state: AppState, _ path: Path, _ summary: NodeSummary) -> Bool
  {
    guard case .children(let count) = summary.kind else { return false }
    return count > deletedByYesMax || state.database.resources.isAboveRecords(path)
      || state.tabs.lists.contains { path.contains($0.definition.source.path) }
  }

  private static func ask(_ state: inout AppState, _ removal: Removal, title: String, word: String?)
  {
    if state.refusesWriting() { return }
    var removal = removal
    // What one has just written here oneself is no change of others.
    let isQuiet = state.requests.writes.isEmpty && !state.requests.hasReads
    removal.seen = isQuiet ? seen(state, removal.paths) : []
    let profile = state.database.profile
    let word = profile?.confirms == true ? profile?.name : word
    var question = Question(
      .remove(removal, word: word.map { Question.Word(word: $0) }), title: title,
      openedAt: state.input.eventTime)
    Question.offer(state, removal.paths.count == 1 ? "delete" : "delete all", "keep", in: &question)
    describe(state, removal, in: &question)
    state.layers.append(.question(question))
    if let next = removal.next { state.ask(.excerpt(next), for: .preview(next)) }
  }

  /// The records at places as the list in front shows them; nil for those that it does not show.
  private static func seen(_ state: AppState, _ paths: [Path]) -> [RunnelTree.Node?] {
    let records = state.tabs.frontList?.records ?? [:]
    return paths.map { records[Record.id(of: $0)]?.row.node }
  }

  /// Asks once again if others changed a record since the question was asked; returns false if they did
  /// not.
  ///
  /// O(records).
  static func asksAgain(_ state: inout AppState, _ removal: Removal) -> Bool {
    // A service may complete a new record by itself.
    if removal.isAskedAgain || removal.seen.count != removal.paths.count
      || state.database.coding == .services
    {
      return false
    }
    let now = seen(state, removal.paths)
    let changed = removal.paths.indices.filter { index in
      guard let old = removal.seen[index], let new = now[index] else { return false }
      return old != new
    }.map { removal.paths[$0] }
    if changed.isEmpty { return false }
    var again = removal
    again.isAskedAgain = true
    again.warning = "others changed \(MarkedField.names(changed)) since you were asked"
    let kind = removal.paths.count == 1 ? "Delete" : "Delete \(removal.paths.count) marked records"
    ask(&state, again, title: kind, word: nil)
    return true
  }

  /// Writes the known facts about a removal into its question.
  private static func describe(_ state: AppState, _ removal: Removal, in question: inout Question) {
    let isFull = question.isFull
    if isFull { question.toggleFull() }
    let named = removal.paths.prefix(namedMax)
    var message = named.map { StyledLine($0.description) }
    let rest = removal.paths.count - named.count
    if rest > 0 { message.append(StyledLine("and \(rest) more", .muted)) }
    message.append(StyledLine("\(removal.content) · \(removal.size)", .muted))
    if removal.hiddenCount > 0 {
      message.append(
        StyledLine("\(removal.hiddenCount) marked rows that are not shown stay", .muted))
    }
    if let warning = removal.warning { message.append(StyledLine(warning, .warn)) }
    let (keys, isOfServices) = (listKeys(state, for: .editUndo), state.database.coding == .services)
    let isReplica = state.database.origin != nil
    if let undoing = removal.undoing(keys, isOfServices: isOfServices, isReplica: isReplica) {
      message.append(undoing)
    }
    question.dialog.message = message
    question.explanation = explanation(state, of: removal, named: named.count)
    if isFull { question.toggleFull() }
  }

  private static func listKeys(_ state: AppState, for action: ActionID) -> String? {
    KeyText.frontKeys(state).keys(action)
  }

  /// Returns the full explanation of the removal.
  private static func explanation(
    _ state: AppState, of removal: Removal, named: Int
  ) -> [StyledLine] {
    var lines: [StyledLine] = []
    for path in removal.paths.dropFirst(named).prefix(listedMax) {
      lines.append(StyledLine(path.description))
    }
    lines.append(
      StyledLine("What stands there goes at once, also from the screens of others.", .muted))
    if removal.lostCount > 0, let keys = listKeys(state, for: .dataExport) {
      lines.append(StyledLine("\(keys) writes it to a file first.", .muted))
    }
    if removal.isOperation.contains(true) {
      if removal.paths.count > 1 {
        lines.append(
          StyledLine("Each is deleted by itself: one that is refused stops no other.", .muted))
      }
      lines.append(
        StyledLine(
          "Counters follow. With more than \(UndoHistory.recordsMax) records that belong to one, "
            + "it cannot be taken back.", .muted))
    }
    if removal.isOperation.contains(false), removal.lostCount == 0 {
      lines.append(
        StyledLine(
          "It can be taken back as long as nobody writes there, and the history keeps it.", .muted))
    }
    return lines
  }

  /// Updates the question about a removal after a place was read: the question tells the size.
  static func weigh(_ state: inout AppState, _ path: Path, _ excerpt: NodeExcerpt?) {
    for (index, layer) in state.layers.enumerated() {
      guard case .question(var question) = layer, question.removal?.next == path,
        let removal = question.take(excerpt)
      else { continue }
      describe(state, removal, in: &question)
      state.layers[index] = .question(question)
      if let next = removal.next { state.ask(.excerpt(next), for: .preview(next)) }
    }
  }

  /// Asks anew about a removal whose records may have moved; the size is counted again where the next
  /// place did.
  static func describeAgain(_ state: inout AppState, layer index: Int, _ before: Removal?) {
    guard case .question(var question) = state.layers[index], let removal = question.removal,
      let before, removal.paths != before.paths
    else { return }
    describe(state, removal, in: &question)
    state.layers[index] = .question(question)
    if let next = removal.next, next != before.next {
      state.ask(.excerpt(next), for: .preview(next))
    }
  }

  // MARK: Deleting

  /// The greatest number of records that one write deletes.
  private static let batchCount = 10_000

  /// Deletes records, as one step of undo: those of a resource by an operation each, others by a
  /// write for up to `batchCount` siblings.
  static func delete(_ state: inout AppState, _ removal: Removal) {
    let gone = Set(removed(state, removal.paths))
    let paths = removal.paths.filter { !gone.contains($0) }
    let lost = removal.paths.filter(gone.contains)
    let areRemoved = state.tabs.frontList?.losesOnlyRemovedRows == true
    if paths.isEmpty {
      let words = MarkedField.words(
        onGone: lost, areRemoved: areRemoved)
      return state.say(.warning, "nothing was deleted\(words)")
    }
    var deletion = state.writes.deletion ?? Deletion(count: 0, waiting: 0)
    deletion.count += paths.count
    deletion.waiting += paths.count
    deletion.gone += lost
    if !lost.isEmpty { deletion.areRemoved = areRemoved }
    deletion.kept.merge(conditions(state, removal)) { $1 }
    state.writes.deletion = deletion
    state.marked.rangeStart = nil
    let words = paths.count == 1 ? "1 record" : "\(paths.count) records"
    submit(&state, paths, as: "deleted \(words)")
  }

  private static func submit(_ state: inout AppState, _ paths: [Path], as title: String) {
    UndoHistory.joining(title, &state) { state in
      for batch in batches(state, of: paths) {
        do throws(Refusal) {
          state.submit(.deleteMarked(batch), try request(state, toDelete: batch))
        } catch {
          Deleting.noteFailure(&state, toDelete: batch, error)
        }
      }
    }
  }

  /// What must still hold of the records whose rows the list has unloaded since the question was asked.
  static func conditions(_ state: AppState, _ removal: Removal) -> [Path: [WriteCondition]] {
    guard let list = state.tabs.frontList, removal.seen.count == removal.paths.count else {
      return [:]
    }
    var kept: [Path: [WriteCondition]] = [:]
    for (path, node) in zip(removal.paths, removal.seen) {
      guard let node, list.records[Record.id(of: path)] == nil else { continue }
      kept[path] = list.conditionsOfBelonging(node, at: path)
    }
    return kept
  }

  /// The marked records that others removed or took from the list: it has lost their rows and marks.
  private static func removed(_ state: AppState, _ paths: [Path]) -> [Path] {
    guard let list = state.tabs.frontList else { return [] }
    if list.filtering.filter != nil { return [] }
    return paths.filter { path in
      let row = Record.id(of: path)
      return path.parent == list.definition.source.path && list.records[row] == nil
        && !list.marks.contains(row)
    }
  }

  /// Returns the places in groups for one write each, in their order.
  private static func batches(_ state: AppState, of paths: [Path]) -> [[Path]] {
    var batches: [[Path]] = []
    for path in paths {
      if let last = batches.last, let first = last.first, last.count < batchCount,
        first.parent == path.parent, !path.isRoot,
        !state.database.resources.isOperation(removalOf: first),
        !state.database.resources.isOperation(removalOf: path)
      {
        batches[batches.count - 1].append(path)
      } else {
        batches.append([path])
      }
    }
    return batches
  }

  private static func request(
    _ state: AppState, toDelete batch: [Path]
  ) throws(Refusal) -> WriteRequest {
    let request =
      if let parent = batch[0].parent, batch.count > 1 {
        WriteRequest.removeAll(parent, batch.compactMap(\.lastKey))
      } else {
        try state.database.resources.removing(batch[0])
      }
    var kept = batch.flatMap { state.writes.deletion?.kept[$0] ?? [] }
    if request.isOperation { kept.append(.known(at: batch[0])) }
    return kept.isEmpty ? request : .guarded(request, kept)
  }

  /// Notes that some of several records were deleted, and removes their marks.
  static func noteDeletion(_ state: inout AppState, of paths: [Path]) {
    let keys = paths.map { Record.id(of: $0) }
    for view in state.tabs.lists.indices
    where !state.tabs.lists[view].marks.isDisjoint(with: keys) {
      state.tabs.lists[view].marks.subtract(keys)
    }
    state.tabs.tree.marks.subtract(paths.map(\.description))
    state.writes.deletion?.waiting -= paths.count
    sayDeletion(&state)
  }

  /// Notes that some of several records could not be deleted; the others are deleted all the same.
  static func noteFailure(_ state: inout AppState, toDelete paths: [Path], _ refusal: Refusal) {
    state.writes.deletion?.waiting -= paths.count
    state.writes.deletion?.failedCount += paths.count
    if state.writes.deletion?.failure == nil, let path = paths.first {
      state.writes.deletion?.failure = "\(path): \(refusal.message)"
    }
    sayDeletion(&state)
  }

  /// Deletes what is left of a write that was refused because others changed some of its records; returns false
  /// if it was refused for another reason.
  static func goOn(_ state: inout AppState, toDelete paths: [Path], _ write: FailedWrite) -> Bool {
    let changed = write.refusal.changed(of: paths)
    if changed.isEmpty || state.writes.deletion == nil || state.database.isReadOnly { return false }
    state.writes.queue.drop(write.id)
    QueueScreen.refreshQueue(&state)
    state.writes.deletion?.count -= changed.count
    state.writes.deletion?.waiting -= changed.count
    state.writes.deletion?.changed += changed
    let left = Set(changed)
    let rest = paths.filter { !left.contains($0) }
    if !rest.isEmpty { submit(&state, rest, as: "deleted \(BulkEdit.words(rest.count))") }
    sayDeletion(&state)
    return true
  }

  /// Says the result after the last write was answered.
  private static func sayDeletion(_ state: inout AppState) {
    guard let deletion = state.writes.deletion, deletion.waiting == 0 else { return }
    state.writes.deletion = nil
    guard let failure = deletion.failure else {
      let words =
        deletion.count == 0 ? "nothing was deleted" : "deleted \(BulkEdit.words(deletion.count))"
      let left =
        MarkedField.words(onChanged: deletion.changed)
        + MarkedField.words(onGone: deletion.gone, areRemoved: deletion.areRemoved)
      return state.say(left.isEmpty ? .info : .warning, words + left)
    }
    let done = deletion.count - deletion.failedCount
    let others = deletion.failedCount == 1 ? "" : " (and \(deletion.failedCount - 1) others)"
    state.say(.error, "deleted \(done) of \(deletion.count) records; not \(failure)\(others)")
  }
}
