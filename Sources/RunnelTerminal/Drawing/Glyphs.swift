/// The signs that carry meaning on the screen, in one of two sets.
///
/// No state is shown by color alone: each has a sign, and each sign has an ASCII version for
/// terminals and locales without Unicode. The ASCII version may take more columns.
public struct Glyphs: Hashable, Sendable {
  /// Whether this is the ASCII set.
  public let isASCII: Bool

  /// The cursor row.
  public var cursor: String { ">" }
  /// A marked row.
  public var marked: String { "*" }
  /// A section or node that shows its content.
  public var foldOpen: String { sign("▾", "v") }
  /// A section or node that hides its content.
  public var foldClosed: String { sign("▸", ">") }
  /// A row that stands for rows not loaded.
  public var placeholder: String { sign("⋯", "...") }
  /// A row that is not stored.
  public var transient: String { "~" }
  /// A row or field that changed a moment ago.
  public var changed: String { sign("Δ", "^") }
  /// A write that waits to be sent.
  public var pending: String { sign("↑", "u") }
  /// A conflict, an error, a refusal.
  public var conflict: String { "!" }
  /// A row that arrived since the last visit.
  public var new: String { sign("•", "+") }
  /// Something being fetched.
  public var loading: String { sign("◐", "*") }
  /// A denied or failed thing.
  public var failed: String { sign("✗", "x") }
  /// A live connection.
  public var live: String { sign("●", "on") }
  /// A connection being made, or stale data.
  public var connecting: String { sign("◌", "..") }
  /// A pinned row.
  public var pinned: String { sign("★", "*") }
  /// A separator between words.
  public var dot: String { sign("·", "-") }
  /// The end of a text that is cut.
  public var ellipsis: String { sign("…", "...") }
  /// Upwards: rows above, bytes sent.
  public var up: String { sign("↑", "^") }
  /// Downwards: rows below, bytes received.
  public var down: String { sign("↓", "v") }
  /// From an old value to a new one, and between the steps of a path.
  public var right: String { sign("→", "->") }
  /// Backwards.
  public var left: String { sign("←", "<-") }
  /// The thumb of a scroll bar.
  public var scrollbar: String { sign("▐", "#") }
  /// A toast that only informs.
  public var info: String { "i" }

  /// A horizontal line of a frame.
  public var horizontal: String { sign("─", "-") }
  /// A vertical line of a frame.
  public var vertical: String { sign("│", "|") }
  /// The top left corner of a frame.
  public var topLeft: String { sign("┌", "+") }
  /// The top right corner of a frame.
  public var topRight: String { sign("┐", "+") }
  /// The bottom left corner of a frame.
  public var bottomLeft: String { sign("└", "+") }
  /// The bottom right corner of a frame.
  public var bottomRight: String { sign("┘", "+") }

  /// A tab inside a value.
  public var tab: String { sign("⇥", ">") }
  /// A line end inside a value.
  public var lineEnd: String { sign("⏎", "$") }
  /// A control character inside a value, when it has no picture.
  public var control: String { sign("·", "?") }
  /// A scalar that no terminal can draw.
  public var unknown: String { sign("\u{FFFD}", "?") }
  /// The base of a combining mark without a letter.
  public var markBase: String { sign("◌", "?") }

  /// The signs for a terminal that draws Unicode.
  public static let unicode = Glyphs(isASCII: false)

  /// The signs for a terminal that draws ASCII only.
  public static let ascii = Glyphs(isASCII: true)

  private func sign(_ unicode: String, _ ascii: String) -> String { isASCII ? ascii : unicode }
}
