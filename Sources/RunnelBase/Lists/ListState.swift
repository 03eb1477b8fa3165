/// The user's position in a list: the cursor, the scroll position, the folds, and the new rows
/// off-screen.
///
/// Responsibilities:
/// - keep the cursor on its item and the screen still while the list changes under them;
/// - move the cursor and scroll, with the cursor always in sight;
/// - count, by direction, the new rows that arrived off-screen.
///
/// Everything is held by identity. The scroll position is the line on screen of the cursor's item:
/// since the cursor is always in sight, the cursor is the anchor. Every operation takes the content
/// and the height of the screen (0 and no content are legal) and costs O(height + sections + log
/// rows), whatever the number of rows; `apply` costs its batch as well.
///
/// Terms. *Item*: a header or a row, on which the cursor can stand. *Line*: one line of the list,
/// counted from its beginning. *Top*: the line at the top of the screen. *Sticky header*: the
/// header of the section with the top line, drawn over the top line once the header itself is
/// scrolled off; the line under it is not visible. A screen without lines is treated as one of one
/// line.
///
/// Invariants, after each operation, for its content and height:
/// - I1. The cursor is nil exactly if there are no sections; else it is on an item of the content
///   that is not folded away.
/// - I2. The cursor's line is on the screen and not under the sticky header.
/// - I3. The screen begins in the list, and it ends in it if the list is at least as long as the
///   screen.
/// - I4. No row is in both of `newAbove` and `newBelow`; each row in one of them is in a section
///   that is not folded, and lies before, or after, the lines in sight.
public struct ListState: Hashable, Sendable {
  /// The farthest the list can be scrolled to the right, in columns.
  public static let horizontalOffsetMax = 10_000

  /// The item the cursor is on; nil if there is none.
  public internal(set) var cursor: ListItem?
  /// The line on screen of the cursor: with it, the anchor of the scroll position.
  ///
  /// 0-based.
  public internal(set) var cursorLine = 0
  /// The ids of the folded sections.
  ///
  /// A section that is gone stays in it: when it comes back, it comes back folded.
  public package(set) var folded: Set<String> = []
  /// Whether a cursor on the last item goes to the new last item when the list grows.
  public var isFollowing = false
  /// New rows before the lines in sight that have not been in sight yet.
  ///
  /// Rows of folded sections are not counted, neither here nor in `newBelow`.
  public internal(set) var newAbove: Set<String> = []
  /// New rows after the lines in sight that have not been in sight yet.
  public internal(set) var newBelow: Set<String> = []
  /// The number of new rows above that were unloaded after they were counted; none is in
  /// `newAbove`.
  public internal(set) var unloadedNewAbove = 0
  /// The number of new rows below that were unloaded after they were counted.
  public internal(set) var unloadedNewBelow = 0
  /// The number of columns by which the rows are scrolled to the right.
  public internal(set) var horizontalOffset = 0

  /// The last known place of the cursor; it is used only if the cursor's item is there.
  var hint: ListPlace?

  /// The state of a list before its first content.
  public init() {}

  /// Forgets the rows that arrived off-screen.
  public mutating func clearNewRows() {
    newAbove = []
    newBelow = []
    forgetUnloadedNewRows()
  }

  /// The number of new rows above, unloaded ones included.
  public var newAboveCount: Int { newAbove.count + unloadedNewAbove }

  /// The number of new rows below, unloaded ones included.
  public var newBelowCount: Int { newBelow.count + unloadedNewBelow }

  /// Stops counting the unloaded new rows: they are loaded again, or the user has seen their place.
  public mutating func forgetUnloadedNewRows() { (unloadedNewAbove, unloadedNewBelow) = (0, 0) }

  /// Stops counting some of the unloaded new rows, because they were loaded again.
  public mutating func loadAgain(above: Int, below: Int) {
    unloadedNewAbove = max(0, unloadedNewAbove - above)
    unloadedNewBelow = max(0, unloadedNewBelow - below)
  }

  /// The path of the cursor's row; nil on a header.
  public func cursorPath(in content: ListContent) -> ListIndexPath? {
    guard let place = frame(in: content, height: 0).cursor, let row = place.row else { return nil }
    return ListIndexPath(section: place.section, row: row)
  }

  /// The ids of the rows up to `distance` lines above and below the cursor's.
  ///
  /// O(lines).
  public func rows(within distance: Int, in content: ListContent) -> [String] {
    let frame = frame(in: content, height: 0)
    guard let line = frame.cursorLine else { return [] }
    let (first, end) = (max(0, line - distance), min(frame.layout.lineCount, line + distance + 1))
    return (first..<end).compactMap { frame.layout.row(atLine: $0) }
  }

