import RunnelBase
import RunnelDatabase
import RunnelServices
import RunnelServicesTree
import RunnelTree
import Testing

/// Writes of several records against a naive oracle, which looks at each call that changes a record at the server.
///
/// Others write only while no call can be under way: of a lost answer nobody could say who was first.
struct PartsModel {
  /// What becomes of a record of a write.
  private enum Outcome { case written, leftOut, dropped }

  /// What a write does to one record.
  private struct Item {
    var record: Int
    /// The text that `a` is to have; nil if the record is to go.
    var value: String?
    /// The fields upon which that was asked for.
    var base: [JSONValue?]
    var outcome: Outcome?

    /// True if a record is what was known of it, as far as the write concerns it.
    func isMadeUpon(_ record: JSONValue?) -> Bool {
      guard let record else { return false }
      let now = PartsModel.fields(of: record)
      return value == nil ? now == base : now[0] == base[0]
    }
  }

  private static func fields(of record: JSONValue?) -> [JSONValue?] {
    ["a", "b"].map { record?[$0] }
  }

  private let world: ServiceWorld
  private var random: SeededRandom
  private let seed: UInt64
  /// The writes of a round, which have no record in common.
  private var writes: [[Item]] = []
  private var textCount = 0
  private var hint = ""

  init(seed: UInt64) throws {
    self.seed = seed
    random = SeededRandom(seed: seed)
    world = try ServicePartsTests.world(
      hasVersions: seed % 2 == 0, records: 14, page: seed % 3 == 0 ? 20 : nil)
  }

  /// Writes are made without a connection, and sent until each of their records has an outcome.
  mutating func play(_ round: Int) throws {
    try world.disconnect()
    try makeWrites()
    for attempt in 0..<8 {
      hint = "seed \(seed), round \(round), attempt \(attempt)"
      changeThere()
      if Int.random(in: 0..<3, using: &random) == 0 {
        world.server.refusals = [FeathersError(.forbidden, "no")]
      }
      try send()
      world.server.refusals = []
      let kept = try world.session.refusedWrites()
      for refusal in kept { check(refusal) }
      if kept.isEmpty { break }
      if Bool.random(using: &random) { try world.disconnect() }
      for refusal in kept { try answer(refusal.write, isLast: attempt >= 6) }
      // What was begun by that is finished before others write.
      if !world.flights.isEmpty { try send() }
    }
    checkAll()
  }

  private mutating func text(_ who: String) -> String {
    textCount += 1
    return "\(who)\(textCount)"
  }

  private func record(_ number: Int) -> JSONValue? {
    world.server.records.first { $0["id"]?.int == number }
  }

  /// The place of the item of a record in `writes`.
  private func place(of record: Int) -> (write: Int, item: Int)? {
    for (index, items) in writes.enumerated() {
      if let item = items.firstIndex(where: { $0.record == record }) { return (index, item) }
    }
    return nil
  }

  // MARK: What happens

  private mutating func makeWrites() throws {
    writes = []
    let shown = try world.shown()
    var numbers = shown.children.compactMap { Int($0.key.text) }.shuffled(using: &random)
    for _ in 0..<2 {
      let chosen = Array(numbers.prefix(Int.random(in: 2...5, using: &random)))
      numbers.removeFirst(chosen.count)
      if chosen.isEmpty { return }
      let isRemoval = Int.random(in: 0..<4, using: &random) == 0
      let value = text("mine")
      writes.append(
        try chosen.map { number in
          Item(
            record: number, value: isRemoval ? nil : value,
            base: PartsModel.fields(of: try shown[Key("\(number)")].json))
        })
      let kind = isRemoval ? ServicePartsTests.Kind.removal : .edit
      try world.write(kind.write(chosen, value))
      if Int.random(in: 0..<4, using: &random) == 0 { try world.kill() }
    }
  }

  /// Others change records, and remove a few; of that no event arrives.
  private mutating func changeThere() {
    for _ in 0..<Int.random(in: 0...4, using: &random) {
      guard let number = world.server.records.randomElement(using: &random)?["id"]?.int else {
        continue
      }
      let id = ServiceID(Int64(number))
      if Int.random(in: 0..<8, using: &random) == 0 {
        _ = world.server.handle(.remove(id: id))
      } else {
        let name = Bool.random(using: &random) ? "a" : "b"
        _ = world.server.handle(
          .patch(id: id, data: .object([JSONMember(name, .string(text("theirs")))])))
      }
    }
    world.server.replaced = []
  }

