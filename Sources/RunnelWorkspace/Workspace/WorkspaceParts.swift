import RunnelBase
package import RunnelTerminal
package import RunnelTree

// The parts of the workspace's state.

/// The user's settings, and what the user chose here instead.
package struct SettingsInForce: Equatable, Sendable {
  package var local: LocalTime
  /// The keymap.
  package var keymap: Keymap
  /// The text of the user's configuration; empty if there is none.
  package var configuration: String
  /// The settings that take effect only at the start, as they were at this start.
  let openedWith: StartSettings
  /// The number of rows of a page, for views that do not set it.
  package var pageSize: Int
  /// How the user is told of new rows in views that ask for it.
  package var notices: NoticeSettings
  /// The seconds without a key after which others are no longer told that the user is typing.
  package var typingSeconds: Int
  /// The theme that the user chose here, or nil for that of the configuration.
  package var theme: ThemeChoice?
  /// The names of the user's own themes.
  package var themes: [String]
  /// The style of times in lists.
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
    notices = settings.notices
    typingSeconds = settings.typingSeconds
    themes = settings.themes
  }
}

/// The open database, and whether it can be written.
package struct OpenedDatabase: Equatable, Sendable {
  /// The name, for the header.
  package let name: String
  /// The user's name, for new records.
  package let me: String
  /// The resources, whose records are changed by operations.
  package let resources: ResourceBook
  /// Whether writing is off.
  package var isReadOnly: Bool
  /// Whether the database was opened for reading only.
  let isOpenedReadOnly: Bool
  /// The server that has the data and the state of the link to it, or nil for a local database.
  package var origin: OriginFacts?
  /// The records that have got another key at the server.
  package var moves = RecordMoves()
  /// The places of the services that are shown; empty if the database is no replica of services.
  package var services: Set<Path> = []
  /// The user's accounts at that server; nil if the database is opened without accounts.
  package var accounts: AccountFacts?
  /// The user to whose new address a message with a code was sent, as long as the code was not used; nil for none.
  package var changingAddress: String?
  /// The user's devices; nil if they are not listed.
  package var devices: DeviceFacts?
  /// The user's profile of that server, or nil for none.
  package let profile: ProfileMark?
  /// The people at other workspaces on the same database; nil if that is not known.
  package var present: [Present]?
  /// The loss of its file, or nil while the file exists.
  package var fileGone: FileGone?

  init(
    name: String, me: String, resources: ResourceBook, isReadOnly: Bool, profile: ProfileMark?
  ) {
    self.name = name
    self.profile = profile
    self.me = me
    self.resources = resources
    self.isReadOnly = isReadOnly
    isOpenedReadOnly = isReadOnly
  }
}

/// The panes beside the list.
struct PaneState: Equatable, Sendable {
  /// Whether the detail pane is shown beside lists; nil to decide by the width of the screen.
  var wantsDetail: Bool?
  /// The pane of each tab that the user gave the keys, and its size.
  var choices: [Tab: PaneChoice] = [:]
  /// The cursor of the views pane.
  var views = ListState()
  var detailScroll = DetailScroll()
  /// The newest changes of the record in the detail pane.
  var detailHistory = DetailHistory()
}

/// The state of the user's input.
package struct InputState: Equatable, Sendable {
  var matcher = KeySequenceMatcher()
  var clicks = ClickCounter()
  /// The input that waits for an answer.
  package var typeAhead = TypeAhead()
  /// The time of the event that is being handled, in milliseconds since 1970; events that waited
  /// are handled later than they happened.
  var eventTime: Int64 = 0
  /// The number of commands, characters, pastes and clicks handled so far, without keys that wait
  /// for an answer or for the rest of a sequence.
  ///
  /// A late answer compares it to tell whether the user has done something since.
  var count = 0
  /// Whether the last key would have opened a line or a form to type in, and was refused: keys that were
  /// struck with it were meant as text.
  package var refusesText = false
  /// Whether the user's editor is open, or about to open.
  var isEditorOpen = false
  /// The mouse drag in progress, or nil while no button is down.
  var drag: MouseDrag?
  /// The time of the last key of an unfinished sequence, in milliseconds since 1970.
  var prefixTime: Int64?
  /// The command that takes the next key as a letter, or nil.
  var awaited: AwaitedLetter?
  /// The time of the last `C-c`, in milliseconds since 1970; a second one soon after leaves the
  /// program.
  var lastInterrupt: Int64?
  /// The time when a question closed because nothing was left to ask, in milliseconds since 1970; keys soon
  /// after were meant for it.
  var questionEnd: Int64?
  /// Why the data were taken from the screen while the user typed, until the user has read it; nil otherwise.
  var interruption: String?
}