  /// Scrolls to the right by a number of columns, or to the left if negative.
  public mutating func scrollHorizontally(by columns: Int) {
    let columns = min(max(columns, -Self.horizontalOffsetMax), Self.horizontalOffsetMax)
    horizontalOffset = min(max(horizontalOffset + columns, 0), Self.horizontalOffsetMax)
  }

  // MARK: - The frame

  /// The geometry of one moment.
  struct Frame {
    var layout: ListLayout
    var height: Int
    /// The line at the top of the screen.
    var top: Int
    /// The place of the cursor; nil if the list is empty.
    var cursor: ListPlace?

    var visibleLines: Range<Int> { layout.visibleLines(top: top, height: height) }
    var cursorLine: Int? { cursor.map { layout.line(of: $0) } }
  }

  /// The geometry for a content and a height.
  ///
  /// A state that has not seen this content, or not this height, is adapted: its cursor goes to the
  /// first row if its item is not there, and the list is scrolled as far as the rules demand.
  func frame(in content: ListContent, height: Int) -> Frame {
    precondition(height >= 0, "the height of a list is negative")
    let height = max(1, height)
    let layout = ListLayout(content, folded: folded)
    let found = cursor.flatMap { layout.place(of: $0, hint: hint) }
    let place = found ?? layout.initialPlace
    let wanted = found.map { layout.line(of: $0) - cursorLine } ?? 0
    let top = layout.top(near: wanted, showing: place, height: height)
    return Frame(layout: layout, height: height, top: top, cursor: place)
  }

  /// Adapts the state to a content and a height, as every mutation does first.
  mutating func begin(_ content: ListContent, height: Int) -> Frame {
    let frame = frame(in: content, height: height)
    let isKnown = frame.cursor.map { frame.layout.item(at: $0) } == cursor
    settle(frame, from: isKnown ? (frame.cursorLine ?? 0) - cursorLine : nil)
    return frame
  }

  /// Takes the cursor and the top of the frame, after scrolling as far as the rules demand.
  ///
  /// - Parameters:
  ///   - frame: the new geometry, its top not yet one that shows the cursor.
  ///   - reference: a top, in the lines of this frame, from which `newAbove` and `newBelow` are
  ///     right; nil if there is none, so that each row has to be looked up.
  mutating func settle(_ frame: Frame, from reference: Int?) {
    var frame = frame
    frame.top = frame.layout.top(
      near: frame.top, showing: frame.cursor, height: frame.height)
    hint = frame.cursor
    cursor = frame.cursor.map { frame.layout.item(at: $0) }
    cursorLine = (frame.cursorLine ?? frame.top) - frame.top
    reconcileNewRows(frame, from: reference)
  }

  // MARK: - What the screen shows

  /// A line of the screen.
  public struct VisibleLine: Hashable, Sendable {
    /// The kind of a line.
    public enum Kind: Hashable, Sendable {
      /// The header of its section, in its place.
      case header
      /// The header of its section, over the top line.
      case stickyHeader
      /// The row with this id.
      case row(String)
      /// The text of a section without rows.
      case emptyText
      /// The divider.
      case divider
    }
    /// The kind of the line.
    public var kind: Kind
    /// The index of the section that the line belongs to.
    public var section: Int
    /// Whether the cursor is on it.
    public var isCursor: Bool
  }

  /// The lines of the screen, from its top; fewer than its height if the list is shorter.
  public func lines(in content: ListContent, height: Int) -> [VisibleLine] {
    guard height > 0 else { return [] }
    let frame = frame(in: content, height: height)
    let layout = frame.layout
    let sticky = layout.stickySection(top: frame.top, height: height)
    let end = min(frame.top + height, layout.lineCount)
    return (frame.top..<end).map { line in
      if line == frame.top, let sticky {
        return VisibleLine(kind: .stickyHeader, section: sticky, isCursor: false)
      }
      return layout.visibleLine(at: line, isCursor: line == frame.cursorLine)
    }
  }

  /// The item on a line of the screen, for instance for a click; nil if there is none.
  public func item(atLine line: Int, in content: ListContent, height: Int) -> ListItem? {
    let lines = lines(in: content, height: height)
    guard lines.indices.contains(line) else { return nil }
    switch lines[line].kind {
    case .header, .stickyHeader: return .header(content.sections[lines[line].section].id)
    case .row(let id): return .row(id)
    case .emptyText, .divider: return nil
    }
  }

  /// The number of the cursor's row among all rows, folded ones included; nil on a header.
  ///
  /// 1-based.
  public func rowNumber(in content: ListContent) -> Int? {
    let frame = frame(in: content, height: 0)
    guard let place = frame.cursor, let row = place.row else { return nil }
    return content.sections[..<place.section].reduce(row + 1) { $0 + $1.rows.count }
  }

  /// The id of the section that the cursor is in; nil if the list is empty.
  public func cursorSection(in content: ListContent) -> String? {
    frame(in: content, height: 0).cursor.map { content.sections[$0.section].id }
  }
}
