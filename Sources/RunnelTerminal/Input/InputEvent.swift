/// Something the user or the terminal did.
public enum InputEvent: Hashable, Sendable {
  /// A key was struck.
  case key(KeyStroke)
  /// Text was pasted; line ends are `\n`.
  case paste(String)
  /// The mouse did something.
  case mouse(MouseEvent)
  /// The screen has another size.
  case resize(TerminalSize)
  /// The terminal got the focus (true) or lost it.
  case focus(Bool)
}

/// A button pressed or released, or a turn of the wheel.
public struct MouseEvent: Hashable, Sendable {
  /// What the mouse did.
  ///
  /// Double clicks are for the receiver to tell: it has a clock.
  public enum Kind: Hashable, Sendable {
    /// A button went down.
    case press
    /// A button went up.
    case release
    /// The wheel turned away from the user.
    case wheelUp
    /// The wheel turned to the user.
    case wheelDown
  }

  /// A button of the mouse.
  public enum Button: Hashable, Sendable {
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
  /// What the mouse did.
  public var kind: Kind
  /// The button it did it with.
  public var button: Button

  /// Makes an event.
  public init(position: Position, kind: Kind, button: Button = .none) {
    self.position = position
    self.kind = kind
    self.button = button
  }
}
