/// A cache of the lines of lists, so that a frame draws only lines that differ from the last frame.
///
/// Each line is drawn only from the input that is given with it, so the result is the same with and
/// without the cache. It belongs to the thread that draws.
public final class DrawnLines {
  /// More lines than any screen has; beyond this number the cache is emptied.
  private static let linesMax = 1000

  /// Everything that the cells of a line depend on, except its width and the signs of the screen.
  struct Input: Equatable {
    enum Content: Equatable {
      case row(StyledLine, sign: StyledRun?, offset: Int)
      case header(ListHeading, isSticky: Bool, isFolded: Bool)
    }

    var content: Content
    var isCursor: Bool
    var isFocused: Bool
  }

  /// The key of a line in the cache.
  enum Key: Hashable {
    case row(String)
    case header(section: String)
  }

  private var lines: [Key: (input: Input, line: CanvasLine)] = [:]
  private var width = 0
  private var glyphs: Glyphs?

  /// Makes an empty cache.
  public init() {}

  /// Empties the cache if lines are to be drawn with another width or other signs; call it once for
  /// each frame.
  func begin(width: Int, glyphs: Glyphs) {
    if self.width == width, self.glyphs == glyphs { return }
    (self.width, self.glyphs) = (width, glyphs)
    lines = [:]
  }

  /// The cached line, or a newly drawn one if its input has changed.
  func line(_ key: Key, _ input: Input, _ draw: (Input) -> CanvasLine) -> CanvasLine {
    if let known = lines[key], known.input == input { return known.line }
    let line = draw(input)
    if lines.count >= DrawnLines.linesMax { lines = [:] }
    lines[key] = (input, line)
    return line
  }
}
