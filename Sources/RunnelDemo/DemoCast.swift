import RunnelBase

/// The people of the demo: who is present, and who talks.
struct DemoCast {
  /// All people, in the order of their keys.
  private let community: [DemoPerson]
  /// The time when each person joined, in milliseconds since 1970.
  let joined: [Int64]
  /// The time when the people who are away left, in milliseconds since 1970.
  let awayFrom: Int64
  /// The amount of talk of each person.
  private let talkativeness: [Int]
  /// The people who talked last.
  private var lastSpeakers: [Int] = []

  private static let dayMilliseconds: Int64 = 86_400_000

  /// Makes the cast of the days before a moment.
  init(
    _ community: [DemoPerson], endingAt end: Int64, using random: inout some RandomNumberGenerator
  ) {
    self.community = community
    let start = end - Int64(DemoCalendar.dayCount) * Self.dayMilliseconds
    awayFrom = end - 9 * Self.dayMilliseconds
    joined = community.map { person in
      let millisecond = Int64.random(in: 0..<Self.dayMilliseconds, using: &random)
      if let day = person.joinedOnDay {
        return start + Int64(day) * Self.dayMilliseconds + millisecond
      }
      return start - Int64.random(in: 40...1_380, using: &random) * Self.dayMilliseconds
        - millisecond
    }
    talkativeness = community.map { person in
      [1, 1, 2, 3, 5].randomElement(using: &random) ?? 1
    }
  }

  /// Gives each part of a script to a different person who is present at a moment.
  ///
  /// `O` and `P` are organizers. People whom the script names, and the one who began the last
  /// conversation, get no part.
  mutating func people(
    for script: DemoScript, at moment: Int64, onlyOrganizers: Bool, using random: inout SeededRandom
  ) -> [Character: Int] {
    var taken = Set(lastSpeakers)
    for case .person(let person) in script.turns.map(\.speaker) { taken.insert(person) }
    var people: [Character: Int] = [:]
    // The organizers' parts come first: anyone who is left can have the others.
    for letter in script.parts.sorted(by: { isForOrganizer($0) && !isForOrganizer($1) }) {
      let needsOrganizer = onlyOrganizers || isForOrganizer(letter)
      let candidates = community.indices.filter { index in
        !taken.contains(index) && isPresent(index, at: moment)
          && (!needsOrganizer || community[index].isOrganizer)
      }
      // If too few people are left, a person gets two parts.
      let person = choose(
        from: candidates.isEmpty ? Array(community.indices) : candidates, using: &random)
      people[letter] = person
      taken.insert(person)
    }
    lastSpeakers = people["A"].map { [$0] } ?? []
    return people
  }

  private func isForOrganizer(_ letter: Character) -> Bool { letter == "O" || letter == "P" }

  /// True if a person has joined at a moment, and is not away.
  func isPresent(_ index: Int, at moment: Int64) -> Bool {
    joined[index] < moment && !(community[index].isAway && moment >= awayFrom)
  }

  private func choose(from candidates: [Int], using random: inout SeededRandom) -> Int {
    var rest = Int.random(
      in: 0..<candidates.reduce(0) { $0 + talkativeness[$1] }, using: &random)
    for candidate in candidates {
      rest -= talkativeness[candidate]
      if rest < 0 { return candidate }
    }
    preconditionFailure("The rest is less than the sum of what is taken from it.")
  }
}
