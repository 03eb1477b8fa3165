import RunnelBase

/// The rows that a query shows now, and how they change.
///
/// Responsibilities:
/// - It holds the rows of its window, sorted, and nothing else of the tree. The window decides
///   which rows these are: see `Window`.
/// - Given the children of its place that a write touched, it reads what it needs of the new state
///   and returns the changes.
///
/// Invariants:
/// - I1. The rows are in order: see `OrderedRows`.
/// - I2. Every row lies in `slice`; the rows are no more than its limit.
/// - I3. After `load` and `refresh` the rows are those of the slice in the state that was read, as
///   far as the touched children tell.
///
/// Source: tree semantics, sections 5.3, 6.2 and 6.5.
struct View: Sendable {
  let request: ListenRequest
  /// The rows that are shown.
  private var window: any Window
  var shown = OrderedRows()
  /// The rows next beyond a limited window of a place of which only some children are known; nil if they
  /// were not read, or may have changed since.
  var spare: SpareRows?
  /// The leaf and the priority at the place itself; empty unless the query loads all data.
  private(set) var head = NodeSummary(kind: .empty, priority: nil)
  /// The knowledge about the place's children when they were last read.
  private(set) var knowledge = Knowledge.complete

  init(_ request: ListenRequest) {
    self.request = request
    window = request.window
  }

  /// Makes a paged view that shows the rows of a part.
  init(_ request: ListenRequest, part: WindowPart) {
    self.request = request
    window = part.window
  }

  /// The rows that are shown, in order.
  var rows: [TreeRow] { shown.rows }

  /// The part of the order that is shown.
  var slice: RowSlice { window.slice }

  /// True if a paged window has rows beyond its frontier, as far as is known.
  var hasMore: Bool { window.hasMore }

  /// The children of the view's place that a write touched.
  enum Touched: Sendable {
    /// All children: the place itself or one above it was written.
    case all
    /// Only these children, or places below them, were written.
    case keys(Set<Key>)

    mutating func insert(_ key: Key) {
      guard case .keys(var keys) = self else { return }
      // Releases the other reference to the set, so that it is changed in place.
      self = .all
      keys.insert(key)
      self = .keys(keys)
    }
  }

  /// The changes of a view.
  struct Changes {
    var removed: [TreeRow] = []
    var added: [TreeRow] = []
    var moved: [TreeRow] = []
    var changed: [TreeRow] = []
    /// True if the leaf or the priority of the place itself changed.
    var headChanged = false
    /// True if `hasMore` of a paged window changed.
    var hasMoreChanged = false
    /// True if the result of the query has become certain.
    var isAnswerNow = false
    /// The steps that undo the changes; nil if there are none.
    var undo: Undo?

    /// True if neither a row nor the place itself changed.
    var isContentSame: Bool {
      removed.isEmpty && added.isEmpty && moved.isEmpty && changed.isEmpty && !headChanged
    }
  }

  /// The state before a change, kept without a copy of the window where possible.
  enum Undo: Sendable {
    /// The rows that the keys had, the head, and what was known.
    case rows([(key: Key, row: TreeRow?)], head: NodeSummary, knowledge: Knowledge)
    /// The number of rows gained at the frontier, and the window before.
    case gained(Int, window: any Window)
    /// The view before all its rows were replaced.
    case all(View)
  }
}

// MARK: Loading and paging

extension View {
  private var path: Path { request.query.path }

  /// Reads the window for the first time.
  mutating func load(_ reader: some TreeReader) throws(TreeError) {
    knowledge = try reader.knowledge(of: window.query)
    shown = OrderedRows(try window.load(shownCount: rows.count, source(reader)))
    spare = nil
    head = try readHead(reader)
  }

  /// Shows another part of the listener's request; nothing changes if that fails.
  mutating func show(_ part: WindowPart, _ reader: some TreeReader) throws(TreeError) -> Changes {
    let before = self
    window = part.window
    do throws(TreeError) {
      knowledge = try reader.knowledge(of: window.query)
      var changes = try refreshKnown(.all, reader)
      changes.isAnswerNow = !before.knowledge.isAnswer && knowledge.isAnswer
      changes.hasMoreChanged = hasMore != before.hasMore
      changes.undo = .all(before)
      return changes
    } catch {
      self = before
      throw error
    }
  }

  /// Moves the frontier of a paged window by up to `count` rows; returns the rows gained, in order.
  ///
  /// A count below 1 gains nothing.
  /// O(count log n) in storage, O(rows) in memory.
  mutating func extend(
    by count: Int, _ reader: some TreeReader
  ) throws(TreeError) -> (gained: [TreeRow], undo: Undo?) {
    let before = window
    guard let gained = try window.grow(by: count, source(reader)) else { return ([], nil) }
    shown.add(gained, atStart: isExtendedAtStart)
    return (gained, .gained(gained.count, window: before))
  }

