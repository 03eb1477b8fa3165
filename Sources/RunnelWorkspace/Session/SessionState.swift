package import RunnelBase
import RunnelStreams
import RunnelTerminal
package import RunnelTree

/// A session: the user's place and choices in a database when they left it, which are restored when
/// they open it again.
///
/// It holds names only: views and rows that no longer exist are ignored. Typed text is
/// kept, as drafts; marks and layers over a view are not.
package struct SessionState: Hashable, Sendable {
  /// A view as it was left.
  package struct View: Hashable, Sendable {
    /// The row under the cursor, or nil if it was at the live end.
    var cursor: String?
    /// The folded sections.
    var folded: [String] = []
    /// The text of the filter, or nil if there was none.
    package var filter: String?
    /// Whether the newest row was followed.
    package var isFollowing = false
    /// The newest row that was seen, or nil if it is not known.
    var seen: String?
    /// The time when it was last seen, in milliseconds since 1970.
    var left: Int64?
    /// The order that the user chose, or nil for the view's own.
    package var order: String?
    /// The sections that the user chose, or nil for the view's own.
    var grouping: String?
    /// The fields of the hidden columns.
    package var hidden: [String] = []
    /// The fields of the columns that the user chose for any screen.
    var chosen: [String] = []
    /// Whether columns were shown in full.
    var isWide = false
    /// How many lines a row took.
    var rowLines = RowLines.one
    /// The text that was being composed; nil if there was none.
    var draft: String?
    /// When that text was last typed, in milliseconds since 1970; nil if that is not known.
    var draftTime: Int64?
    /// What was sent before that text.
    var sentBefore = SentBefore()
    /// The texts that are offered in its line after that one.
    var more: [TypedLine] = []

    package init(
      cursor: String? = nil, folded: [String] = [], filter: String? = nil,
      isFollowing: Bool = false, seen: String? = nil, left: Int64? = nil, order: String? = nil,
      hidden: [String] = [], isWide: Bool = false, draft: String? = nil
    ) {
      self.cursor = cursor
      self.folded = folded
      self.filter = filter
      self.isFollowing = isFollowing
      self.seen = seen
      self.left = left
      self.order = order
      self.hidden = hidden
      self.isWide = isWide
      self.draft = draft
    }
  }

  /// The greatest number of folded sections that are kept of a view.
  fileprivate static let foldedMax = 1000
  /// The most bytes of drafts that are kept, of all views together.
  static let draftBytesMax = 256 << 10
  /// The version of the file format.
  private static let version = 1

  /// The name of the tab, or nil for the first one.
  package var tab: String?
  /// The list in front that was opened from a row, as `ListScreen.sessionName`; nil for none.
  var list: String?
  /// The place that was named for this start, which is shown first; nil for none.
  ///
  /// It is not remembered.
  package var place: Path?
  /// The views by name, and the lists opened from rows by their `sessionName`.
  package var views: [String: View] = [:]
  /// The tree, or nil if it was never open.
  package var tree: KeptTree?
  /// Whether the detail pane was shown, or nil to decide by the width of the screen.
  var showsDetail: Bool?
  /// The style of times.
  var timeStyle = TimeStyle.age
  /// The filters used, the newest last.
  var filters: [String] = []
  /// The texts searched for, the newest last.
  var searches: [String] = []
  /// The bookmarks: texts of places by their letters.
  var bookmarks: [String: String] = [:]
  /// The pane of each tab that had the keys, and its size, by the name of the tab.
  var panes: [String: String] = [:]
  /// The texts of forms and fields that were not saved.
  package var drafts: [Draft] = []
  /// The texts that were typed into lines and not entered.
  var unfinished = UnfinishedLines()
  /// The number of the workspace that typed the texts; nil if it has none.
  package var writer: Int64?
  /// What was typed in other workspaces on the same database, the oldest first.
  package var others: [KeptTexts] = []

  package init() {}
}

// MARK: JSON

