import CTerminal

extension RawInput {
  /// Makes the input that the C code has read; nil if nothing was pending.
  ///
  /// It must not be a resize: only the screen knows its size.
  init?(_ input: runnel_terminal_input) {
    switch Int(input.kind) {
    case RUNNEL_INPUT_NONE: return nil
    case RUNNEL_INPUT_BYTE: self = .byte(input.byte)
    case RUNNEL_INPUT_KEY: self = Self.stroke(input).map { .key($0) } ?? .unknown
    case RUNNEL_INPUT_PASTE_START: self = .pasteStart
    case RUNNEL_INPUT_PASTE_END: self = .pasteEnd
    case RUNNEL_INPUT_FOCUS_IN: self = .focus(true)
    case RUNNEL_INPUT_FOCUS_OUT: self = .focus(false)
    default: self = .unknown
    }
  }

  private static func stroke(_ input: runnel_terminal_input) -> KeyStroke? {
    let modifiers = Int(input.modifiers)
    return key(Int(input.key)).map {
      KeyStroke(
        $0, control: modifiers & RUNNEL_MODIFIER_CONTROL != 0,
        meta: modifiers & RUNNEL_MODIFIER_META != 0,
        shift: modifiers & RUNNEL_MODIFIER_SHIFT != 0)
    }
  }

  private static func key(_ code: Int) -> KeyCode? {
    switch code {
    case RUNNEL_KEY_ENTER: .enter
    case RUNNEL_KEY_BACKSPACE: .backspace
    case RUNNEL_KEY_DELETE: .delete
    case RUNNEL_KEY_INSERT: .insert
    case RUNNEL_KEY_UP: .up
    case RUNNEL_KEY_DOWN: .down
    case RUNNEL_KEY_LEFT: .left
    case RUNNEL_KEY_RIGHT: .right
    case RUNNEL_KEY_HOME: .home
    case RUNNEL_KEY_END: .end
    case RUNNEL_KEY_PAGE_UP: .pageUp
    case RUNNEL_KEY_PAGE_DOWN: .pageDown
    case RUNNEL_KEY_BACK_TAB: .backTab
    case RUNNEL_KEY_FUNCTION + 1...RUNNEL_KEY_FUNCTION + KeyCode.functionMax:
      .function(code - RUNNEL_KEY_FUNCTION)
    default: nil
    }
  }
}
