/// A text field: its text, the cursor, the deleted text, and the steps that can be undone.
///
/// It works like readline: deleted words and lines are kept and can be inserted again, several in a
/// row as one; typing is undone word by word. It is a value without time or keys: the keymap turns
/// keys into actions (see `TextFieldBindings`), `perform` performs them, `insert` types.
public struct LineEditor: Hashable, Sendable {
  /// The greatest number of characters of a text after typing; text that would exceed it is refused
  /// as a whole, as `overflow` tells.
  public static let characterCountMax = 65_536

  /// A text that was refused because there was no room for it.
  public struct Overflow: Hashable, Sendable {
    /// The number of its characters.
    public var count: Int
    /// The number of characters for which there was room.
    public var room: Int
  }

  /// Whether the text may have several lines.
  public let isMultiline: Bool
  /// Whether the text is hidden, as a password is, unless it is revealed.
  public let isSecret: Bool
  /// Whether a secret is shown.
  public private(set) var isRevealed = false
  /// The text last deleted by word or line; `input.yank` inserts it.
  public private(set) var killed = ""
  /// The text that the last action could not insert for lack of room; nil if it inserted all.
  public private(set) var overflow: Overflow?

  private(set) var buffer: EditBuffer
  /// Whether the last action was a deletion to which the next one is added.
  private var isKilling = false
  /// The column that moving between lines tries to keep.
  private var goalColumn: Int?

  /// Makes a field; the cursor is at the end.
  ///
  /// The text is kept unchanged, even if it could not be typed, and regardless of its length.
  public init(_ text: String = "", isMultiline: Bool = false, isSecret: Bool = false) {
    self.isMultiline = isMultiline
    self.isSecret = isSecret
    buffer = EditBuffer(text)
  }

  /// The text.
  public var text: String { buffer.characters.string }

  /// Whether there is no text.
  public var isEmpty: Bool { buffer.characters.isEmpty }

  /// The number of lines of the text; 1 in a field of one line.
  ///
  /// O(n) in the text.
  package var lineCount: Int {
    isMultiline ? buffer.characters.lineEnds.count + 1 : 1
  }

  /// The characters before the cursor.
  public var cursor: Int { buffer.cursor }

  /// The text up to the cursor, as completion needs it.
  public var textBeforeCursor: String { buffer.characters.string(of: 0..<buffer.cursor) }

  /// Whether a text is at least as long as can be typed, so that nothing could be added to it.
  ///
  /// O(n) in the text.
  public static func isTooLong(_ text: String) -> Bool {
    text.utf8.count > characterCountMax && text.count > characterCountMax
  }

  // MARK: - Typing

  /// Inserts typed or pasted text at the cursor.
  ///
  /// In a field of one line, line ends become spaces; those at the end of the text are dropped.
  /// Control characters other than tabs are dropped. A text that does not fit as a whole is not
  /// inserted, see `overflow`.
  public mutating func insert(_ text: String) {
    endRun()
    // The line end after the last line of a paste separates nothing.
    let text = isMultiline ? text[...] : text.withoutLineEndsAtEnd
    put(text.compactMap { typeable($0) }, over: cursor..<cursor, isTyping: text.count == 1)
  }

  /// Replaces the whole text, as when going through a history; can be undone.
  public mutating func replaceText(_ text: String) {
    endRun()
    buffer.closeStep()
    put(Array(text), over: 0..<buffer.characters.count)
  }

  /// Replaces the characters of a range, as completion does; can be undone.
  ///
  /// The range is cut to the text. The cursor goes after the new text.
  public mutating func replace(_ range: Range<Int>, with text: String) {
    endRun()
    buffer.closeStep()
    put(
      text.compactMap { typeable($0) },
      over: range.clamped(to: 0..<buffer.characters.count))
  }

  /// Notes that the user was told of the refused text.
  public mutating func forgetOverflow() { overflow = nil }

  /// Replaces a range, if there is room for the new text.
  private mutating func put(
    _ characters: [Character], over range: Range<Int>, isTyping: Bool = false
  ) {
    let room = max(0, Self.characterCountMax - buffer.characters.count + range.count)
    if characters.count > room {
      return overflow = Overflow(count: characters.count, room: room)
    }
    buffer.replace(range, with: characters, isTyping: isTyping)
  }

  private func typeable(_ character: Character) -> Character? {
    if character.isNewline { return isMultiline ? "\n" : " " }
    guard let scalar = character.unicodeScalars.first else { return nil }
    let isControl = scalar.value < 0x20 || (0x7F..<0xA0).contains(scalar.value)
    return isControl && character != "\t" ? nil : character
  }

