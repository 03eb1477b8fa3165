import RunnelBase

/// The rows that one query shows now, and how they change.
///
/// Responsibilities:
/// - It holds the rows of its window, sorted, and nothing else of the tree.
/// - Told which children of its place were touched, it reads what it needs of the new state and says
///   what changed.
///
/// Terms. The *window* is the rows shown. A *sliding* window is that of a query with a limit. A *paged*
/// window reaches from one end of the order to the *frontier*.
///
/// Invariants:
/// - I1. `rows` is sorted by position, strictly ascending; `values` holds the value of each row's key.
/// - I2. Every row lies in `slice`; a sliding window holds no more rows than its limit.
/// - I3. After `load` and `refresh` the rows are those of the slice in the state that was read, as
///   far as the touched children tell.
///
/// Source: tree semantics, sections 5.3, 6.2 and 6.5.
struct View: Sendable {
  let request: ListenRequest
  /// Which rows are shown: what was requested, or the part of it that is set from outside.
  private(set) var query: Query
  /// True if the window is set from outside, for its tree does not know what lies beyond it.
  private(set) var isSteered = false
  /// The part of the order that belongs to the window; a paged window's frontier is one of its ends.
  private(set) var slice: RowSlice
  private(set) var rows: [TreeRow] = []
  private var values: [Key: IndexValue] = [:]
  /// The leaf and the priority at the place itself; empty unless the query loads all data.
  private(set) var head = NodeSummary(kind: .empty, priority: nil)
  /// True if a paged window has rows beyond its frontier, as far as is known.
  private(set) var hasMore = false
  /// What was known of the place's children when they were read last.
  private(set) var knowledge = Knowledge.complete

  init(_ request: ListenRequest) {
    self.request = request
    query = request.query
    slice = RowSlice(request.query)
  }

  /// Makes a paged view that shows the rows of a part.
  init(_ request: ListenRequest, part: WindowPart) {
    self.init(request)
    steer(to: part)
  }

  private mutating func steer(to part: WindowPart) {
    isSteered = true
    query = part.query
    slice = RowSlice(part.query)
    hasMore = part.hasMore
  }

  /// Which children of the view's place a write touched.
  enum Touched: Sendable {
    /// The place itself or one above it was written.
    case all
    /// Only these children were, or something below them.
    case keys(Set<Key>)

    mutating func insert(_ key: Key) {
      guard case .keys(var keys) = self else { return }
      // The set is changed in place only while nothing else holds it.
      self = .all
      keys.insert(key)
      self = .keys(keys)
    }
  }

  /// What changed in a view.
  struct Changes {
    var removed: [TreeRow] = []
    var added: [TreeRow] = []
    var moved: [TreeRow] = []
    var changed: [TreeRow] = []
    /// True if the leaf or the priority of the place itself changed.
    var headChanged = false
    /// True if rows beyond the frontier of a paged window came to be, or ceased to.
    var hasMoreChanged = false
    /// True if the window could not be told with certainty before, and can now.
    var isAnswerNow = false
    /// What takes the view back; nil if it is as before.
    var undo: Undo?

    /// True if neither a row changed nor the place itself.
    var isContentSame: Bool {
      removed.isEmpty && added.isEmpty && moved.isEmpty && changed.isEmpty && !headChanged
    }
  }

  /// What takes a view back to the state before a change, without a copy of its window.
  enum Undo: Sendable {
    /// What each key's row was, and the head.
    case rows([(key: Key, row: TreeRow?)], head: NodeSummary)
    /// So many rows were gained at the frontier, which was elsewhere.
    case gained(Int, slice: RowSlice, hasMore: Bool)
    /// The view before all its rows were replaced.
    case all(View)
  }
}

/// The part of what a paged listener requested that its window shows.
struct WindowPart: Hashable, Sendable {
  /// The rows from the anchor to the frontier.
  var query: Query
  /// True if there may be rows beyond.
  var hasMore: Bool
}

// MARK: Loading and paging

extension View {
  private var path: Path { request.query.path }

  /// Reads the window for the first time.
  mutating func load(_ reader: some TreeReader) throws(TreeError) {
    knowledge = reader.knowledge(of: query)
    replaceRows(try reload(reader))
    head = try readHead(reader)
  }

