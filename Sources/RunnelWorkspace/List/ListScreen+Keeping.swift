import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree

// Long lists: a list that is left open unloads rows far from the cursor, and may then no longer
// reach the end where rows arrive. The counts of new and unread rows stay right.

/// Facts about a list that does not reach an end where rows may arrive: its live end, or else the far end of
/// a list that is not `anchor: last`, in whose order a new row may be anywhere.
struct UnloadedRows: Hashable, Sendable {
  /// The number of rows of the collection when the list did no longer reach that end, or nil if it is
  /// not known.
  var total: Int?
  /// The number of unloaded rows there that were not new: they come before the new ones when they
  /// are fetched again.
  var seenCount = 0
  /// How many more rows came among the loaded ones since then than went, with those that the user added
  /// elsewhere: they are no new rows there.
  var loadedGrowth = 0
}

extension ListScreen {
  /// Whether all rows of the collection are loaded.
  ///
  /// A filter may have looked through all rows without loading them.
  var isComplete: Bool { reach.isExhausted && filtering.searchedCount == 0 }

  /// Whether the loaded rows are all that the replica keeps, although the server may have more: without a connection
  /// nobody knows, and the first page is not full.
  func isAllOfCache(_ origin: OriginFacts?) -> Bool {
    origin?.isCached == true && reach.paging == .more && filtering.filter == nil
      && (reach.loadedCount > 0 || origin?.isDisconnected == true)
      && reach.loadedCount < definition.source.page
  }

  /// The id of the fetch-more row for rows at the end where rows arrive.
  package static let newerRow = "fetch-newer"

  /// Whether a row is one of the fetch-more rows.
  static func isPlaceholder(_ id: String?) -> Bool { id == fetchMoreRow || id == newerRow }

  /// Whether rows may arrive beyond the far end of the loaded rows; with further queries, whose rows a
  /// filter counts among the loaded ones, that is not followed.
  private func isOpenAtFarEnd(_ paging: FetchState) -> Bool {
    definition.source.anchor != .last && definition.also.isEmpty && paging != .exhausted
  }

  /// Whether the rows that arrived beyond the end of the loaded rows are below the screen.
  var arrivesBelow: Bool { reach.isAway == isLiveAtBottom }

  /// Whether more rows may have arrived than are counted, because the number of rows of the collection is
  /// not known.
  var arrivedMayBeMore: Bool { unloading.beyond != nil && reach.total == nil }

  /// The number of rows that arrived beyond the end of the loaded rows.
  ///
  /// The number is a difference of totals: rows deleted meanwhile are subtracted. With a filter, it is
  /// not known which of the rows beyond the far end fit: none is counted.
  var arrivedUnloaded: Int {
    if filtering.filter != nil, !reach.isAway { return 0 }
    guard let unloaded = unloading.beyond, let before = unloaded.total, let total = reach.total
    else { return 0 }
    return max(0, total - before - unloaded.loadedGrowth)
  }

  /// The number of new rows above the screen, loaded or not.
  var newAboveCount: Int { list.newAboveCount + (arrivesBelow ? 0 : arrivedUnloaded) }

  /// The number of new rows below the screen, loaded or not.
  var newBelowCount: Int { list.newBelowCount + (arrivesBelow ? arrivedUnloaded : 0) }

  /// The number of rows that the list keeps, at least two pages; nil if it keeps all.
  ///
  /// Rows are unloaded when there are a quarter more.
  private var keptCountMax: Int? {
    definition.source.keep.map { max($0, 2 * definition.source.page) }
  }

  /// Whether a filter has searched rows that are not, or will not stay, loaded.
  private var hasSearched: Bool {
    unloading.loadedBeforeSearch != nil || filtering.searchedCount > 0
  }

  /// Notes how many rows are loaded before a filter searches further ones.
  mutating func noteSearch() {
    if filtering.filter != nil { unloading.noteSearch(reach.loadedCount) }
  }

  /// Whether rows can be unloaded now.
  fileprivate var isAtRest: Bool { reach.isAtRest && !unloading.isLettingGo }

  /// Returns how many rows stay if others are to be unloaded: as many as the view keeps, or as were loaded
  /// before a filter that has ended searched others.
  private func countToKeep(height: Int) -> Int? {
    if filtering.filter == nil, let before = unloading.loadedBeforeSearch {
      let count = max(before, 4 * height)
      return reach.loadedCount > count + definition.source.page ? count : nil
    }
    guard let kept = keptCountMax else { return nil }
    let count = max(kept, 4 * height)
    return reach.loadedCount > loadedMax(keeping: count) ? count : nil
  }

  /// The most rows that are loaded before some are unloaded.
  private func loadedMax(keeping count: Int) -> Int {
    max(count, unloading.loadedFloor) + max(count / 4, definition.source.page)
  }

  /// Whether there are too many rows only since those that were unloaded have come back by themselves; then they
  /// stay until others have come.
  ///
  /// So it is where writes wait for a server. Otherwise each change would read all rows.
  mutating func staysSinceRowsReturned(_ count: Int) -> Bool {
    guard filtering.filter == nil, unloading.returnedCount > 0,
      reach.loadedCount - unloading.returnedCount <= loadedMax(keeping: count)
    else { return false }
    unloading.keepReturned(reach.loadedCount)
    return true
  }

