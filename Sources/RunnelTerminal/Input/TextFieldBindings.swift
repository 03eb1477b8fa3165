extension KeymapContext {
  /// Text fields and prompts.
  public static let textField = KeymapContext("textField")
}

/// The actions that a `LineEditor` performs.
extension ActionID {
  /// To the start of the line.
  public static let inputLineStart = ActionID("input.lineStart")
  /// To the end of the line.
  public static let inputLineEnd = ActionID("input.lineEnd")
  /// One character to the left.
  public static let inputLeft = ActionID("input.left")
  /// One character to the right.
  public static let inputRight = ActionID("input.right")
  /// One word to the left.
  public static let inputWordLeft = ActionID("input.wordLeft")
  /// One word to the right.
  public static let inputWordRight = ActionID("input.wordRight")
  /// One line up; from the first line, the field's owner may go back in a history.
  public static let inputPrevious = ActionID("input.prev")
  /// One line down; from the last line, the field's owner may go forward in a history.
  public static let inputNext = ActionID("input.next")
  /// Delete the character before the cursor.
  public static let inputDeleteBack = ActionID("input.deleteBack")
  /// Delete the character after the cursor.
  public static let inputDeleteForward = ActionID("input.deleteForward")
  /// Delete the word before the cursor.
  public static let inputKillWordBack = ActionID("input.killWordBack")
  /// Delete the word after the cursor.
  public static let inputKillWord = ActionID("input.killWord")
  /// Delete up to the start of the line.
  public static let inputKillToStart = ActionID("input.killToStart")
  /// Delete up to the end of the line.
  public static let inputKillToEnd = ActionID("input.killToEnd")
  /// Insert the text that was deleted last.
  public static let inputYank = ActionID("input.yank")
  /// Swap two characters.
  public static let inputTranspose = ActionID("input.transpose")
  /// Undo typing.
  public static let inputUndo = ActionID("input.undo")
  /// Redo typing.
  public static let inputRedo = ActionID("input.redo")
  /// A new line, in a field of several lines.
  public static let inputNewline = ActionID("input.newline")
  /// Show or hide a secret.
  public static let inputReveal = ActionID("input.reveal")
}

/// The keys of the actions that a `LineEditor` performs: those of readline.
package enum TextFieldBindings {
  /// The bindings, in the order in which help shows them.
  package static let all: [KeyBinding] = table.flatMap {
    KeyBinding.bindings(.textField, $0.keys, $0.action, $0.description)
  }

  private static let table: [(keys: [String], action: ActionID, description: String)] = [
    (["C-a", "Home"], .inputLineStart, "start of line"),
    (["C-e", "End"], .inputLineEnd, "end of line"),
    (["C-b", "Left"], .inputLeft, "left"),
    (["C-f", "Right"], .inputRight, "right"),
    (["M-b", "C-Left"], .inputWordLeft, "word left"),
    (["M-f", "C-Right"], .inputWordRight, "word right"),
    (["C-p", "Up"], .inputPrevious, "history, or line up"),
    (["C-n", "Down"], .inputNext, "history, or line down"),
    (["C-h", "Backspace"], .inputDeleteBack, "delete back"),
    (["C-d", "Del"], .inputDeleteForward, "delete the character ahead"),
    (["C-w", "M-Backspace"], .inputKillWordBack, "delete word back"),
    (["M-d", "C-Del"], .inputKillWord, "delete word ahead"),
    (["C-u"], .inputKillToStart, "delete to start"),
    (["C-k"], .inputKillToEnd, "delete to end"),
    (["C-y"], .inputYank, "put back what was deleted"),
    (["C-t"], .inputTranspose, "swap two characters"),
    (["C-_"], .inputUndo, "undo typing"),
    (["M-_", "C-x C-r"], .inputRedo, "redo typing"),
    (["C-j", "M-Enter"], .inputNewline, "new line in a multi-line field"),
    (["C-v"], .inputReveal, "show / hide (password fields only)"),
  ]
}