  /// True if the rows that an extension gains come before the others.
  private var isExtendedAtStart: Bool { request.paging?.anchor == .last }

  func source<Reader: TreeReader>(_ reader: Reader) -> RowSource<Reader> {
    RowSource(reader: reader, path: path, detail: request.detail, knowledge: knowledge)
  }

  private func readHead(_ reader: some TreeReader) throws(TreeError) -> NodeSummary {
    guard knowledge == .complete, window.query.loadsAllData, request.events.contains(.value)
    else {
      return NodeSummary(kind: .empty, priority: nil)
    }
    var summary = try reader.summary(at: path)
    if case .children = summary.kind { summary.kind = .empty }
    return summary
  }
}

// MARK: Refreshing

extension View {
  /// Reads the touched children; returns the changes in the window, or nil if the write does not
  /// concern it.
  ///
  /// - Throws: `TreeError` (`storage`) if a child cannot be read; the view is then as before.
  mutating func refresh(
    _ touched: Touched, _ reader: RowCache
  ) throws(TreeError) -> Changes? {
    if !reader.hasOrigin {
      return try isReached(by: touched, reader) ? refreshKnown(touched, reader) : nil
    }
    let (old, new) = (knowledge, try reader.knowledge(of: window.query))
    let isWhole = old == .complete && new == .complete
    if isWhole, try !isReached(by: touched, reader) {
      spare = nil
      return nil
    }
    knowledge = new
    do throws(TreeError) {
      let again = isWhole ? touched : reread(touched, old, new)
      var changes =
        try isWhole ? refreshKnown(again, reader) : refreshPart(again, old, reader)
      changes.isAnswerNow = !old.isAnswer && new.isAnswer
      if old != new { changes.undo = undo(changes.undo, restoring: old) }
      return changes
    } catch {
      knowledge = old
      throw error
    }
  }

  /// The children to read again if only some are known: those touched, and those that became known or
  /// unknown; all of them when the rest becomes known.
  private func reread(_ touched: Touched, _ old: Knowledge, _ new: Knowledge) -> Touched {
    guard case .keys(let keys) = touched, let changed = new.difference(from: old) else {
      return .all
    }
    return .keys(changed.isEmpty ? keys : keys.union(changed))
  }

  /// Refreshes a view of children of which only some are known, or were before.
  private mutating func refreshPart(
    _ touched: Touched, _ old: Knowledge, _ reader: some TreeReader
  ) throws(TreeError) -> Changes {
    if case .keys(let keys) = touched, keys.isEmpty {
      // The same children are known as before: at most it is new that they are the answer.
      return Changes()
    }
    if window is RangeWindow { return try refreshKnown(touched, reader) }
    guard window is LimitedWindow, let limit = slice.limit else {
      return try refreshKnown(.all, reader)
    }
    if case .keys(let keys) = touched,
      let changes = try refreshLimited(keys, limit, old, reader)
    {
      return changes.sorted()
    }
    return try reloadLimited(limit, reader).sorted()
  }

  /// The steps of a change that also changed the knowledge.
  private func undo(_ undo: Undo?, restoring knowledge: Knowledge) -> Undo? {
    switch undo {
    case .rows(let rows, let head, _)?: return .rows(rows, head: head, knowledge: knowledge)
    case .all(var before)?:
      before.knowledge = knowledge
      return .all(before)
    // Then neither a row nor the head changed.
    case nil: return .rows([], head: head, knowledge: knowledge)
    case .gained?: return undo
    }
  }

  private mutating func refreshKnown(
    _ touched: Touched, _ reader: some TreeReader
  ) throws(TreeError) -> Changes {
    let newHead = try readHead(reader)
    spare = nil
    var changes: Changes
    switch touched {
    case .all:
      let before = self
      let all = try window.load(shownCount: rows.count, source(reader))
      changes = replaceAll(with: OrderedRows(all))
      changes.hasMoreChanged = hasMore != before.hasMore
      changes.undo = .all(before)
    case .keys(let keys): changes = try refresh(keys, reader)
    }
    // Nothing fails from here on.
    if newHead != head {
      changes.headChanged = true
      if changes.undo == nil { changes.undo = .rows([], head: head, knowledge: knowledge) }
      head = newHead
    }
    return changes.sorted()
  }

  /// True if a touched child is in the window or comes into it.
  ///
  /// Most writes do not concern most windows of a place, so this reads no more than necessary, and
  /// copies no rows.
  private func isReached(
    by touched: Touched, _ reader: RowCache
  ) throws(TreeError) -> Bool {
    guard case .keys(let keys) = touched, !window.query.loadsAllData else { return true }
    let slice = slice
    for key in keys {
      if shows(key) { return true }
      let position = try reader.position(
        of: key, at: path, in: slice, detail: request.detail)
      if let position, slice.contains(position) { return true }
    }
    return false
  }

