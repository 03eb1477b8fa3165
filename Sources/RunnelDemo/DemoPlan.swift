import RunnelBase

/// A planned conversation: the turns of a script that are said, and the pauses before them.
struct DemoBlock {
  /// The script.
  var script: DemoScript
  /// The turns that are said, as indices in the script.
  var turns: [Int]
  /// The pause before each of these turns, in a unit of its own; see `DemoPlan`.
  var pauses: [Double]
  /// True if the first turn is a pinned message.
  var isPinned: Bool
}

/// The plan of a group, in order: conversations, exchanges and single messages.
///
/// A plan is a value, and its pauses are relative. So it can be gone through twice, first to add up
/// all pauses and then to make the messages at the right moments, and none of it needs to be kept:
/// a demo of any size takes the same memory.
struct DemoPlan {
  private var conversations: DemoDeck
  private var exchanges: DemoDeck
  private var remarks: DemoDeck
  private let announcements: [(index: Int, script: DemoScript)]
  private var announcedCount = 0
  private var plannedCount = 0
  private let messageCount: Int
  private var random: SeededRandom

  /// Plans a number of messages in a group.
  init(group: DemoGroup, messageCount: Int, random: SeededRandom) {
    self.random = random
    self.messageCount = messageCount
    conversations = DemoDeck(group.scripts)
    exchanges = DemoDeck(group.exchanges)
    remarks = DemoDeck(group.remarks)
    announcements = group.announcements.map { announcement in
      (Int(announcement.place * Double(messageCount)), announcement.script)
    }
  }

  /// The next conversation; nil when all messages are planned.
  ///
  /// The last one may be cut short.
  mutating func next() -> DemoBlock? {
    guard plannedCount < messageCount else { return nil }
    let isPinned =
      announcedCount < announcements.count && announcements[announcedCount].index <= plannedCount
    let script = isPinned ? announcements[announcedCount].script : drawScript()
    if isPinned { announcedCount += 1 }
    var turns = script.turns.indices.filter { turn in
      !script.turns[turn].isOptional || Bool.random(using: &random)
    }
    turns.removeLast(max(0, turns.count - (messageCount - plannedCount)))
    plannedCount += turns.count
    let pauses = turns.indices.map { index in pause(before: index) }
    return DemoBlock(script: script, turns: turns, pauses: pauses, isPinned: isPinned)
  }

  private mutating func drawScript() -> DemoScript {
    switch Double.random(in: 0..<1, using: &random) {
    case ..<0.42: remarks.draw(using: &random)
    case ..<0.76 where !exchanges.isEmpty: exchanges.draw(using: &random)
    default: conversations.draw(using: &random)
    }
  }

  /// A pause: long before a conversation, short within it, and now and then a longer one.
  ///
  /// If there are few messages in the two months, the long pauses grow, but people still answer in
  /// minutes.
  private mutating func pause(before index: Int) -> Double {
    if index == 0 {
      let quiet = max(1, 2_400 / Double(messageCount))
      return Double.random(in: 1.5...9, using: &random) * quiet
    }
    let isLong = Int.random(in: 0..<12, using: &random) == 0
    return isLong
      ? Double.random(in: 0.8...2.5, using: &random) : Double.random(in: 0.04...0.4, using: &random)
  }
}

/// Scripts drawn in random order; a script is not drawn again before half of the others were.
private struct DemoDeck {
  private let scripts: [DemoScript]
  private var order: [Int]
  private var drawnCount: Int

  init(_ scripts: [DemoScript]) {
    self.scripts = scripts
    order = Array(scripts.indices)
    drawnCount = scripts.count
  }

  var isEmpty: Bool { scripts.isEmpty }

  mutating func draw(using random: inout SeededRandom) -> DemoScript {
    precondition(!isEmpty, "A deck that is drawn from has scripts.")
    if drawnCount == order.count { shuffle(using: &random) }
    defer { drawnCount += 1 }
    return scripts[order[drawnCount]]
  }

  /// Shuffles each half on its own, so that the scripts drawn last are not among the next.
  private mutating func shuffle(using random: inout SeededRandom) {
    let half = order.count / 2
    order = order[..<half].shuffled(using: &random) + order[half...].shuffled(using: &random)
    drawnCount = 0
  }
}
