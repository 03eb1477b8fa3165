/// A conversation taken apart into its turns; `DemoTexts` has the notation.
struct DemoScript: Sendable {
  /// Who says something.
  enum Speaker: Hashable, Sendable {
    /// Whoever is given the part of this letter.
    case part(Character)
    /// One person, by the place in `DemoPeople.all`.
    case person(Int)
  }

  /// Something that is said.
  struct Turn: Sendable {
    /// Who says it.
    var speaker: Speaker
    /// What, with its slots and choices.
    var text: Substring
    /// True if it may be left out.
    var isOptional: Bool
  }

  /// The turns in their order.
  let turns: [Turn]
  /// The letters of all the parts that talk or are talked of, each once.
  let parts: [Character]

  /// Takes a conversation with a turn a line apart.
  init(_ text: String) {
    self.init(turns: text.split(separator: "\n").map(Self.turn))
  }

  /// Takes a line of single messages apart.
  init(remark: Substring) {
    self.init(turns: remark.split(separator: " // ").map(Self.turn))
  }

  private init(turns: [Turn]) {
    var parts: [Character] = []
    for turn in turns {
      if case .part(let letter) = turn.speaker { parts.append(letter) }
      parts += Self.parts(in: turn.text)
    }
    self.turns = turns
    self.parts = Set(parts).sorted()
  }

  /// Reads `A: what`, `?A: what`, `somebody: what`, or only what, which A says.
  private static func turn(_ line: Substring) -> Turn {
    let isOptional = line.first == "?"
    let line = isOptional ? line.dropFirst() : line
    guard let colon = line.firstIndex(of: ":"), let first = line.first else {
      return Turn(speaker: .part("A"), text: line, isOptional: isOptional)
    }
    let speaker = line[..<colon]
    let text = line[colon...].dropFirst(2)
    if speaker.count == 1, first.isUppercase {
      return Turn(speaker: .part(first), text: text, isOptional: isOptional)
    }
    // A text of its own begins with a capital letter, or has a space before its first colon.
    if speaker.allSatisfy({ "a"..."z" ~= $0 }) {
      return Turn(
        speaker: .person(DemoPeople.index(of: String(speaker))), text: text, isOptional: isOptional)
    }
    return Turn(speaker: .part("A"), text: line, isOptional: isOptional)
  }

  /// The letters in `{A}` and `{plotA}`.
  private static func parts(in text: Substring) -> [Character] {
    text.split(separator: "{").compactMap { piece in
      guard let end = piece.firstIndex(of: "}"), end > piece.startIndex else { return nil }
      let slot = piece[..<end]
      guard slot.count == 1 || slot.hasPrefix("plot"), let letter = slot.last else { return nil }
      return letter.isUppercase ? letter : nil
    }
  }
}
