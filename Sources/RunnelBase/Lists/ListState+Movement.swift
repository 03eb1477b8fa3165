extension ListState {
  /// A part of the screen.
  public enum ScreenPart: Hashable, Sendable, CaseIterable {
    /// The first line in sight.
    case top
    /// The line halfway.
    case middle
    /// The last line in sight.
    case bottom
  }

  /// The most pages of one step; no list has more.
  private static let pagesMax = 1_000_000.0

  // MARK: - The cursor

  /// Moves the cursor by a number of items, up if negative, and stops at the ends.
  ///
  /// Scrolls as little as it can, as all movements do.
  public mutating func move(by items: Int, in content: ListContent, height: Int) {
    let frame = begin(content, height: height)
    guard let place = frame.cursor else { return }
    let count = frame.layout.itemCount
    let items = min(max(items, -count), count)
    let index = min(max(frame.layout.itemIndex(of: place) + items, 0), count - 1)
    go(to: frame.layout.place(ofItem: index), frame)
  }

  /// Moves the cursor to the first item, which is a header.
  public mutating func moveToFirst(in content: ListContent, height: Int) {
    let frame = begin(content, height: height)
    guard frame.layout.itemCount > 0 else { return }
    go(to: frame.layout.place(ofItem: 0), frame)
  }

  /// Moves the cursor to the last item.
  public mutating func moveToLast(in content: ListContent, height: Int) {
    let frame = begin(content, height: height)
    if let last = frame.layout.lastPlace { go(to: last, frame) }
  }

  /// Moves the cursor to the row with a number, counted from 1 over all sections.
  ///
  /// Beyond the ends it takes the nearest row; for a row that is folded away it takes the header.
  public mutating func moveToRow(number: Int, in content: ListContent, height: Int) {
    let frame = begin(content, height: height)
    var left = min(max(number, 1), content.rowCount) - 1
    for (section, rows) in content.sections.map(\.rows).enumerated() {
      if left < rows.count {
        guard left >= 0 else { return }
        let place = ListPlace(section: section, row: left)
        return go(to: frame.layout.shows(place) ? place : ListPlace(section: section), frame)
      }
      left -= rows.count
    }
  }

  /// Moves the cursor to an item; returns false if the item is gone or folded away.
  @discardableResult
  public mutating func moveTo(_ item: ListItem, in content: ListContent, height: Int) -> Bool {
    let frame = begin(content, height: height)
    guard let place = frame.layout.place(of: item) else { return false }
    go(to: place, frame)
    return true
  }

  /// Moves the cursor to the header of the next section; does nothing in the last one.
  public mutating func moveToNextSection(in content: ListContent, height: Int) {
    let frame = begin(content, height: height)
    guard let place = frame.cursor, place.section + 1 < frame.layout.sectionCount else { return }
    go(to: ListPlace(section: place.section + 1), frame)
  }

  /// Moves the cursor to the header of its section or, from a header, to the one before.
  public mutating func moveToPreviousSection(in content: ListContent, height: Int) {
    let frame = begin(content, height: height)
    guard let place = frame.cursor else { return }
    go(to: ListPlace(section: max(0, place.section - (place.row == nil ? 1 : 0))), frame)
  }

  /// Moves the cursor to the first, middle, or last item in sight, without scrolling.
  public mutating func moveToScreen(_ part: ScreenPart, in content: ListContent, height: Int) {
    let frame = begin(content, height: height)
    let visible = frame.visibleLines
    guard !visible.isEmpty else { return }
    let place: ListPlace?
    switch part {
    case .top:
      place = frame.layout.place(nearLine: visible.lowerBound)
    case .middle:
      place = frame.layout.place(nearLine: visible.lowerBound + (visible.count - 1) / 2)
    case .bottom:
      place = frame.layout.place(nearLine: visible.upperBound - 1, preferringLater: false)
    }
    guard let place, visible.contains(frame.layout.line(of: place)) else { return }
    go(to: place, frame)
  }

  private mutating func go(to place: ListPlace, _ frame: Frame) {
    var next = frame
    next.cursor = place
    settle(next, from: frame.top)
  }

  // MARK: - The screen

  /// Moves the screen and the cursor by pages, up if negative; 0.5 is half a page.
  ///
  /// The cursor keeps its line on the screen as long as the screen can move. A whole page leaves
  /// one line of the old one visible, because the sticky header would hide it.
  public mutating func movePage(by pages: Double, in content: ListContent, height: Int) {
    let frame = begin(content, height: height)
    guard let line = frame.cursorLine, pages != 0, !pages.isNaN else { return }
    let size = min(pages.magnitude, Self.pagesMax)
    let distance = max(
      1, min(Int(size * Double(height)), Int(size.rounded(.up)) * (frame.height - 1)))
    let lines = pages < 0 ? -distance : distance
    var next = frame
    next.top += lines
    next.cursor = frame.layout.place(nearLine: line + lines, preferringLater: lines > 0)
    settle(next, from: frame.top)
  }

  /// Scrolls by lines, up if negative.
  ///
  /// The cursor stays on its item unless that goes out of sight; then it goes to the nearest item
  /// in sight.
  public mutating func scroll(by lines: Int, in content: ListContent, height: Int) {
    let frame = begin(content, height: height)
    guard let line = frame.cursorLine else { return }
    var next = frame
    let count = frame.layout.lineCount
    next.top = frame.layout.top(
      near: frame.top + min(max(lines, -count), count), showing: nil, height: frame.height)
    let visible = next.visibleLines
    if line < visible.lowerBound {
      next.cursor = frame.layout.place(nearLine: visible.lowerBound)
    } else if line >= visible.upperBound {
      next.cursor = frame.layout.place(
        nearLine: visible.upperBound - 1, preferringLater: false)
    }
    settle(next, from: frame.top)
  }

  /// Scrolls so that the cursor's item is at the top, in the middle, or at the bottom of the
  /// screen, as far as the list reaches.
  public mutating func placeCursor(_ part: ScreenPart, in content: ListContent, height: Int) {
    let frame = begin(content, height: height)
    guard let line = frame.cursorLine else { return }
    var next = frame
    switch part {
    case .top: next.top = line
    case .middle: next.top = line - (frame.height - 1) / 2
    case .bottom: next.top = line - frame.height + 1
    }
    settle(next, from: frame.top)
  }

  /// Adapts the state to another height; the cursor stays in sight.
  public mutating func resize(toHeight height: Int, in content: ListContent) {
    _ = begin(content, height: height)
  }
}
