import RunnelBase
import RunnelServices
import RunnelTree

/// A record of a service, by its key here.
struct RecordID: Hashable, Sendable {
  var service: Key
  var key: Key
}

/// The writes that the server has not answered, by the records that they change.
///
/// The writes of a record are sent in their order. A write that changes several records changes one
/// after the other: a Feathers server cannot change them at once. Creations of a service leave in their
/// order: see `CreationLines`.
struct ServiceWrites: Sendable {
  /// One change of a record: the place below it, and what is to stand there.
  struct Edit: Sendable {
    var below: [Key]
    var json: JSONValue
    /// What stood there when the write was made, with the earlier writes; nil if that is not known.
    var base: Node?

    /// True if the edit removes the record.
    var isRemoval: Bool { below.isEmpty && json == .null }

    /// What the edit does to known values; nil if they are not known, or if it adds to what is there.
    var change: NodeChange? {
      guard let base, !json.holdsServerValue, let node = try? Node(json: json) else { return nil }
      return NodeChange(path: Path(unchecked: below), before: base, after: node)
    }
  }

  /// What a write does to one record.
  struct Item: Sendable {
    var record: RecordID
    var edits: [Edit]
  }

  /// A write.
  struct Job: Sendable {
    var id: Int64
    var items: [Item]
    /// The number of records that were done before, and are no items any more.
    var doneBefore = 0
    /// The number of the items that are done: the first ones.
    var done = 0
    /// The number of the items of which the replica was told that they are done.
    var toldCount = 0
    /// True if the result depends on what is there, so that it must not be done twice.
    var adds: Bool

    /// The record that the write makes, if it makes one and does nothing else.
    var createdRecord: RecordID? {
      guard items.count == 1, let item = items.first, let edit = item.edits.first,
        edit.below.isEmpty, edit.json != .null, edit.base?.isEmpty ?? item.record.key.isGenerated
      else { return nil }
      return item.record
    }
  }

  /// The writes of a record, the oldest first.
  private struct Chain: Sendable {
    var jobs: [Int64] = []
    var isBusy = false
    /// True if it is busy since the record has to be read before its writes can be sent.
    var isWaiting = false
    /// True if it is busy since nobody knows whether its first write was done.
    var isSuspended = false
    /// True if the writes are sent one by one, since several at once were refused.
    var isSingle = false
    /// True if a call with its first writes is under way.
    var hasLeft = false
  }

  private(set) var jobs: [Int64: Job] = [:]
  private var chains: [RecordID: Chain] = [:]
  /// The records whose first write may be ready.
  private var ready: [RecordID] = []
  /// How many of these, the first, were taken.
  private var takenCount = 0
  /// The records of which what they waited for has come: they are next.
  private var woken: [RecordID] = []
  private(set) var busyCount = 0
  private var lines = CreationLines()

  // MARK: Adding

  mutating func add(_ job: Job) {
    jobs[job.id] = job
    if let record = job.createdRecord { lines.add(job.id, record) }
    for item in job.items.dropFirst(job.done) {
      chains[item.record, default: Chain()].jobs.append(job.id)
      ready.append(item.record)
    }
  }

  /// Has all records examined again.
  mutating func retry() {
    (ready, takenCount) = (chains.keys.sorted { first($0) < first($1) }, 0)
  }

  /// Has the first writes of a busy record wait until `wake`.
  mutating func wait(_ record: RecordID) { chains[record]?.isWaiting = true }

  /// Has the writes of a busy record wait until `release`: nobody knows whether the first was done.
  mutating func suspend(_ record: RecordID) {
    guard chains[record]?.isBusy == true, chains[record]?.isSuspended == false else { return }
    chains[record]?.isSuspended = true
    busyCount -= 1
  }

  /// The records of which something is under way, or waits for `wake`.
  var busyRecords: [RecordID] {
    chains.filter { $0.value.isBusy && !$0.value.isSuspended }.map(\.key)
  }

  /// True if the writes of a record wait for `wake`.
  func isWaiting(_ record: RecordID) -> Bool { chains[record]?.isWaiting == true }

  /// Ends the waiting of a record's writes, if they wait.
  mutating func wake(_ record: RecordID) {
    guard isWaiting(record) else { return }
    release(record)
    woken.append(record)
  }

  private func first(_ record: RecordID) -> Int64 { chains[record]?.jobs.first ?? .max }

  // MARK: The order of creations

  /// Notes that a call with the first writes of a busy record is under way.
  mutating func leave(_ record: RecordID) { chains[record]?.hasLeft = true }

  /// True if the creation of a record, which is a write, can leave; `isAlone` if none may be under way then.
  mutating func isNextCreation(_ record: RecordID, _ id: Int64, isAlone: Bool) -> Bool {
    lines.isNext(record.service, id) { [jobs, chains] in
      ServiceWrites.state($0, jobs, chains[$1], isAlone)
    }
  }

  /// Has the creation of a busy record wait for those before it; it is next once they have left.
  mutating func hold(_ record: RecordID, isAlone: Bool) {
    free(record)
    lines.hold(record, isAlone: isAlone)
  }

  /// Takes a held creation that is the next of its service now.
  private mutating func takeHeld() -> RecordID? {
    lines.takeHeld { [jobs, chains] in ServiceWrites.state($0, jobs, chains[$1], $2) }
  }

  private static func state(
    _ id: Int64, _ jobs: [Int64: Job], _ chain: Chain?, _ isAlone: Bool
  ) -> CreationLines.State {
    guard jobs[id] != nil, let chain else { return .gone }
    if chain.isSuspended { return .passed }
    return chain.hasLeft && !isAlone ? .passed : .open
  }

  // MARK: Sending

