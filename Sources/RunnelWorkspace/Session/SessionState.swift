package import RunnelBase
import RunnelStreams
import RunnelTerminal

/// Where a user was in a database when they left it, and what they had chosen: what comes back when they
/// open it again.
///
/// It is data without meaning of its own: views and rows are named as they were, and what is not there any
/// more is passed over. Marks, drafts and what is open over a view are not kept.
package struct SessionState: Hashable, Sendable {
  /// A view as it was left.
  package struct View: Hashable, Sendable {
    /// The row under the cursor; nil at the end where the list is live.
    var cursor: String?
    /// The folded sections.
    var folded: [String] = []
    /// The text of the filter; nil if all was shown.
    package var filter: String?
    /// Whether the newest row was followed.
    package var isFollowing = false
    /// The newest row that was seen; nil if nobody knows.
    var seen: String?
    /// When it was seen last, in milliseconds since 1970.
    var left: Int64?
    /// The order that was chosen; nil for that of the view.
    package var order: String?
    /// The fields of the columns that were hidden.
    package var hidden: [String] = []
    /// Whether columns were shown in full.
    var isWide = false

    package init(
      cursor: String? = nil, folded: [String] = [], filter: String? = nil,
      isFollowing: Bool = false, seen: String? = nil, left: Int64? = nil, order: String? = nil,
      hidden: [String] = [], isWide: Bool = false
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
    }
  }

  /// The most sections of a view whose folds are kept.
  fileprivate static let foldedMax = 1000
  /// The format of the file.
  private static let version = 1

  /// The name of the tab; nil for the first one.
  package var tab: String?
  /// The views by their names.
  package var views: [String: View] = [:]
  /// Whether the record under the cursor was shown beside the list; nil to go by the width.
  var showsDetail: Bool?
  /// How times were written.
  var timeStyle = TimeStyle.age
  /// What lists were filtered by, the newest last.
  var filters: [String] = []
  /// What was looked for, the newest last.
  var searches: [String] = []
  /// Places by their letters.
  var bookmarks: [String: String] = [:]
  /// The pane of each tab that had the keys, and its size, by the names of the tabs.
  var panes: [String: String] = [:]

  package init() {}
}

// MARK: JSON

extension SessionState {
  /// The session as it is kept in a file.
  package var json: JSONValue {
    var members: [JSONMember] = [JSONMember("version", .int(SessionState.version))]
    if let tab { members.append(JSONMember("tab", .string(tab))) }
    if let showsDetail { members.append(JSONMember("detail", .bool(showsDetail))) }
    members.append(JSONMember("time", .string(timeStyle.rawValue)))
    let named = views.sorted { $0.key < $1.key }.map { JSONMember($0.key, $0.value.json) }
    members.append(JSONMember("views", .object(named)))
    members.append(JSONMember("filters", .strings(filters)))
    members.append(JSONMember("searches", .strings(searches)))
    members.append(JSONMember("bookmarks", .named(bookmarks)))
    members.append(JSONMember("panes", .named(panes)))
    return .object(members)
  }

  /// Reads a session; nil for what is none, or is of a newer version.
  ///
  /// A member that is not understood is passed over: half of a session is better than none.
  package init?(_ json: JSONValue) {
    guard let version = json["version"]?.int,
      version <= SessionState.version
    else { return nil }
    tab = json["tab"]?.string
    showsDetail = json["detail"]?.bool
    timeStyle = json["time"]?.string.flatMap { TimeStyle(rawValue: $0) } ?? .age
    for member in json["views"]?.object ?? [] { views[member.name] = View(member.value) }
    filters = json["filters"]?.texts ?? []
    searches = json["searches"]?.texts ?? []
    for member in json["bookmarks"]?.object ?? [] { bookmarks[member.name] = member.value.string }
    for member in json["panes"]?.object ?? [] { panes[member.name] = member.value.string }
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
    if !hidden.isEmpty { members.append(JSONMember("hidden", .strings(hidden))) }
    if isWide { members.append(JSONMember("wide", true)) }
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
    hidden = json["hidden"]?.texts ?? []
    isWide = json["wide"]?.bool ?? false
  }
}

extension SessionState.View {
  /// The view as a list is now.
  ///
  /// To leave the program ends the visit of the view in front.
  fileprivate init(_ screen: ListScreen, before: Self, isInFront: Bool, now: Int64) {
    self = before
    let unread = isInFront ? [] : screen.unread.rows
    if let newest = screen.newestSeen(since: before.seen, besides: unread) {
      seen = newest
      left = isInFront ? now : screen.unread.since ?? now
    }
    hidden = screen.hiddenColumns.sorted().map { screen.definition.columns[$0].field.text }
    isWide = screen.isWide
    let isAtEnd = screen.list.cursor == screen.liveEnd
    if case .row(let id)? = screen.list.cursor, !isAtEnd, !ListScreen.isPlaceholder(id),
      !(screen.records[id].map(screen.isTransient) ?? false)
    {
      cursor = id
    } else {
      // What was wanted and is not loaded is wanted the next time too.
      cursor = isAtEnd ? screen.wantedRow : nil
    }
    folded = screen.list.folded.sorted().suffix(SessionState.foldedMax)
    filter = screen.filter?.text
    isFollowing = screen.list.isFollowing
    order = screen.order?.text
  }
}

