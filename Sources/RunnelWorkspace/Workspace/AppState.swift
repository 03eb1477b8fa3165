import RunnelBase
package import RunnelTerminal
import RunnelTree

/// The state of the workspace: everything that the screen shows, as one value.
///
/// It changes only by actions, in `reduce`; work outside the state is listed in `effects`. Rows
/// come from the tree and are never edited here: a key press requests a write, and the list changes
/// because the tree has changed.
package struct AppState: Equatable, Sendable {
  /// The time of the last tick, in milliseconds since 1970.
  package var now: Int64
  package var size: TerminalSize
  @Boxed package var settings: SettingsInForce
  @Boxed package var database: OpenedDatabase
  package var tabs: Tabs
  /// The layers over the view; the last one is on top and has the keys.
  var layers: [Layer] = []
  @Boxed var panes = PaneState()
  package var input = InputState()
  var toast: TimedToast?
  @Boxed package var trail = Trail()
  /// The requests to the database that are not answered yet.
  @Boxed package var requests = PendingRequests()
  package var effects: [Effect] = []
  @Boxed package var writes = WriteState()
  @Boxed package var files = FileState()
  @Boxed package var session = SessionProgress()

  package init(
    views: [ViewDefinition], resources: ResourceBook = ResourceBook(), databaseName: String,
    me: String, isReadOnly: Bool, profile: ProfileMark? = nil, size: TerminalSize, now: Int64,
    local: LocalTime, settings: Settings = Settings()
  ) {
    self.size = size
    self.now = now
    self.settings = SettingsInForce(settings, local: local)
    database = OpenedDatabase(
      name: databaseName, me: me, resources: resources, isReadOnly: isReadOnly,
      profile: profile)
    tabs = Tabs(views.map { $0.bound(toUser: me) })
    for index in tabs.lists.indices { tabs.lists[index].usePages(of: settings.pageSize) }
    open(tabs.front)
    Notices.openViews(&self)
  }
}

extension AppState {
  package var layout: AppLayout {
    AppLayout(size: size, prompt: prompt, panes: arrangement)
  }

  /// The prompt below the list.
  private var prompt: AppLayout.Prompt {
    for layer in layers.suffix(from: (fullLayer ?? -1) + 1).reversed() {
      switch layer.component.extent {
      case .line: return .line(count: layer.component.textField?.lineCount ?? 1)
      case .bar: return .bar
      case .page, .dialog: continue
      }
    }
    return .none
  }

  /// The height of the list of the active tab.
  package var height: Int { layout.body.height }

  /// Changes to a tab, and requests its rows at the first time.
  package mutating func open(_ tab: Tab) {
    if case .view(let view) = tab, !tabs.has(tab) {
      return say(.info, "there is no view \(view + 1)")
    }
    if tab != tabs.front {
      let (lines, now) = (tabs.frontHeight(in: height), now)
      tabs.changeFrontList { $0.leave(height: lines, now: now) }
    }
    if tab != tabs.front { input.drag = nil }
    tabs.bring(tab)
    switch tab {
    case .tree:
      TreeScreen.openTree(&self)
      tabs.tree.list.resize(toHeight: height, in: tabs.tree.content)
    case .view(let view):
      if !tabs.lists[view].reach.isOpen {
        tabs.lists[view].reach.isOpen = true
        effects.append(.openView(view))
        Presence.showTyping(&self, inOpenedView: view)
        if tabs.lists[view].filtering.filter != nil {
          FilterScreen.applyFilter(&self, inView: view)
        }
      }
      tabs.lists[view].refreshTitles(now: now, local: settings.local)
      let content = tabs.lists[view].content
      tabs.lists[view].list.resize(toHeight: tabs.height(ofView: view, in: height), in: content)
    }
  }

  /// Shows a message at the bottom of the screen for a while.
  ///
  /// `givesWay` says that the next key of the user ends it, however soon that comes.
  package mutating func say(_ kind: Toast.Kind, _ text: String, givesWay: Bool = false) {
    let milliseconds: Int64 =
      switch kind {
      case .error: 8000
      default: TimedToast.milliseconds
      }
    // What is said of the connection still waits.
    toast = TimedToast(
      toast: Toast(kind, text), until: now + milliseconds, givesWay: givesWay,
      ofLink: toast?.ofLink)
  }

  /// Returns whether writing is off; if so, says the reason.
  mutating func refusesWriting() -> Bool {
    guard let reason = reasonReadOnly else { return false }
    say(.warning, reason)
    return true
  }

  /// Changes the list of the active tab.
  mutating func withList(_ body: (inout ListState, ListContent, _ height: Int) -> Void) {
    let height = tabs.frontHeight(in: height)
    switch tabs.front {
    case .tree: body(&tabs.tree.list, tabs.tree.content, height)
    case .view(let view): body(&tabs.lists[view].list, tabs.lists[view].content, height)
    }
  }
}

