import RunnelBase

/// Fills the slots of a conversation's texts; the word for a slot is chosen once and then kept.
///
/// Names, plots and days depend on the speaker and the time; see `DemoTexts` for the notation.
struct DemoSlots {
  /// The people of the conversation by the letter of their part.
  private let people: [Character: DemoPerson]
  private let texts: DemoTexts
  private var chosen: [String: String] = [:]
  private var random: SeededRandom

  /// Prepares the slots of a conversation.
  init(people: [Character: Int], in texts: DemoTexts, random: SeededRandom) {
    self.people = people.mapValues { texts.people[$0] }
    self.texts = texts
    self.random = random
  }

  /// The text with one of each choice taken, and all slots filled for the moment at which it is
  /// said.
  mutating func fill(_ template: Substring, at time: CivilTime) -> String {
    var text = ""
    var rest = template
    while let mark = rest.firstIndex(where: { $0 == "{" || $0 == "[" }) {
      text += rest[..<mark]
      let close: Character = rest[mark] == "{" ? "}" : "]"
      guard let end = rest[mark...].firstIndex(of: close) else {
        preconditionFailure("A text that was read has a '\(close)': \(template)")
      }
      let inner = rest[rest.index(after: mark)..<end]
      if close == "}" {
        text += value(of: String(inner), at: time)
      } else {
        // A choice may contain slots, so it is put back and read again.
        let choices = inner.split(separator: "|", omittingEmptySubsequences: false)
        text += fill(choices[Int.random(in: 0..<choices.count, using: &random)], at: time)
      }
      rest = rest[rest.index(after: end)...]
    }
    return text + rest
  }

  private mutating func value(of slot: String, at time: CivilTime) -> String {
    // Words that depend on the clock are not kept: a conversation may go on the next morning.
    switch slot {
    case "greeting": return greeting(hour: time.hour)
    case "today": return Self.weekdays[time.weekday - 1]
    case "yesterday": return Self.weekdays[(time.weekday + 5) % 7]
    default: break
    }
    if let slash = slot.firstIndex(of: "/") {
      let isMorning = 4..<11 ~= time.hour
      return String(isMorning ? slot[..<slash] : slot[slot.index(after: slash)...])
    }
    if let value = chosen[slot] { return value }
    let value = choose(slot, at: time)
    chosen[slot] = value
    return value
  }

  private mutating func choose(_ slot: String, at time: CivilTime) -> String {
    switch slot {
    case "day": return Self.weekdays[(time.weekday + Int.random(in: 1...2, using: &random)) % 7]
    case "day2": return Self.weekdays[(time.weekday + Int.random(in: 3...4, using: &random)) % 7]
    case "soon": return "\((time.hour + 1) % 24):\(time.minute < 30 ? "30" : "45")"
    case "n": return String(Int.random(in: 3...7, using: &random))
    case "n2": return String(Int.random(in: 8...12, using: &random))
    case "many": return String(Int.random(in: 14...58, using: &random))
    case "plot": return String(Int.random(in: 1...40, using: &random))
    case "person": return pick(from: texts.people.filter { !$0.isAway }.map(\.shortName))
    case "veg2":
      let first = chosen["veg"]
      return pick(from: texts.words["veg", default: []].filter { $0 != first })
    default: return person(slot) ?? pick(from: texts.words[slot, default: []])
    }
  }

  /// The text for `{A}` and `{plotA}`; nil for other slots.
  private func person(_ slot: String) -> String? {
    guard let letter = Self.part(of: slot[...]) else { return nil }
    guard let person = people[letter] else {
      preconditionFailure("Every letter in a text has a part in its conversation: \(letter)")
    }
    return slot.count == 1 ? person.shortName : String(person.plot)
  }

  /// The letter in `A` and `plotA`; nil for other slots.
  static func part(of slot: Substring) -> Character? {
    guard let letter = slot.last, letter.isUppercase else { return nil }
    return slot.count == 1 || slot.dropLast() == "plot" ? letter : nil
  }

  /// The slots of `choose` and `value` that need no words.
  static let computed: Set<String> = [
    "greeting", "today", "yesterday", "day", "day2", "soon", "n", "n2", "many", "plot", "person",
  ]

  private mutating func greeting(hour: Int) -> String {
    switch hour {
    case 4..<11: pick(from: ["Morning", "Good morning", "Morning", "Hello"])
    case 11..<17: pick(from: ["Hello", "Afternoon", "Hi", "Hello"])
    default: pick(from: ["Evening", "Good evening", "Hello", "Hi"])
    }
  }

  private mutating func pick(from words: [String]) -> String {
    precondition(!words.isEmpty, "Every slot of a text that was read has words.")
    return words[Int.random(in: 0..<words.count, using: &random)]
  }

  private static let weekdays = [
    "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday",
  ]
}
