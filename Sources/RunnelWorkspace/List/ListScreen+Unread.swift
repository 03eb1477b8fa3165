import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree

/// The rows that arrived in a list since the user's last visit.
///
/// A visit ends when the user goes to another view or the terminal loses the focus. From then on,
/// every row that arrives while the list is open, and is not the user's own, is unread. This
/// includes rows that arrive during the next visit, until that visit ends. A line stands where the
/// unread rows begin: before the first one if the newest rows are at the bottom, after the last one
/// if they are at the top. If rows are not ordered by time, there is no line, and only a sign at
/// each row.
///
/// The end of the program also ends the visit. At the next start, rows newer than the newest seen
/// row are unread, if there are any.
package struct Unread: Hashable, Sendable {
  /// Which visit of this time it is.
  private enum Visit: Hashable {
    /// The first one; with the newest row seen in the last session, until that was used. It is nil if it
    /// is not known.
    case first(SeenRow?)
    /// A later one, after a visit that ended at a time in milliseconds since 1970.
    case later(since: Int64)
  }

  private var visit = Visit.first(nil)
  /// The ids of the unread rows.
  package var rows: Set<String> = []
  /// The number of unread rows that were unloaded.
  var unloaded = 0
  /// The number of rows of the collection at the end of the last visit, without those that came among
  /// the loaded ones since others were unloaded; nil if it is not known.
  fileprivate var total: Int?
  /// The newest row that was certainly seen, or nil after another visit ended.
  ///
  /// The row was seen before the program started, or before the list unloaded unread rows: rows
  /// beyond it are unread when they are loaded.
  fileprivate var seen: RunnelTree.Key?
  /// The unread row beside the line, or nil if there is no line.
  fileprivate var edge: String?
  /// The last known index path of `edge`.
  fileprivate var hint = ListIndexPath(section: 0, row: 0)
  /// Whether counted rows may be gone, because a filter hid or hides them.
  fileprivate var isInDoubt = false

  init() {}

  /// Makes the state after a visit that ended at a time.
  fileprivate init(since time: Int64) { visit = .later(since: time) }

  /// The end of the last visit, in milliseconds since 1970; nil during the first visit.
  var since: Int64? { if case .later(let time) = visit { time } else { nil } }

  /// The newest row seen in the last session; nil after it was used, or if it is not known.
  fileprivate var seenBefore: SeenRow? { if case .first(let row) = visit { row } else { nil } }

  /// Takes the newest row seen in the last session.
  mutating func begin(after row: SeenRow) { if since == nil { visit = .first(row) } }

  /// Forgets the newest row seen in the last session.
  fileprivate mutating func forgetSeenBefore() {
    if seenBefore != nil { visit = .first(nil) }
  }
}

/// The newest row that was seen in a list, and the time of the visit.
package struct SeenRow: Hashable, Sendable {
  package var id: String
  /// The end of the visit, in milliseconds since 1970.
  var left: Int64
}

// MARK: From one time to the next

extension ListScreen {
  /// Returns the newest row that was seen, or nil if that is not known, for example if rows are not
  /// ordered by their keys.
  ///
  /// O(rows).
  func newestSeen(since before: String?, besides unread: Set<String>) -> String? {
    guard hasKeysInOrderOfTime, reach.phase == .loaded else { return nil }
    let unreadKeys = unread.compactMap { records[$0]?.row.key }
    let first = unreadKeys.min()
    var newest = before.flatMap(ListScreen.place)
    for record in records.values where !isTransient(record) {
      if let first, record.row.key >= first { continue }
      if let known = newest?.lastKey, record.row.key <= known { continue }
      newest = record.path
    }
    return newest?.description
  }

  private static func place(_ id: String) -> Path? { try? Path(id) }

  /// Returns the rows of a change that are newer than the last seen row, whether they arrived since
  /// the last time or were fetched only now.
  ///
  /// O(batch).
  fileprivate mutating func rowsSinceLastTime(_ change: ListChange, me: String) -> Set<String> {
    if let seen = news.unread.seenBefore, hasKeysInOrderOfTime,
      let key = ListScreen.place(seen.id)?.lastKey,
      change.records.contains(where: { $1.row.key > key && !isOwn($0, me) })
    {
      news.unread = Unread(since: seen.left)
      news.unread.seen = key
    }
    if change.phase == .loaded { news.unread.forgetSeenBefore() }
    guard let key = news.unread.seen else { return [] }
    return Set(change.records.keys.filter { records[$0].map { $0.row.key > key } ?? false })
  }
}

extension ListScreen {
  /// Ends the visit: unread rows are counted from now on.
  package mutating func leave(height: Int, now: Int64) {
    guard reach.isOpen else { return }
    news.unread = Unread(since: now)
    news.unread.total = reach.total.map { $0 - (unloading.beyond?.loadedGrowth ?? 0) }
    guard content.divider != nil else { return }
    let old = content
    content = old.divided(at: nil)
    list.apply(BatchUpdate(), from: old, to: content, height: height)
  }

