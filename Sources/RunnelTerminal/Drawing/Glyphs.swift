/// The signs that carry meaning on the screen, in one of two sets.
///
/// No state is told by colour alone: each has a sign, and each sign has an ASCII twin for terminals
/// and locales without Unicode. A twin may take more columns than the sign.
public struct Glyphs: Hashable, Sendable {
  /// Whether this is the ASCII set.
  public let isASCII: Bool

  /// The cursor row.
  public let cursor: String
  /// A marked row.
  public let marked: String
  /// A section or node that shows its content.
  public let foldOpen: String
  /// A section or node that hides its content.
  public let foldClosed: String
  /// A row that stands for rows not loaded.
  public let placeholder: String
  /// A row that is not stored.
  public let transient: String
  /// A row or field that changed a moment ago.
  public let changed: String
  /// A write that waits to be sent.
  public let pending: String
  /// A conflict, an error, a refusal.
  public let conflict: String
  /// A row that arrived since the last visit.
  public let new: String
  /// Something being fetched.
  public let loading: String
  /// A denied or failed thing.
  public let failed: String
  /// A live connection.
  public let live: String
  /// A connection being made, or stale data.
  public let connecting: String
  /// A pinned row.
  public let pinned: String
  /// A separator between words.
  public let dot: String
  /// What stands for the part of a text that does not fit.
  public let ellipsis: String
  /// Upwards: rows above, bytes sent.
  public let up: String
  /// Downwards: rows below, bytes received.
  public let down: String
  /// From an old value to a new one, and between the steps of a path.
  public let right: String
  /// Backwards.
  public let left: String
  /// The thumb of a scroll bar.
  public let scrollbar: String
  /// Toasts that only tell something.
  public let info: String

  /// A horizontal line of a frame.
  public let horizontal: String
  /// A vertical line of a frame.
  public let vertical: String
  /// The top left corner of a frame.
  public let topLeft: String
  /// The top right corner of a frame.
  public let topRight: String
  /// The bottom left corner of a frame.
  public let bottomLeft: String
  /// The bottom right corner of a frame.
  public let bottomRight: String

  /// A tab inside a value.
  public let tab: String
  /// A line end inside a value.
  public let lineEnd: String
  /// A control character inside a value, when it has no picture.
  public let control: String
  /// A scalar that no terminal can draw.
  public let unknown: String
  /// What a combining mark without a letter stands on.
  public let markBase: String

  /// The signs for a terminal that draws Unicode.
  public static let unicode = Glyphs(
    isASCII: false, cursor: ">", marked: "*", foldOpen: "▾", foldClosed: "▸", placeholder: "⋯",
    transient: "~", changed: "Δ", pending: "↑", conflict: "!", new: "•", loading: "◐", failed: "✗",
    live: "●", connecting: "◌", pinned: "★", dot: "·", ellipsis: "…", up: "↑", down: "↓",
    right: "→", left: "←", scrollbar: "▐", info: "i", horizontal: "─", vertical: "│",
    topLeft: "┌", topRight: "┐", bottomLeft: "└", bottomRight: "┘", tab: "⇥", lineEnd: "⏎",
    control: "·", unknown: "\u{FFFD}", markBase: "◌")

  /// The signs for a terminal that draws ASCII only.
  public static let ascii = Glyphs(
    isASCII: true, cursor: ">", marked: "*", foldOpen: "v", foldClosed: ">", placeholder: "...",
    transient: "~", changed: "^", pending: "u", conflict: "!", new: "+", loading: "*", failed: "x",
    live: "on", connecting: "..", pinned: "*", dot: "-", ellipsis: "...", up: "^", down: "v",
    right: "->", left: "<-", scrollbar: "#", info: "i", horizontal: "-", vertical: "|",
    topLeft: "+", topRight: "+", bottomLeft: "+", bottomRight: "+", tab: ">", lineEnd: "$",
    control: "?", unknown: "?", markBase: "?")
}