extension JSONValue {
  /// An object of texts, in the order of their names.
  fileprivate static func named(_ texts: [String: String]) -> JSONValue {
    .object(texts.sorted { $0.key < $1.key }.map { JSONMember($0.key, .string($0.value)) })
  }

  fileprivate var texts: [String]? {
    array?.compactMap(\.string)
  }
}

// MARK: The state

extension SessionState {
  /// What is to come back the next time.
  ///
  /// O(views, folds and loaded rows).
  package static func session(_ state: AppState) -> SessionState {
    // What is known of views that were not opened, or are not there this time, stays.
    var session = state.session.remembered
    session.tab = state.tabs.names[state.tabs.index]
    session.showsDetail = state.panes.wantsDetail
    session.timeStyle = state.settings.timeStyle
    session.filters = state.trail.filters.entries
    session.searches = state.trail.searches.entries
    session.bookmarks = state.trail.bookmarkTexts
    for (index, screen) in state.tabs.lists.enumerated()
    where screen.isOpen && screen.phase == .loaded {
      let view = Self.session(state, of: screen, isInFront: index == state.tabs.index)
      session.views[screen.definition.name] = view
    }
    for (tab, choice) in state.panes.choices {
      // Which pane had the keys matters where it is of another size: else one begins in the list.
      session.panes[state.tabs.names[tab]] = choice.size == .normal ? nil : choice.text
    }
    return session
  }

  /// What is to come back of a view.
  package static func session(
    _ state: AppState, of screen: ListScreen, isInFront: Bool
  ) -> SessionState.View {
    let before = state.session.remembered.views[screen.definition.name] ?? .init()
    guard screen.isOpen, screen.phase == .loaded else { return before }
    return SessionState.View(screen, before: before, isInFront: isInFront, now: state.now)
  }

  /// Puts back what a session had, before the first rows are there.
  static func restore(_ state: inout AppState, _ session: SessionState) {
    state.session.remembered = session
    state.panes.wantsDetail = session.showsDetail
    state.settings.timeStyle = session.timeStyle
    state.trail.filters = LineHistory(session.filters)
    state.trail.searches = LineHistory(session.searches)
    state.trail.bookmarkTexts = session.bookmarks
    for index in state.tabs.lists.indices {
      guard let view = session.views[state.tabs.lists[index].definition.name] else { continue }
      restore(&state, view, inView: index)
      if let seen = view.seen, let left = view.left {
        state.tabs.lists[index].seenBefore = SeenRow(id: seen, left: left)
      }
      if state.tabs.lists[index].isOpen, state.tabs.lists[index].filter != nil {
        FilterScreen.applyFilter(&state, inView: index)
      }
    }
    for (tab, name) in state.tabs.names.enumerated() {
      state.panes.choices[tab] = session.panes[name].flatMap { PaneChoice(text: $0) }
    }
    if let tab = session.tab.flatMap({ state.tabs.names.firstIndex(of: $0) }),
      tab != state.tabs.index
    {
      state.open(tab)
    }
  }

  /// Puts back what the user had chosen in a view, and where they were.
  static func restore(_ state: inout AppState, _ view: SessionState.View, inView index: Int) {
    if let order = view.order.flatMap({ ListOrder($0) }),
      Sorting.reasonNotSorted(state, state.tabs.lists[index]) == nil
    {
      Sorting.sort(&state, by: order, inView: index)
    }
    state.tabs.lists[index].restore(view)
    // A filter that names a moment is read as of now; one that cannot be read any more shows all.
    state.tabs.lists[index].filter = view.filter.flatMap { text in
      (try? FilterScreen.filter(state, text)).flatMap { $0.isEmpty ? nil : $0 }
    }
  }
}

extension ListScreen {
  /// The row at the end where the list is live; nil if there is none.
  fileprivate var liveEnd: ListItem? {
    let rows =
      isLiveAtBottom ? content.sections.last?.rows.last : content.sections.first?.rows.first
    return rows.map { .row($0) }
  }

  fileprivate mutating func restore(_ view: SessionState.View) {
    wantedRow = view.cursor
    list.folded = Set(view.folded)
    list.isFollowing = view.isFollowing
    isWide = view.isWide
    let hidden = Set(view.hidden)
    let columns = definition.columns.indices.filter {
      hidden.contains(definition.columns[$0].field.text)
    }
    // One column stays, whatever the views file has become.
    if columns.count < definition.columns.count { hiddenColumns = Set(columns) }
  }
}
