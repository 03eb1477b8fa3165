import RunnelBase
import RunnelTerminal
package import RunnelTree

/// A removal that the user is asked about, and the known facts about the removed places.
package struct Removal: Hashable, Sendable {
  /// The number of places that are measured; the size of more is estimated from them.
  static let measuredMax = 200

  /// The places to remove.
  package var paths: [Path]
  /// The content of the only place, in words; for several places, their number.
  package var content: String
  /// The content in words, to which the number of grandchildren is appended once it is known; nil
  /// if that number is of no interest.
  var countingContent: String?
  /// The number of marked rows that stay because a filter hides them.
  var hiddenCount = 0
  /// Whether the content of a place is not in the replica, so that no place is measured.
  var isListed = false
  /// A warning to show with the question, or nil.
  var warning: String?
  /// Whether the removal of each place is an operation, which keeps what it removes.
  var isOperation: [Bool]
  /// The records as the list showed them when the question was asked; nil for places that it does not show.
  var seen: [RunnelTree.Node?] = []
  /// Whether it was asked again because others changed a record meanwhile.
  var isAskedAgain = false
  /// The number of places that were read.
  private(set) var measuredCount = 0
  /// The total size of the places that were read, in bytes.
  package private(set) var byteCount = 0
  /// Whether the size is exact; false if there are more bytes.
  package private(set) var isCounted = true
  /// The number of read places whose removal cannot be undone.
  package private(set) var lostCount = 0
  /// The number of places that could not be read.
  private(set) var unreadCount = 0

  init(_ paths: [Path], content: String, warning: String?, isOperation: [Bool]) {
    self.paths = paths
    self.content = content
    self.warning = warning
    self.isOperation = isOperation
  }

  /// The subject, in words.
  var subject: String { paths.count == 1 ? "\(paths[0])" : "\(paths.count) records" }

  /// The place to read next, or nil if enough is known.
  package var next: Path? {
    if isListed { return nil }
    return measuredCount < min(paths.count, Removal.measuredMax) && isCounted
      ? paths[measuredCount] : nil
  }

  /// Takes the excerpt of the next place; nil if the place could not be read.
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

  /// The size of the removed places, in words.
  package var size: String {
    if isListed { return "what stands below is not loaded" }
    if unreadCount > 0 { return "its size could not be read" }
    if next != nil { return "counting" }
    let text = ByteCount.text(byteCount)
    if !isCounted { return "more than \(text)" }
    if measuredCount == paths.count { return text }
    return "about " + ByteCount.text(byteCount / max(measuredCount, 1) * paths.count)
  }

  /// Words that say whether the removal can be undone, and by which keys; nil while that is not
  /// known.
  ///
  /// A service is asked to create the record again, and decides about its id.
  /// On another replica the server may refuse what brings it back, as any write.
  func undoing(_ keys: String?, isOfServices: Bool, isReplica: Bool) -> StyledLine? {
    let limit = ByteCount.text(History.valueBytesMax)
    if isListed { return StyledLine("this cannot be taken back", .warn) }
    if lostCount > 0 {
      let what = paths.count == 1 ? "this" : lostCount == measuredCount ? "they" : "some of them"
      let isSmall = next == nil && isCounted && byteCount <= History.valueBytesMax
      if isSmall, isOfServices {
        let back = keys.map { "\($0) creates" } ?? "undoing creates"
        let (what, id) = paths.count == 1 ? ("it", "another id") : ("them", "other ids")
        return StyledLine("\(back) \(what) again; the server may give \(id)", .muted)
      }
      if isSmall, isReplica {
        let back = keys.map { "\($0) takes" } ?? "undoing takes"
        let what = paths.count == 1 ? "it" : "them"
        return StyledLine("\(back) \(what) back, unless the server refuses that", .muted)
      }
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