  // MARK: - Actions

  /// Performs one of the editing actions of `TextFieldBindings`.
  ///
  /// Returns false if the action is for the owner of the field: another action, moving up from the
  /// first line or down from the last one, a new line in a field of one line, or revealing a text
  /// that is not secret. An editing action that has nothing to do counts as performed.
  public mutating func perform(_ action: ActionID) -> Bool {
    let wasKilling = isKilling
    let goal = goalColumn
    endRun()
    switch action {
    case .inputPrevious, .inputNext:
      return moveLine(isDown: action == .inputNext, goal: goal)
    case .inputUndo:
      _ = buffer.undo()
    case .inputRedo:
      _ = buffer.redo()
    case .inputNewline:
      guard isMultiline else { return false }
      insert("\n")
    case .inputReveal:
      guard isSecret else { return false }
      isRevealed.toggle()
    case .inputYank:
      put(Array(killed), over: cursor..<cursor)
    case .inputTranspose:
      transpose()
    default:
      return move(action) || delete(action) || kill(action, isAppending: wasKilling)
    }
    return true
  }

  /// Ends the combined effect of a run of equal actions.
  private mutating func endRun() {
    isKilling = false
    goalColumn = nil
    overflow = nil
  }

  private mutating func move(_ action: ActionID) -> Bool {
    let cursor = buffer.cursor
    let target: Int
    switch action {
    case .inputLineStart: target = buffer.lineStart(of: cursor)
    case .inputLineEnd: target = buffer.lineEnd(of: cursor)
    case .inputLeft: target = max(0, cursor - 1)
    case .inputRight: target = min(buffer.characters.count, cursor + 1)
    case .inputWordLeft: target = buffer.wordStart(before: cursor)
    case .inputWordRight: target = buffer.wordEnd(after: cursor)
    default: return false
    }
    buffer.cursor = target
    buffer.closeStep()
    return true
  }

  private mutating func delete(_ action: ActionID) -> Bool {
    let cursor = buffer.cursor
    switch action {
    case .inputDeleteBack: buffer.replace(max(0, cursor - 1)..<cursor, with: [])
    case .inputDeleteForward:
      buffer.replace(cursor..<min(buffer.characters.count, cursor + 1), with: [])
    default: return false
    }
    return true
  }

  private mutating func kill(_ action: ActionID, isAppending: Bool) -> Bool {
    let cursor = buffer.cursor
    let range: Range<Int>
    switch action {
    case .inputKillWordBack: range = buffer.wordStart(before: cursor)..<cursor
    case .inputKillWord: range = cursor..<buffer.wordEnd(after: cursor)
    case .inputKillToStart: range = buffer.lineStart(of: cursor)..<cursor
    case .inputKillToEnd:
      // At the end of a line, its line end is deleted, so that the lines join.
      let end = buffer.lineEnd(of: cursor)
      range = cursor..<(end == cursor ? min(end + 1, buffer.characters.count) : end)
    default: return false
    }
    guard !range.isEmpty else {
      isKilling = isAppending
      return true
    }
    let text = buffer.characters.string(of: range)
    let isBackward = range.upperBound == cursor
    killed = isAppending ? (isBackward ? text + killed : killed + text) : text
    isKilling = true
    buffer.replace(range, with: [])
    return true
  }

  /// Swaps the characters around the cursor, or at the end of a line the two before it, and steps
  /// on.
  private mutating func transpose() {
    let start = buffer.lineStart(of: buffer.cursor)
    let end = buffer.lineEnd(of: buffer.cursor)
    let second = min(buffer.cursor, end - 1)
    guard second > start, buffer.cursor > start else { return }
    let swapped = [buffer.characters[second], buffer.characters[second - 1]]
    buffer.replace((second - 1)..<(second + 1), with: swapped)
  }

  private mutating func moveLine(isDown: Bool, goal: Int?) -> Bool {
    let start = buffer.lineStart(of: buffer.cursor)
    let end = buffer.lineEnd(of: buffer.cursor)
    let column = goal ?? buffer.cursor - start
    let target: Int
    if isDown {
      guard end < buffer.characters.count else { return false }
      target = end + 1
    } else {
      guard start > 0 else { return false }
      target = buffer.lineStart(of: start - 1)
    }
    buffer.cursor = min(target + column, buffer.lineEnd(of: target))
    goalColumn = column
    buffer.closeStep()
    return true
  }
}

extension String {
  /// The text without the line ends after its last line.
  package var withoutLineEndsAtEnd: Substring {
    var text = self[...]
    while text.last?.isNewline == true { text.removeLast() }
    return text
  }
}