extension StateReducer {
  /// Returns the next time when something changes by itself, or nil if nothing does.
  ///
  /// O(height): it looks at the ages in the visible rows.
  package static func deadline(_ state: AppState) -> Int64? {
    var times: [Int64] = []
    if let toast = state.toast { times.append(toast.until) }
    if let keyPopupTime = Input.keyPopupTime(state), keyPopupTime > state.now {
      times.append(keyPopupTime)
    }
    if let end = Input.prefixEnd(state) { times.append(end) }
    if let due = state.panes.detailHistory.due { times.append(due) }
    if let due = state.writes.queue.nextLate(now: state.now) { times.append(due) }
    if let due = QueueScreen.queueDue(state) { times.append(due) }
    if let due = ClientsScreen.clientsDue(state) { times.append(due) }
    if let due = DevicesScreen.agesDue(state) { times.append(due) }
    if let due = Notices.noticeDue(state) { times.append(due) }
    if let due = Presence.typingDue(state) { times.append(due) }
    if let due = state.database.origin?.nextCachedChange(now: state.now) { times.append(due) }
    if let due = TypeAhead.typeAheadDue(state) { times.append(due) }
    if let due = TypeAhead.offlineDue(state) { times.append(due) }
    if let due = ListScreen.refusedDue(state) { times.append(due) }
    if let list = state.tabs.frontList {
      let change = list.nextChange(
        height: state.height, now: state.now, local: state.settings.local)
      if let change { times.append(change) }
    }
    return times.min()
  }
}

extension Input {
  /// The time in milliseconds between the keys of an unfinished sequence and the popup of the keys
  /// that may follow.
  static let keyPopupMilliseconds: Int64 = 300

  /// Returns the time when the popup of the keys that may follow appears, or nil if no key sequence
  /// has begun.
  static func keyPopupTime(_ state: AppState) -> Int64? {
    if let awaited = state.input.awaited { return awaited.time + keyPopupMilliseconds }
    guard !state.input.matcher.keys.isEmpty, let prefixTime = state.input.prefixTime else {
      return nil
    }
    return prefixTime + keyPopupMilliseconds
  }

  /// The time in milliseconds for which the beginning of a key sequence waits for the next key; the popup
  /// can be read in it.
  static let prefixMilliseconds: Int64 = 60_000

  /// Returns the time when the beginning of a key sequence is dropped, or nil if none has begun.
  static func prefixEnd(_ state: AppState) -> Int64? {
    if let awaited = state.input.awaited { return awaited.time + prefixMilliseconds }
    guard state.input.matcher.isPending else { return nil }
    return state.input.prefixTime.map { $0 + prefixMilliseconds }
  }
}

extension TreeScreen {
  /// Requests the root of the tree at the first time.
  static func openTree(_ state: inout AppState) {
    if state.tabs.tree.isOpen { return }
    state.tabs.tree.isOpen = true
    state.effects.append(.expand(.root))
  }
}

/// A message that disappears by itself.
struct TimedToast: Hashable, Sendable {
  var toast: Toast
  /// The time when the message disappears, in milliseconds since 1970.
  var until: Int64
  /// Whether the next key of the user ends it.
  var givesWay = false
  /// The number of writes that a server refused of which the message tells.
  var refusalCount = 0
  /// Whether it tells why there is no connection, or that one is being made: it ends when there is one.
  var isOfLink = false
  /// What is to be said of the connection once this message has had its time.
  var ofLink: Toast?

  /// The time in milliseconds that a message is shown, unless it is an error.
  static let milliseconds: Int64 = 4000
  /// The time in milliseconds in which a message is read.
  private static let readMilliseconds: Int64 = 1500

  /// Says why there is no connection; what is said of something that the user did keeps its time.
  static func sayOfLink(_ state: inout AppState, _ kind: Toast.Kind, _ text: String) {
    if let toast = state.toast, !toast.isOfLink {
      state.toast?.ofLink = Toast(kind, text)
    } else {
      state.toast = nil
      state.say(kind, text)
      state.toast?.isOfLink = true
    }
  }

  /// Ends the message that is shown, and says what waits for that.
  static func end(_ state: inout AppState) {
    let next = state.toast?.ofLink
    state.toast = nil
    if let next { sayOfLink(&state, next.kind, next.text) }
  }

  /// Whether the next command ends the message: it only tells something, and could be read by now.
  func isRead(at now: Int64) -> Bool {
    givesWay
      || toast.kind == .info
        && now - (until - TimedToast.milliseconds) >= TimedToast.readMilliseconds
  }
}
