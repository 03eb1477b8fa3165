/// Decodes the mouse reports of terminals.
///
/// Source: xterm's control sequences, "Mouse Tracking": the form with numbers (1006), and the old
/// form with a character for each of three numbers, which is the only one that some terminals know.
enum MouseSequence {
  /// The event of a report with numbers: code, column and row, from 1.
  static func event(_ parameters: Substring, isRelease: Bool) -> MouseEvent? {
    let numbers = parameters.split(separator: ";", omittingEmptySubsequences: false).map { Int($0) }
    guard numbers.count == 3, let code = numbers[0], let column = numbers[1], let row = numbers[2]
    else { return nil }
    return event(code: code, column: column, row: row, isRelease: isRelease)
  }

  /// The event of a report of the old form; nil if it is not a report, or its column is too large
  /// for the form.
  static func event(old inputs: [RawInput?]) -> MouseEvent? {
    let numbers = inputs.compactMap { input -> Int? in
      guard case .scalar(let scalar) = input, (0x20...0x7F).contains(scalar.value) else {
        return nil
      }
      return Int(scalar.value) - 0x20
    }
    guard numbers.count == 3 else { return nil }
    // The report does not tell which button was released.
    return event(
      code: numbers[0], column: numbers[1], row: numbers[2], isRelease: numbers[0] & 0x63 == 3)
  }

  private static func event(code: Int, column: Int, row: Int, isRelease: Bool) -> MouseEvent? {
    guard code >= 0, column > 0, row > 0 else { return nil }
    let position = Position(row: row - 1, column: column - 1)
    if code & 64 != 0 {
      guard code & 128 == 0, !isRelease else { return nil }
      let isSideways = code & 4 != 0
      let kinds: [MouseEvent.Kind] =
        isSideways
        ? [.wheelLeft, .wheelRight, .wheelLeft, .wheelRight]
        : [.wheelUp, .wheelDown, .wheelLeft, .wheelRight]
      return MouseEvent(position: position, kind: kinds[code & 3])
    }
    let buttons: [MouseEvent.Button] = [.left, .middle, .right, .none]
    let button = buttons[code & 3]
    if isRelease { return MouseEvent(position: position, kind: .release, button: button) }
    if code & 128 != 0 || button == .none { return nil }
    return MouseEvent(position: position, kind: code & 32 != 0 ? .drag : .press, button: button)
  }
}

extension TerminalReply {
  /// Reads an answer: the number of the question, `;`, and the answer itself.
  ///
  /// Only the background color (11) is asked for: `11;rgb:1c1c/1c1c/1c1c`, with one to four
  /// hexadecimal digits for each part.
  init?(command: String) {
    let prefix = "11;rgb:"
    guard command.hasPrefix(prefix) else { return nil }
    let parts = command.dropFirst(prefix.count)
      .split(separator: "/", omittingEmptySubsequences: false)
      .compactMap { part -> UInt8? in
        guard (1...4).contains(part.count), let value = Int(part, radix: 16), value >= 0 else {
          return nil
        }
        return UInt8(value * 255 / ((1 << (4 * part.count)) - 1))
      }
    guard parts.count == 3 else { return nil }
    self = .background(RGB(parts[0], parts[1], parts[2]))
  }
}