  /// Returns the rows to keep if the list has so many that others are to be unloaded, or nil.
  ///
  /// - Parameters:
  ///   - height: the height of the list, in lines.
  ///   - edited: the ids of the rows whose records are open.
  /// - Returns: the rows that stay loaded.
  func rowsToKeep(height: Int, edited: Set<String>) -> KeptRows? {
    guard isAtRest, let count = countToKeep(height: height) else { return nil }
    var protected = Set(list.rows(within: 2 * height, in: content)).filter(hasRow)
    protected.formUnion(edited)
    protected.formUnion([goal.wantedRow].compactMap(\.self))
    var nearest = edited
    if case .row(let id)? = list.cursor, hasRow(id) { nearest.insert(id) }
    return KeptRows(
      count: count, protected: protected, nearest: nearest,
      marked: marks.union([rangeStart].compactMap(\.self)))
  }

  /// Notes how far the list reaches; called before its rows are changed.
  ///
  /// - Parameters:
  ///   - change: the change.
  ///   - wasLoaded: whether the list was loaded before it.
  mutating func noteReach(_ change: ListChange, wasLoaded: Bool) {
    let (wasAway, wasFetchingNewer, wasFetching) = (
      reach.isAway, reach.newer == .fetching, reach.paging == .fetching
    )
    reach.newer = change.newer
    if wasAway != reach.isAway { unloading.beyond = nil }
    let growth = change.loadedCount - reach.loadedCount
    if change.isLettingGo {
      unloading.end(leaving: change.loadedCount)
      if reach.isAway || !wasAway { noteUnloaded(change) }
    } else if wasFetchingNewer, reach.isAway {
      noteLoadedAgain(change.update.insertedRows.count)
    } else if !reach.isAway {
      if wasFetching {
        noteLoadedAgain(max(0, growth))
      } else {
        unloading.beyond?.loadedGrowth += growth
      }
    } else if !change.update.isReload {
      // A filter hides rows, which are not gone.
      let goneCount = filtering.filter == nil ? change.removed.count(where: isStored) : 0
      let growth = change.newRows.count + change.ownCount - goneCount
      unloading.beyond?.loadedGrowth += growth
    }
    if !change.isLettingGo, !wasFetching, !wasFetchingNewer, let kept = keptCountMax {
      // The kept rows may come in two parts.
      let known = min(growth - change.newRows.count - change.ownCount, change.loadedCount - kept)
      unloading.returnedCount += max(0, known)
    }
    if reach.isAway { return }
    guard isOpenAtFarEnd(change.paging), change.phase == .loaded else {
      return unloading.beyond = nil
    }
    if unloading.beyond != nil { return }
    // A large write can make a list that had all rows one that has more than are loaded; what the user
    // brings back or imports so is not new, and nor is what a filter has searched.
    let isByOthers = !change.isLettingGo && change.ownCount == 0 && !hasSearched
    let isGrown = wasLoaded && !wasAway && reach.paging == .exhausted && isByOthers
    unloading.beyond =
      isGrown
      ? UnloadedRows(total: reach.total.map { _ in reach.loadedCount }, loadedGrowth: growth)
      : UnloadedRows(total: reach.total, seenCount: max(0, (reach.total ?? 0) - change.loadedCount))
  }

  /// Takes the number of rows of the collection; nil if it is not known.
  ///
  /// While the user imports rows there, none of them counts as new.
  mutating func take(total count: Int?, isImporting: Bool) {
    let arrived = arrivedUnloaded
    reach.total = count
    guard let count, let unloaded = unloading.beyond,
      isImporting || unloaded.total == nil && !reach.isAway
    else { return }
    unloading.beyond?.total = count - unloaded.loadedGrowth - arrived
  }

  /// Whether all new rows are beyond the far end, which is not loaded.
  var hasNewBeyondFarEnd: Bool {
    !reach.isAway && isOpenAtFarEnd(reach.paging) && list.newAbove.isEmpty && list.newBelow.isEmpty
      && (arrivesBelow ? newBelowCount : newAboveCount) > 0
  }

  /// Moves the cursor to the last loaded row before the far end, or to the fetch-more row there.
  fileprivate mutating func goToFarEnd(height: Int) {
    if isLiveAtBottom {
      list.moveToFirst(in: content, height: height)
    } else {
      list.moveToLast(in: content, height: height)
    }
  }

  /// Notes a page that the user fetched.
  ///
  /// If the cursor is elsewhere, or a filter searches, the page is not unloaded at once.
  mutating func noteFetched(from row: String) {
    if filtering.filter == nil, isNear(row) { return }
    unloading.keep(atLeast: reach.loadedCount)
  }

  /// Whether the cursor is within two pages of a fetch-more row.
  private func isNear(_ placeholder: String) -> Bool {
    guard let number = content.number(ofPlaceholder: placeholder),
      let cursor = list.rowNumber(in: content)
    else { return false }
    return abs(number - cursor) <= 2 * definition.source.page
  }