extension SessionState {
  /// The session in the format of its file.
  package var json: JSONValue {
    var members: [JSONMember] = [JSONMember("version", .int(SessionState.version))]
    if let tab { members.append(JSONMember("tab", .string(tab))) }
    if let list { members.append(JSONMember("list", .string(list))) }
    if let place { members.append(JSONMember("place", .string(place.description))) }
    if let tree { members.append(JSONMember("tree", tree.json)) }
    if let showsDetail { members.append(JSONMember("detail", .bool(showsDetail))) }
    members.append(JSONMember("time", .string(timeStyle.rawValue)))
    let named = views.sorted { $0.key < $1.key }.map { JSONMember($0.key, $0.value.json) }
    members.append(JSONMember("views", .object(named)))
    members.append(JSONMember("filters", .strings(filters)))
    members.append(JSONMember("searches", .strings(searches)))
    members.append(JSONMember("bookmarks", .named(bookmarks)))
    members.append(JSONMember("panes", .named(panes)))
    if !drafts.isEmpty { members.append(JSONMember("drafts", .array(drafts.map(\.json)))) }
    if let json = unfinished.json { members.append(JSONMember("unfinished", json)) }
    if let writer { members.append(JSONMember("writer", .number(JSONNumber(writer)))) }
    if !others.isEmpty { members.append(JSONMember("others", .array(others.map(\.json)))) }
    return .object(members)
  }

  /// Reads a session; nil if the JSON is none, or is of a newer version.
  ///
  /// Members that are not valid are ignored: half of a session is better than none.
  package init?(_ json: JSONValue) {
    guard let version = json["version"]?.int,
      version <= SessionState.version
    else { return nil }
    tab = json["tab"]?.string
    list = json["list"]?.string
    // A place that is none is not shown.
    place = json["place"]?.string.flatMap { try? Path($0) }
    tree = json["tree"].map { KeptTree($0) }
    showsDetail = json["detail"]?.bool
    timeStyle = json["time"]?.string.flatMap { TimeStyle(rawValue: $0) } ?? .age
    for member in json["views"]?.object ?? [] { views[member.name] = View(member.value) }
    filters = json["filters"]?.texts ?? []
    searches = json["searches"]?.texts ?? []
    for member in json["bookmarks"]?.object ?? [] { bookmarks[member.name] = member.value.string }
    for member in json["panes"]?.object ?? [] { panes[member.name] = member.value.string }
    drafts = (json["drafts"]?.array ?? []).compactMap { Draft($0) }
    unfinished = UnfinishedLines(json["unfinished"])
    writer = json["writer"]?.int.map { Int64($0) }
    others = (json["others"]?.array ?? []).map { KeptTexts($0) }.filter { !$0.isEmpty }
  }
}

extension SessionState.View {
  fileprivate var json: JSONValue {
    var members: [JSONMember] = []
    if let cursor { members.append(JSONMember("cursor", .string(cursor))) }
    if !folded.isEmpty { members.append(JSONMember("folded", .strings(folded))) }
    if let filter { members.append(JSONMember("filter", .string(filter))) }
    if isFollowing { members.append(JSONMember("follow", true)) }
    if let seen { members.append(JSONMember("seen", .string(seen))) }
    if let left { members.append(JSONMember("left", .number(JSONNumber(left)))) }
    if let order { members.append(JSONMember("order", .string(order))) }
    if let grouping { members.append(JSONMember("group", .string(grouping))) }
    if !chosen.isEmpty { members.append(JSONMember("chosen", .strings(chosen))) }
    if !hidden.isEmpty { members.append(JSONMember("hidden", .strings(hidden))) }
    if isWide { members.append(JSONMember("wide", true)) }
    if rowLines != .one { members.append(JSONMember("lines", .string(rowLines.rawValue))) }
    if let draft { members.append(JSONMember("draft", .string(draft))) }
    members += TypedLine.members(draftTime, sentBefore)
    if !more.isEmpty {
      members.append(JSONMember("more", .array(more.map { .object($0.members) })))
    }
    return .object(members)
  }