  /// The number of unread rows in the list.
  ///
  /// O(1); after a filter O(unread rows).
  var unreadCount: Int {
    let loaded =
      news.unread.isInDoubt ? news.unread.rows.count(where: hasRow) : news.unread.rows.count
    return loaded + news.unread.unloaded + unreadArrivedUnloaded
  }

  /// The number of unread rows that arrived beyond the end of the loaded rows.
  var unreadArrivedUnloaded: Int {
    guard news.unread.since != nil, let total = reach.total, let unloaded = unloading.beyond,
      let before = unloaded.total
    else {
      return 0
    }
    return max(0, total - unloaded.loadedGrowth - max(before, news.unread.total ?? 0))
  }

  /// Notes unread rows that a change unloads, so that they are recognized when they are loaded
  /// again.
  ///
  /// O(loaded rows).
  private mutating func letGoOfUnread(_ change: ListChange, _ old: [String: Record]) {
    let gone =
      change.update.isReload
      ? news.unread.rows.filter { !hasRow($0) } : news.unread.rows.intersection(change.removed)
    guard !gone.isEmpty else { return }
    if hasKeysInOrderOfTime, news.unread.seen == nil,
      let first = news.unread.rows.compactMap({ old[$0]?.row.key }).min()
    {
      let seen = old.values.filter { !isTransient($0) && $0.row.key < first }
      news.unread.seen = seen.map { $0.row.key }.max()
    }
    news.unread.rows.subtract(gone)
  }

  /// Keeps the number of unread rows after rows were unloaded or read again.
  mutating func keepUnread(_ count: Int) {
    news.unread.unloaded = 0
    news.unread.unloaded = max(0, count - unreadCount)
  }

  /// The text of the line before the unread rows.
  func unreadText(local: LocalTime, isShort: Bool) -> String {
    guard let since = news.unread.since, !isShort else { return "\(unreadCount) new" }
    return "\(unreadCount) new since \(local.timeText(since))"
  }

  /// Whether rows are ordered by the time of their arrival.
  private var isInOrderOfTime: Bool { definition.source.anchor == .last }

  /// Stops counting rows as new in all lists, because the user wrote them in this workspace.
  ///
  /// - Parameters:
  ///   - state: the state of the workspace.
  ///   - places: the written places, records or below them.
  static func noteOwn(_ state: inout AppState, _ places: [Path]) {
    if places.isEmpty { return }
    for index in state.tabs.lists.indices where state.tabs.lists[index].reach.isOpen {
      let definition = state.tabs.lists[index].definition
      var rows: Set<String> = []
      for collection in Set([definition.source.path] + definition.also.map(\.path)) {
        for place in places where collection.contains(place) && place != collection {
          let record = Path(unchecked: Array(place.keys.prefix(collection.keys.count + 1)))
          rows.insert(Record.id(of: record))
        }
      }
      if rows.isEmpty { continue }
      let height = state.tabs.height(ofView: index, in: state.height)
      state.tabs.lists[index].forgetNews(of: rows, height: height)
      Notices.forget(&state, rows, inView: index)
    }
  }

  /// Stops counting a record as new that the user added or brought back in this workspace among rows
  /// that are not loaded; there it is known only by the number of all rows.
  static func noteOwnAdded(_ state: inout AppState, _ place: Path) {
    let id = Record.id(of: place)
    for index in state.tabs.lists.indices where state.tabs.lists[index].reach.isOpen {
      let screen = state.tabs.lists[index]
      if screen.definition.source.path != place.parent || screen.hasRow(id) { continue }
      state.tabs.lists[index].unloading.beyond?.loadedGrowth += 1
      // It comes with those seen before when it is fetched.
      if screen.isInOrderOfTime || !screen.reach.isAway {
        state.tabs.lists[index].unloading.beyond?.seenCount += 1
      }
    }
  }

  /// Stops counting rows as new.
  ///
  /// O(rows up to the line before the unread ones), if one of them was unread.
  private mutating func forgetNews(of rows: Set<String>, height: Int) {
    news.arrived.subtract(rows)
    list.forgetNew(rows)
    if news.unread.rows.isDisjoint(with: rows) { return }
    news.unread.rows.subtract(rows)
    let place =
      news.unread.rows.isEmpty || !isInOrderOfTime ? nil : nextUnread(in: content, from: nil)
    setEdge(place, in: content)
    let line = place.map { place in
      isLiveAtBottom ? place : ListIndexPath(section: place.section, row: place.row + 1)
    }
    let old = content
    content = old.divided(at: line)
    list.apply(BatchUpdate(), from: old, to: content, height: height)
  }

  /// Whether keys are ordered by the time of arrival.
  private var hasKeysInOrderOfTime: Bool {
    isInOrderOfTime && definition.source.order == .key
  }