  /// Forgets the counts of unloaded new rows, if the list reaches the end where rows arrive.
  mutating func forgetUnloaded() {
    if reach.isAway { return }
    list.loadAgain(above: isLiveAtBottom ? 0 : .max, below: isLiveAtBottom ? .max : 0)
    guard reach.paging == .exhausted, reach.phase == .loaded else { return }
    news.unread.unloaded = 0
    if definition.source.anchor != .last { list.forgetUnloadedNewRows() }
  }

  private func isStored(_ id: String) -> Bool { records[id].map { !isTransient($0) } ?? false }

  private mutating func noteUnloaded(_ change: ListChange) {
    guard reach.isAway || isOpenAtFarEnd(change.paging) else { return }
    unloading.beyond = unloading.beyond ?? UnloadedRows(total: unloading.totalWhenAsked)
    guard let cursor = list.cursorPath(in: content) else { return }
    let isBelow = arrivesBelow
    let new = isBelow ? list.newBelow : list.newAbove
    for path in change.update.deletedRows where isBelow ? cursor < path : path < cursor {
      if let id = content.row(at: path), !new.contains(id) { unloading.beyond?.seenCount += 1 }
    }
  }

  private mutating func noteLoadedAgain(_ count: Int) {
    let seen = min(count, unloading.beyond?.seenCount ?? 0)
    unloading.beyond?.seenCount -= seen
    let isBelow = arrivesBelow
    let counted = isBelow ? list.unloadedNewBelow : list.unloadedNewAbove
    let new = count - seen
    list.loadAgain(above: isBelow ? 0 : new, below: isBelow ? new : 0)
    if let before = unloading.beyond?.total {
      unloading.beyond?.total = before + max(0, new - counted)
    }
  }
}

extension ListScreen {
  /// Unloads rows far from the cursor, if a view has more than it keeps.
  static func letGo(_ state: inout AppState, inView view: Int) {
    var edited: Set<String> = []
    for case .record(let screen) in state.layers { edited.insert(Record.id(of: screen.path)) }
    defer {
      // What the user fetches from now on stays.
      let list = state.tabs.lists[view]
      if list.filtering.filter == nil, list.isAtRest || list.unloading.isLettingGo {
        state.tabs.lists[view].unloading.forgetSearch()
      }
    }
    guard
      let kept = state.tabs.lists[view].rowsToKeep(
        height: state.tabs.height(ofView: view, in: state.height), edited: edited)
    else {
      return
    }
    if state.tabs.lists[view].staysSinceRowsReturned(kept.count) { return }
    state.tabs.lists[view].unloading.ask(state.tabs.lists[view].reach.total)
    state.effects.append(.letGo(view: view, kept))
  }

  /// Goes to the end where rows arrive; an end that is not loaded is read again.
  static func goToLiveEnd(_ state: inout AppState, ofView view: Int) {
    guard state.tabs.lists[view].reach.isAway else {
      return state.tabs.lists[view].goToLiveEnd(
        height: state.tabs.height(ofView: view, in: state.height))
    }
    state.tabs.lists[view].goal.readLiveEnd()
    state.tabs.lists[view].reach.newer = .fetching
    state.effects.append(.goToLiveEnd(view))
  }

  /// Goes to the newest new row, also if it is not loaded and the history tells which it is; or else to where
  /// it will be loaded.
  static func goToNewest(_ state: inout AppState, inView view: Int) {
    if !seekNewest(&state, inView: view) { goToEndOfNewest(&state, inView: view) }
  }

  /// Goes to the newest new row that is loaded, or to the end where those that are not will come.
  static func goToEndOfNewest(_ state: inout AppState, inView view: Int) {
    if state.tabs.lists[view].reach.isAway {
      goToLiveEnd(&state, ofView: view)
    } else if state.tabs.lists[view].hasNewBeyondFarEnd {
      let height = state.tabs.height(ofView: view, in: state.height)
      state.tabs.lists[view].goToFarEnd(height: height)
      state.say(
        .info, state.phrase("what is new is not loaded", .sectionMore, "fetches the next page"))
    } else {
      state.tabs.lists[view].goToNewest(height: state.tabs.height(ofView: view, in: state.height))
    }
  }

  /// Whether an action goes to the end where rows arrive while the list does not reach it.
  static func leadsToUnloadedEnd(_ state: AppState, _ action: ActionID, count: Int?) -> Bool {
    guard let list = state.tabs.frontList, count == nil, list.reach.isAway else { return false }
    return action == (list.isLiveAtBottom ? .rowLast : .rowFirst)
  }

  /// Fetches the next pages at the end where rows arrive.
  static func fetchNewer(_ state: inout AppState, pages: Int = 1) {
    guard let view = state.tabs.front.view else { return }
    resume(&state, view)
    state.tabs.lists[view].noteSearch()
    state.tabs.lists[view].reach.newer = .fetching
    state.effects.append(.fetchNewer(view, pages: pages))
  }
}
