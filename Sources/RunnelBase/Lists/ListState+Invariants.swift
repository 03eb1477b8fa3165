extension ListState {
  /// Stops the program unless the invariants hold for the content and the height.
  ///
  /// O(rows).
  ///
  /// For tests, after each step.
  package func checkInvariants(in content: ListContent, height: Int) {
    let violations = violations(in: content, height: height)
    precondition(violations.isEmpty, violations.joined(separator: "; "))
  }

  /// The violations of the invariants for the content and the height; empty if there are none.
  package func violations(in content: ListContent, height: Int) -> [String] {
    let layout = ListLayout(content, folded: folded)
    guard let cursor else {
      return content.sections.isEmpty ? newRowViolations(layout, 0..<0) : ["I1: no cursor"]
    }
    guard let place = layout.place(of: cursor) else { return ["I1: the cursor is on no item"] }
    var found: [String] = []
    if hint != place { found.append("the hint is not where the cursor is") }
    let top = layout.line(of: place) - cursorLine
    let visible = layout.visibleLines(top: top, height: max(1, height))
    if !visible.contains(layout.line(of: place)) {
      found.append("I2: the cursor is not in sight")
    }
    if !(0...max(0, layout.lineCount - max(1, height))).contains(top) {
      found.append("I3: the screen leaves the list")
    }
    return found + newRowViolations(layout, visible)
  }

  private func newRowViolations(_ layout: ListLayout, _ visible: Range<Int>) -> [String] {
    var found: [String] = []
    if !newAbove.isDisjoint(with: newBelow) { found.append("I4: a row is both above and below") }
    for (rows, isAbove) in [(newAbove, true), (newBelow, false)] {
      for id in rows.sorted() {
        guard let place = layout.place(of: .row(id)) else {
          found.append("I4: new row \(id) is gone or folded")
          continue
        }
        let line = layout.line(of: place)
        if isAbove ? line >= visible.lowerBound : line < visible.upperBound {
          found.append("I4: new row \(id) is not \(isAbove ? "above" : "below")")
        }
      }
    }
    return found
  }
}