  /// Adds the arrived rows to the unread ones, and removes those that are gone.
  ///
  /// Returns the place of the line, or nil for no line.
  ///
  /// O(batch), and O(rows) after a reload.
  mutating func updateUnread(
    _ change: ListChange, from old: ListContent, to new: ListContent,
    forgotten: [String: Record], me: String
  ) -> ListIndexPath? {
    let since = rowsSinceLastTime(change, me: me)
    guard news.unread.since != nil else { return nil }
    let fresh = change.newRows.union(since).filter { !isOwn($0, me) }
    if change.isLettingGo {
      letGoOfUnread(change, records.merging(forgotten) { known, _ in known })
    } else if news.unread.unloaded > 0 {
      let again = fresh.subtracting(change.newRows).subtracting(news.unread.rows)
      news.unread.unloaded = max(0, news.unread.unloaded - again.count)
    }
    news.unread.rows.formUnion(fresh)
    if news.unread.rows.isEmpty {
      news.unread.edge = nil
      return nil
    }
    forgetGoneUnread(change)
    guard isInOrderOfTime else { return nil }
    settleEdge(change.update, fresh, from: old, to: new)
    if news.unread.edge == nil { return nil }
    return isLiveAtBottom
      ? news.unread.hint
      : ListIndexPath(section: news.unread.hint.section, row: news.unread.hint.row + 1)
  }

  /// Whether the user wrote the row, or is writing it.
  func isOwn(_ id: String, _ me: String) -> Bool {
    guard let record = records[id], !isTransient(record) else { return true }
    let node = record.row.node ?? .empty
    return definition.template.contains {
      $0.value == .string("$me") && node[$0.path].leaf == .string(me)
    }
  }

  private mutating func forgetGoneUnread(_ change: ListChange) {
    if filtering.filter != nil {
      // A removed row may come back, because several sources change one after the other.
      news.unread.isInDoubt = true
    } else if !change.update.isReload {
      news.unread.rows.subtract(change.removed)
    } else if !news.unread.isInDoubt {
      news.unread.rows = news.unread.rows.filter(hasRow)
    }
  }

  /// Finds the unread row beside the line: the first one, or the last one.
  ///
  /// O(batch), or O(rows) if the row before is not known. Beyond the row before, only rows that
  /// just arrived can be unread.
  private mutating func settleEdge(
    _ update: BatchUpdate, _ fresh: Set<String>, from old: ListContent, to new: ListContent
  ) {
    let isFirst = news.unread.edge == nil && news.unread.rows.count == fresh.count
    var place: ListIndexPath?
    if update.isReload || (news.unread.edge == nil && !isFirst) {
      place = nextUnread(in: new, from: nil)
    } else if news.unread.edge != nil {
      guard old.row(at: news.unread.hint) == news.unread.edge,
        let passage = old.passage(of: news.unread.hint, through: update, to: new)
      else { return setEdge(nextUnread(in: new, from: nil), in: new) }
      let isThere = passage.isSameRow && news.unread.edge.map(news.unread.rows.contains) == true
      place = isThere ? passage.path : nextUnread(in: new, from: passage.path)
    }
    let candidates =
      update.insertedRows + update.movedRows.map(\.to)
      + update.insertedSections.filter(new.sections.indices.contains).flatMap { section in
        new.sections[section].rows.indices.map { ListIndexPath(section: section, row: $0) }
      }
    for path in candidates where isFurtherOut(path, than: place) {
      if let id = new.row(at: path), news.unread.rows.contains(id) { place = path }
    }
    setEdge(place, in: new)
  }

  private mutating func setEdge(_ place: ListIndexPath?, in content: ListContent) {
    news.unread.edge = place.flatMap { content.row(at: $0) }
    if let place { news.unread.hint = place }
  }

  private func isFurtherOut(_ path: ListIndexPath, than place: ListIndexPath?) -> Bool {
    guard let place else { return true }
    return isLiveAtBottom ? path < place : place < path
  }

  /// Returns the first unread row from a place on, in the direction of the newest rows; nil begins
  /// at the other end.
  ///
  /// O(rows read up to that row).
  private func nextUnread(in content: ListContent, from start: ListIndexPath?) -> ListIndexPath? {
    let sections = content.sections
    let first = start?.section ?? (isLiveAtBottom ? 0 : sections.count - 1)
    for section in isLiveAtBottom
      ? Array(sections.indices.dropFirst(first)) : sections.indices.prefix(first + 1).reversed()
    {
      let rows = sections[section].rows
      let from = section == first ? start?.row : nil
      let row =
        isLiveAtBottom
        ? rows.indices.dropFirst(from ?? 0).first { news.unread.rows.contains(rows[$0]) }
        : rows.indices.prefix((from ?? rows.count) + 1).last { news.unread.rows.contains(rows[$0]) }
      if let row { return ListIndexPath(section: section, row: row) }
    }
    return nil
  }
}

extension ListScreen {
  /// The number of unread rows of each tab; 0 for the view in front and the tree.
  static func unreadCounts(_ state: AppState) -> [Int] {
    state.tabs.lists.prefix(state.tabs.fixedCount).enumerated()
      .map { state.tabs.front == .view($0.offset) ? 0 : $0.element.unreadCount } + [0]
  }

  /// Notes that the terminal got or lost the focus; losing it ends the visit of the view in front.
  static func focus(_ state: inout AppState, _ isThere: Bool) {
    state.session.notices.hasFocus = isThere
    if isThere { return }
    let (height, now) = (state.tabs.frontHeight(in: state.height), state.now)
    state.tabs.changeFrontList { $0.leave(height: height, now: now) }
  }
}
