import CTerminal
import Glibc

/// The properties of the process's terminal that are known without opening a screen on it.
package struct TerminalDescription: Hashable, Sendable {
  /// The type, from `TERM`; empty if it is not set.
  package let name: String
  /// Whether the terminfo database knows the type.
  package let isKnown: Bool
  /// Whether a screen can be opened on such a terminal.
  package let placesCursor: Bool
  /// Whether it understands the control sequences of ECMA-48, which mouse, paste and clipboard
  /// need.
  package let isANSI: Bool
  /// Whether the former content of the terminal comes back when a screen closes.
  package let hasAlternateScreen: Bool
  /// The number of colors of the type.
  package let colorCount: Int
  /// Whether the user's locale encodes in UTF-8.
  package let isUTF8: Bool

  /// Looks up the terminal that `TERM` names.
  ///
  /// It must not be called while a screen is open.
  package init() {
    self.init(term: getenv("TERM").map { String(cString: $0) } ?? "")
  }

  init(term: String) {
    name = term
    var found = runnel_terminal_description()
    let isNone = ["", "dumb", "unknown"].contains(term)
    if !isNone { runnel_terminal_describe(term, &found) }
    isKnown = found.is_known
    placesCursor = found.places_cursor
    isANSI = found.is_ansi
    hasAlternateScreen = found.has_alternate_screen
    colorCount = Int(found.color_count)
    isUTF8 = runnel_terminal_locale_is_utf8()
  }

  /// Returns the colors that a screen would be drawn with.
  package func depth(_ options: TerminalOptions) -> ColorDepth {
    options.depth(
      colorCount: colorCount, noColor: getenv("NO_COLOR").map { String(cString: $0) })
  }

  /// Returns the signs that a screen would be drawn with.
  package func glyphs(_ options: TerminalOptions) -> Glyphs {
    options.glyphs(isUTF8: isUTF8, term: name)
  }
}
