import Foundation
import RunnelBase
import RunnelTree
import TestSupport
import Testing

@testable import RunnelStore

/// Children of a place, and what a query shows of them: asked from scratch each time.
private struct ModelTree {
  let query: Query
  var children: [Key: Node] = [:]

  /// The rows of the query.
  var rows: [TreeRow] {
    let all = children.map {
      TreeRow(Child(key: $0.key, node: $0.value), index: query.index, detail: .full)
    }.sorted { $0.position < $1.position }
    return Array(all.prefix(query.limit?.count ?? all.count))
  }

  /// Changes some children: in their rank, their name, or that they are no groups any more.
  mutating func change(using random: inout SeededRandom) throws {
    for _ in 0..<Int.random(in: 1...4, using: &random) {
      let key = try Key("k\(Int.random(in: 0..<9, using: &random))")
      let rank = JSONValue.number(JSONNumber(Int64.random(in: 0..<4, using: &random)))
      let name = JSONValue.string("n\(Int.random(in: 0..<3, using: &random))")
      let json: JSONValue =
        switch Int.random(in: 0..<6, using: &random) {
        case 0: nil
        case 1: ["rank": rank]
        default: ["name": name, "rank": rank]
        }
      children[key] = json == nil ? nil : try Node(json: json)
    }
  }

  /// The events that lead from former rows to the present ones.
  func events(from old: [TreeRow]) -> [TreeEvent] {
    let new = rows
    let oldByKey = Dictionary(uniqueKeysWithValues: old.map { ($0.key, $0) })
    let newKeys = Set(new.map(\.key))
    func previous(_ index: Int) -> Key? { index > 0 ? new[index - 1].key : nil }
    var events: [[TreeEvent]] = [[], [], [], []]
    for row in old where !newKeys.contains(row.key) { events[0].append(.childRemoved(row)) }
    for (index, row) in new.enumerated() {
      guard let before = oldByKey[row.key] else {
        events[1].append(.childAdded(row, previous: previous(index)))
        continue
      }
      if before == row { continue }
      if before.value != row.value {
        events[2].append(.childMoved(row, previous: previous(index)))
      }
      events[3].append(.childChanged(row, previous: previous(index)))
    }
    let all = events.flatMap(\.self)
    return all.isEmpty ? [] : all + [.value(.empty)]
  }

  /// What a state of the query is to hold.
  var expected: (entries: [ObjectEntry<Group>], errors: Set<Key>) {
    var entries: [ObjectEntry<Group>] = []
    var errors: Set<Key> = []
    for row in rows {
      switch Group.read(row, in: query.path) {
      case .success(let group): entries.append(ObjectEntry(id: row.key, object: group))
      case .failure: errors.insert(row.key)
      }
    }
    return (entries, errors)
  }
}

@Suite struct ObjectsStateOracleTests {
  /// The state of a run, and the log of the actions that led to it.
  private func run(seed: UInt64) throws -> (ObjectsState<Group>, ActionLog) {
    var random = SeededRandom(seed: seed)
    let count = Int.random(in: 1...6, using: &random)
    let ordered = try Query(Path("/group")).ordered(byChild: "rank")
    let query = count == 6 ? ordered : try ordered.limited(to: count, from: .first)
    var model = ModelTree(query: query)
    let access = TreeAccess(now: { 0 }, random: SeededRandom(seed: 1))
    var log = ActionLog()
    let recording: Middleware<ObjectsState<Group>> = { _, _ in
      { next in
        { action in
          log.append(action, milliseconds: 7)
          next(action)
        }
      }
    }
    let store = Store(
      state: ObjectsState<Group>(of: query), middleware: [access.middleware(), recording],
      reducer: ObjectsState.reduce)
    var listener = 0
    var told: [TreeRow] = []
    for step in 0..<60 {
      try model.change(using: &random)
      if listener == 0 || Int.random(in: 0..<15, using: &random) == 0 {
        // What was removed while nobody was subscribed must not stay.
        store.dispatch(Unsubscribe("s"))
        try model.change(using: &random)
        store.dispatch(Group.subscribeToObjects(query, as: "s"))
        listener += 1
        told = []
      }
      var events = model.events(from: told)
      if told.isEmpty, !events.contains(where: { $0 == .value(.empty) }) {
        events.append(.value(.empty))
      }
      told = model.rows
      store.dispatch(
        TreeAnswer.deliveries(
          events.map { Delivery(listener: ListenerID(listener), event: $0) }))
      let expected = model.expected
      #expect(store.state.entries == expected.entries, "seed \(seed), step \(step)")
      #expect(Set(store.state.errors.keys) == expected.errors, "seed \(seed), step \(step)")
      if store.state.entries != expected.entries { break }
    }
    return (store.state, log)
  }

  @Test func stateIsWhatTheQueryShowsAndReplayingTheLogMakesItAnew() throws {
    var registry = ActionRegistry()
    registry.registerActions(about: Group.self)
    for seed in Seeds.first(20) {
      let (state, log) = try run(seed: seed)
      let read = try ActionLog(parsing: log.text)
      #expect(read == log, "seed \(seed)")
      let replay = try read.replay(
        from: ObjectsState<Group>(of: state.query), registry, ObjectsState.reduce)
      #expect(replay.state == state, "seed \(seed)")
      #expect(replay.withheld == [], "seed \(seed)")
    }
  }
}
