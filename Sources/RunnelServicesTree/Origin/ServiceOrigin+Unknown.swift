package import RunnelBase
package import RunnelServices
import RunnelTree

// Creations of which it is not known whether they were done.
//
// Right after a break, or a time limit, the server may still be at work: that it has no such record tells nothing.
// So the server is searched again a few times before the record is sent again.
//
// Source: services protocol, section 11.5.

/// A creation that may still be done.
struct AwaitedCreation: Sendable {
  var record: RecordID
  /// When the server is searched again; nil while it is.
  var time: Int64?
}

/// A creation that was sent again.
struct RepeatedCreation: Sendable {
  var service: Key
  var data: JSONValue
  /// The keys of equal records that are others.
  var known: Set<String>
  var time: Int64
  /// The keys of the records that it may have made.
  var keys: Set<Key> = []
}

extension ServiceOrigin {
  // MARK: Waiting

  /// The pause before another search while an equal record is being created, in milliseconds.
  static let equalPause: Int64 = 1_000

  /// Has the server searched again later; false if that was done often enough.
  mutating func awaitCreation(_ record: RecordID, _ id: Int64, _ now: Int64) -> Bool {
    guard let count = sent.creations[id]?.searchCount else { return false }
    if count >= searchPauses.count {
      // Each connection begins with a search: many short ones make the wait no shorter.
      let since = sent.creations[id]?.searchedSince ?? .min
      let end = searchPauses.reduce(since, &+)
      guard since <= now, now < end else { return false }
      searchLater(record, id, end)
      return true
    }
    if sent.creations[id]?.searchedSince == nil { sent.creations[id]?.searchedSince = now }
    sent.creations[id]?.searchCount += 1
    isUnsaved = true
    searchLater(record, id, now + searchPauses[count])
    return true
  }

  /// Has the server searched at a time, unless an event or an answer comes before.
  mutating func searchLater(_ record: RecordID, _ id: Int64, _ time: Int64) {
    if awaited[id] == nil, let job = queue.jobs[id] { tellProgress(job) }
    awaited[id] = AwaitedCreation(record: record, time: time)
    if births[id] == nil { births[id] = Births(service: record.service) }
    queue.suspend(record)
  }

  /// The longest pause before a search.
  private var searchPauseMax: Int64 { max(searchPauses.max() ?? 0, ServiceOrigin.equalPause) }

  /// When the first search is due.
  var searchTime: Int64? { awaited.values.compactMap(\.time).min() }

  /// Begins the searches that are due, also after a step back of the clock.
  mutating func endAwaiting(_ now: Int64) {
    for id in awaited.keys.sorted() {
      guard let time = awaited[id]?.time, time <= now || time > now + searchPauseMax else {
        continue
      }
      searchNow(id)
    }
  }

  /// Ends the waiting of the creations whose records events have told of.
  mutating func adoptAwaited() {
    for id in awaited.keys.sorted() where awaited[id]?.time != nil && born(id) != nil {
      searchNow(id)
    }
  }

  /// Takes the answer to a creation that had ended at its time limit, on the same connection.
  package mutating func answeredLate(
    _ number: Int, _ answer: Result<JSONValue, FeathersError>, now: Int64
  ) -> [Effect] {
    guard let call = late.removeValue(forKey: number), let id = call.ids.first else { return [] }
    let isOpen = awaited[id] != nil || sent.unknown.contains(id)
    if isOpen, queue.ids(of: call.record).starts(with: call.ids) {
      if case .failure(let error) = answer, error.mayBeDone { return [] }
      endSearch(call.record)
      awaited[id] = nil
      if sent.unknown.remove(id) != nil { save() }
      answered(call, answer, now)
    } else if case .success(let json) = answer, let record = ServiceResult(json).record,
      let key = mirror.key(of: record, in: call.record.service)
    {
      noteTwin(call.record.service, key, record)
    }
    return finishStep(now)
  }

  private mutating func searchNow(_ id: Int64) {
    guard let record = awaited[id]?.record else { return }
    awaited[id]?.time = nil
    queue.release(record)
  }

  /// True if another record with the same data is being created.
  func isSendingEqual(_ id: Int64) -> Bool {
    guard let data = sent.creations[id]?.data else { return false }
    return calls.values.contains { call in
      guard case .write(let write) = call, write.kind == .create, write.ids[0] != id else {
        return false
      }
      return sent.creations[write.ids[0]]?.data == data
    }
  }

  // MARK: Twins

  /// The longest time after which a record is taken for one that was sent again, in milliseconds.
  private static let repeatMilliseconds: Int64 = 600_000
  /// The most creations sent again that are remembered.
  private static let repeatsMax = 100

  /// Notes that a creation is sent again: a second record may come.
  mutating func noteRepeat(_ record: RecordID, _ id: Int64, _ now: Int64) {
    guard let creation = sent.creations[id] else { return }
    repeats = repeats.filter { now - $0.value.time < ServiceOrigin.repeatMilliseconds }
    if repeats.count >= ServiceOrigin.repeatsMax { return }
    repeats[id] = RepeatedCreation(
      service: record.service, data: creation.data, known: Set(creation.known), time: now)
  }

