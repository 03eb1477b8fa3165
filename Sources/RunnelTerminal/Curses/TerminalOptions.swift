/// How to use a terminal.
public struct TerminalOptions: Hashable, Sendable {
  /// The most colours to use; nil takes what the terminal has, and none when `NO_COLOR` is set.
  public var colorDepth: ColorDepth?
  /// What is behind the text; nil takes what `COLORFGBG` tells.
  public var background: ThemeBackground?
  /// Whether to draw signs in ASCII, whatever the locale.
  public var isASCII: Bool
  /// Whether to ask for mouse events; with them, selecting text needs Shift in most terminals.
  public var usesMouse: Bool

  /// Makes options; by default all is taken from the terminal and the environment.
  public init(
    colorDepth: ColorDepth? = nil, background: ThemeBackground? = nil, isASCII: Bool = false,
    usesMouse: Bool = true
  ) {
    self.colorDepth = colorDepth
    self.background = background
    self.isASCII = isASCII
    self.usesMouse = usesMouse
  }

  /// The depth to draw with.
  ///
  /// - Parameters:
  ///   - colorCount: The colours that the terminal has.
  ///   - noColor: The variable `NO_COLOR`; it counts when it is not empty, and yields to
  ///     `colorDepth`.
  /// - Returns: What is wanted, or less when the terminal has less.
  func depth(colorCount: Int, noColor: String?) -> ColorDepth {
    let available: ColorDepth =
      if colorCount >= 256 { .extended } else if colorCount >= 8 { .sixteen } else { .none }
    let wanted = colorDepth ?? ((noColor ?? "").isEmpty ? .extended : .none)
    return wanted.rawValue < available.rawValue ? wanted : available
  }
}
