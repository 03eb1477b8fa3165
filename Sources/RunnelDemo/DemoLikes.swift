import RunnelBase

/// The likes of the messages of one group.
///
/// It goes through the messages in order, and gives the same likes each time.
struct DemoLikes {
  /// A user who likes a message, and when they liked it, in milliseconds since 1970.
  struct Like {
    var user: String
    var created: Int64
  }

  /// One message in this number of messages is liked.
  private static let rarity = 6
  private static let countMax = 7

  private let cast: DemoCast
  private let people: [DemoPerson]
  private let endingAt: Int64
  private var random: SeededRandom

  /// Prepares the likes of a group of a demo.
  init(of group: DemoGroup, in demo: DemoData) {
    cast = demo.cast
    people = demo.texts.people
    endingAt = demo.endingAt
    random = demo.random("likes of \(group.id)")
  }

  /// The likes of the next message, in the order of the users' keys.
  mutating func next(from author: String, at created: Int64, isPinned: Bool) -> [Like] {
    guard isPinned || Int.random(in: 0..<DemoLikes.rarity, using: &random) == 0 else { return [] }
    // Most messages have one or two likes, and few have many.
    let most = Int.random(in: 1...DemoLikes.countMax, using: &random)
    let count = Int.random(in: 1...most, using: &random)
    let others = people.indices.filter { index in
      people[index].id != author && cast.isPresent(index, at: created)
    }
    return others.shuffled(using: &random).prefix(count)
      .map { index in
        let delay = Int64.random(in: 5_000...7_200_000, using: &random)
        return Like(user: people[index].id, created: min(created + delay, endingAt))
      }
      .sorted { $0.user < $1.user }
  }
}