  /// What waits is sent, with losses and kills in between.
  private mutating func send() throws {
    for _ in 0..<Int.random(in: 0...2, using: &random) {
      try world.connect()
      for _ in 0..<Int.random(in: 0...16, using: &random) where !world.flights.isEmpty {
        let index = Int.random(in: 0..<world.flights.count, using: &random)
        if world.flights[index].answer == nil {
          world.execute(index)
        } else {
          try world.answer(index)
        }
      }
      switch Int.random(in: 0..<3, using: &random) {
      case 0: try world.disconnect()
      case 1: try world.disconnect(answered: true)
      default: try world.kill()
      }
    }
    try world.connect()
    try world.settle()
    #expect(world.session.pendingWrites.isEmpty, "\(hint)")
    examine()
  }

  /// The user deals with a refused write.
  private mutating func answer(_ kept: PendingWrite, isLast: Bool) throws {
    let numbers = ServicePartsTests.records(of: kept)
    guard let number = numbers.first, let (write, item) = place(of: number) else { return }
    let taking = RefusedTaking([kept.id], isRequired: true)
    let choice = isLast ? 7 : Int.random(in: 0..<8, using: &random)
    switch choice {
    case 0...2:
      guard let rest = kept.firstRecord?.rest else { break }
      writes[write][item].outcome = .leftOut
      try world.write(rest, taking: taking)
      return
    case 3, 4:
      let first = kept.firstRecord?.first ?? kept
      let conditions = zip(first.parts, first.bases).compactMap { part, base in
        base.map { WriteCondition(part.path, $0.exportJSON) }
      }
      do {
        try world.write(kept.write, taking: taking, if: conditions)
      } catch let error as DatabaseError where error.code == .changed {
        #expect(try world.session.refusedWrites().contains { $0.write == kept }, "\(hint)")
      }
      return
    case 5, 6:
      guard writes[write][item].value != nil else { break }
      // What is shown of the record is what its user has seen.
      let value = text("mended")
      let seen = try world.shown()[Key("\(number)")].json
      writes[write][item].value = value
      writes[write][item].base = PartsModel.fields(of: seen)
      var members = [JSONMember("\(number)/a", .string(value))]
      if case .update(_, let others)? = kept.firstRecord?.rest { members += others }
      try world.write(.update(Path("/notes"), members), taking: taking)
      return
    default: break
    }
    for number in numbers {
      if let (write, item) = place(of: number) { writes[write][item].outcome = .dropped }
    }
    try world.dropRefused(kept.id)
  }

  // MARK: The oracle

  /// Looks at what was changed at the server since the last time.
  private mutating func examine() {
    for change in world.server.replaced {
      guard let (write, item) = place(of: change.id) else {
        Issue.record("\(hint): \(change.id) was written, which no write is about")
        continue
      }
      let asked = writes[write][item]
      #expect(asked.outcome == nil, "\(hint): \(change) was written, which was \(asked)")
      #expect(asked.isMadeUpon(change.before), "\(hint): \(change) lost a change, for \(asked)")
      #expect(change.after?["a"]?.string == asked.value, "\(hint): \(change) is not \(asked)")
      writes[write][item].outcome = .written
    }
    world.server.replaced = []
  }

  /// A refused write begins at the record that was refused; all before it have outcomes, and no other has.
  private func check(_ refusal: KeptRefusal) {
    let numbers = ServicePartsTests.records(of: refusal.write)
    guard let number = numbers.first, let (write, item) = place(of: number) else {
      Issue.record("\(hint): nothing is left of \(refusal)")
      return
    }
    let (before, rest) = (writes[write][..<item], writes[write][item...])
    #expect(rest.map(\.record) == numbers, "\(hint): \(refusal.reason)")
    #expect(rest.allSatisfy { $0.outcome == nil }, "\(hint): \(rest)")
    #expect(before.allSatisfy(isDone), "\(hint): \(before)")
    let doneCount = before.count { $0.outcome != .leftOut }
    #expect(refusal.write.doneCount == doneCount, "\(hint): \(before)")
    let isForbidden = refusal.reason.contains("(Forbidden)")
    #expect(isForbidden || !rest[item].isMadeUpon(record(number)), "\(hint): \(refusal.reason)")
  }

  /// True if a record has an outcome: it is also done if others have removed what is to go.
  private func isDone(_ item: Item) -> Bool {
    item.outcome != nil || item.value == nil && record(item.record) == nil
  }

  private func checkAll() {
    for item in writes.joined() { #expect(isDone(item), "\(hint): \(item) has no outcome") }
  }
}
