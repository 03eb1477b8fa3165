package import RunnelTerminal

/// The line of a list in which records are composed: the draft in it, and what was sent from it.
package struct ComposeLine: Hashable, Sendable {
  /// The text being composed when the user left the line; empty for none.
  package private(set) var draft = ""
  /// When the draft was last typed, in milliseconds since 1970; nil if that is not known.
  private(set) var draftTime: Int64?
  /// Whether the draft is as the last session kept it: it may have been stored since then.
  private(set) var isDraftRestored = false
  /// What was sent from the line before the draft.
  var sentBefore = SentBefore()
  /// The texts that were composed and sent.
  package var sent = LineHistory()

  /// Makes a text the draft that was typed at a time that is not known.
  mutating func put(_ text: String) { (draft, draftTime) = (text, nil) }

  /// Makes a text the draft that is typed now.
  package mutating func type(_ text: String, now: Int64) {
    (draft, draftTime, isDraftRestored) = (text, now, false)
  }

  /// Empties the line.
  mutating func clear() { draft = "" }

  /// Takes the draft that the last session kept.
  mutating func restore(_ text: String, _ time: Int64?, _ sentBefore: SentBefore) {
    (draft, draftTime, isDraftRestored) = (text, time, true)
    self.sentBefore = sentBefore
  }

  /// Notes that it was found out whether the draft of the last session was stored.
  mutating func settle() {
    isDraftRestored = false
    sentBefore.equalCount = 0
  }

  /// The line as another list takes it over that shows the same collection.
  var takenOver: ComposeLine {
    var line = self
    line.isDraftRestored = false
    return line
  }
}
