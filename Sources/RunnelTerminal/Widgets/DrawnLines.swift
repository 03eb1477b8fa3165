/// A cache of the lines of lists, so that a frame draws only lines that differ from the last frame.
///
/// Each line is drawn only from the input that is given with it, so the result is the same with and
/// without the cache. It belongs to the thread that draws.
public final class DrawnLines {
  /// The greatest number of lines, more than a screen has; beyond it, the cache is emptied.
  private static let linesMax = 1000

  /// Everything that the cells of a line depend on, except its width, the signs of the screen, and
  /// the cursor on it.
  enum Content: Equatable {
    case row(StyledLine, sign: StyledRun?, offset: Int)
    case header(ListHeading, isSticky: Bool, isFolded: Bool, isCursor: Bool)
  }

  /// The key of a line in the cache.
  enum Key: Hashable {
    case row(String)
    case header(section: String)
  }

  /// A line that was drawn: an object, so that finding one copies nothing of it.
  private final class Entry {
    let content: Content
    /// The cells without the cursor.
    let line: CanvasLine
    /// Whether the cursor was on the line when its content was made.
    var wasCursor: Bool
    /// The value of `generation` when the content was last known to be right.
    var generation: Int

    init(_ content: Content, _ line: CanvasLine, wasCursor: Bool, generation: Int) {
      self.content = content
      self.line = line
      self.wasCursor = wasCursor
      self.generation = generation
    }
  }

  private var entries: [Key: Entry] = [:]
  /// The rows of the frame before and of this one, from the top; most rows stand where they stood, or
  /// one further on.
  private var (before, now): ([Row], [Row]) = ([], [])
  /// The place in `before` where the next row is expected.
  private var expected = 0

  private struct Row {
    var id: String
    var entry: Entry
  }

  private var width = 0
  private var glyphs: Glyphs?
  /// The number of frames whose rows may have differed from those of the frame before.
  private var generation = 0
  /// Whether a row may have another text with the cursor on it.
  private var showsCursorInRows = true

  /// Makes an empty cache.
  public init() {}

  /// Prepares the cache for a frame; must be called once for each frame.
  ///
  /// - Parameters:
  ///   - width: the columns of a line; with another width than before, all lines are forgotten.
  ///   - glyphs: the signs of the screen; with others than before, all lines are forgotten.
  ///   - areRowsUnchanged: whether the text of each row is known to be that of the frame before, as
  ///     long as the cursor neither comes to it nor leaves it.
  ///   - showsCursorInRows: whether a row may have another text with the cursor on it.
  func begin(width: Int, glyphs: Glyphs, areRowsUnchanged: Bool, showsCursorInRows: Bool) {
    if !areRowsUnchanged || showsCursorInRows != self.showsCursorInRows { generation += 1 }
    self.showsCursorInRows = showsCursorInRows
    (before, now, expected) = (now, [], 0)
    now.reserveCapacity(before.count)
    if self.width == width, self.glyphs == glyphs { return }
    (self.width, self.glyphs) = (width, glyphs)
    (entries, before) = ([:], [])
  }

  /// The cells of a row without the cursor: those of the frame before if they are known to be the
  /// same, else those drawn last for the same content, else newly drawn ones.
  func row(
    _ id: String, isCursor: Bool, content: () -> Content, draw: (Content) -> CanvasLine
  ) -> CanvasLine {
    let known = expectedEntry(of: id) ?? entries[.row(id)]
    let isCursor = isCursor && showsCursorInRows
    let entry: Entry
    if !isCursor, let known, !known.wasCursor, known.generation == generation {
      entry = known
    } else {
      entry = self.entry(.row(id), content(), isCursor: isCursor, known: known, draw)
    }
    now.append(Row(id: id, entry: entry))
    return entry.line
  }

  /// The entry of a row that stands where it stood in the frame before, or next to it.
  private func expectedEntry(of id: String) -> Entry? {
    for index in expected..<min(expected + 2, before.count) where before[index].id == id {
      expected = index + 1
      return before[index].entry
    }
    return nil
  }

  /// The cells of a header without the cursor.
  func header(
    _ section: String, _ content: Content, isCursor: Bool, draw: (Content) -> CanvasLine
  ) -> CanvasLine {
    let key = Key.header(section: section)
    return entry(key, content, isCursor: isCursor, known: entries[key], draw).line
  }

  private func entry(
    _ key: Key, _ content: Content, isCursor: Bool, known: Entry?, _ draw: (Content) -> CanvasLine
  ) -> Entry {
    if let known, known.content == content {
      (known.wasCursor, known.generation) = (isCursor, generation)
      return known
    }
    let entry = Entry(content, draw(content), wasCursor: isCursor, generation: generation)
    if entries.count >= DrawnLines.linesMax { entries = [:] }
    entries[key] = entry
    return entry
  }
}
