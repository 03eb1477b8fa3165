/// A cache of the lines of lists, so that a frame draws only lines that differ from the last frame.
///
/// Each line is drawn only from the input that is given with it, so the result is the same with and
/// without the cache. It belongs to the thread that draws.
public final class DrawnLines {
  /// More lines than any screen has; beyond this number the cache is emptied.
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
  private var width = 0
  private var glyphs: Glyphs?
  /// How many frames there were whose rows may have differed from those of the frame before.
  private var generation = 0

  /// Makes an empty cache.
  public init() {}

  /// Prepares the cache for a frame; call it once for each.
  ///
  /// - Parameters:
  ///   - width: the columns of a line; with another width than before, all lines are forgotten.
  ///   - glyphs: the signs of the screen; with others than before, all lines are forgotten.
  ///   - areRowsUnchanged: whether the text of each row is known to be that of the frame before, as
  ///     long as the cursor neither comes to it nor leaves it.
  func begin(width: Int, glyphs: Glyphs, areRowsUnchanged: Bool) {
    if !areRowsUnchanged { generation += 1 }
    if self.width == width, self.glyphs == glyphs { return }
    (self.width, self.glyphs) = (width, glyphs)
    entries = [:]
  }

  /// The cells of a row without the cursor: those of the frame before if they are known to be the
  /// same, else those drawn last for the same content, else newly drawn ones.
  func row(
    _ id: String, isCursor: Bool, content: () -> Content, draw: (Content) -> CanvasLine
  ) -> CanvasLine {
    let known = entries[.row(id)]
    if !isCursor, let known, !known.wasCursor, known.generation == generation {
      return known.line
    }
    return line(.row(id), content(), isCursor: isCursor, known: known, draw)
  }

  /// The cells of a header without the cursor.
  func header(
    _ section: String, _ content: Content, isCursor: Bool, draw: (Content) -> CanvasLine
  ) -> CanvasLine {
    let key = Key.header(section: section)
    return line(key, content, isCursor: isCursor, known: entries[key], draw)
  }

  private func line(
    _ key: Key, _ content: Content, isCursor: Bool, known: Entry?, _ draw: (Content) -> CanvasLine
  ) -> CanvasLine {
    if let known, known.content == content {
      (known.wasCursor, known.generation) = (isCursor, generation)
      return known.line
    }
    let line = draw(content)
    if entries.count >= DrawnLines.linesMax { entries = [:] }
    entries[key] = Entry(content, line, wasCursor: isCursor, generation: generation)
    return line
  }
}
