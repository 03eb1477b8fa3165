/// Text with a cursor, and the edits made to it.
///
/// The text is a sequence of numbered characters, so that the cursor is a number and every edit is
/// one replacement. New text is joined with its neighbors: an accent typed after a letter becomes one
/// character with the letter.
struct EditBuffer: Hashable, Sendable {
  /// The greatest number of steps that can be undone; older ones are dropped.
  static let undoCountMax = 200

  /// One replacement, with the cursor before and after it.
  struct Edit: Hashable, Sendable {
    var place: Int
    var removed: [Character]
    var inserted: [Character]
    var cursorBefore: Int
    var cursorAfter: Int
    /// Whether typing may still be added to it.
    var isOpen: Bool
  }

  private(set) var characters: EditText
  var cursor: Int {
    didSet { precondition((0...characters.count).contains(cursor), "the cursor left the text") }
  }
  private(set) var undoable: [Edit] = []
  private(set) var redoable: [Edit] = []

  init(_ text: String) {
    characters = EditText(text)
    cursor = characters.count
  }

  // MARK: - Lines and words

  /// The start of the line that the place is in.
  func lineStart(of place: Int) -> Int {
    (characters[..<place].lastIndex { $0.isNewline }).map { $0 + 1 } ?? 0
  }

  /// The end of the line that the place is in.
  func lineEnd(of place: Int) -> Int {
    characters[place...].firstIndex { $0.isNewline } ?? characters.count
  }

  /// The start of the word before the place.
  func wordStart(before place: Int) -> Int {
    var place = place
    while place > 0, !Self.isWord(characters[place - 1]) { place -= 1 }
    while place > 0, Self.isWord(characters[place - 1]) { place -= 1 }
    return place
  }

  /// The end of the word after the place.
  func wordEnd(after place: Int) -> Int {
    var place = place
    while place < characters.count, !Self.isWord(characters[place]) { place += 1 }
    while place < characters.count, Self.isWord(characters[place]) { place += 1 }
    return place
  }

  private static func isWord(_ character: Character) -> Bool {
    character.isLetter || character.isNumber
  }

  // MARK: - Edits

  /// Replaces a range, and puts the cursor after the new text.
  ///
  /// - Parameters:
  ///   - range: the characters that are removed.
  ///   - text: the new characters.
  ///   - isTyping: whether it may be undone together with the text typed just before.
  mutating func replace(_ range: Range<Int>, with text: [Character], isTyping: Bool = false) {
    guard !range.isEmpty || !text.isEmpty else { return }
    var edit = joined(range, text)
    edit.isOpen = isTyping && edit.removed.isEmpty
    perform(edit)
    redoable = []
    if edit.isOpen, let last = undoable.last, Self.continues(last, edit) {
      undoable[undoable.count - 1].inserted += edit.inserted
      undoable[undoable.count - 1].cursorAfter = edit.cursorAfter
    } else {
      undoable.append(edit)
      if undoable.count > Self.undoCountMax { undoable.removeFirst() }
    }
  }

  /// Ends the step that further typing would extend, because the cursor moved.
  mutating func closeStep() {
    guard !undoable.isEmpty else { return }
    undoable[undoable.count - 1].isOpen = false
  }

  /// Undoes the last step; returns false if there is none.
  mutating func undo() -> Bool {
    guard let edit = undoable.popLast() else { return false }
    characters.replaceSubrange(
      edit.place..<(edit.place + edit.inserted.count), with: edit.removed)
    cursor = edit.cursorBefore
    redoable.append(edit)
    return true
  }

  /// Redoes the step that was undone last; returns false if there is none.
  mutating func redo() -> Bool {
    guard var edit = redoable.popLast() else { return false }
    edit.isOpen = false
    perform(edit)
    undoable.append(edit)
    return true
  }

  private mutating func perform(_ edit: Edit) {
    let end = edit.place + edit.removed.count
    precondition(Array(characters[edit.place..<end]) == edit.removed, "an edit fits no more")
    characters.replaceSubrange(edit.place..<end, with: edit.inserted)
    cursor = edit.cursorAfter
  }

  /// Returns the edit, extended to the neighbors if they join with the new text or with each other.
  private func joined(_ range: Range<Int>, _ text: [Character]) -> Edit {
    let low = max(0, range.lowerBound - 1)
    let high = min(characters.count, range.upperBound + 1)
    let before = Array(characters[low..<range.lowerBound])
    let after = Array(characters[range.upperBound..<high])
    let separate = before + text + after
    let cut = Array(String(separate))
    guard cut != separate else {
      return Edit(
        place: range.lowerBound, removed: Array(characters[range]), inserted: text,
        cursorBefore: cursor, cursorAfter: range.lowerBound + text.count, isOpen: false)
    }
    // The cursor is before the following text, unless that has joined with the new text.
    let isFollowed = !after.isEmpty && cut.last == after.last
    return Edit(
      place: low, removed: Array(characters[low..<high]), inserted: cut, cursorBefore: cursor,
      cursorAfter: low + cut.count - (isFollowed ? 1 : 0), isOpen: false)
  }

  /// Whether typing continues the last step, within a word and the spaces after it.
  private static func continues(_ last: Edit, _ edit: Edit) -> Bool {
    guard last.isOpen, last.cursorAfter == edit.place,
      last.place + last.inserted.count == edit.place, let previous = last.inserted.last,
      let next = edit.inserted.first
    else { return false }
    return isWord(previous) || !isWord(next)
  }
}
