import RunnelBase
package import RunnelTerminal
import RunnelTree

// The parts of the workspace's state.

/// What the user's settings say, and what was chosen here instead.
package struct SettingsInForce: Equatable, Sendable {
  package var local: LocalTime
  /// The table of keys.
  package var keymap: Keymap
  /// The text of the user's configuration; empty if there is none.
  package var configuration: String
  /// The settings that hold from the next start on only, as they were at this one.
  let openedWith: StartSettings
  /// How many rows a page has where a view does not say.
  package var pageSize: Int
  /// The theme that was chosen here; nil for that of the configuration.
  package var theme: ThemeChoice?
  /// The names of the themes that the user wrote.
  package var themes: [String]
  /// How lists write how long ago something was.
  var timeStyle = TimeStyle.age
  /// Whether the key for a crash works.
  package var allowsCrash = false

  init(_ settings: Settings, local: LocalTime) {
    self.local = local
    self.local.clock = settings.clock
    keymap = settings.keymap
    configuration = settings.source
    openedWith = StartSettings(settings)
    pageSize = settings.pageSize
    themes = settings.themes
  }
}

/// The database that is open, and what may be done with it.
package struct OpenedDatabase: Equatable, Sendable {
  /// The name, for the header.
  package let name: String
  /// The user's name, for new records.
  package let me: String
  /// The records that are changed by operations.
  package let resources: ResourceBook
  /// Whether writing is off.
  package var isReadOnly: Bool
  /// Whether it was opened so that nothing can be written.
  let isOpenedReadOnly: Bool
  /// What became of its file; nil while it is there.
  package var fileGone: FileGone?

  init(name: String, me: String, resources: ResourceBook, isReadOnly: Bool) {
    self.name = name
    self.me = me
    self.resources = resources
    self.isReadOnly = isReadOnly
    isOpenedReadOnly = isReadOnly
  }
}

/// The panes beside the list.
struct PaneState: Equatable, Sendable {
  /// Whether the record under the cursor is shown beside lists; nil to go by the width of the screen.
  var wantsDetail: Bool?
  /// The pane of each tab that was given the keys, and its size.
  var choices: [Int: PaneChoice] = [:]
  /// The cursor among the views and bookmarks.
  var views = ListState()
  var detailScroll = DetailScroll()
  /// The newest changes of the record in the detail pane.
  var detailHistory = DetailHistory()
}

/// What the user types and clicks, as far as it is not done yet.
package struct InputState: Equatable, Sendable {
  var matcher = KeySequenceMatcher()
  var clicks = ClickCounter()
  /// The input that waits for an answer.
  package var typeAhead = TypeAhead()
  /// The number of keys, pastes and clicks handled so far; a late answer compares it to see if the
  /// user went on.
  var count = 0
  /// True from when the user's editor is to open until it has ended.
  var isEditorOpen = false
  /// The mouse drag in progress; nil while no button is down.
  var drag: MouseDrag?
  /// When the last key of an unfinished sequence was struck.
  var prefixTime: Int64?
  /// The command that takes the next key as a letter; nil if the next key is an ordinary one.
  var awaited: AwaitedLetter?
  /// When `C-c` was struck last, for the second one to leave.
  var lastInterrupt: Int64?
}

/// Where the user was, and what was typed into lines before.
package struct Trail: Equatable, Sendable {
  /// Places by their letters.
  var bookmarks: [Character: Place] = [:]
  /// Where the user was before.
  var places = PlaceHistory()
  /// What is looked for, and marked where it is seen.
  package var search: String?
  /// The texts that were searched for before.
  var searches = LineHistory()
  /// The palette lines that were run before.
  var commands = LineHistory()
  /// The filters that were used before.
  var filters = LineHistory()
}

/// The writes that are not done, and those that can be taken back.
package struct WriteState: Equatable, Sendable {
  /// The writes that are under way or were refused.
  package var queue = WriteQueue()
  /// Undo steps that failed because others wrote there, to be compared one by one.
  var comparable: [CompareDraft] = []
  /// The undo and redo steps.
  var undoing = UndoHistory()
  /// The undo or redo in progress, which puts rows back; nil if there is none.
  var restoration: Restoration?
  /// How far the deletion of marked records is; nil if none is under way.
  var deletion: Deletion?
}

/// The work with files that is under way.
package struct FileState: Equatable, Sendable {
  package var export: ExportProgress?
  var importing: ImportProgress?
  /// The file that is being read for an import.
  package var reading: ImportReading?
  /// The views as they were saved while something is open over one.
  var redefinition: Redefinition?
}

/// How far the program has come: from the greeting to the end.
package struct SessionProgress: Equatable, Sendable {
  /// The greeting for a first-time user; nil if there is none.
  var greeting: Greeting?
  /// The session that this one goes on with.
  var remembered = SessionState()
  /// The last actions, for the debug view.
  var trace = ActionTrace()
  package var isLeaving = false
}
