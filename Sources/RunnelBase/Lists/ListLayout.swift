/// The place of an item: a section, and a row in it or nil for its header.
struct ListPlace: Hashable, Sendable {
  var section: Int
  var row: Int?

  init(section: Int, row: Int? = nil) {
    self.section = section
    self.row = row
  }

  init(_ path: ListIndexPath) {
    self.init(section: path.section, row: path.row)
  }
}

/// The lines of a list at one moment, computed without laying them out one by one.
///
/// Every line is one high: for each section its header, then, unless it is folded, its rows, or one
/// line of text if it has no rows; the divider stands among the rows of one section. Items are the
/// lines the cursor can stand on: all but such texts and the divider.
/// The first layout of a content is O(sections), the same one again O(1); every question is
/// O(log sections) unless it says otherwise.
struct ListLayout {
  /// The kind of a line.
  enum Line: Hashable {
    case header(section: Int)
    case row(ListIndexPath)
    case emptyText(section: Int)
    case divider(section: Int)
  }

  /// The number of lines, and of items, before each section and, as the last element, in the whole
  /// list.
  struct Numbers {
    var firstLines = [0]
    var firstItems = [0]
    var foldedSections: [Bool] = []
    /// The place of the divider; nil if it is not shown.
    var divider: ListIndexPath?

    /// Counts the lines of some sections.
    ///
    /// O(sections).
    init(_ sections: [ListSection], folded: Set<String>, divider: ListIndexPath?) {
      self.divider = divider
      for (index, section) in sections.enumerated() {
        let isFolded = !folded.isEmpty && folded.contains(section.id)
        let rows = isFolded ? 0 : section.rows.count
        let hasText = !isFolded && section.rows.isEmpty && section.emptyText != nil
        var isDivided = false
        if let place = divider, place.section == index {
          isDivided = rows > 0 && (0...rows).contains(place.row)
          if !isDivided { self.divider = nil }
        }
        foldedSections.append(isFolded)
        firstItems.append(firstItems[firstItems.count - 1] + 1 + rows)
        firstLines.append(
          firstLines[firstLines.count - 1] + 1 + rows + (hasText || isDivided ? 1 : 0))
      }
      if let place = divider, !sections.indices.contains(place.section) { self.divider = nil }
    }
  }

  let content: ListContent
  private let numbers: Numbers

  private var firstLines: [Int] { numbers.firstLines }
  private var firstItems: [Int] { numbers.firstItems }
  private var divider: ListIndexPath? { numbers.divider }

  init(_ content: ListContent, folded: Set<String>) {
    self.content = content
    numbers = content.numbers(folded: folded)
  }

  var sectionCount: Int { content.sections.count }
  var lineCount: Int { firstLines[sectionCount] }
  var itemCount: Int { firstItems[sectionCount] }

  func isFolded(_ section: Int) -> Bool { numbers.foldedSections[section] }

  // MARK: - Lines and places

  /// Returns the kind of a line; the line must be in the list.
  func line(at line: Int) -> Line {
    precondition((0..<lineCount).contains(line), "a line outside the list was asked for")
    let section = Self.section(of: line, in: firstLines)
    let offset = line - firstLines[section]
    if offset == 0 { return .header(section: section) }
    if content.sections[section].rows.isEmpty { return .emptyText(section: section) }
    guard let divider, divider.section == section, offset > divider.row else {
      return .row(ListIndexPath(section: section, row: offset - 1))
    }
    return offset == divider.row + 1
      ? .divider(section: section) : .row(ListIndexPath(section: section, row: offset - 2))
  }

  /// The place on a line, or nil if the cursor cannot stand there.
  func place(atLine line: Int) -> ListPlace? {
    guard (0..<lineCount).contains(line) else { return nil }
    switch self.line(at: line) {
    case .header(let section): return ListPlace(section: section)
    case .row(let path): return ListPlace(path)
    case .emptyText, .divider: return nil
    }
  }

  /// The line of a place that is not folded away.
  ///
  /// O(1).
  func line(of place: ListPlace) -> Int {
    guard let row = place.row else { return firstLines[place.section] }
    let isBelow = divider.map { $0.section == place.section && $0.row <= row } ?? false
    return firstLines[place.section] + row + (isBelow ? 2 : 1)
  }

  /// The id of the row on a line, or nil if the line shows no row.
  func row(atLine line: Int) -> String? {
    guard case .row(let path) = self.line(at: line) else { return nil }
    return content.sections[path.section].rows[path.row]
  }

  /// Whether the place exists and is not folded away.
  ///
  /// O(1).
  func shows(_ place: ListPlace) -> Bool {
    guard (0..<sectionCount).contains(place.section) else { return false }
    guard let row = place.row else { return true }
    return !isFolded(place.section) && content.sections[place.section].rows.indices.contains(row)
  }