/// The user's earlier places, and texts typed into lines before.
package struct Trail: Equatable, Sendable {
  /// The bookmarks by their letters.
  var bookmarks: [Character: Place] = [:]
  /// The places to go back and forward to.
  var places = PlaceHistory()
  /// The text searched for, which is highlighted; nil if there is none.
  package var search: String?
  /// The texts that were searched for before.
  var searches = LineHistory()
  /// The palette lines that were run before.
  var commands = LineHistory()
  /// The filters that were used before.
  var filters = LineHistory()
  /// The texts that were typed into lines and not entered.
  var unfinished = UnfinishedLines()
}

/// The writes that are not done, and those that can be undone.
package struct WriteState: Equatable, Sendable {
  /// The writes that are under way or were refused.
  package var queue = WriteQueue()
  /// The writes that wait for a question about them.
  var held: [HeldWrite] = []
  /// The texts of forms and fields that were left without saving.
  package var drafts = Drafts()
  /// Parts of undo steps that failed because others wrote there, to be compared one by one.
  var comparable: [CompareDraft] = []
  /// The undo and redo steps.
  var undoing = UndoHistory()
  /// The undo or redo in progress, which restores rows, or nil.
  var restoration: Restoration?
  /// The deletion of several records under way, or nil.
  var deletion: Deletion?
  /// The fields of marked records that were set last on a replica, newest first.
  var sentFields: [SentField] = []
}

/// The work with files that is under way.
package struct FileState: Equatable, Sendable {
  package var export: ExportProgress?
  var importing: ImportProgress?
  /// The imports that have ended, whose refused records are being written to files.
  var ended: [EndedImport] = []
  /// The index that is being made.
  package var indexing: IndexMaking?
  /// The copy of the database that is being saved.
  package var copy: CopySaving?
  /// The file that is being read for an import.
  package var reading: ImportReading?
  /// Saved views that are applied once no layer is open, or nil.
  var redefinition: Redefinition?
  /// The view that was saved last, until its file is read again; nil for none.
  var savedView: SavedView?
  /// The file in which views are saved, or nil if there is none.
  package var viewsFile: String?
  /// The data file of which the database beside it was made, or nil if there is none.
  package var dataFile: String?
  /// The mark of what that file held when it was last asked whether it is replaced, or nil.
  var agreed: String?
  /// What the name of such a database has after that of the file.
  package static let databaseSuffix = ".db"
}

/// The state of this run of the program, from the greeting to the end.
package struct SessionProgress: Equatable, Sendable {
  /// The greeting for a first-time user, or nil.
  var greeting: Greeting?
  /// The session that was restored.
  var remembered = SessionState()
  /// The rows of which the user is to be told.
  var notices = NoticeState()
  /// The trace of the last actions.
  var trace = ActionTrace()
  package var isLeaving = false
  /// The account as which the database is to be shown instead; nil for none.
  package var accountChange: AccountChange?
  /// Whether the user leaves the workspace, or changes the account.
  package var isEnding: Bool { isLeaving || accountChange != nil }
  /// Whether the session, with its drafts, comes back the next time.
  package var isKept = false
  /// Whether the session was to be kept, and could not be.
  var isLost = false
  /// The words for a text that was typed and not written.
  var wordsForDraft: String { isLost ? "kept until the program ends" : "kept as a draft" }
  /// Whether the database is temporary, and gone after the end.
  package var isScratch = false
  /// Whether the accounts that sign in here are forgotten at the end.
  package var forgetsAccounts = false
}
