/// What a terminal library reads, before it makes sense.
enum RawInput: Hashable {
  /// A byte of text in UTF-8; `ScalarAssembler` makes scalars of them.
  case byte(UInt8)
  /// A scalar: typed, pasted, or part of a sequence the library does not know.
  case scalar(Unicode.Scalar)
  /// A key that the library recognised.
  case key(KeyStroke)
  case pasteStart
  case pasteEnd
  case focus(Bool)
  case mouse(MouseEvent)
  case resize(TerminalSize)
  /// A key without meaning here.
  case unknown
}

/// Turns what a terminal library reads into events.
///
/// - ESC with something right after it is Meta, alone it is the key.
/// - A control sequence that the library does not know is understood when it names a key
///   (`EscapeSequence`), and otherwise swallowed: its letters must not run as commands.
/// - A paste is one event, however many reads it takes. C-c, which terminals take out of pastes,
///   ends one whose end marker was lost.
struct InputDecoder {
  /// The most scalars of a paste; the rest is dropped.
  static let pasteScalarsMax = 1 << 20

  private var assembler = ScalarAssembler()
  /// The paste that has begun and not ended.
  private var paste: PasteBuffer?
  /// What was read ahead.
  private var ahead: RawInput?

  /// Reads until there is nothing left.
  ///
  /// - Parameter next: Reads one input, nil when none is pending.
  /// - Returns: The events that are complete.
  mutating func decode(_ next: () -> RawInput?) -> [InputEvent] {
    var events: [InputEvent] = []
    while let raw = take(next) {
      if let event = paste == nil ? event(for: raw, next) : pasteEvent(for: raw) {
        events.append(event)
      }
    }
    return events
  }

  private mutating func take(_ next: () -> RawInput?) -> RawInput? {
    defer { ahead = nil }
    return ahead ?? assembler.next(next)
  }

  private mutating func event(for raw: RawInput, _ next: () -> RawInput?) -> InputEvent? {
    switch raw {
    case .scalar("\u{1B}"): return escape(next).map { .key($0) }
    case .scalar(let scalar): return .key(ControlCode.stroke(for: scalar))
    case .key(let stroke): return .key(stroke)
    case .focus(let hasFocus): return .focus(hasFocus)
    case .mouse(let event): return .mouse(event)
    case .resize(let size): return .resize(size)
    case .pasteStart:
      paste = PasteBuffer()
      return nil
    case .pasteEnd, .unknown, .byte: return nil
    }
  }

  private mutating func pasteEvent(for raw: RawInput) -> InputEvent? {
    switch raw {
    case .scalar("\u{03}"):
      paste = nil
      return .key(KeyStroke(.character("c"), control: true))
    case .scalar(let scalar): paste?.append(scalar)
    case .key(let stroke) where stroke.key == .enter: paste?.append("\r")
    case .key(let stroke) where stroke.key == .tab: paste?.append("\t")
    case .pasteEnd:
      defer { paste = nil }
      return paste.map { .paste($0.text) }
    case .focus(let hasFocus): return .focus(hasFocus)
    case .resize(let size): return .resize(size)
    case .key, .mouse, .pasteStart, .unknown, .byte: break
    }
    return nil
  }

  // MARK: - Escape

  private mutating func escape(_ next: () -> RawInput?) -> KeyStroke? {
    let alone = KeyStroke(.escape)
    switch take(next) {
    case nil: return alone
    case .scalar("["): return controlSequence(next)
    case .scalar("O"): return shiftedSequence(next)
    case .scalar(let scalar) where scalar != "\u{1B}":
      return ControlCode.stroke(for: scalar).withMeta
    case .key(let stroke): return stroke.withMeta
    case let other?:
      ahead = other
      return alone
    }
  }

  /// After ESC and `[`: parameters, then a final character.
  private mutating func controlSequence(_ next: () -> RawInput?) -> KeyStroke? {
    var parameters = ""
    while let raw = take(next) {
      guard case .scalar(let scalar) = raw, (0x20...0x7E).contains(scalar.value) else {
        ahead = raw
        break
      }
      if scalar.value >= 0x40 {
        return EscapeSequence.stroke(parameters: parameters, final: scalar)
      }
      parameters.unicodeScalars.append(scalar)
    }
    return parameters.isEmpty ? KeyStroke(.character("["), meta: true) : nil
  }

  /// After ESC and `O`: one character.
  private mutating func shiftedSequence(_ next: () -> RawInput?) -> KeyStroke? {
    switch take(next) {
    case .scalar(let scalar) where (0x21...0x7E).contains(scalar.value):
      return EscapeSequence.stroke(parameters: "", final: scalar)
    case let other:
      ahead = other
      return KeyStroke(.character("O"), meta: true)
    }
  }
}

/// The text of a paste while it arrives.
private struct PasteBuffer {
  private(set) var text = ""
  private var count = 0
  private var endsInReturn = false

  /// Adds a scalar; CR and CR LF become LF.
  mutating func append(_ scalar: Unicode.Scalar) {
    let isSecondHalf = endsInReturn && scalar == "\n"
    endsInReturn = scalar == "\r"
    guard !isSecondHalf, count < InputDecoder.pasteScalarsMax else { return }
    text.unicodeScalars.append(endsInReturn ? "\n" : scalar)
    count += 1
  }
}

extension KeyStroke {
  fileprivate var withMeta: KeyStroke {
    KeyStroke(key, control: control, meta: true, shift: shift)
  }
}
