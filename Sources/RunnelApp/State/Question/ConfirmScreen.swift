import RunnelBase
import RunnelDatabase
import RunnelTerminal
import RunnelTree

/// A question before something is destroyed, or much is written.
struct ConfirmScreen: Hashable, Sendable {
  /// How long after it opened `y` does not count yet, in milliseconds: it was typed for the list.
  static let graceMilliseconds: Int64 = 120

  /// A word that is to be typed, for what one key is too little.
  struct Word: Hashable, Sendable {
    let word: String
    var editor = LineEditor()
    /// What is wrong with what was typed.
    var error: String?
  }

  var dialog: ConfirmDialog
  /// What is removed; nil if it is about something else.
  var removal: Removal?
  /// The word to type; nil if a key is enough.
  var word: Word?
  /// The refused write that is dropped; nil if something is removed.
  var drops: RequestID?
  /// The write that waits for the origin and is dropped; nil if it is about something else.
  var dropsPending: Int64?
  /// When it opened, in milliseconds since 1970.
  var openedAt: Int64
  /// What is imported, if it is about that.
  var plan: ImportProgress?
  /// Whether it is about leaving the program.
  var leaves = false
  /// What the hints of the dialog do, in their order.
  var answers: [ActionID] = []
  /// What will happen, in full.
  var explanation: [StyledLine] = []
  /// What is said without the explanation; nil while that is not shown.
  private var short: [StyledLine]?

  init(dialog: ConfirmDialog, openedAt: Int64) {
    self.dialog = dialog
    self.openedAt = openedAt
  }

  /// True if what will happen is told in full.
  var isFull: Bool { short != nil }

  /// Tells what will happen in full, or in short again.
  mutating func toggleFull() {
    if let message = short {
      dialog.message = message
      short = nil
    } else {
      short = dialog.message
      dialog.message += explanation
    }
  }

  /// What it is about, in words.
  var subject: String { removal?.subject ?? dialog.title }

  /// Draws it over the middle of the rectangle.
  func draw(into canvas: inout Canvas, rect: Rect) {
    guard let word else { return dialog.draw(into: &canvas, rect: rect) }
    dialog.draw(
      into: &canvas, rect: rect, editor: word.editor, label: "type \(word.word)", error: word.error)
  }

  /// The action of the hint at a position; nil if there is none.
  func answer(at position: Position, rect: Rect) -> ActionID? {
    let index = dialog.hint(
      at: position, rect: rect, hasField: word != nil, hasError: word?.error != nil)
    return index.flatMap { answers.indices.contains($0) ? answers[$0] : nil }
  }
}

/// What is about to be removed, and what is known of it.
struct Removal: Hashable, Sendable {
  /// How many places are measured; what is beyond is guessed from them.
  static let measuredMax = 200

  /// What is removed.
  var paths: [Path]
  /// What stands at the only place, in words; for several, how many there are.
  var content: String
  /// What is said of it once it is known how many stand below its children; nil if that says nothing.
  var countingContent: String?
  /// How many are marked and stay, since a filter hides them.
  var hiddenCount = 0
  /// What else is to be said.
  var warning: String?
  /// True for each place whose removal is an operation, which keeps what it removes.
  var isOperation: [Bool]
  /// How many of the places were read.
  private(set) var measuredCount = 0
  /// The bytes of those.
  private(set) var byteCount = 0
  /// False if they are more.
  private(set) var isCounted = true
  /// How many of those cannot be taken back.
  private(set) var lostCount = 0
  /// How many of those could not be read.
  private(set) var unreadCount = 0

  init(_ paths: [Path], content: String, warning: String?, isOperation: [Bool]) {
    self.paths = paths
    self.content = content
    self.warning = warning
    self.isOperation = isOperation
  }

  /// What it is about, in words.
  var subject: String { paths.count == 1 ? "\(paths[0])" : "\(paths.count) records" }

  /// The place to be read next; nil if enough is known.
  var next: Path? {
    measuredCount < min(paths.count, Removal.measuredMax) && isCounted ? paths[measuredCount] : nil
  }

  /// The next place was read; nil if it could not be.
  mutating func take(_ excerpt: NodeExcerpt?) {
    let keepsItself = isOperation[measuredCount]
    measuredCount += 1
    guard let excerpt else {
      unreadCount += 1
      return
    }
    if let start = countingContent, let below = excerpt.grandchildCount {
      content = "\(start), with \(below) below"
    }
    byteCount += excerpt.byteCount
    isCounted = isCounted && excerpt.isCounted
    if !keepsItself, !excerpt.isUndoable { lostCount += 1 }
  }

  /// How large it is, in words.
  var size: String {
    if unreadCount > 0 { return "its size could not be read" }
    if next != nil { return "counting" }
    let text = ByteCount.text(byteCount)
    if !isCounted { return "more than \(text)" }
    if measuredCount == paths.count { return text }
    return "about " + ByteCount.text(byteCount / max(measuredCount, 1) * paths.count)
  }

  /// Whether it can be taken back, by these keys; nil while that is not known.
  func undoing(_ keys: String?) -> StyledLine? {
    let limit = ByteCount.text(History.valueBytesMax)
    if lostCount > 0 {
      let what = paths.count == 1 ? "this" : lostCount == measuredCount ? "they" : "some of them"
      let isSmall = next == nil && isCounted && byteCount <= History.valueBytesMax
      let reason =
        isSmall ? "nothing is kept for that here" : "what is kept for that is \(limit) at most"
      return StyledLine("\(what) cannot be taken back: \(reason)", .warn)
    }
    if next != nil { return nil }
    if unreadCount > 0 { return StyledLine("whether it can be taken back is not known", .warn) }
    let back = keys.map { "\($0) takes" } ?? "undoing takes"
    return StyledLine(paths.count == 1 ? "\(back) it back" : "\(back) them back", .muted)
  }
}