  /// Notes a new record, which may be the second one that a creation has made.
  mutating func noteTwin(_ service: Key, _ key: Key, _ record: JSONValue) {
    for (id, item) in repeats where item.service == service && !item.known.contains(key.text) {
      guard let fields = item.data.object, !fields.isEmpty,
        fields.allSatisfy({ (record[$0.name] ?? .null) == $0.value })
      else { continue }
      let isOther = calls.values.contains { call in
        guard case .write(let write) = call, write.kind == .create, write.ids[0] != id else {
          return false
        }
        return sent.creations[write.ids[0]]?.data == item.data
      }
      if isOther { continue }
      repeats[id]?.keys.insert(key)
      tellTwins(id)
    }
  }

  /// Notes the record that a creation has made.
  mutating func noteTwin(_ key: Key, of service: Key, madeBy id: Int64) {
    for other in repeats.keys.map(\.self) where repeats[other]?.service == service {
      if other == id {
        repeats[id]?.keys.insert(key)
        tellTwins(id)
      } else {
        repeats[other]?.known.insert(key.text)
        repeats[other]?.keys.remove(key)
      }
    }
  }

  private mutating func tellTwins(_ id: Int64) {
    guard let item = repeats[id], item.keys.count > 1 else { return }
    repeats[id] = nil
    let names = item.keys.sorted().map { ServiceRecordCoding.name(of: $0.text) }
    effects.append(
      .doubled(
        path: ServiceMirror.path(of: item.service),
        "\(names.joined(separator: " and ")) may be one record twice: it was sent again, as no answer came"
      ))
  }

  // MARK: Unknown outcomes

  /// The server answered a creation by something that is no record: it is looked for, and not sent again unless
  /// the user says so.
  mutating func tookNoRecord(_ call: WriteCall) {
    let id = call.ids[0]
    if let key = born(id) { return adopt(key, for: call.record, call.ids) }
    guard sent.creations[id] != nil, sent.aliases[ServiceOrigin.alias(call.record)] == nil else {
      return setUnknown(call.record, id)
    }
    noteAnswered(id)
    queue.release(call.record)
  }

  /// Notes that the server answered a creation, though not by the record.
  mutating func noteAnswered(_ id: Int64) {
    guard sent.creations[id] != nil else { return }
    sent.creations[id]?.isAnswered = true
    isUnsaved = true
  }

  /// The writes of unknown outcome, oldest first: they are not sent unless the user says so, or nothing is found of
  /// them for a while.
  package var unknownWrites: [Int64] { sent.unknown.union(awaited.keys).sorted() }

  /// Notes that nobody can find out whether the first write of a record was done.
  mutating func setUnknown(_ record: RecordID, _ id: Int64) {
    forget([id])
    sent.unknown.insert(id)
    queue.suspend(record)
    if let job = queue.jobs[id] { tellProgress(job) }
    save()
  }

  /// Sends a write of unknown outcome again: it may be done a second time.
  package mutating func sendAgain(_ id: Int64, now: Int64) -> [Effect] {
    let waiting = awaited[id]
    guard sent.unknown.remove(id) != nil || waiting != nil else { return [] }
    if let waiting {
      endSearch(waiting.record)
      noteRepeat(waiting.record, id, now)
      forget([id])
    }
    save()
    if let record = record(of: id) { queue.release(record) }
    return finishStep(now)
  }

  /// Forgets a write that was given up: what is under way of it is the last that is done.
  package mutating func dropped(_ id: Int64, now: Int64) -> [Effect] {
    let isUnknown = sent.unknown.remove(id) != nil
    if let waiting = awaited[id] {
      endSearch(waiting.record)
      forget([id])
    }
    if let job = queue.jobs[id] {
      if isCalled(id) { queue.cut(id) } else { queue.giveUp(id) }
      if job.items.count > 1 {
        effects.append(
          .note("Write #\(id) was given up after \(job.done) of \(job.items.count) records."))
      }
    }
    sent.progress[id] = nil
    if isUnknown { save() }
    return finishStep(now)
  }

  /// Gives up the search for a record: its answer is ignored.
  private mutating func endSearch(_ record: RecordID) {
    calls = calls.filter { _, call in
      switch call {
      case .search(record, _), .changed(record, _): false
      default: true
      }
    }
  }

  /// True if a call is under way that carries out a write, or looks for what it has done.
  private func isCalled(_ id: Int64) -> Bool {
    calls.values.contains { call in
      switch call {
      case .write(let write): write.ids.contains(id)
      case .search(let record, _), .changed(let record, _): queue.ids(of: record).first == id
      case .page, .record, .sample, .mark: false
      }
    }
  }

  private func record(of id: Int64) -> RecordID? {
    queue.jobs[id].map { $0.items[$0.done].record }
  }
}
