/// An input as a terminal library reads it, without interpretation.
enum RawInput: Hashable {
  /// A byte of text in UTF-8; `ScalarAssembler` makes scalars of them.
  case byte(UInt8)
  /// A scalar: typed, pasted, or part of a sequence the library does not know.
  case scalar(Unicode.Scalar)
  /// A key that the library recognized.
  case key(KeyStroke)
  case pasteStart
  case pasteEnd
  case focus(Bool)
  case resize(TerminalSize)
  /// A key that the program does not use.
  case unknown
}

/// Turns the input of a terminal library into events.
///
/// - ESC followed at once by other input is Meta; alone it is the key.
/// - A control sequence that the library does not know is understood if it names a key
///   (`EscapeSequence`), reports the mouse (`MouseSequence`) or answers a question. Otherwise it is
///   dropped, because its letters must not run as commands.
/// - A paste is one event, regardless of the number of reads. A paste that is too long is reported,
///   but not kept. C-c, which terminals remove from pastes, ends a paste whose end marker was lost.
struct InputDecoder {
  /// The most characters of an answer; longer texts are not answers.
  private static let commandLengthMax = 64

  private var assembler = ScalarAssembler()
  /// The paste that has begun and not ended.
  private var paste: PasteBuffer?
  /// The input that was read too early.
  private var ahead: RawInput?
  /// The bytes that were read with the end of a paste, and come after it.
  private var rest: ArraySlice<UInt8> = []

  /// Reads until no input is left.
  ///
  /// - Parameters:
  ///   - next: Reads one input; nil if none is pending.
  ///   - bytes: Reads all pending bytes of a paste, since reading one by one is too slow for a long
  ///     paste; nil to read a paste like other input.
  /// - Returns: The events that are complete.
  mutating func decode(
    _ next: () -> RawInput?, bytes: (() -> [UInt8])? = nil
  ) -> [InputEvent] {
    var events: [InputEvent] = []
    while true {
      if paste != nil, ahead == nil, let bytes {
        let chunk = rest.isEmpty ? bytes()[...] : rest
        if chunk.isEmpty { return events }
        if let event = pasteEvent(for: chunk) { events.append(event) }
      } else if let raw = take(next) {
        if let event = paste == nil ? event(for: raw, next) : pasteEvent(for: raw) {
          events.append(event)
        }
      } else {
        return events
      }
    }
  }

  private mutating func take(_ next: () -> RawInput?) -> RawInput? {
    defer { ahead = nil }
    if let ahead { return ahead }
    if rest.isEmpty { return assembler.next(next) }
    var left = rest
    rest = []
    defer { rest = left }
    return assembler.next { left.popFirst().map(RawInput.byte) ?? next() }
  }

  private mutating func pasteEvent(for chunk: ArraySlice<UInt8>) -> InputEvent? {
    guard let end = paste?.append(chunk) else {
      rest = []
      return nil
    }
    rest = chunk[end.index...]
    defer { paste = nil }
    return end.isInterrupt ? .key(KeyStroke(.character("c"), control: true)) : paste?.event
  }

  private mutating func event(for raw: RawInput, _ next: () -> RawInput?) -> InputEvent? {
    switch raw {
    case .scalar("\u{1B}"): return escape(next)
    case .scalar(let scalar): return .key(ControlCode.stroke(for: scalar))
    case .key(let stroke): return .key(stroke)
    case .focus(let hasFocus): return .focus(hasFocus)
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
      return paste?.event
    case .focus(let hasFocus): return .focus(hasFocus)
    case .resize(let size): return .resize(size)
    case .key, .pasteStart, .unknown, .byte: break
    }
    return nil
  }

  // MARK: - Escape

  private mutating func escape(_ next: () -> RawInput?) -> InputEvent? {
    let alone = KeyStroke(.escape)
    switch take(next) {
    case nil: return .key(alone)
    case .scalar("["): return controlSequence(next)
    case .scalar("]"): return operatingSystemCommand(next)
    case .scalar("O"): return shiftedSequence(next).map { .key($0) }
    case .scalar(let scalar) where scalar != "\u{1B}":
      return .key(ControlCode.stroke(for: scalar).withMeta)
    case .key(let stroke): return .key(stroke.withMeta)
    case let other?:
      ahead = other
      return .key(alone)
    }
  }

  /// Reads after ESC and `[`: parameters, then a final character.
  private mutating func controlSequence(_ next: () -> RawInput?) -> InputEvent? {
    var parameters = ""
    while let raw = take(next) {
      guard case .scalar(let scalar) = raw, (0x20...0x7E).contains(scalar.value) else {
        ahead = raw
        break
      }
      if scalar.value >= 0x40 { return finish(parameters, scalar, next) }
      parameters.unicodeScalars.append(scalar)
    }
    return parameters.isEmpty ? .key(KeyStroke(.character("["), meta: true)) : nil
  }

  private mutating func finish(
    _ parameters: String, _ final: Unicode.Scalar, _ next: () -> RawInput?
  ) -> InputEvent? {
    switch (parameters.first, final) {
    case ("<", "M"), ("<", "m"):
      return MouseSequence.event(parameters.dropFirst(), isRelease: final == "m").map { .mouse($0) }
    case (nil, "M"):
      // The old form: a code, a column and a row, each as one character.
      let values = (0..<3).map { _ in take(next) }
      return MouseSequence.event(old: values).map { .mouse($0) }
    case ("?", "c"): return .reply(.attributes)
    case _ where parameters == "200" && final == "~":
      paste = PasteBuffer()
      return nil
    default:
      return EscapeSequence.stroke(parameters: parameters, final: final).map { .key($0) }
    }
  }

  /// Reads after ESC and `]`: a number, `;`, text, and BEL or ESC and `\`.
  ///
  /// Anything else counts as Meta and `]`, and the part that was read is lost.
  private mutating func operatingSystemCommand(_ next: () -> RawInput?) -> InputEvent? {
    var text = ""
    while let raw = take(next) {
      switch raw {
      case .scalar("\u{7}"): return TerminalReply(command: text).map { .reply($0) }
      case .scalar("\u{1B}"):
        let end = take(next)
        if end != .scalar("\\") { ahead = end }
        return TerminalReply(command: text).map { .reply($0) }
      case .scalar(let scalar)
      where scalar.value >= 0x20 && text.count < Self.commandLengthMax
        && (!text.isEmpty || ("0"..."9").contains(scalar)):
        text.unicodeScalars.append(scalar)
      default:
        ahead = raw
        return text.isEmpty ? .key(KeyStroke(.character("]"), meta: true)) : nil
      }
    }
    return text.isEmpty ? .key(KeyStroke(.character("]"), meta: true)) : nil
  }

  /// Reads after ESC and `O`: one character.
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

extension KeyStroke {
  fileprivate var withMeta: KeyStroke {
    KeyStroke(key, control: control, meta: true, shift: shift)
  }
}
