import RunnelBase
import RunnelServices
import RunnelTree

// Writes: which calls they become, and what becomes of them.

/// A call that carries out writes of one record.
struct WriteCall: Sendable {
  enum Kind { case create, change, remove }

  var kind: Kind
  var record: RecordID
  /// The key of the record at the server.
  var target: Key
  /// The writes, in their order.
  var ids: [Int64]
  /// What the record was, and what it is to be.
  var before: Node
  var node: Node
  /// The version that the record has to have, and what it was then; nil if it may have any.
  var version: (field: String, value: JSONValue, base: Node)?
  /// The last event before the call was made.
  var since: Int
}

extension ServiceOrigin {
  /// The most calls with writes that are under way.
  private static let callsMax = 64
  /// The replica is told of the records of a write that are done when there are more than this part of the rest.
  private static let progressShare = 10
  /// How long writes wait for somebody to sign in before they are tried again, in milliseconds.
  static let signInPause = pauseMax

  // MARK: Taking writes

  mutating func enqueue(
    _ id: Int64, _ write: Write, _ bases: [Path: Node], doneBefore: Int
  ) {
    if sent.additions.remove(id) != nil {
      // What is done twice adds twice.
      sent.unknown.insert(id)
    }
    do throws(TreeError) {
      let items = renamed(try ServiceOrigin.items(of: write, bases))
      for service in Set(items.map(\.record.service)).sorted() { begin(service) }
      let adds = items.contains { $0.edits.contains { $0.json.adds } }
      if items.isEmpty {
        messages.append(.acknowledged(id: id))
      } else {
        // Where an earlier connection, or an earlier run, has come to.
        let next = sent.progress[id]
        let done = next.flatMap { next in
          items.firstIndex { ServiceOrigin.alias($0.record) == next }
        }
        let job = ServiceWrites.Job(
          id: id, items: items, doneBefore: doneBefore, done: done ?? 0, adds: adds)
        // A creation that is no part of the write any more was done: what is on disk was behind.
        if let record = sent.creations[id]?.record,
          record != ServiceOrigin.alias(items[job.done].record)
        {
          sent.creations[id] = nil
          isUnsaved = true
        }
        tellProgress(job)
        queue.add(job)
      }
    } catch {
      messages.append(.rejected(id: id, error))
    }
  }

  /// Returns what a write does to each record, in its order.
  private static func items(
    of write: Write, _ bases: [Path: Node]
  ) throws(TreeError) -> [ServiceWrites.Item] {
    var parts: [(path: Path, json: JSONValue)] = []
    switch write {
    case .set(let path, let json): parts = [(path, json)]
    case .update(let path, let members):
      for member in members {
        if member.name.hasSuffix(".priority") {
          throw TreeError(.invalidValue, "Records of a Feathers service have no priorities.")
        }
        parts.append((try path.appending(Path(member.name)), member.value))
      }
    case .copy, .move:
      throw TreeError(.invalidValue, "A Feathers service does not copy or move records.")
    }
    var items: [ServiceWrites.Item] = []
    var indices: [RecordID: Int] = [:]
    for part in parts {
      guard part.path.keys.count > 1 else {
        throw TreeError(
          .invalidPath, "A Feathers service is not replaced as a whole: change its records.",
          path: part.path.description)
      }
      let record = RecordID(service: part.path.keys[0], key: part.path.keys[1])
      let edit = ServiceWrites.Edit(
        below: Array(part.path.keys.dropFirst(2)), json: part.json, base: bases[part.path])
      if let index = indices[record] {
        items[index].edits.append(edit)
      } else {
        indices[record] = items.count
        items.append(ServiceWrites.Item(record: record, edits: [edit]))
      }
    }
    return items
  }

  // MARK: Sending

  /// Sends the writes that are ready.
  mutating func sendWrites(_ now: Int64) {
    // Several are begun at once, so that what is sent is kept on disk for all of them together.
    if queue.busyCount > ServiceOrigin.callsMax / 2 { return }
    var begun: [Effect] = []
    while queue.busyCount < ServiceOrigin.callsMax, let (record, jobs) = queue.next() {
      if let effect = begin(record, jobs, now) { begun.append(effect) }
    }
    if isUnsaved, !begun.isEmpty { save() }
    effects += begun
  }

