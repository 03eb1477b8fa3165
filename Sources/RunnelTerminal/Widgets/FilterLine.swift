/// A field in which a filter is typed, with what was typed before and completion of words.
///
/// A value without time or keys: `perform` takes the actions of a text field, `complete` the candidates
/// that the owner has for the word before the cursor.
public struct FilterLine: Hashable, Sendable {
  /// A completion that is gone through.
  private struct Completion: Hashable {
    var start: Int
    var candidates: [String]
    /// The candidate that is shown; the last one is what was typed.
    var index: Int
    /// The text that the completion left, by which it is seen to go on.
    var text: String
  }

  /// What is typed.
  public private(set) var editor: LineEditor
  /// What was entered before.
  public private(set) var history: LineHistory
  private var completion: Completion?

  /// Makes a field with a text.
  public init(_ text: String = "", history: LineHistory = LineHistory()) {
    editor = LineEditor(text)
    self.history = history
  }

  /// The text.
  public var text: String { editor.text }

  /// The word before the cursor, up to the last blank or bracket: what completion replaces.
  public var word: String {
    String(editor.textBeforeCursor.reversed().prefix(while: Self.isWord).reversed())
  }

  private static func isWord(_ character: Character) -> Bool {
    !character.isWhitespace && !"()[]{},\"".contains(character)
  }

  /// Types text.
  public mutating func insert(_ text: String) {
    completion = nil
    editor.insert(text)
  }

  /// Performs an action of a text field; up and down go through the history.
  ///
  /// - Returns: false if the action is for the owner.
  public mutating func perform(_ action: ActionID) -> Bool {
    completion = nil
    let recalled: String?
    switch action {
    case .inputPrevious: recalled = history.previous(from: text)
    case .inputNext: recalled = history.next()
    default: return editor.perform(action)
    }
    if let recalled { editor.replaceText(recalled) }
    return true
  }

  /// Enters the text: it goes into the history.
  ///
  /// - Returns: the text.
  public mutating func accept() -> String {
    completion = nil
    history.add(text)
    return text
  }

  /// Replaces the word before the cursor by the next candidate that begins like it, and after the last
  /// one by what was typed.
  ///
  /// - Parameters:
  ///   - candidates: all that may stand there, in the order to offer them.
  ///   - isBackward: whether to go to the one before.
  /// - Returns: false if nothing begins like the word.
  public mutating func complete(with candidates: [String], isBackward: Bool = false) -> Bool {
    if completion?.text != text { completion = nil }
    var current = completion ?? begin(candidates)
    let count = current.candidates.count
    guard count > 1 else { return false }
    current.index = (current.index + (isBackward ? count - 1 : 1)) % count
    editor.replace(current.start..<editor.cursor, with: current.candidates[current.index])
    current.text = text
    completion = current
    return true
  }

  private func begin(_ candidates: [String]) -> Completion {
    let word = word
    let lower = word.lowercased()
    let fitting = candidates.filter { $0 != word && $0.lowercased().hasPrefix(lower) }
    return Completion(
      start: editor.cursor - word.count, candidates: fitting + [word], index: fitting.count,
      text: text)
  }

  /// Draws the field in the first line of the rectangle, and at its end what came of the filter.
  public func draw(
    into canvas: inout Canvas, rect: Rect, label: String = "", result: StyledLine = StyledLine(),
    error: String? = nil
  ) {
    let (right, field) = rect.line(0).splitRight(
      result.isEmpty ? 0 : min(result.width + 1, rect.width / 2))
    canvas.fill(right)
    canvas.put(result, at: right.splitLeft(1).rest.origin, width: right.width - 1)
    var area = field
    area.height = rect.height
    editor.draw(into: &canvas, rect: error == nil ? field : area, label: label, error: error)
  }
}