  fileprivate init(_ json: JSONValue) {
    cursor = json["cursor"]?.string
    folded = json["folded"]?.texts ?? []
    filter = json["filter"]?.string
    isFollowing = json["follow"]?.bool ?? false
    seen = json["seen"]?.string
    left = json["left"]?.int.map { Int64($0) }
    order = json["order"]?.string
    grouping = json["group"]?.string
    hidden = json["hidden"]?.texts ?? []
    chosen = json["chosen"]?.texts ?? []
    isWide = json["wide"]?.bool ?? false
    rowLines = json["lines"]?.string.flatMap { RowLines(rawValue: $0) } ?? .one
    draft = json["draft"]?.string
    draftTime = TypedLine.time(json)
    sentBefore = SentBefore(json)
    more = (json["more"]?.array ?? []).compactMap { TypedLine($0) }
  }
}

extension SessionState.View {
  /// Makes the stored view of a list.
  ///
  /// Leaving the program ends the visit of the view in front.
  fileprivate init(_ screen: ListScreen, before: Self, isInFront: Bool, now: Int64) {
    self = before
    let unread = isInFront ? [] : screen.news.unread.rows
    if let newest = screen.newestSeen(since: before.seen, besides: unread) {
      seen = newest
      left = isInFront ? now : screen.news.unread.since ?? now
    }
    hidden = screen.look.hiddenColumns.sorted().map { screen.definition.columns[$0].field.text }
    chosen = screen.look.chosenFields.map(\.text).sorted()
    (isWide, rowLines) = (screen.look.isWide, screen.look.rowLines)
    let isAtEnd = screen.list.cursor == screen.liveEnd
    if case .row(let id)? = screen.list.cursor, !isAtEnd, !ListScreen.isPlaceholder(id),
      !(screen.records[id].map(screen.isTransient) ?? false)
    {
      cursor = id
    } else {
      // A wanted row that is not loaded is wanted again at the next start.
      cursor = isAtEnd ? screen.goal.wantedRow : nil
    }
    folded = screen.list.folded.sorted().suffix(SessionState.foldedMax)
    filter = screen.ownFilter?.text
    isFollowing = screen.list.isFollowing
    order = screen.arrangement.order?.text
    grouping = screen.arrangement.grouping?.text
    draft = screen.line.draft.isEmpty ? nil : screen.line.draft
    draftTime = draft == nil ? nil : screen.line.draftTime
    sentBefore = draftTime == nil ? SentBefore() : screen.line.sentBefore
  }
}

extension JSONValue {
  /// Returns an object of texts, ordered by their names.
  fileprivate static func named(_ texts: [String: String]) -> JSONValue {
    .object(texts.sorted { $0.key < $1.key }.map { JSONMember($0.key, .string($0.value)) })
  }

  fileprivate var texts: [String]? {
    array?.compactMap(\.string)
  }
}

// MARK: The state

extension SessionState {
  /// Returns the session to be stored.
  ///
  /// O(views, folds and loaded rows).
  package static func session(_ state: AppState) -> SessionState {
    // The stored views that were not opened, or do not exist this time, are kept.
    var session = state.session.remembered
    session.tab = state.tabs.names[state.tabs.position]
    session.list = state.tabs.frontList.flatMap { $0.drillDown == nil ? nil : $0.sessionName }
    session.tree = KeptTree(state.tabs.tree) ?? session.tree
    session.showsDetail = state.panes.wantsDetail
    session.timeStyle = state.settings.timeStyle
    session.filters = state.trail.filters.entries
    session.searches = state.trail.searches.entries
    session.bookmarks = state.trail.bookmarkTexts
    session.drafts = Drafts.session(state)
    session.unfinished = state.trail.unfinished.noting(state.layers)
    for (index, screen) in state.tabs.lists.enumerated()
    where screen.reach.isOpen && screen.reach.phase == .loaded {
      session.views[screen.sessionName] = Self.session(
        state, of: screen, isInFront: state.tabs.front == .view(index))
    }
    session.keepLines(state)
    session.dropOldLists(besides: Set(state.tabs.lists.map(\.sessionName)))
    for (tab, choice) in state.panes.choices
    where state.tabs.hasPosition(tab) {
      // The pane that had the keys is only stored if its size is not normal; otherwise the list has
      // the keys at the next start.
      session.panes[state.tabs.name(of: tab)] = choice.size == .normal ? nil : choice.text
    }
    return session
  }

