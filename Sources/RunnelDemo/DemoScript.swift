/// A conversation taken apart into its turns; `DemoTexts` has the notation.
struct DemoScript: Sendable {
  /// Who says something.
  enum Speaker: Hashable, Sendable {
    /// Whoever is given the part of this letter.
    case part(Character)
    /// One person, by the place in `DemoTexts.people`.
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

  /// The turns in their order; at least one, and the first is said always.
  let turns: [Turn]
  /// The letters of all the parts that talk or are talked of, each once.
  let parts: [Character]

  /// Takes a conversation with a turn in each text apart.
  init(_ reader: DemoTextsReader, _ slots: DemoSlotCheck) throws(DemoTextsError) {
    let lines = try reader.elements()
    var turns: [Turn] = []
    for line in lines { turns.append(try Self.turn(line.string()[...], line, slots)) }
    try self.init(turns: turns, reader)
  }

  /// Takes a text of single messages apart.
  init(remark reader: DemoTextsReader, _ slots: DemoSlotCheck) throws(DemoTextsError) {
    var turns: [Turn] = []
    for line in try reader.string().split(separator: " // ") {
      turns.append(try Self.turn(line, reader, slots))
    }
    try self.init(turns: turns, reader)
  }

  private init(turns: [Turn], _ reader: DemoTextsReader) throws(DemoTextsError) {
    guard let first = turns.first else { throw reader.error("nothing is said") }
    if first.isOptional { throw reader.error("the first turn may not begin with '?'") }
    var parts: [Character] = []
    for turn in turns {
      if case .part(let letter) = turn.speaker { parts.append(letter) }
      parts += Self.parts(in: turn.text)
    }
    self.turns = turns
    self.parts = Set(parts).sorted()
  }

  /// Reads `A: what`, `?A: what`, `somebody: what`, or only what, which A says.
  private static func turn(
    _ line: Substring, _ reader: DemoTextsReader, _ slots: DemoSlotCheck
  ) throws(DemoTextsError) -> Turn {
    let isOptional = line.first == "?"
    let line = isOptional ? line.dropFirst() : line
    let (speaker, text) = try speaker(of: line, reader, slots)
    if let problem = slots.problem(in: text) { throw reader.error("\(problem): \(text)") }
    return Turn(speaker: speaker, text: text, isOptional: isOptional)
  }

  private static func speaker(
    of line: Substring, _ reader: DemoTextsReader, _ slots: DemoSlotCheck
  ) throws(DemoTextsError) -> (Speaker, Substring) {
    guard let colon = line.firstIndex(of: ":"), let first = line.first else {
      return (.part("A"), line)
    }
    let speaker = line[..<colon]
    let text = line[colon...].dropFirst(2)
    if speaker.count == 1, first.isUppercase { return (.part(first), text) }
    // A text of its own begins with a capital letter, or has a space before its first colon.
    guard speaker.allSatisfy({ "a"..."z" ~= $0 }) else { return (.part("A"), line) }
    guard let person = slots.people.firstIndex(where: { $0.id == speaker }) else {
      throw reader.error("'\(speaker)' is nobody among the people")
    }
    return (.person(person), text)
  }

  /// The letters in `{A}` and `{plotA}`.
  private static func parts(in text: Substring) -> [Character] {
    text.split(separator: "{").compactMap { piece in
      guard let end = piece.firstIndex(of: "}"), end > piece.startIndex else { return nil }
      return DemoSlots.part(of: piece[..<end])
    }
  }
}
