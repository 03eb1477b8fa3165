import RunnelBase
import RunnelTerminal
package import RunnelTree

/// What is about to be removed, and what is known of it.
package struct Removal: Hashable, Sendable {
  /// How many places are measured; what is beyond is guessed from them.
  static let measuredMax = 200

  /// What is removed.
  package var paths: [Path]
  /// What stands at the only place, in words; for several, how many there are.
  package var content: String
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
  package private(set) var byteCount = 0
  /// False if they are more.
  package private(set) var isCounted = true
  /// How many of those cannot be taken back.
  package private(set) var lostCount = 0
  /// How many of those could not be read.
  private(set) var unreadCount = 0

  init(_ paths: [Path], content: String, warning: String?, isOperation: [Bool]) {
    self.paths = paths
    self.content = content
    self.warning = warning
    self.isOperation = isOperation
  }

  /// The subject, in words.
  var subject: String { paths.count == 1 ? "\(paths[0])" : "\(paths.count) records" }

  /// The place to be read next; nil if enough is known.
  package var next: Path? {
    measuredCount < min(paths.count, Removal.measuredMax) && isCounted ? paths[measuredCount] : nil
  }

  /// The next place was read; nil if it could not be.
  package mutating func take(_ excerpt: NodeExcerpt?) {
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
  package var size: String {
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