  /// Takes the next record whose first writes can be sent; it is busy from then on.
  ///
  /// - Returns: the record, and the writes that can become one call; nil if there is none.
  mutating func next() -> (record: RecordID, jobs: [Job])? {
    while let record = takeReady() {
      guard let chain = chains[record], !chain.isBusy, let id = chain.jobs.first,
        let job = jobs[id], job.items[job.done].record == record
      else { continue }
      var together = [job]
      if job.items.count == 1, !job.adds, !chain.isSingle {
        for id in chain.jobs.dropFirst() {
          guard let next = jobs[id], next.items.count == 1, !next.adds else { break }
          together.append(next)
        }
      }
      chains[record]?.isBusy = true
      busyCount += 1
      return (record, together)
    }
    return nil
  }

  /// Takes the first record out of those that may be ready; the room of the taken ones is given up when they
  /// are half of all.
  private mutating func takeReady() -> RecordID? {
    if !woken.isEmpty { return woken.removeFirst() }
    if let record = takeHeld() { return record }
    guard takenCount < ready.count else { return nil }
    let record = ready[takenCount]
    takenCount += 1
    if takenCount * 2 >= ready.count {
      ready.removeFirst(takenCount)
      takenCount = 0
    }
    return record
  }

  /// Notes that the server did the first writes of a record.
  ///
  /// - Returns: the writes that are done altogether.
  mutating func finish(_ record: RecordID, _ ids: [Int64]) -> [Int64] {
    release(record)
    chains[record]?.jobs.removeFirst(ids.count)
    if chains[record]?.jobs.isEmpty == true { chains[record] = nil }
    var finished: [Int64] = []
    for id in ids {
      // What was not under way cannot be done: no record is passed over.
      guard var job = jobs[id], job.items[job.done].record == record else { continue }
      job.done += 1
      jobs[id] = job.done < job.items.count ? job : nil
      if job.done < job.items.count {
        ready.append(job.items[job.done].record)
      } else {
        finished.append(id)
      }
    }
    return finished
  }

  /// Notes that the server refused the first writes of a record.
  ///
  /// - Returns: the write that is refused; nil if those that were sent together are sent one by one.
  mutating func refuse(_ record: RecordID, _ ids: [Int64]) -> Job? {
    release(record)
    guard ids.count == 1 else {
      chains[record]?.isSingle = true
      return nil
    }
    return drop(ids[0])
  }

  /// Notes that the replica was told of so many records that are done.
  mutating func noteTold(_ id: Int64, _ count: Int) { jobs[id]?.toldCount = count }

  /// Takes out a write that was given up, of which nothing is under way.
  mutating func giveUp(_ id: Int64) {
    guard let job = jobs[id] else { return }
    let record = job.items[job.done].record
    if chains[record]?.jobs.first == id { release(record) }
    _ = drop(id)
  }

  /// Has a write end with the record that is under way.
  mutating func cut(_ id: Int64) {
    guard let job = jobs[id] else { return }
    for item in job.items.dropFirst(job.done + 1) {
      chains[item.record]?.jobs.removeAll { $0 == id }
      if chains[item.record]?.jobs.isEmpty == true { chains[item.record] = nil }
      ready.append(item.record)
    }
    jobs[id]?.items = Array(job.items.prefix(job.done + 1))
  }

  /// Takes a write out of all its chains; the later ones are as if it had not been made.
  private mutating func drop(_ id: Int64) -> Job? {
    guard let job = jobs.removeValue(forKey: id) else { return nil }
    for item in job.items.dropFirst(job.done) {
      let changes = item.edits.compactMap(\.change)
      rebase(item.record, changes, after: id) { $0.takenBack(from: $1, at: $2) }
      chains[item.record]?.jobs.removeAll { $0 == id }
      if chains[item.record]?.jobs.isEmpty == true { chains[item.record] = nil }
      ready.append(item.record)
    }
    return job
  }

  /// Notes what the server has made of a record beyond what its writes say, for those that wait.
  mutating func carry(_ change: NodeChange, to record: RecordID) {
    guard let first = chains[record]?.jobs.first else { return }
    rebase(record, [change], after: first - 1) { $0.carried(into: $1, at: $2) }
  }

  /// Changes the bases of a record's writes after a write, until one replaces what has changed.
  private mutating func rebase(
    _ record: RecordID, _ changes: [NodeChange], after id: Int64,
    _ change: (NodeChange, Node, Path) -> Node
  ) {
    var changes = changes
    for later in chains[record]?.jobs ?? [] where later > id {
      if changes.isEmpty { return }
      guard let place = jobs[later]?.items.firstIndex(where: { $0.record == record }),
        let edits = jobs[later]?.items[place].edits
      else { continue }
      for (index, edit) in edits.enumerated() {
        guard let base = edit.base else { continue }
        let path = Path(unchecked: edit.below)
        jobs[later]?.items[place].edits[index].base = changes.reduce(base) { change($1, $0, path) }
      }
      changes.removeAll { change in
        edits.contains { Path(unchecked: $0.below).contains(change.path) }
      }
    }
  }

  /// Notes that nothing is under way for a record: its writes are examined again.
  mutating func release(_ record: RecordID) {
    free(record)
    ready.append(record)
  }

  private mutating func free(_ record: RecordID) {
    if chains[record]?.isBusy == true, chains[record]?.isSuspended == false { busyCount -= 1 }
    chains[record]?.isBusy = false
    chains[record]?.isSuspended = false
    chains[record]?.isWaiting = false
    chains[record]?.hasLeft = false
  }

  /// A record's writes, in their order.
  func jobs(of record: RecordID) -> [Job] { ids(of: record).compactMap { jobs[$0] } }

  /// The ids of a record's writes.
  func ids(of record: RecordID) -> [Int64] { chains[record]?.jobs ?? [] }
}