  /// Keeps what stands in the lines of all lists, also of those that are not loaded.
  private mutating func keepLines(_ state: AppState) {
    let kept = SessionState.keptDrafts(state)
    for (index, screen) in state.tabs.lists.enumerated() {
      let name = screen.sessionName
      let more = views[name]?.more ?? []
      if kept.contains(index) {
        // What was sent before a text is as it was until it is known whether the text was stored.
        let sent =
          screen.line.isDraftRestored
          ? screen.line.sentBefore : SentBefore(state, inView: index)
        let time = screen.line.draftTime
        let line = TypedLine(
          screen.line.draft, time: time, sentBefore: time == nil ? SentBefore() : sent)
        views[name, default: View()].lines = [line] + more
      } else {
        views[name]?.lines = []
        views[name]?.more = more
      }
    }
  }

  /// The indices of the views whose drafts are kept: all that have one, up to a number of bytes.
  static func keptDrafts(_ state: AppState) -> Set<Int> {
    var rest = draftBytesMax
    var kept: Set<Int> = []
    for (index, screen) in state.tabs.lists.enumerated() where !screen.line.draft.isEmpty {
      let count = screen.line.draft.utf8.count
      guard count <= rest else { continue }
      rest -= count
      kept.insert(index)
    }
    return kept
  }

  /// Returns the stored part of a view.
  package static func session(
    _ state: AppState, of screen: ListScreen, isInFront: Bool
  ) -> SessionState.View {
    let before = state.session.remembered.views[screen.sessionName] ?? .init()
    guard screen.reach.isOpen, screen.reach.phase == .loaded else { return before }
    return SessionState.View(screen, before: before, isInFront: isInFront, now: state.now)
  }

  /// Restores a session, before the first rows are loaded.
  static func restore(_ state: inout AppState, _ session: SessionState) {
    state.session.remembered = session
    state.session.remembered.place = nil
    state.panes.wantsDetail = session.showsDetail
    state.settings.timeStyle = session.timeStyle
    state.trail.filters = LineHistory(session.filters)
    state.trail.searches = LineHistory(session.searches)
    state.trail.bookmarkTexts = session.bookmarks
    state.writes.drafts = Drafts(session.drafts.filter { $0.subject.kind != .outside })
    OutsideEdit.restore(&state, session.drafts)
    state.trail.unfinished = session.unfinished
    for index in state.tabs.lists.indices {
      guard let view = session.views[state.tabs.lists[index].sessionName] else { continue }
      restore(&state, view, inView: index)
      if let seen = view.seen, let left = view.left {
        state.tabs.lists[index].news.unread.begin(after: SeenRow(id: seen, left: left))
      }
      if state.tabs.lists[index].reach.isOpen, state.tabs.lists[index].filtering.filter != nil {
        FilterScreen.applyFilter(&state, inView: index)
      }
    }
    if let tree = session.tree { KeptTree.restore(&state, tree) }
    for (position, name) in state.tabs.names.enumerated() {
      let tab = state.tabs.tab(atPosition: position)
      state.panes.choices[tab] = session.panes[name].flatMap { PaneChoice(text: $0) }
    }
    if let tab = session.tab.flatMap({ state.tabs.names.firstIndex(of: $0) }),
      tab != state.tabs.position
    {
      state.open(state.tabs.tab(atPosition: tab))
    }
    openList(&state, session)
    if let place = session.place { show(&state, place) }
  }

  /// Shows a place: the view of the collection there, or else the node in the tree.
  private static func show(_ state: inout AppState, _ place: Path) {
    let view = state.tabs.lists.firstIndex {
      $0.drillDown == nil && $0.definition.source.path == place
    }
    if let view { state.open(.view(view)) } else { Revealing.reveal(&state, place) }
  }