  /// Shows the rows of another part of what was requested; nothing changes if that fails.
  mutating func show(_ part: WindowPart, _ reader: some TreeReader) throws(TreeError) -> Changes {
    let before = self
    steer(to: part)
    knowledge = reader.knowledge(of: query)
    do throws(TreeError) {
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
    guard let paging = request.paging, hasMore else { return ([], nil) }
    let (oldSlice, oldHasMore) = (slice, hasMore)
    let gained = try takePage(of: count, reader)
    rows.insert(contentsOf: gained, at: paging.anchor == .last ? 0 : rows.count)
    for row in gained { values[row.key] = row.value }
    return (gained, .gained(gained.count, slice: oldSlice, hasMore: oldHasMore))
  }

  /// Reads the whole window; a paged one is filled up to its first count if it holds less.
  private mutating func reload(_ reader: some TreeReader) throws(TreeError) -> [TreeRow] {
    guard let paging = request.paging, !isSteered else {
      return try readRows(in: slice, reader)
    }
    // Without a frontier a page counts from the live end, and there is nothing on this side of it.
    let kept = hasMore ? try readRows(in: slice, reader) : []
    let wanted = hasMore ? paging.count : max(paging.count, rows.count)
    let gained = try takePage(of: max(wanted - kept.count, 0), reader)
    return paging.anchor == .last ? gained + kept : kept + gained
  }

  /// The rows of a slice, as far as they are known.
  private func readRows(
    in slice: RowSlice, _ reader: some TreeReader
  ) throws(TreeError) -> [TreeRow] {
    guard case .keys(let keys, _) = knowledge else {
      return try reader.rows(of: path, in: slice, detail: request.detail)
    }
    var known: [TreeRow] = []
    for key in keys {
      let row = try reader.row(key, of: path, in: slice, detail: request.detail)
      if let row { known.append(row) }
    }
    return slice.rows(among: known)
  }

  /// Reads up to `count` rows beyond the frontier and moves it there.
  private mutating func takePage(
    of count: Int, _ reader: some TreeReader
  ) throws(TreeError) -> [TreeRow] {
    guard let side = request.paging?.anchor else { return [] }
    var beyond = RowSlice(request.query)
    let old = frontier
    if let old {
      let bound = Query.Bound(old.position, isInclusive: !old.isInclusive)
      if side == .last { beyond.end = bound } else { beyond.start = bound }
    }
    let count = min(max(count, 0), Int.max - 1)
    // One row more than asked for tells whether there are others.
    beyond.limit = Query.Limit(count: count + 1, side: side)
    var page = try readRows(in: beyond, reader)
    hasMore = page.count > count
    if hasMore {
      if side == .last { page.removeFirst() } else { page.removeLast() }
    }
    let outermost = side == .last ? page.first : page.last
    let reached = outermost.map { Query.Bound($0.position, isInclusive: true) }
    frontier = hasMore ? reached ?? old : nil
    return page
  }

  /// Where a paged window ends; nil while nothing is loaded, and again once everything is.
  private var frontier: Query.Bound? {
    get {
      guard hasMore, let paging = request.paging else { return nil }
      return paging.anchor == .last ? slice.start : slice.end
    }
    set {
      switch request.paging?.anchor {
      case .last: slice.start = newValue ?? request.query.start
      case .first: slice.end = newValue ?? request.query.end
      case nil: break
      }
    }
  }

  private mutating func replaceRows(_ newRows: [TreeRow]) {
    rows = newRows
    values = Dictionary(uniqueKeysWithValues: rows.map { ($0.key, $0.value) })
  }

  private func readHead(_ reader: some TreeReader) throws(TreeError) -> NodeSummary {
    guard knowledge == .complete, query.loadsAllData, request.events.contains(.value)
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
  /// Reads what a write touched; returns what changed in the window, nil if the write passes it by.
  ///
  /// - Throws: `TreeError` (`storage`) if something cannot be read; the view is then as before.
  mutating func refresh(
    _ touched: Touched, _ reader: RowCache
  ) throws(TreeError) -> Changes? {
    if !reader.hasOrigin {
      return try isReached(by: touched, reader) ? refreshKnown(touched, reader) : nil
    }
    let (old, new) = (knowledge, reader.knowledge(of: query))
    // What is known by key only is little: it is read anew.
    let isWhole = old == .complete && new == .complete
    if isWhole, try !isReached(by: touched, reader) { return nil }
    knowledge = new
    do throws(TreeError) {
      var changes = try refreshKnown(isWhole ? touched : .all, reader)
      changes.isAnswerNow = !old.isAnswer && new.isAnswer
      return changes
    } catch {
      knowledge = old
      throw error
    }
  }

  private mutating func refreshKnown(
    _ touched: Touched, _ reader: some TreeReader
  ) throws(TreeError) -> Changes {
    let newHead = try readHead(reader)
    var changes: Changes
    switch touched {
    case .all:
      let before = self
      changes = replaceAll(with: try reload(reader))
      changes.hasMoreChanged = hasMore != before.hasMore
      changes.undo = .all(before)
    case .keys(let keys) where slice.limit != nil:
      changes = try refreshSliding(keys, reader)
    case .keys(let keys):
      changes = try refreshRange(keys, reader)
    }
    // From here on nothing fails.
    if newHead != head {
      changes.headChanged = true
      if changes.undo == nil { changes.undo = .rows([], head: head) }
      head = newHead
    }
    return changes.sorted()
  }

  /// False if nothing that was touched is in the window or comes into it: a write passes by most
  /// windows of a place, so this looks at no more than it must, and copies nothing.
  private mutating func isReached(
    by touched: Touched, _ reader: RowCache
  ) throws(TreeError) -> Bool {
    guard case .keys(let keys) = touched, !query.loadsAllData else { return true }
    for key in keys {
      if values[key] != nil { return true }
      let position = try reader.position(
        of: key, at: path, in: slice, detail: request.detail)
      if let position, slice.contains(position) { return true }
    }
    return false
  }

  /// A window without a limit changes row by row.
  private mutating func refreshRange(
    _ keys: Set<Key>, _ reader: some TreeReader
  ) throws(TreeError) -> Changes {
    var edits: [(key: Key, old: TreeRow?, new: TreeRow?)] = []
    for key in keys {
      let new = try row(key, reader)
      let old = row(key)
      if old != new { edits.append((key, old, new)) }
    }
    var changes = Changes()
    if edits.isEmpty { return changes }
    changes.undo = .rows(edits.map { ($0.key, $0.old) }, head: head)
    for edit in edits {
      note(old: edit.old, new: edit.new, in: &changes)
      put(edit.new, for: edit.key)
    }
    return changes
  }

  /// Makes a row the one that the window shows for its key, or shows none for it.
  private mutating func put(_ new: TreeRow?, for key: Key) {
    let old = row(key)
    if let old, let new, old.value == new.value {
      rows[position(of: old.position)] = new
      return
    }
    if let old { rows.remove(at: position(of: old.position)) }
    if let new { rows.insert(new, at: position(of: new.position)) }
    values[key] = new?.value
  }

  /// Takes the view back to the state before a change; later changes were undone before.
  mutating func revert(_ undo: Undo) {
    switch undo {
    case .all(let before): self = before
    case .rows(let olds, let oldHead):
      for old in olds { put(old.row, for: old.key) }
      head = oldHead
    case .gained(let count, let oldSlice, let oldHasMore):
      let range = request.paging?.anchor == .last ? 0..<count : rows.count - count..<rows.count
      for row in rows[range] { values[row.key] = nil }
      rows.removeSubrange(range)
      (slice, hasMore) = (oldSlice, oldHasMore)
    }
  }

  /// A sliding window is read anew, unless nothing that was touched can reach it.
  ///
  /// What it says is the difference between the two windows, so that a row that would only pass
  /// through while the batch is applied step by step never shows (section 6.5, row 23).
  private mutating func refreshSliding(
    _ keys: Set<Key>, _ reader: some TreeReader
  ) throws(TreeError) -> Changes {
    var isReached = false
    for key in keys where !isReached {
      if values[key] != nil {
        isReached = true
      } else if let new = try row(key, reader) {
        isReached = reaches(new.position)
      }
    }
    guard isReached else { return Changes() }
    let before = self
    var changes = replaceAll(with: try readRows(in: slice, reader))
    changes.undo = .all(before)
    return changes
  }

  /// True if a row at `position` would push another one out of a sliding window, or fill it.
  private func reaches(_ position: IndexPosition) -> Bool {
    guard let limit = slice.limit, rows.count >= limit.count else { return true }
    switch limit.side {
    case .first: return rows.last.map { position < $0.position } ?? true
    case .last: return rows.first.map { $0.position < position } ?? true
    }
  }

  private mutating func replaceAll(with newRows: [TreeRow]) -> Changes {
    var changes = Changes()
    let old = Dictionary(uniqueKeysWithValues: rows.map { ($0.key, $0) })
    var kept = Set<Key>()
    for new in newRows {
      kept.insert(new.key)
      note(old: old[new.key], new: new, in: &changes)
    }
    for row in rows where !kept.contains(row.key) { changes.removed.append(row) }
    replaceRows(newRows)
    return changes
  }

  private func note(old: TreeRow?, new: TreeRow?, in changes: inout Changes) {
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

  /// The touched child as the window would show it; nil if it is gone, out of range or filtered out.
  private func row(_ key: Key, _ reader: some TreeReader) throws(TreeError) -> TreeRow? {
    try reader.row(key, of: path, in: slice, detail: request.detail)
  }

  /// The row that the window shows for a key.
  private func row(_ key: Key) -> TreeRow? {
    guard let value = values[key] else { return nil }
    return rows[position(of: IndexPosition(value: value, key: .key(key)))]
  }

  /// The first index whose row is not before `position`.
  ///
  /// O(log n).
  func position(of position: IndexPosition) -> Int {
    rows.lowerBound { $0.position < position }
  }
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
    for (left, right) in zip(rows, rows.dropFirst()) {
      precondition(left.position < right.position, "I1: rows ascend.")
    }
    precondition(values.count == rows.count, "I1: each row's value is known.")
    for row in rows {
      precondition(values[row.key] == row.value, "I1: the value is that of the row.")
      precondition(slice.contains(row.position), "I2: the row lies in the slice.")
    }
    if let limit = slice.limit {
      precondition(rows.count <= limit.count, "I2: the limit holds.")
    }
  }
}
