import RunnelBase
import RunnelTerminal
import RunnelTree

/// A question before something is destroyed, or before much is written.
struct Question: Hashable, Sendable {
  /// The time in milliseconds after opening in which `y` does not count, because it was typed for
  /// the list.
  static let graceMilliseconds: Int64 = 120

  /// The consequence of the answer yes.
  enum Purpose: Hashable, Sendable {
    /// Records or values are removed; if a single key is not enough, a word must be typed.
    case remove(Removal, word: Word?)
    /// A refused write is dropped.
    case dropRefused(AppRequestID)
    /// The record at which a write of several was refused is left out, and the others are sent.
    case leaveOut(AppRequestID)
    /// A write that waits for the origin is dropped.
    case dropPending(Int64)
    /// A connection to the server is ended, by its number.
    case disconnect(Int64)
    /// A device of the user is revoked, by its id.
    case revokeDevice(String)
    /// Devices that were not seen for so many days are removed.
    case pruneDevices(days: Int)
    /// Data of a profile with `confirm` are replaced.
    case write(HeldWrite)
    /// The text of a refused write with which another window has dealt is written, too.
    case writeToo(HeldWrite)
    /// Records are imported.
    case importRecords(ImportProgress)
    /// The data file that was opened is replaced by an export.
    case replaceFile(Replacing)
    /// The rows of a server's list that are known here are exported.
    case exportKnown(ExportProgress)
    /// What was typed into the form below is discarded.
    case discardForm
    /// The program is left.
    case leave
    /// A new user without an address signs in.
    case signInAnonymously
    /// The account that is shown, which has no address, is deleted.
    case deleteAccount
    /// A user signs out.
    case signOut(String)
    /// The writes of a user who is signed out are given up.
    case giveUp(String)
    /// A view of the views file is replaced.
    case saveView(ViewSaving)
    /// An older write is undone, because the undo of the last one was refused.
    case undoOlder
    /// Steps are undone or redone in a profile with `confirm`.
    case reverse(UndoHistory.Reversing)
    /// The database is shown as another account.
    case changeAccount(AccountChange)
  }

  /// A word that must be typed to agree.
  struct Word: Hashable, Sendable {
    let word: String
    var editor = LineEditor()
    /// The error in the typed word, or nil.
    var error: String?
  }

  private(set) var purpose: Purpose
  var dialog: ConfirmDialog
  /// The time when the question was opened, or asked something else, in milliseconds since 1970.
  private(set) var openedAt: Int64
  /// The commands of the dialog's hints, in their order.
  var answers: [ActionID] = []
  /// What is said if the question closes because nothing is left that it was for, or nil.
  var endWords: String?
  /// The number of lines at the end of the message that tell how far work has come.
  var progressCount = 0
  /// The full explanation of what will happen.
  var explanation: [StyledLine]
  /// The short message, kept while the full explanation is shown; nil otherwise.
  private var short: [StyledLine]?

  init(
    _ purpose: Purpose, title: String, message: [StyledLine] = [],
    explanation: [StyledLine] = [], isDanger: Bool = true, openedAt: Int64
  ) {
    self.purpose = purpose
    dialog = ConfirmDialog(title: title, message: message, hints: [], isDanger: isDanger)
    self.explanation = explanation
    self.openedAt = openedAt
  }

  /// The removal that the question is about, or nil for another question.
  var removal: Removal? { if case .remove(let removal, _) = purpose { removal } else { nil } }

  /// The word to type, or nil if a key is enough.
  var word: Word? {
    get { if case .remove(_, let word) = purpose { word } else { nil } }
    set {
      if case .remove(let removal, _) = purpose { purpose = .remove(removal, word: newValue) }
    }
  }

  /// Takes the excerpt of the next place to be removed; returns the removal with what is known of
  /// it by then.
  mutating func take(_ excerpt: NodeExcerpt?) -> Removal? {
    guard case .remove(var removal, let word) = purpose else { return nil }
    removal.take(excerpt)
    purpose = .remove(removal, word: word)
    return removal
  }

