/// The texts typed into a field before, to be recalled as in a shell.
///
/// ```
///            previous                 previous
///   typing ------------> an entry <------------> an older entry
///          <------------          next
///              next
/// ```
package struct LineHistory: Hashable, Sendable {
  /// The greatest number of entries; the oldest are dropped first.
  package static let countMax = 100

  /// The entries, the oldest first; no two neighbors are equal.
  package private(set) var entries: [String]
  /// The entry that is shown; nil while the user types a new text.
  private var place: Int?
  /// The new text that the user was typing before going back.
  private var typed = ""

  /// Makes a history of entries, the oldest first.
  package init(_ entries: [String] = []) {
    self.entries = []
    for entry in entries { add(entry) }
  }

  /// Adds an entered text, and returns to typing; an empty text and a repetition are not kept.
  package mutating func add(_ text: String) {
    place = nil
    typed = ""
    guard !text.isEmpty, entries.last != text else { return }
    entries.append(text)
    if entries.count > Self.countMax { entries.removeFirst() }
  }

  /// The entry for an action of a text field: up is the older one, down the newer one.
  ///
  /// - Returns: the entry to show; nil at an end, and for every other action.
  package mutating func recall(_ action: ActionID, from text: String) -> String? {
    switch action {
    case .inputPrevious: previous(from: text)
    case .inputNext: next()
    default: nil
    }
  }

  /// The older entry; nil at the oldest.
  ///
  /// - Parameter text: the text of the field; it is kept while going through the entries.
  /// - Returns: the entry to show.
  package mutating func previous(from text: String) -> String? {
    let next = (place ?? entries.count) - 1
    guard entries.indices.contains(next) else { return nil }
    if place == nil { typed = text }
    place = next
    return entries[next]
  }

  /// The newer entry; after the newest, the text that the user was typing; nil if no entry is
  /// shown.
  package mutating func next() -> String? {
    guard let place else { return nil }
    if place + 1 < entries.count {
      self.place = place + 1
      return entries[place + 1]
    }
    self.place = nil
    return typed
  }
}