  /// The key of a record at the server.
  func target(of record: RecordID) -> Key {
    sent.aliases[ServiceOrigin.alias(record)].flatMap { try? Key($0) } ?? record.key
  }

  /// Begins to carry out the first writes of a record; returns the call.
  private mutating func begin(
    _ record: RecordID, _ jobs: [ServiceWrites.Job], _ now: Int64
  ) -> Effect? {
    let service = record.service
    let name = ServiceOrigin.alias(record)
    if sent.aliases[name] == nil, let key = newKey(record, jobs[0].items[jobs[0].done].edits) {
      sent.aliases[name] = key.text
    }
    let alias = sent.aliases[name].flatMap { try? Key($0) }
    let target = alias ?? record.key
    if sent.unknown.contains(jobs[0].id) {
      queue.suspend(record)
      return nil
    }
    if alias == nil, let creation = sent.creations[jobs[0].id] {
      return search(record, creation, jobs[0].id)
    }
    let current = mirror.node(service, target)
    let isNew = alias == nil && isNewKey(record, jobs[0])
    if isNew || current.isEmpty && isKnown(service, target) {
      if jobs[0].createdRecord != nil,
        !queue.isNextCreation(record, jobs[0].id, isAlone: isTextual)
      {
        queue.hold(record, isAlone: isTextual)
        return nil
      }
      if awaitsMark(record, jobs[0], now) { return nil }
    }
    if current.isEmpty, !isNew, !isKnown(service, target) {
      queue.wait(record)
      fetch(service, target)
      return nil
    }
    let isUnread = isAllowedUnread(jobs)
    if !isNew, !fresh.contains(record),
      mustBeRead(target, of: service, current)
        || (isUnread || checks[record] != nil) && !current.isEmpty
    {
      queue.wait(record)
      fetch(service, target)
      return nil
    }
    noteCheck(of: record, current)
    let ids = jobs.map(\.id)
    do throws(TreeError) {
      let node: Node
      switch try merged(jobs, of: record, on: current, now) {
      case .node(let merged): node = merged
      case .conflict(let id, let error):
        refuse(record, [id], error)
        return nil
      }
      checks[record] = nil
      fresh.remove(record)
      guard let (kind, plain) = request(record, target, current, node) else {
        finish(record, ids)
        return nil
      }
      var request = plain
      if kind == .create { noteCreation(record, request, ids[0], now) }
      for job in jobs where job.adds && kind != .create {
        sent.additions.insert(job.id)
        isUnsaved = true
      }
      var call = WriteCall(
        kind: kind, record: record, target: target, ids: ids, before: current, node: node,
        since: news.last)
      if kind != .create, !isUnread, let (field, value) = version(of: current, target, service) {
        call.version = (field, value, current)
        request.query = request.query.eq(field, value)
      }
      let number = number(.write(call))
      queue.leave(record)
      return .call(number, path: ServiceMirror.path(of: service), request)
    } catch {
      refuse(record, ids, error)
      return nil
    }
  }

  /// True if a write makes a record under a key that can be no server's.
  private func isNewKey(_ record: RecordID, _ job: ServiceWrites.Job) -> Bool {
    guard record.key.isGenerated, job.items[job.done].edits.first?.below.isEmpty == true else {
      return false
    }
    // Some servers make keys of the same form.
    return !mirror.hasGeneratedKeys(record.service)
  }

  static func alias(_ record: RecordID) -> String {
    record.service.text + "/" + record.key.text
  }

  /// Returns the call that makes a record so; nil if it is so already.
  private func request(
    _ record: RecordID, _ target: Key, _ current: Node, _ node: Node
  ) -> (WriteCall.Kind, ServiceRequest)? {
    if current == node { return nil }
    let service = record.service
    let id = mirror.id(of: service, target)
    if node.isEmpty { return (.remove, .remove(id: id)) }
    var data = ServiceRecordCoding.decoded(node.json)
    if data.object == nil { data = ["value": data] }
    let idField = mirror.knownIDField(of: service)
    if current.isEmpty {
      if !record.key.isGenerated, data[idField] == nil {
        data = data.setting(idField, to: .string(id.text))
      }
      return (.create, .create(data: data))
    }
    data = .object((data.object ?? []).filter { $0.name != idField })
    let keys = Set(current.children.map(\.key)).union(node.children.map(\.key))
      .filter { current[$0] != node[$0] }
    // A field goes only if the record is replaced.
    if keys.isEmpty || keys.contains(where: { node[$0].isEmpty }) {
      return (.change, .update(id: id, data: data))
    }
    let names = Set(keys.map { ServiceRecordCoding.name(of: $0.text) })
    let fields = (data.object ?? []).filter { names.contains($0.name) }
    return (.change, .patch(id: id, data: .object(fields)))
  }

