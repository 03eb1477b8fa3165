/// The shape of a regular expression of a filter.
enum FilterPattern {
  /// Whether a pattern repeats a group that repeats something itself, or has several ways to match.
  ///
  /// The matcher tries the ways one after the other, so the time for such a pattern can double with
  /// each character of a text. O(n).
  static func mayTakeForever(_ pattern: String) -> Bool {
    // For each open group, whether something in it is repeated or one of several.
    var groups = [false]
    var isEscaped = false
    var isInClass = false
    var hasClosed = false
    for character in pattern {
      defer { isEscaped = character == "\\" && !isEscaped }
      let closed = hasClosed
      hasClosed = false
      if isEscaped { continue }
      if isInClass {
        isInClass = character != "]"
        continue
      }
      switch character {
      case "[": isInClass = true
      case "(": groups.append(false)
      case ")":
        guard groups.count > 1, let inner = groups.popLast() else { continue }
        hasClosed = inner
        if inner { groups[groups.count - 1] = true }
      case "+", "*", "{":
        if closed { return true }
        groups[groups.count - 1] = true
      case "|": groups[groups.count - 1] = true
      default: break
      }
    }
    return false
  }
}
