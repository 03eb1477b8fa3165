/// The keys behind the characters that a terminal sends for Control.
enum ControlCode {
  /// The stroke that types a scalar.
  ///
  /// Control and a letter arrive as one of 32 codes, so C-i is Tab, C-m Enter, C-h Backspace, and
  /// C-[ Escape.
  static func stroke(for scalar: Unicode.Scalar) -> KeyStroke {
    switch scalar.value {
    case 0x00: return KeyStroke(.character(" "), control: true)
    case 0x08, 0x7F: return KeyStroke(.backspace)
    case 0x09: return KeyStroke(.tab)
    case 0x0D: return KeyStroke(.enter)
    case 0x1B: return KeyStroke(.escape)
    case 0x01...0x1A: return control(scalar.value + 0x60)
    case 0x1C...0x1F: return control(scalar.value + 0x40)
    default: return KeyStroke(.character(Character(scalar)))
    }
  }

  private static func control(_ value: UInt32) -> KeyStroke {
    KeyStroke(.character(Unicode.Scalar(value).map { Character($0) } ?? " "), control: true)
  }
}

/// Keys that xterm and similar terminals send and that their terminfo entries lack.
enum EscapeSequence {
  /// The key of a control sequence.
  ///
  /// - Parameters:
  ///   - parameters: The text between the introducer and the final character: numbers, the last one
  ///     being the modifiers.
  ///   - final: The final character.
  /// - Returns: The key with its modifiers, or nil if the sequence names none.
  static func stroke(parameters: String, final: Unicode.Scalar) -> KeyStroke? {
    let parts = parameters.split(separator: ";", omittingEmptySubsequences: false)
    let numbers = parameters.isEmpty ? [] : parts.map { Int($0) ?? -1 }
    guard numbers.allSatisfy({ (0...0x10FFFF).contains($0) }) else { return nil }
    let modifiers = numbers.count > 1 ? max(0, numbers[1] - 1) : 0
    switch final {
    case "~" where numbers.first == 27 && numbers.count == 3:
      return typed(numbers[2], modifiers)
    case "u":
      return numbers.first.flatMap { typed($0, modifiers) }
    case "~":
      return numbers.first.flatMap(numberedKey).map { stroke($0, modifiers) }
    default:
      return letterKey(final).map { stroke($0, modifiers) }
    }
  }

  private static func stroke(_ key: KeyCode, _ modifiers: Int) -> KeyStroke {
    KeyStroke(
      key, control: modifiers & 4 != 0, meta: modifiers & 2 != 0, shift: modifiers & 1 != 0)
  }

  /// Returns a character that was sent as its number, with its modifiers.
  private static func typed(_ value: Int, _ modifiers: Int) -> KeyStroke? {
    guard let scalar = Unicode.Scalar(UInt32(value)) else { return nil }
    let plain = ControlCode.stroke(for: scalar)
    guard case .character(let character) = plain.key, !plain.control else {
      return stroke(plain.key, modifiers)
    }
    let upper = String(character).uppercased()
    let shifted = modifiers & 1 != 0 && upper.count == 1 ? upper.first ?? character : character
    return stroke(.character(shifted), modifiers)
  }

  private static func letterKey(_ letter: Unicode.Scalar) -> KeyCode? {
    switch letter {
    case "A": .up
    case "B": .down
    case "C": .right
    case "D": .left
    case "F": .end
    case "H": .home
    case "M": .enter
    case "P": .function(1)
    case "Q": .function(2)
    case "R": .function(3)
    case "S": .function(4)
    case "Z": .backTab
    default: nil
    }
  }

  private static func numberedKey(_ number: Int) -> KeyCode? {
    switch number {
    case 1, 7: .home
    case 2: .insert
    case 3: .delete
    case 4, 8: .end
    case 5: .pageUp
    case 6: .pageDown
    case 11...15: .function(number - 10)
    case 17...21: .function(number - 11)
    case 23, 24: .function(number - 12)
    default: nil
    }
  }
}
