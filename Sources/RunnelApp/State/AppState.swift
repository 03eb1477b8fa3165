import RunnelBase
import RunnelTerminal
import RunnelTree

/// Everything the screen shows, as one value.
///
/// It changes by actions only, in `reduce`; what is to be done in the world is listed in `effects`.
/// Rows come from the tree and are never edited here: a key press asks for a write, and the list
/// changes because the tree said so.
struct AppState: Equatable, Sendable {
  /// What lies over a view.
  ///
  /// The last layer is on top and gets the keys.
  enum Layer: Hashable, Sendable {
    case record(RecordScreen)
    case form(FormScreen)
    case confirm(ConfirmScreen)
    case help(HelpScreen)
    case compose(ComposeScreen)
    case filter(FilterScreen)
    case search(SearchScreen)
    case debug(DebugScreen)
    case history(HistoryScreen)
    case compare(CompareScreen)
    case queue(QueueScreen)
    case palette(PaletteScreen)
    case menu(MenuScreen)
  }

  /// A message that goes away by itself.
  struct TimedToast: Hashable, Sendable {
    var toast: Toast
    /// Milliseconds since 1970.
    var until: Int64
  }

  /// What a write was for, so that its answer finds its place.
  ///
  /// It keeps what was typed, to give it back if the write is refused.
  enum WritePurpose: Hashable, Sendable {
    /// A field that was edited in its place, in the record at a path.
    case edit(record: Path, RecordScreen.Edit)
    case form(FormScreen)
    /// A composed record; the first attempt to send its text stands for it as long as it is refused.
    case send(view: Int, text: String, attempt: RequestID)
    case delete(Path)
    /// One of several records that are deleted together.
    case deleteMarked(Path)
    /// One of several records that are imported together, by its place among them.
    case importRow(Int)
    /// A record of a paste that was refused, and is tried again.
    case pasted(PastedRecord)
    /// What was edited outside, and the text that came of it.
    case editOutside(OutsideEdit, text: String)
    /// A record that the user has at another, as a like.
    case toggle
    /// A copy of the record at a path.
    case duplicate(Path)
    /// An entry of the action log that was taken back.
    case undo
    /// What came of comparing three versions, and the version of the others that it was made for.
    case merge(CompareDraft, theirs: JSONValue)
    /// A part of a step that is taken back, or done again.
    case reversal
  }

  /// Milliseconds since 1970, as of the last tick.
  var now: Int64
  var size: TerminalSize
  var local: LocalTime
  /// Which keys do what.
  var keymap: Keymap
  /// The text of the user's configuration; empty if there is none.
  var configuration: String
  /// The text that it had when the workspace was opened.
  let openedConfiguration: String
  /// How many rows a page has where a view does not say.
  var pageSize: Int
  /// The name of the database, for the header.
  let databaseName: String
  /// Who the user is, for new records.
  let me: String
  /// The records that are changed by operations.
  let resources: ResourceBook
  /// Whether writing is off.
  var isReadOnly: Bool
  /// Whether the database was opened so that nothing can be written.
  let isOpenedReadOnly: Bool

  var lists: [ListScreen]
  var tree = TreeScreen()
  /// The index of the tab: a list, or after the last list the tree.
  var active = 0
  var layers: [Layer] = []

  var matcher = KeySequenceMatcher()
  var clicks = ClickCounter()
  /// What the user did that has to wait for an answer.
  var typeAhead = TypeAhead()
  /// How many keys, pastes and clicks were handled: what comes by itself does not go before the user.
  var inputCount = 0
  /// True from when the user's editor is to open until it has ended.
  var isEditorOpen = false
  /// What is drawn with the mouse while its button is down.
  var drag: MouseDrag?
  /// When the last key of an unfinished sequence was struck.
  var prefixTime: Int64?
  var toast: TimedToast?
  /// When `C-c` was struck last, for the second one to leave.
  var lastInterrupt: Int64?
  var isLeaving = false
  /// Whether the key for a crash works.
  var allowsCrash = false

  /// How lists write how long ago something was.
  var timeStyle = TimeStyle.age
  /// Whether the record under the cursor is shown beside lists; nil to go by the width of the screen.
  var wantsDetail: Bool?
  /// Which pane of each tab was given the keys, and its size.
  var paneChoices: [Int: PaneChoice] = [:]
  /// The cursor among the views and bookmarks.
  var viewsList = ListState()
  var detailScroll = DetailScroll()
  /// What became of the record that the detail pane shows.
  var detailHistory = DetailHistory()
  /// Places by their letters.
  var bookmarks: [Character: Place] = [:]
  /// Where the user was before.
  var places = PlaceHistory()
  /// What the next key is the letter of; nil if it is a key like others.
  var awaited: AwaitedLetter?
  /// What is looked for, and marked where it is seen.
  var search: String?
  /// What was looked for before.
  var searchHistory = LineHistory()
  /// What was done by the palette before.
  var paletteHistory = LineHistory()
  /// The theme that was chosen here; nil for that of the configuration.
  var theme: ThemeChoice?
  /// The names of the themes that the user wrote.
  var themes: [String]
  /// What lists were filtered by before.
  var filterHistory = LineHistory()