  /// Opens the list in front that was opened from a row, if its view still exists.
  private static func openList(_ state: inout AppState, _ session: SessionState) {
    guard let parts = session.list?.split(separator: "\n", maxSplits: 1), parts.count == 2,
      let path = try? Path(String(parts[1])),
      state.tabs.templates.contains(where: { $0.name == parts[0] }),
      let index = DrillDown.list(&state, of: String(parts[0]), at: path)
    else { return }
    DrillDown.show(&state, index)
  }

  /// Remembers a list that makes room for another one.
  static func remember(_ state: inout AppState, list index: Int) {
    let screen = state.tabs.lists[index]
    state.session.remembered.views[screen.sessionName] = session(
      state, of: screen, isInFront: false)
  }

  /// The greatest number of lists opened from rows that are kept.
  private static let listsMax = 100

  /// Drops lists that were opened from rows, if there are many; those that are open, and those with a
  /// draft, stay.
  private mutating func dropOldLists(besides open: Set<String>) {
    let lists = views.keys.filter { $0.contains("\n") }
    if lists.count <= SessionState.listsMax { return }
    let closed = lists.filter { !open.contains($0) && views[$0]?.lines.isEmpty ?? true }.sorted()
    for name in closed.prefix(lists.count - SessionState.listsMax) { views[name] = nil }
  }

  /// Restores the user's choices and place in a view.
  static func restore(_ state: inout AppState, _ view: SessionState.View, inView index: Int) {
    if let order = view.order.flatMap({ ListOrder($0) }),
      Sorting.reasonNotSorted(state.tabs.lists[index]) == nil
    {
      Sorting.sort(&state, by: order, inView: index)
    }
    if let grouping = view.grouping.flatMap({ Grouping($0) }) {
      Grouping.group(&state, by: grouping, inView: index)
    }
    state.tabs.lists[index].restore(view)
    restoreMore(&state, view.more, inView: index)
    // Relative times in the filter are relative to now; a filter that is no longer valid is
    // dropped.
    state.tabs.lists[index].filtering.filter = view.filter.flatMap { text in
      (try? FilterScreen.filter(state, text)).flatMap { $0.isEmpty ? nil : $0 }
    }
  }

  /// Puts the texts that are offered after the one in the line among the drafts, if there is room.
  private static func restoreMore(
    _ state: inout AppState, _ more: [TypedLine], inView index: Int
  ) {
    let list = state.tabs.lists[index]
    var rest = more[...]
    while let line = rest.first {
      let draft = Draft(line, of: list.definition.source.path)
      guard state.writes.drafts.hasRoom(for: draft) else { break }
      state.writes.drafts.keep(draft)
      rest.removeFirst()
    }
    state.session.remembered.views[list.sessionName]?.more = Array(rest)
  }
}

extension ListScreen {
  /// The row at the live end, or nil if there is none.
  fileprivate var liveEnd: ListItem? {
    let rows =
      isLiveAtBottom ? content.sections.last?.rows.last : content.sections.first?.rows.first
    return rows.map { .row($0) }
  }

  fileprivate mutating func restore(_ view: SessionState.View) {
    goal.want(row: view.cursor)
    list.folded = Set(view.folded)
    list.isFollowing = view.isFollowing
    look.show(in: view.rowLines)
    if view.isWide { look.showInFull() }
    if let draft = view.draft { line.restore(draft, view.draftTime, view.sentBefore) }
    let chosen = Set(view.chosen)
    let hidden = Set(view.hidden)
    let columns = definition.columns.indices.filter {
      hidden.contains(definition.columns[$0].field.text)
    }
    // One column stays visible, even if the views file has changed.
    look.restore(
      chosen: Set(definition.columns.map(\.field).filter { chosen.contains($0.text) }),
      hidden: columns.count < definition.columns.count ? Set(columns) : look.hiddenColumns)
  }
}
