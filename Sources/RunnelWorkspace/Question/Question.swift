import RunnelBase
import RunnelTerminal
import RunnelTree

/// A question before something is destroyed, or much is written.
struct Question: Hashable, Sendable {
  /// How long after it opened `y` does not count yet, in milliseconds: it was typed for the list.
  static let graceMilliseconds: Int64 = 120

  /// What is done if the answer is yes.
  enum Purpose: Hashable, Sendable {
    /// Records or values are removed; for what one key is too little, a word is to be typed.
    case remove(Removal, word: Word?)
    /// A refused write is dropped.
    case dropRefused(AppRequestID)
    /// A write that waits for the origin is dropped.
    case dropPending(Int64)
    /// A connection to the server is ended, by its number.
    case disconnect(Int64)
    /// Records are imported.
    case importRecords(ImportProgress)
    /// The program is left.
    case leave
  }

  /// A word that is to be typed.
  struct Word: Hashable, Sendable {
    let word: String
    var editor = LineEditor()
    /// What is wrong with what was typed.
    var error: String?
  }

  private(set) var purpose: Purpose
  var dialog: ConfirmDialog
  /// When it opened, in milliseconds since 1970.
  let openedAt: Int64
  /// The commands of the dialog's hints, in their order.
  var answers: [ActionID] = []
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

  /// What is removed; nil if it is about something else.
  var removal: Removal? { if case .remove(let removal, _) = purpose { removal } else { nil } }

  /// The word to type; nil if a key is enough.
  var word: Word? {
    get { if case .remove(_, let word) = purpose { word } else { nil } }
    set {
      if case .remove(let removal, _) = purpose { purpose = .remove(removal, word: newValue) }
    }
  }

  /// Takes what was read of the next place that is removed; returns what is known by then.
  mutating func take(_ excerpt: NodeExcerpt?) -> Removal? {
    guard case .remove(var removal, let word) = purpose else { return nil }
    removal.take(excerpt)
    purpose = .remove(removal, word: word)
    return removal
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

  /// The subject, in words.
  var subject: String { removal?.subject ?? dialog.title }

  /// The action of the hint at a position; nil if there is none.
  func answer(at position: Position, rect: Rect) -> ActionID? {
    let index = dialog.hint(
      at: position, rect: rect, hasField: word != nil, hasError: word?.error != nil)
    return index.flatMap { answers.indices.contains($0) ? answers[$0] : nil }
  }
}

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
    word == nil ? [.confirm] : [.word] + Self.typing
  }

  mutating func insert(_ text: String, in state: inout AppState) {
    word?.editor.insert(text)
    // What was wrong with it may be no more.
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