  private mutating func refresh(
    _ keys: Set<Key>, _ reader: some TreeReader
  ) throws(TreeError) -> Changes {
    switch try window.effect(of: keys, on: self, reader) {
    case .nothing: return Changes()
    case .theirRows: return try refreshRows(keys, reader)
    case .anyRow:
      let before = self
      var changes = replaceAll(with: OrderedRows(try source(reader).rows(in: slice)))
      changes.undo = .all(before)
      return changes
    }
  }

  /// Reads the rows of some children again.
  private mutating func refreshRows(
    _ keys: Set<Key>, _ reader: some TreeReader
  ) throws(TreeError) -> Changes {
    var edits: [(key: Key, old: TreeRow?, new: TreeRow?)] = []
    let slice = slice
    for key in keys {
      let new = try row(key, in: slice, reader)
      let old = shown[key]
      if old != new { edits.append((key, old, new)) }
    }
    var changes = Changes()
    if edits.isEmpty { return changes }
    changes.undo = .rows(edits.map { ($0.key, $0.old) }, head: head, knowledge: knowledge)
    for edit in edits {
      note(old: edit.old, new: edit.new, in: &changes)
      shown.put(edit.new, for: edit.key)
    }
    return changes
  }

  /// Undoes a change; later changes must have been undone before.
  mutating func revert(_ undo: Undo) {
    spare = nil
    switch undo {
    case .all(let before): self = before
    case .rows(let olds, let oldHead, let oldKnowledge):
      for old in olds { shown.put(old.row, for: old.key) }
      (head, knowledge) = (oldHead, oldKnowledge)
    case .gained(let count, let oldWindow):
      shown.remove(count, atStart: isExtendedAtStart)
      window = oldWindow
    }
  }

  /// Shows other rows; returns how they differ.
  mutating func replaceAll(with new: OrderedRows) -> Changes {
    var changes = Changes()
    for row in new.rows { note(old: shown[row.key], new: row, in: &changes) }
    for row in rows where !new.contains(row.key) { changes.removed.append(row) }
    shown = new
    return changes
  }

  func note(old: TreeRow?, new: TreeRow?, in changes: inout Changes) {
    switch (old, new) {
    case (nil, nil): break
    case (let old?, nil): changes.removed.append(old)
    case (nil, let new?): changes.added.append(new)
    case (let old?, let new?):
      guard old != new else { return }
      changes.changed.append(new)
      if isIndexChanged(old, new) { changes.moved.append(new) }
    }
  }

  /// Source: tree semantics, section 4.3, "indexed value changed" test.
  private func isIndexChanged(_ old: TreeRow, _ new: TreeRow) -> Bool {
    switch request.query.index {
    case .key: false
    case .value: true
    case .priority, .child, .compound: old.value != new.value
    }
  }

  /// The row of a touched child; nil if it is gone, out of range, or does not pass the filter.
  func row(_ key: Key, _ reader: some TreeReader) throws(TreeError) -> TreeRow? {
    try row(key, in: slice, reader)
  }

  func row(
    _ key: Key, in slice: RowSlice, _ reader: some TreeReader
  ) throws(TreeError) -> TreeRow? {
    if !knowledge.covers(key) { return nil }
    return try reader.row(key, of: path, in: slice, detail: request.detail)
  }

  /// True if a child is one of the rows.
  func shows(_ key: Key) -> Bool { shown.contains(key) }

  /// The first index whose row is not before `position`.
  ///
  /// O(log n).
  func position(of position: IndexPosition) -> Int { shown.place(of: position) }
}

extension View.Changes {
  /// The same changes, each kind in the order of the index.
  fileprivate func sorted() -> View.Changes {
    if removed.count + added.count + moved.count + changed.count < 2 { return self }
    var result = self
    result.removed.sort { $0.position < $1.position }
    result.added.sort { $0.position < $1.position }
    result.moved.sort { $0.position < $1.position }
    result.changed.sort { $0.position < $1.position }
    return result
  }
}

extension View {
  /// Traps if an invariant does not hold.
  ///
  /// O(n); for tests.
  func checkInvariants() {
    shown.checkInvariants()
    let slice = slice
    for row in rows { precondition(slice.contains(row.position), "I2: the row lies in the slice.") }
    spare?.rows.checkInvariants()
    for row in spare?.rows.rows ?? [] { precondition(!shows(row.key), "A row is shown or spare.") }
    if let limit = slice.limit {
      precondition(rows.count <= limit.count, "I2: the limit holds.")
    }
  }
}