  /// Names records by the places to which they have moved.
  mutating func follow(_ moves: RecordMoves) {
    switch purpose {
    case .remove(let removal, let word):
      purpose = .remove(removal.following(moves), word: word)
    case .write(let held):
      let moved = held.following(moves)
      purpose = .write(moved)
      if !isFull { dialog.message = moved.lines }
    case .writeToo(let held):
      let moved = held.following(moves)
      purpose = .writeToo(moved)
      if !isFull { dialog.message = moved.lines }
    case .reverse(var reversing):
      reversing.step.follow(moves)
      purpose = .reverse(reversing)
    default: break
    }
  }

  /// Whether the full explanation is shown.
  var isFull: Bool { short != nil }

  /// Shows the full explanation, or the short message again.
  mutating func toggleFull() {
    if let message = short {
      dialog.message = message
      dialog.page = nil
      short = nil
    } else {
      short = dialog.message
      dialog.message += explanation
      dialog.page = 0
    }
  }

  /// Shows the full explanation, or its next page in an area; after the last one the short message again.
  mutating func turnPage(in area: Rect) {
    if let page = dialog.page, page + 1 < pageCount(in: area) {
      dialog.page = page + 1
    } else {
      toggleFull()
    }
    guard let index = answers.firstIndex(of: .helpOpen), dialog.hints.indices.contains(index) else {
      return
    }
    let isLast = dialog.page.map { $0 + 1 >= pageCount(in: area) }
    dialog.hints[index].words = isLast.map { $0 ? "in short" : "more" } ?? "in full"
  }

  private func pageCount(in area: Rect) -> Int {
    dialog.pageCount(in: area, hasField: word != nil, hasError: word?.error != nil)
  }

  /// Asks what another question of the same purpose asks; returns false if nothing has changed.
  ///
  /// A key that was struck for what was asked before does not count; how far work has come is no part of
  /// what is asked.
  mutating func take(_ other: Question, now: Int64) -> Bool {
    endWords = other.endWords
    if dialog.title == other.dialog.title, (short ?? dialog.message) == other.dialog.message,
      explanation == other.explanation
    {
      return false
    }
    let isSame = dialog.title == other.dialog.title && asked == other.asked
    progressCount = other.progressCount
    (dialog.title, dialog.message) = (other.dialog.title, other.dialog.message)
    explanation = other.explanation
    if short != nil {
      short = other.dialog.message
      dialog.message += explanation
    }
    if !isSame { openedAt = now }
    return true
  }

  /// The lines that say what is asked.
  private var asked: ArraySlice<StyledLine> { (short ?? dialog.message).dropLast(progressCount) }

  /// The subject of the question, in words.
  var subject: String { removal?.subject ?? dialog.title }

  /// Returns the action of the hint at a position, or nil if there is none.
  func answer(at position: Position, rect: Rect) -> ActionID? {
    let index = dialog.hint(
      at: position, rect: rect, hasField: word != nil, hasError: word?.error != nil)
    return index.flatMap { answers.indices.contains($0) ? answers[$0] : nil }
  }
}

extension Question: RecordNaming {}

extension Question: LayerComponent {
  var layer: Layer { .question(self) }
  var summary: String { "question about \(subject)" }
  var extent: LayerExtent { .dialog }
  var holdsInput: Bool { true }

  var textField: LineEditor? {
    get { word?.editor }
    set { if let newValue { word?.editor = newValue } }
  }

  func contexts(about hand: AtHand) -> [KeymapContext] {
    word == nil ? QuestionCommands.table.contexts : QuestionCommands.word.contexts
  }

  mutating func insert(_ text: String, in state: inout AppState) {
    word?.editor.insert(text)
    // The typed word has changed, so its error may be gone.
    word?.error = nil
  }

  mutating func editText(_ id: ActionID, in state: inout AppState) {
    if word?.editor.perform(id) == true { word?.error = nil }
  }

  func draw(into canvas: inout Canvas, _ screen: AppScreen) {
    let rect = screen.layout.overlay
    guard let word else { return dialog.draw(into: &canvas, rect: rect) }
    dialog.draw(
      into: &canvas, rect: rect, editor: word.editor, label: "type \(word.word)", error: word.error)
  }
}
