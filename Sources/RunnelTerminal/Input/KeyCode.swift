/// A key of the keyboard, without its modifiers.
public enum KeyCode: Hashable, Sendable {
  /// A key that types a character; Space is one of them.
  case character(Character)
  /// Enter, also called Return.
  case enter
  /// Escape.
  case escape
  /// Tab.
  case tab
  /// Tab with Shift, which terminals report as a key of its own.
  case backTab
  /// Backspace: deletes the character before.
  case backspace
  /// Delete: deletes the character ahead.
  case delete
  /// Insert.
  case insert
  /// Up arrow.
  case up
  /// Down arrow.
  case down
  /// Left arrow.
  case left
  /// Right arrow.
  case right
  /// Home.
  case home
  /// End.
  case end
  /// Page up.
  case pageUp
  /// Page down.
  case pageDown
  /// A function key, from 1.
  case function(Int)

  /// The highest function key that has a notation.
  static let functionMax = 63

  /// The notations of the keys that have a name, in the order of the cases.
  static let names: [(name: String, key: KeyCode)] = [
    ("Enter", .enter), ("Esc", .escape), ("Tab", .tab), ("Backspace", .backspace),
    ("Del", .delete), ("Ins", .insert), ("Up", .up), ("Down", .down), ("Left", .left),
    ("Right", .right), ("Home", .home), ("End", .end), ("PgUp", .pageUp), ("PgDn", .pageDown),
    ("Space", .character(" ")),
  ]
}
