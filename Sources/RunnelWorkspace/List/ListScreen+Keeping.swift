import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree

// A list that is left open lets go of rows far from the cursor, and may then not reach the end where rows
// arrive. What was counted there goes on counting.

/// What is known of a list that does not reach the end where rows arrive.
struct UnloadedRows: Hashable, Sendable {
  /// How many rows the collection had when the list let go of that end; nil if that is not known.
  var total: Int?
  /// How many of the rows that were let go of there were no news: they come before the others when they
  /// are fetched again.
  var seenCount = 0
}

extension ListScreen {
  /// The id of the row that stands for rows towards the end where they arrive.
  package static let newerRow = "fetch-newer"

  /// True for a row that stands for rows which are not loaded.
  static func isPlaceholder(_ id: String?) -> Bool { id == fetchMoreRow || id == newerRow }

  /// True if the list does not reach the end where rows arrive.
  var isAway: Bool { newer != .exhausted }

  /// How many rows came to the collection beyond the end of what is loaded.
  ///
  /// Rows that went meanwhile are not told apart from those that came.
  var arrivedUnloaded: Int {
    guard let before = unloaded?.total, let total else { return 0 }
    return max(0, total - before)
  }

  /// How many new rows there are above the screen, loaded or not.
  var newAboveCount: Int { list.newAboveCount + (isLiveAtBottom ? 0 : arrivedUnloaded) }

  /// How many new rows there are below the screen, loaded or not.
  var newBelowCount: Int { list.newBelowCount + (isLiveAtBottom ? arrivedUnloaded : 0) }

  /// How many rows may be loaded before the list lets go of some: a quarter more than it keeps.
  private var keptCountMax: Int? {
    definition.source.keep.map { max($0, 2 * definition.source.page) }
  }

  /// The rows to keep, if there are so many that others are to be let go of; else nil.
  ///
  /// - Parameters:
  ///   - height: the height of the list.
  ///   - edited: the ids of the rows whose records are open.
  /// - Returns: what stays loaded.
  func rowsToKeep(height: Int, edited: Set<String>) -> KeptRows? {
    guard let kept = keptCountMax, phase == .loaded, waitingCount == nil, !isLettingGo,
      paging != .fetching, newer != .fetching
    else { return nil }
    let count = max(kept, 4 * height)
    guard loadedCount > max(count, loadedFloor) + max(count / 4, definition.source.page) else {
      return nil
    }
    var protected = Set(list.rows(within: 2 * height, in: content)).filter(hasRow)
    protected.formUnion(edited)
    protected.formUnion([wantedRow].compactMap(\.self))
    return KeptRows(
      count: count, protected: protected,
      marked: marks.union([rangeStart].compactMap(\.self)))
  }

  /// Takes over how far the list reaches, before its rows.
  mutating func noteReach(_ change: ListChange) {
    let wasFetchingNewer = newer == .fetching
    newer = change.newer
    if change.isLettingGo {
      isLettingGo = false
      loadedFloor = change.loadedCount
      noteUnloaded(change)
    } else if wasFetchingNewer, isAway {
      noteLoadedAgain(change.update.insertedRows.count)
    }
    if !isAway { unloaded = nil }
  }

  /// A page that the user fetched where the cursor is not is not let go of at once, nor what they
  /// searched for.
  mutating func noteFetched(from row: String) {
    if filter == nil, isNear(row) { return }
    loadedFloor = max(loadedFloor, loadedCount)
  }

  /// True if the cursor is about a page from a fetch-more row.
  private func isNear(_ placeholder: String) -> Bool {
    guard let number = content.number(ofPlaceholder: placeholder),
      let cursor = list.rowNumber(in: content)
    else { return false }
    return abs(number - cursor) <= 2 * definition.source.page
  }

  /// New rows that are loaded again, or all passed by, count no more as rows that are not loaded.
  mutating func forgetUnloaded() {
    if isAway { return }
    list.loadAgain(above: isLiveAtBottom ? 0 : .max, below: isLiveAtBottom ? .max : 0)
    if paging == .exhausted, phase == .loaded { unread.unloaded = 0 }
  }

  private mutating func noteUnloaded(_ change: ListChange) {
    guard isAway else { return }
    unloaded = unloaded ?? UnloadedRows(total: totalWhenAsked)
    guard let cursor = list.cursorPath(in: content) else { return }
    let new = isLiveAtBottom ? list.newBelow : list.newAbove
    for path in change.update.deletedRows where isLiveAtBottom ? cursor < path : path < cursor {
      if let id = content.row(at: path), !new.contains(id) { unloaded?.seenCount += 1 }
    }
  }

  private mutating func noteLoadedAgain(_ count: Int) {
    let seen = min(count, unloaded?.seenCount ?? 0)
    unloaded?.seenCount -= seen
    let counted = isLiveAtBottom ? list.unloadedNewBelow : list.unloadedNewAbove
    let new = count - seen
    list.loadAgain(above: isLiveAtBottom ? 0 : new, below: isLiveAtBottom ? new : 0)
    if let before = unloaded?.total { unloaded?.total = before + max(0, new - counted) }
  }
}

extension ListScreen {
  /// Lets go of rows far from the cursor, if a view has more than it keeps.
  static func letGo(_ state: inout AppState, inView view: Int) {
    var edited: Set<String> = []
    for case .record(let screen) in state.layers { edited.insert(Record.id(of: screen.path)) }
    guard let kept = state.tabs.lists[view].rowsToKeep(height: state.height, edited: edited) else {
      return
    }
    state.tabs.lists[view].isLettingGo = true
    state.tabs.lists[view].totalWhenAsked = state.tabs.lists[view].total
    state.effects.append(.letGo(view: view, kept))
  }

  /// Goes to the end where rows arrive, which is read again if it is not loaded.
  static func goToLiveEnd(_ state: inout AppState, ofView view: Int) {
    guard state.tabs.lists[view].isAway else {
      return state.tabs.lists[view].goToLiveEnd(height: state.height)
    }
    state.tabs.lists[view].wantsLiveEnd = true
    state.tabs.lists[view].newer = .fetching
    state.effects.append(.goToLiveEnd(view))
  }

  /// Goes to the newest new row, or to the end where rows arrive.
  static func goToNewest(_ state: inout AppState, inView view: Int) {
    if state.tabs.lists[view].isAway {
      goToLiveEnd(&state, ofView: view)
    } else {
      state.tabs.lists[view].goToNewest(height: state.height)
    }
  }

  /// True if an action goes to the end where rows arrive, and the list does not reach it.
  static func leadsToUnloadedEnd(_ state: AppState, _ action: ActionID, count: Int?) -> Bool {
    guard !state.tabs.isTree, count == nil, state.tabs.front.isAway else { return false }
    return action == (state.tabs.front.isLiveAtBottom ? .rowLast : .rowFirst)
  }

  /// Fetches the next page towards the end where rows arrive.
  static func fetchNewer(_ state: inout AppState) {
    resume(&state, state.tabs.index)
    state.tabs.front.newer = .fetching
    state.effects.append(.fetchNewer(state.tabs.index))
  }
}