  // MARK: Answers

  mutating func answered(
    _ call: WriteCall, _ answer: Result<JSONValue, FeathersError>, _ now: Int64
  ) {
    settleDoubt(call, answer)
    switch answer {
    case .success(let json) where call.kind == .create && ServiceResult(json).record == nil:
      tookNoRecord(call)
    case .success(let json): done(call, json)
    case .failure(let error) where call.version != nil && [400, 404, 410].contains(error.code):
      check(call, error)
    case .failure(let error) where call.kind == .remove && [404, 410].contains(error.code):
      done(call, .null)
    case .failure(let error) where error.code == 401:
      forgetAnswered(call.ids)
      queue.release(call.record)
      effects.append(.signedOut(error.message))
      pause(now, ServiceOrigin.signInPause)
    case .failure(let error) where error.isRetryable:
      pause(now)
      if !error.mayBeDone {
        forgetAnswered(call.ids)
      } else if let key = born(call.ids[0]) {
        adopt(key, for: call.record, call.ids)
        break
      } else if let id = call.ids.first(where: { sent.additions.contains($0) }) {
        setUnknown(call.record, id)
        break
      }
      if error.code == 503, error.data?["isSent"] == nil {
        // The server says itself that it is not at work.
        sent.creations[call.ids[0]]?.searchCount = searchPauses.count
        (isUnsaved, isToSave) = (true, true)
      }
      queue.release(call.record)
    case .failure(let error):
      forget(call.ids)
      refuse(call.record, call.ids, error.treeError)
    }
    if !isCreating(call.record.service) { releaseHeld(call.record.service) }
  }

  /// Forgets that writes may have been done, since they were not, or are answered.
  mutating func forget(_ ids: [Int64]) {
    for id in ids {
      sent.creations[id] = nil
      sent.additions.remove(id)
      births[id] = nil
      awaited[id] = nil
    }
  }

  /// Forgets the same of writes that are sent later: a next run must not take them for sent.
  private mutating func forgetAnswered(_ ids: [Int64]) {
    forget(ids)
    (isUnsaved, isToSave) = (true, true)
  }

  /// The server did the writes of a call.
  private mutating func done(_ call: WriteCall, _ json: JSONValue) {
    let service = call.record.service
    var key = call.target
    var made: Node?
    if call.kind == .remove {
      services[service]?.absent.insert(key)
      put([Child(key: key, node: .empty)], service)
    } else if let child = child(ServiceResult(json).record ?? .null, service) {
      if call.kind == .create {
        key = child.key
        // What is sent from now on is newer.
        services[service]?.newest.mark?.note(ServiceResult(json).record ?? .null)
        claim(key, of: service, call.ids[0])
      }
      releaseHeld(service, child.key)
      if child.key == key { made = child.node }
    } else if call.kind == .change {
      made = call.node
    }
    if let made { put(made, by: call, key) }
    settle(call.record, call.ids, key)
    if let made {
      if !queue.ids(of: call.record).isEmpty { fresh.insert(call.record) }
      carry(NodeChange(path: .root, before: call.node, after: made), to: call.record)
    }
  }

  /// Notes what a call has made of a record.
  private mutating func put(_ made: Node, by call: WriteCall, _ key: Key) {
    let service = call.record.service
    guard hasNews(service, key, since: call.since) else {
      return put([Child(key: key, node: made)], service)
    }
    // An event that came since may be older than the call, or newer: what it has changed stays.
    let known = mirror.node(service, key)
    if known.isEmpty { return }
    let change = NodeChange(path: .root, before: call.before, after: made)
    put([Child(key: key, node: change.carried(into: known, at: .root))], service)
  }

