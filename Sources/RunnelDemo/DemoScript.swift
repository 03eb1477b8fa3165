/// A conversation, split into its turns; `DemoTexts` describes the notation.
struct DemoScript: Sendable {
  /// The speaker of a turn.
  enum Speaker: Hashable, Sendable {
    /// The person who is given the part with this letter.
    case part(Character)
    /// A certain person, by index in `DemoTexts.people`.
    case person(Int)
  }

  /// A turn of a conversation.
  struct Turn: Sendable {
    /// The speaker.
    var speaker: Speaker
    /// The text, with its slots and choices.
    var text: Substring
    /// True if it may be left out.
    var isOptional: Bool
  }

  /// The turns in order: at least one, and the first is never left out.
  let turns: [Turn]
  /// The letters of all parts that talk or are mentioned, each once.
  let parts: [Character]

  /// Reads a conversation; each text is a turn.
  init(_ reader: DemoTextsReader, _ slots: DemoSlotCheck) throws(DemoTextsError) {
    let lines = try reader.elements()
    var turns: [Turn] = []
    for line in lines { turns.append(try Self.turn(line.string()[...], line, slots)) }
    try self.init(turns: turns, reader)
  }

  /// Reads single messages from one text.
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

  /// Reads `A: text`, `?A: text`, `name: text`, or a text alone, which part A says.
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
    // If the part before the first colon is not a name in lower case, it belongs to the text.
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