  /// The line as the screen shows it in its place; it must be in the list.
  func visibleLine(at line: Int, isCursor: Bool) -> ListState.VisibleLine {
    switch self.line(at: line) {
    case .header(let section):
      return ListState.VisibleLine(kind: .header, section: section, isCursor: isCursor)
    case .row(let path):
      let id = content.sections[path.section].rows[path.row]
      return ListState.VisibleLine(kind: .row(id), section: path.section, isCursor: isCursor)
    case .emptyText(let section):
      return ListState.VisibleLine(kind: .emptyText, section: section, isCursor: false)
    case .divider(let section):
      return ListState.VisibleLine(kind: .divider, section: section, isCursor: false)
    }
  }

  // MARK: - Items

  /// The item at a place that the list shows.
  ///
  /// O(1).
  func item(at place: ListPlace) -> ListItem {
    let section = content.sections[place.section]
    return place.row.map { .row(section.rows[$0]) } ?? .header(section.id)
  }

  /// The place of the item, or nil if it is gone or folded away.
  ///
  /// O(1) if it is still at the hint. If not, O(sections) for a header; for a row, what the index
  /// of the content costs.
  func place(of item: ListItem, hint: ListPlace? = nil) -> ListPlace? {
    if let hint, shows(hint), self.item(at: hint) == item { return hint }
    let place: ListPlace?
    switch item {
    case .header(let id): place = content.index(ofSection: id).map { ListPlace(section: $0) }
    case .row(let id): place = content.indexPath(ofRow: id).map { ListPlace($0) }
    }
    return place.flatMap { shows($0) ? $0 : nil }
  }

  /// The number of items before the place.
  ///
  /// O(1).
  func itemIndex(of place: ListPlace) -> Int {
    firstItems[place.section] + (place.row.map { $0 + 1 } ?? 0)
  }

  /// The place of the item with `index` items before it; the list must have that many.
  func place(ofItem index: Int) -> ListPlace {
    precondition((0..<itemCount).contains(index), "an item outside the list was asked for")
    let section = Self.section(of: index, in: firstItems)
    let offset = index - firstItems[section]
    return ListPlace(section: section, row: offset == 0 ? nil : offset - 1)
  }

  /// The last item, or nil if the list has no sections.
  var lastPlace: ListPlace? { itemCount == 0 ? nil : place(ofItem: itemCount - 1) }

  /// The place of the cursor if nothing else decides: the first row, else the first header.
  ///
  /// O(sections).
  var initialPlace: ListPlace? {
    for section in 0..<sectionCount where shows(ListPlace(section: section, row: 0)) {
      return ListPlace(section: section, row: 0)
    }
    return itemCount == 0 ? nil : ListPlace(section: 0)
  }

  /// The item on the line or the nearest one after it, else the nearest one before it.
  ///
  /// Two texts never follow each other, so this looks at three lines at most.
  func place(nearLine line: Int, preferringLater: Bool = true) -> ListPlace? {
    let line = min(max(line, 0), lineCount - 1)
    let later = place(atLine: line + 1)
    let earlier = place(atLine: line - 1)
    return place(atLine: line) ?? (preferringLater ? later ?? earlier : earlier ?? later)
  }

  // MARK: - The screen

  /// The top line nearest to the wanted one with which the list fills the screen and the place is
  /// in sight: neither outside nor under the sticky header.
  func top(near wanted: Int, showing place: ListPlace?, height: Int) -> Int {
    let top = min(max(wanted, 0), max(0, lineCount - height))
    guard let place else { return top }
    let line = line(of: place)
    // The line above a row is its header, or is covered by it, even if it is the divider.
    let lead = place.row != nil && height > 1 ? 1 : 0
    return max(min(top, line - lead), line - height + 1)
  }

  /// The section whose header covers the top line, or nil.
  ///
  /// A screen of one line has no sticky header: it would hide everything.
  func stickySection(top: Int, height: Int) -> Int? {
    guard height > 1, (0..<lineCount).contains(top) else { return nil }
    let section = Self.section(of: top, in: firstLines)
    return firstLines[section] == top ? nil : section
  }

  /// The visible lines: those on the screen, except the one under the sticky header.
  func visibleLines(top: Int, height: Int) -> Range<Int> {
    let covered = stickySection(top: top, height: height) == nil ? 0 : 1
    let first = min(max(top + covered, 0), lineCount)
    return first..<max(first, min(top + height, lineCount))
  }

  /// The section that contains a number, found by the ascending first numbers of the sections.
  private static func section(of number: Int, in firsts: [Int]) -> Int {
    firsts.dropLast().lowerBound { $0 <= number } - 1
  }
}
