/// The lines of lists as they were drawn last, so that a frame draws only those that differ.
///
/// It knows nothing that is not given to it with each line: with or without it, the same is drawn. It
/// belongs to the thread that draws.
public final class DrawnLines {
  /// More lines than any screen has; where there come to be more, all are forgotten.
  private static let linesMax = 1000

  /// All that the cells of a line follow from, but for its width and the signs of the screen.
  struct Input: Equatable {
    enum Content: Equatable {
      case row(StyledLine, sign: StyledRun?, offset: Int)
      case header(ListHeading, isSticky: Bool, isFolded: Bool)
    }

    var content: Content
    var isCursor: Bool
    var isFocused: Bool
  }

  /// What a line is known by.
  enum Key: Hashable {
    case row(String)
    case header(section: String)
  }

  private var lines: [Key: (input: Input, line: CanvasLine)] = [:]
  private var width = 0
  private var glyphs: Glyphs?

  /// Makes one that knows no line.
  public init() {}

  /// Forgets all lines if they come to be drawn otherwise; to be called once for each frame.
  func begin(width: Int, glyphs: Glyphs) {
    if self.width == width, self.glyphs == glyphs { return }
    (self.width, self.glyphs) = (width, glyphs)
    lines = [:]
  }

  /// The line as it was drawn before, or as it is drawn now if it looks different.
  func line(_ key: Key, _ input: Input, _ draw: (Input) -> CanvasLine) -> CanvasLine {
    if let known = lines[key], known.input == input { return known.line }
    let line = draw(input)
    if lines.count >= DrawnLines.linesMax { lines = [:] }
    lines[key] = (input, line)
    return line
  }
}
