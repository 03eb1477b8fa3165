/// A key with the modifiers that were held.
///
/// The notation is that of the manual: `j`, `G`, `C-x`, `M-<`, `Enter`, `S-Tab`, `Space`, `PgDn`,
/// `F2`, `C-M-Left`. One stroke has one notation:
/// - a character carries its own shift, so `S-` stands only before named keys;
/// - a terminal cannot tell `C-X` from `C-x`: a letter with Control is lowercase;
/// - Shift and Tab together are the key `backTab`.
public struct KeyStroke: Hashable, Sendable {
  /// The key.
  public let key: KeyCode
  /// Whether Control was held.
  public let control: Bool
  /// Whether Meta, usually labeled Alt, was held.
  public let meta: Bool
  /// Whether Shift was held; always false for characters and `backTab`.
  public let shift: Bool

  /// Makes a stroke, and brings it into the single form described above.
  public init(_ key: KeyCode, control: Bool = false, meta: Bool = false, shift: Bool = false) {
    self.control = control
    self.meta = meta
    switch key {
    case .character(let character):
      let lowercased = String(character).lowercased()
      let single = lowercased.count == 1 ? lowercased.first : nil
      self.key = .character(control ? single ?? character : character)
      self.shift = false
    case .tab where shift:
      self.key = .backTab
      self.shift = false
    case .backTab:
      self.key = .backTab
      self.shift = false
    default:
      self.key = key
      self.shift = shift
    }
  }

  /// Reads a notation; returns nil if it is not one.
  ///
  /// Modifiers may come in any order, each once.
  public init?(notation: String) {
    var rest = notation[...]
    var modifiers: Set<Character> = []
    while rest.count > 2, let letter = rest.first, "CMS".contains(letter),
      rest.dropFirst().first == "-"
    {
      guard modifiers.insert(letter).inserted else { return nil }
      rest = rest.dropFirst(2)
    }
    guard let key = Self.key(named: rest) else { return nil }
    if modifiers.contains("S"), case .character = key { return nil }
    self.init(
      key, control: modifiers.contains("C"), meta: modifiers.contains("M"),
      shift: modifiers.contains("S"))
  }

  /// Reads the notation of a sequence of keys; returns nil if it is not one.
  ///
  /// Notations are separated by spaces: `g m`, `C-x C-e`. Two characters may stand together: `gg`,
  /// `]]`, `g1`; but a word that is itself a notation, such as `Up` or `F1`, means that key. A modifier
  /// without its key, such as `C-`, is a slip and no two keys, which are written `C -`.
  public static func sequence(_ notation: String) -> [KeyStroke]? {
    var strokes: [KeyStroke] = []
    for word in notation.split(separator: " ") {
      if let stroke = KeyStroke(notation: String(word)) {
        strokes.append(stroke)
      } else if word.count == 2, !Self.isModifier(word) {
        strokes += word.map { KeyStroke(.character($0)) }
      } else {
        return nil
      }
    }
    return strokes.isEmpty ? nil : strokes
  }

  /// Whether a word is a modifier without a key.
  private static func isModifier(_ word: Substring) -> Bool { ["C-", "M-", "S-"].contains(word) }

  private static func key(named name: Substring) -> KeyCode? {
    if name.count == 1, let character = name.first, Self.isTyped(character) {
      return .character(character)
    }
    if name.first == "F", let number = Int(name.dropFirst()), (1...KeyCode.functionMax) ~= number,
      name.dropFirst() == "\(number)"
    {
      return .function(number)
    }
    return KeyCode.names.first { $0.name == name }?.key
  }

  /// Whether a notation may contain the character itself.
  private static func isTyped(_ character: Character) -> Bool {
    !character.isWhitespace && (character.unicodeScalars.first?.value ?? 0) > 0x20
  }
}

extension KeyStroke: CustomStringConvertible {
  /// The notation: modifiers in the order C, M, S, then the key.
  public var description: String {
    let isShifted = shift || key == .backTab
    let modifiers = (control ? "C-" : "") + (meta ? "M-" : "") + (isShifted ? "S-" : "")
    return modifiers + keyName
  }

  private var keyName: String {
    switch key {
    case .function(let number): "F\(number)"
    case .backTab: "Tab"
    case .character(let character) where character != " ": String(character)
    default: KeyCode.names.first { $0.key == key }?.name ?? ""
    }
  }
}