  /// What was asked of the database and is not answered.
  var requests = PendingRequests()
  /// The writes that are under way or were refused.
  var queue = WriteQueue()
  /// What could not be taken back since others wrote there, to be compared one after the other.
  var comparable: [CompareDraft] = []
  /// What was written, to be taken back.
  var undoing = UndoHistory()
  /// What is being put back by that.
  var restoration: Restoration?
  /// How far the deletion of marked records is; nil if none is under way.
  var deletion: Deletion?
  /// The export that is under way.
  var export: ExportProgress?
  /// The import that is under way.
  var importing: ImportProgress?
  /// The file that is being read for an import.
  var reading: ImportReading?
  /// The views as they were saved while something is open over one.
  var redefinition: Redefinition?
  /// What became of the database's file; nil while it is there.
  var fileGone: FileGone?
  /// What is said once, over everything.
  var greeting: Greeting?
  /// The session that this one goes on with.
  var remembered = SessionState()
  var effects: [Effect] = []
  /// The last actions, for the debug view.
  var trace = ActionTrace()

  init(
    views: [ViewDefinition], resources: ResourceBook = ResourceBook(), databaseName: String,
    me: String, isReadOnly: Bool, size: TerminalSize, now: Int64, local: LocalTime,
    settings: Settings = Settings()
  ) {
    lists = views.map(ListScreen.init)
    self.databaseName = databaseName
    self.me = me
    self.resources = resources
    self.isReadOnly = isReadOnly
    isOpenedReadOnly = isReadOnly
    self.size = size
    self.now = now
    self.local = local
    self.local.clock = settings.clock
    keymap = settings.keymap
    pageSize = settings.pageSize
    configuration = settings.source
    openedConfiguration = settings.source
    themes = settings.themes
    for index in lists.indices { lists[index].usePages(of: settings.pageSize) }
    open(0)
  }
}

extension AppState {
  /// The index of the tree's tab.
  var treeTab: Int { lists.count }

  /// True if the tab shows the tree.
  var isTree: Bool { active == treeTab }

  /// The names of the tabs.
  var tabs: [String] { lists.map(\.definition.name) + ["Tree"] }

  var layout: AppLayout {
    AppLayout(size: size, prompt: prompt, panes: arrangement)
  }

  /// What is typed below the list.
  private var prompt: AppLayout.Prompt {
    for layer in layers.suffix(from: (fullLayer ?? -1) + 1).reversed() {
      switch layer {
      case .compose, .search: return .line
      case .filter: return .bar
      case .record, .form, .confirm, .help, .debug, .history, .compare, .queue, .palette, .menu:
        continue
      }
    }
    return .none
  }

  /// The index of the topmost layer that takes all of the body; nil if the view shows.
  var fullLayer: Int? {
    layers.lastIndex { layer in
      switch layer {
      case .record, .help, .debug, .history, .compare, .queue: true
      case .form, .confirm, .compose, .filter, .search, .palette, .menu: false
      }
    }
  }

  /// The height of the list of the active tab.
  var height: Int { layout.body.height }

  /// The time up to which nothing changes by itself; nil if nothing ever does.
  ///
  /// O(height): the ages of the rows in sight are looked at.
  var deadline: Int64? {
    var times: [Int64] = []
    if let toast { times.append(toast.until) }
    if let keyPopupTime, keyPopupTime > now { times.append(keyPopupTime) }
    if let due = detailHistory.due { times.append(due) }
    if let due = queue.nextLate(now: now) { times.append(due) }
    if let due = queueDue { times.append(due) }
    if let due = typeAheadDue { times.append(due) }
    if !isTree {
      let change = lists[active].nextChange(height: height, now: now, local: local)
      if let change { times.append(change) }
    }
    return times.min()
  }

  /// How long a sequence of keys waits before what may follow is shown, in milliseconds.
  static let keyPopupMilliseconds: Int64 = 300

  /// From when on what may follow the keys struck so far is shown; nil if there are none.
  var keyPopupTime: Int64? {
    if let awaited { return awaited.time + AppState.keyPopupMilliseconds }
    guard !matcher.keys.isEmpty, let prefixTime else { return nil }
    return prefixTime + AppState.keyPopupMilliseconds
  }

  /// Changes to a tab, and asks for its rows the first time.
  mutating func open(_ tab: Int) {
    guard (0...treeTab).contains(tab) else {
      return say(.info, "there is no view \(tab + 1)")
    }
    if tab != active, !isTree { lists[active].leave(height: height, now: now) }
    if tab != active { drag = nil }
    active = tab
    if isTree {
      openTree()
      tree.list.resize(toHeight: height, in: tree.content)
    } else {
      if !lists[tab].isOpen {
        lists[tab].isOpen = true
        effects.append(.openView(tab))
        if lists[tab].filter != nil { applyFilter(inView: tab) }
      }
      lists[tab].refreshTitles(now: now, local: local)
      let content = lists[tab].content
      lists[tab].list.resize(toHeight: height, in: content)
    }
  }

  /// Asks for the root of the tree the first time.
  mutating func openTree() {
    if tree.isOpen { return }
    tree.isOpen = true
    effects.append(.expand(.root))
  }

  /// Says something at the bottom of the screen for a while.
  mutating func say(_ kind: Toast.Kind, _ text: String) {
    let milliseconds: Int64 =
      switch kind {
      case .error: 8000
      default: 4000
      }
    toast = TimedToast(toast: Toast(kind, text), until: now + milliseconds)
  }

  /// True if writing is off, which is then said.
  mutating func refusesWriting() -> Bool {
    guard let reason = reasonReadOnly else { return false }
    say(.warning, reason)
    return true
  }

  /// A list of the active tab, whatever it shows, with its cursor.
  mutating func withList(_ body: (inout ListState, ListContent, _ height: Int) -> Void) {
    let height = height
    if isTree {
      body(&tree.list, tree.content, height)
    } else {
      body(&lists[active].list, lists[active].content, height)
    }
  }
}