  /// Acknowledges writes of a record, which has this key at the server.
  mutating func settle(_ record: RecordID, _ ids: [Int64], _ key: Key) {
    for id in ids { awaited[id] = nil }
    let isRenamed = key != record.key
    if isRenamed, queue.ids(of: record).count > ids.count {
      sent.aliases[ServiceOrigin.alias(record)] = key.text
      save()
    }
    finish(record, ids)
    if isRenamed {
      // The replica keeps what it wrote where the server has told nothing.
      let place = ServiceMirror.place(record.service, record.key)
      messages.append(.push(.set(.empty), place, tag: nil))
      newPlaces[place] = ServiceMirror.place(record.service, key)
      note(newKey: key, of: record)
    }
  }

  mutating func finish(_ record: RecordID, _ ids: [Int64]) {
    // A write that ends is then the one of its last record: the others' temporary keys are gone.
    for id in ids {
      if let job = queue.jobs[id], job.done + 1 == job.items.count { tellProgress(job) }
    }
    // What is kept on disk names them until the replica was told.
    settledIDs += queue.finish(record, ids)
    for id in ids {
      if let job = queue.jobs[id] {
        forget([id])
        sent.progress[id] = ServiceOrigin.alias(job.items[job.done].record)
        isUnsaved = true
        tellProgressNowAndThen(job)
      } else {
        messages.append(.acknowledged(id: id))
      }
    }
    forgetReading(of: record)
  }

  /// Refuses the writes of a record, or has those that were sent together sent one by one.
  mutating func refuse(_ record: RecordID, _ ids: [Int64], _ error: TreeError) {
    guard let job = queue.refuse(record, ids) else { return }
    forgetReading(of: record)
    tellProgress(job)
    noteNewPlaces(of: job)
    settledIDs.append(job.id)
    var error = error
    error.message += job.refusedWords
    messages.append(.rejected(id: job.id, error))
  }

  /// Tells the replica which records of a write are done: they are no part of it any more.
  ///
  /// O(n) in the records that it was not told of.
  mutating func tellProgress(_ job: ServiceWrites.Job) {
    if let message = news(of: job) { progress.append(message) }
  }

  private mutating func news(of job: ServiceWrites.Job) -> OriginMessage? {
    let records = job.items[job.toldCount..<job.done].map(\.record)
    if records.isEmpty { return nil }
    queue.noteTold(job.id, job.done)
    return .partlyDone(id: job.id, records.map { ServiceMirror.place($0.service, $0.key) })
  }

  /// Does the same when so many records are done that it is worth it: the replica writes the rest anew each time.
  ///
  /// Until then a new record is shown twice, under its temporary key too.
  private mutating func tellProgressNowAndThen(_ job: ServiceWrites.Job) {
    let rest = job.items.count - job.done
    guard job.done - job.toldCount > rest / ServiceOrigin.progressShare else { return }
    laterProgress.insert(job.id)
  }

  /// Takes what the replica is told at the end of a step of the writes that go on.
  ///
  /// A record counts as told only now: the next one of its write may be refused in the same step, and no news
  /// reaches a write that has ended.
  mutating func takeLaterProgress() -> [OriginMessage] {
    defer { laterProgress = [] }
    var told: [OriginMessage] = []
    for id in laterProgress.sorted() {
      if let job = queue.jobs[id], let message = news(of: job) { told.append(message) }
    }
    return told
  }

  /// A record was read, or cannot be at the moment: its writes are examined again.
  mutating func wakeWrites(_ service: Key, _ key: Key, isRead: Bool) {
    for record in waiting(for: service, key) { wake(record, isRead: isRead) }
  }

  mutating func wake(_ record: RecordID, isRead: Bool) {
    if isRead {
      fresh.insert(record)
      unreadRecords.failures[record] = nil
    }
    queue.wake(record)
  }

  /// Forgets what was found out for the writes of a record if none is left.
  private mutating func forgetReading(of record: RecordID) {
    guard queue.ids(of: record).isEmpty else { return }
    fresh.remove(record)
    checks[record] = nil
  }
}

extension JSONValue {
  /// True if a value adds to what is there.
  fileprivate var adds: Bool {
    switch self {
    case .object(let members):
      members.contains { member in
        member.name == ".sv" ? member.value.object != nil : member.value.adds
      }
    case .array(let elements): elements.contains(where: \.adds)
    default: false
    }
  }
}

extension Key {
  /// True for a key as programs make it: a server gives the record an id of its own.
  var isGenerated: Bool { text.utf8.count == 20 && text.hasPrefix("-") }
}
