import RunnelBase

/// The messages of one group, in the order in which they were written.
struct DemoMessages {
  private let group: DemoGroup
  private let plan: DemoPlan
  private let texts: DemoTexts
  private let cast: DemoCast
  private let calendar: DemoCalendar
  private let offsetSeconds: Int
  private let random: SeededRandom
  private let likes: DemoLikes

  /// A message with its likes.
  struct Entry {
    var key: String
    var message: JSONValue
    var likes: [DemoLikes.Like]
    var isPinned: Bool
  }

  /// The messages of a group of a demo.
  init(of group: DemoGroup, in demo: DemoData) {
    self.group = group
    plan = DemoPlan(
      group: group, messageCount: group.messageCount ?? demo.messageCount,
      random: demo.random("plan of \(group.id)"))
    texts = demo.texts
    cast = demo.cast
    var luck = demo.random("calendar of \(group.id)")
    calendar = DemoCalendar(
      endingAt: demo.endingAt, offsetSeconds: demo.utcOffsetSeconds, using: &luck)
    offsetSeconds = demo.utcOffsetSeconds
    random = demo.random("words of \(group.id)")
    likes = DemoLikes(of: group, in: demo)
  }

  /// Passes each message with its key to a function, the oldest first; holds one conversation at a
  /// time.
  func forEach(_ body: (_ entry: Entry) throws -> Void) rethrows {
    let total = pauseTotal()
    var plan = plan
    var cast = cast
    var random = random
    var likes = likes
    var said = 0.0
    var previous = calendar.start
    while let block = plan.next() {
      var slots: DemoSlots?
      var people: [Character: Int] = [:]
      for (turn, pause) in zip(block.turns, block.pauses) {
        said += pause
        let created = max(previous + 1, calendar.moment(ofShare: said / total))
        previous = created
        if slots == nil {
          people = cast.people(
            for: block.script, at: created, onlyOrganizers: group.isForOrganizers, using: &random)
          slots = DemoSlots(
            people: people, in: texts, random: SeededRandom(seed: random.next()))
        }
        let (speaker, template) = (block.script.turns[turn].speaker, block.script.turns[turn].text)
        let time = CivilTime(milliseconds: created, offsetSeconds: offsetSeconds)
        let text = capitalized(slots?.fill(template, at: time) ?? "")
        let key = DemoPushIDs.id(at: created, using: &random)
        let isPinned = block.isPinned && turn == 0
        let author = person(speaker, in: people)
        let liked = likes.next(from: author, at: created, isPinned: isPinned)
        let message = message(
          from: author, created, text, likeCount: liked.count, isPinned: isPinned)
        try body(Entry(key: key, message: message, likes: liked, isPinned: isPinned))
      }
    }
  }

  /// The sum of all pauses, added in the same order as when the messages are made.
  private func pauseTotal() -> Double {
    var plan = plan
    var total = 0.0
    while let block = plan.next() {
      for pause in block.pauses { total += pause }
    }
    return total
  }

  /// The text with a capital letter in front, since it may begin with a slot's word.
  private func capitalized(_ text: String) -> String {
    text.prefix(1).uppercased() + text.dropFirst()
  }

  private func person(_ speaker: DemoScript.Speaker, in people: [Character: Int]) -> String {
    switch speaker {
    case .person(let index):
      return texts.people[index].id
    case .part(let letter):
      guard let index = people[letter] else {
        preconditionFailure("Every part of a script is given to somebody.")
      }
      return texts.people[index].id
    }
  }

  private func message(
    from id: String, _ created: Int64, _ text: String, likeCount: Int, isPinned: Bool
  ) -> JSONValue {
    var members = [
      JSONMember("created", .number(JSONNumber(created))), JSONMember("from", .string(id)),
      JSONMember("like_count", .number(JSONNumber(Int64(likeCount)))),
    ]
    if isPinned { members.append(JSONMember("pinned", true)) }
    members.append(JSONMember("text", .string(text)))
    return .object(members)
  }
}
