/// Something the user or the terminal did.
public enum InputEvent: Hashable, Sendable {
  /// The most characters of a paste, by Unicode's count; a longer one is not taken.
  public static let pasteScalarsMax = 1 << 20

  /// A key was struck.
  case key(KeyStroke)
  /// Text was pasted; line ends are `\n`.
  case paste(String)
  /// More text was pasted than is taken, so many characters by Unicode's count; nothing of it was kept.
  case pasteTooLong(Int)
  /// The mouse did something.
  case mouse(MouseEvent)
  /// The screen has another size.
  case resize(TerminalSize)
  /// The terminal got the focus (true) or lost it.
  case focus(Bool)
  /// The terminal answered a question of the screen; a screen keeps the answers for itself.
  case reply(TerminalReply)
}

/// What a terminal answers.
public enum TerminalReply: Hashable, Sendable {
  /// The colour behind the text.
  case background(RGB)
  /// What kind of terminal it is, which all of them answer: what was asked before and not answered
  /// until then is not going to be.
  case attributes
}

/// A button pressed or released, the pointer drawn with one, or a turn of the wheel.
public struct MouseEvent: Hashable, Sendable {
  /// What the mouse did.
  ///
  /// Double clicks are for the receiver to tell, which has a clock: see `ClickCounter`.
  public enum Kind: Hashable, Sendable, CaseIterable {
    /// A button went down.
    case press
    /// A button went up.
    case release
    /// The pointer came to another cell while a button was down.
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
