/// An input of the user or the terminal.
public enum InputEvent: Hashable, Sendable {
  /// The most characters of a paste, as Unicode counts them; a longer paste is not accepted.
  public static let pasteScalarsMax = 1 << 20

  /// A key was pressed.
  case key(KeyStroke)
  /// Text was pasted; line ends are `\n`.
  case paste(String)
  /// A paste was too long, with this number of characters, as Unicode counts them; no part of it
  /// was kept.
  case pasteTooLong(Int)
  /// The mouse was used.
  case mouse(MouseEvent)
  /// The size of the screen has changed.
  case resize(TerminalSize)
  /// The terminal got the focus (true) or lost it.
  case focus(Bool)
  /// The terminal answered a question of the screen. A screen handles answers itself.
  case reply(TerminalReply)
}

/// An answer of a terminal.
public enum TerminalReply: Hashable, Sendable {
  /// The background color.
  case background(RGB)
  /// The kind of terminal. All terminals answer this, so earlier questions without an answer will
  /// not be answered.
  case attributes
}

/// A button pressed or released, the pointer drawn with one, or a turn of the wheel.
public struct MouseEvent: Hashable, Sendable {
  /// The kind of mouse event.
  ///
  /// The receiver, which has a clock, recognizes double clicks: see `ClickCounter`.
  public enum Kind: Hashable, Sendable, CaseIterable {
    /// A button went down.
    case press
    /// A button went up.
    case release
    /// The pointer moved to another cell while a button was down.
    case drag
    /// The wheel turned away from the user.
    case wheelUp
    /// The wheel turned to the user.
    case wheelDown
    /// The wheel turned or was tilted to the left, or turned away with Shift.
    case wheelLeft
    /// The wheel turned or was tilted to the right, or turned to the user with Shift.
    case wheelRight
  }

  /// A button of the mouse.
  public enum Button: Hashable, Sendable, CaseIterable {
    /// The left button.
    case left
    /// The wheel pressed, or the button between the others.
    case middle
    /// The right button.
    case right
    /// No button: the wheel turned.
    case none
  }

  /// The cell under the pointer.
  public var position: Position
  /// The kind of event.
  public var kind: Kind
  /// The button that was used.
  public var button: Button

  /// Makes an event.
  public init(position: Position, kind: Kind, button: Button = .none) {
    self.position = position
    self.kind = kind
    self.button = button
  }
}
