extension ListState {
  /// Below this many lines, looking at each line is cheaper than looking at each new row.
  private static let gapLinesMin = 64

  /// Whether no new row is waiting off-screen.
  private var hasNoNewRows: Bool { newAbove.isEmpty && newBelow.isEmpty }

  /// Brings the new rows off-screen up to date after the screen went from one top to another.
  ///
  /// Rows that came in sight are dropped, those that were jumped over change their side. O(height +
  /// the distance or, if that is far, the number of new rows).
  mutating func reconcileNewRows(_ frame: Frame, from reference: Int?) {
    guard !hasNoNewRows else { return }
    let visible = frame.visibleLines
    guard let reference else { return classifyAllNewRows(frame) }
    // Rows between the two screens, seen from the new one.
    let passedBelow = clamp(reference, visible.lowerBound, frame)
    let passedAbove = clamp(visible.upperBound, reference + frame.height, frame)
    let gap = max(passedBelow.count, passedAbove.count)
    guard gap <= max(Self.gapLinesMin, newAbove.count + newBelow.count) else {
      return classifyAllNewRows(frame)
    }
    for line in visible {
      guard let id = frame.layout.row(atLine: line) else { continue }
      newAbove.remove(id)
      newBelow.remove(id)
    }
    for line in passedBelow {
      if let id = frame.layout.row(atLine: line), newBelow.remove(id) != nil {
        newAbove.insert(id)
      }
    }
    for line in passedAbove {
      if let id = frame.layout.row(atLine: line), newAbove.remove(id) != nil {
        newBelow.insert(id)
      }
    }
  }

  /// The lines of the list from one number to another; none if the second is not greater.
  private func clamp(_ first: Int, _ end: Int, _ frame: Frame) -> Range<Int> {
    let first = min(max(first, 0), frame.layout.lineCount)
    return first..<max(first, min(end, frame.layout.lineCount))
  }

  /// Looks up where each new row is now, and forgets those that are gone.
  ///
  /// O(new rows).
  private mutating func classifyAllNewRows(_ frame: Frame) {
    let ids = newAbove.union(newBelow)
    (newAbove, newBelow) = ([], [])
    for id in ids {
      guard let path = frame.layout.content.indexPath(ofRow: id) else { continue }
      classifyNewRow(id, at: ListPlace(path), frame)
    }
  }

  /// Counts a new row unless it is in sight or folded away.
  mutating func classifyNewRow(_ id: String, at place: ListPlace, _ frame: Frame) {
    guard frame.layout.shows(place) else { return }
    let line = frame.layout.line(of: place)
    let visible = frame.visibleLines
    if line < visible.lowerBound {
      newAbove.insert(id)
    } else if line >= visible.upperBound {
      newBelow.insert(id)
    }
  }

  /// Stops counting the rows of a section, because it is folded or gone.
  ///
  /// O(rows of the section).
  mutating func forgetNewRows(of section: ListSection) {
    guard !hasNoNewRows else { return }
    for id in section.rows { withdraw(id) }
  }

  /// Stops counting a row; true if it was counted.
  @discardableResult
  mutating func withdraw(_ id: String) -> Bool {
    let wasAbove = newAbove.remove(id) != nil
    return newBelow.remove(id) != nil || wasAbove
  }

  /// Stops counting rows.
  ///
  /// O(rows).
  package mutating func forgetNew(_ rows: Set<String>) {
    for id in rows { withdraw(id) }
  }

  /// Keeps counting a row that the list unloads.
  mutating func letGo(of id: String) {
    if newAbove.remove(id) != nil { unloadedNewAbove += 1 }
    if newBelow.remove(id) != nil { unloadedNewBelow += 1 }
  }
}
