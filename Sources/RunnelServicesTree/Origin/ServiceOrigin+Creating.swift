package import RunnelBase
package import RunnelServices
package import RunnelTree

// What becomes of a record that was sent to be created if the answer is lost.
//
// An event that tells of such a record, on the connection on which it was sent, settles it. Otherwise the
// server is searched. A record that is found is the one only if it was not there before: it is compared with
// the newest record of that time. If that does not tell, the outcome is unknown, and the user decides.
//
// Source: services protocol, section 11.5.

/// What is known of the newest record of a service.
struct NewestRecord: Sendable {
  /// The mark; nil if the records do not show which is the newest.
  var mark: CreationMark?
  /// When the server was asked for it; nil for never.
  var time: Int64?
  var isAsked = false
  /// A record, which shows by which field the newest is found.
  var example: JSONValue?
  /// The records whose creation waits for it.
  var waiting: [RecordID] = []
}

/// The records that a creation may have made: events told of them after it was sent.
struct Births: Sendable {
  var service: Key
  var keys: [Key] = []
  /// These records, as they were told.
  var records: [Key: JSONValue] = [:]
}

extension ServiceOrigin {
  // MARK: Before it is sent

  /// The longest age of a mark, in milliseconds; events tell what is created after it, if there are any.
  private var markMilliseconds: Int64 { isTextual ? 1_000 : 30_000 }
  /// The most known records like a new one that are kept.
  private static let alikeMax = 1_000

  /// Has the creation of a record wait until it is known which record is the newest; false if it is known, or
  /// cannot be found out.
  mutating func awaitsMark(_ record: RecordID, _ job: ServiceWrites.Job, _ now: Int64) -> Bool {
    let service = record.service
    guard record.key.isGenerated, job.items[job.done].edits.first?.below.isEmpty == true,
      let state = services[service], isTextual || !state.isWhole(nil)
    else { return false }
    if !state.newest.isAsked, !state.isSampling {
      if let time = state.newest.time, now - time < markMilliseconds { return false }
      if state.isSampled {
        guard let idField = mirror.idField(of: service), let example = state.newest.example,
          let field = CreationMark.field(of: example, idField: idField)
        else { return false }
        services[service]?.newest.isAsked = true
        services[service]?.newest.mark = CreationMark(field: field)
        let query = ServiceQuery().sort(field, .descending).limit(1)
        effects.append(
          .call(number(.mark(service)), path: ServiceMirror.path(of: service), .find(query: query)))
      } else {
        sample(service)
      }
    }
    queue.wait(record)
    services[service]?.newest.waiting.append(record)
    return true
  }

  /// Takes the newest record.
  mutating func marked(
    _ service: Key, _ answer: Result<JSONValue, FeathersError>, _ now: Int64
  ) {
    services[service]?.newest.isAsked = false
    services[service]?.newest.time = now
    if case .success(let json) = answer, let record = ServiceResult(json).records.first {
      if let key = mirror.key(of: record, in: service) { services[service]?.seen.insert(key) }
      services[service]?.newest.mark?.note(record)
    }
    // Without a value a mark says that there is no record.
    if services[service]?.newest.mark?.value == nil { services[service]?.newest.mark = nil }
    wakeCreations(service)
  }

  /// Takes one of a service's records, or nil if there is none, or none is told.
  mutating func noteExample(
    _ answer: Result<JSONValue?, FeathersError>, _ service: Key, _ now: Int64
  ) {
    switch answer {
    case .success(let record?):
      services[service]?.newest.example = record
      if let key = mirror.key(of: record, in: service) { services[service]?.seen.insert(key) }
    case .success(nil):
      services[service]?.newest.mark = CreationMark(field: mirror.knownIDField(of: service))
      services[service]?.newest.time = now
    case .failure: services[service]?.newest.time = now
    }
    wakeCreations(service)
  }

  /// The creations that waited for the newest record are examined again.
  private mutating func wakeCreations(_ service: Key) {
    let waiting = services[service]?.newest.waiting ?? []
    services[service]?.newest.waiting = []
    for record in waiting { queue.wake(record) }
  }

  /// Notes what is asked to be created, which known records are like it, and which is the newest.
  ///
  /// O(k) in the known records with the longest of its texts; in all known records if it has none.
  mutating func noteCreation(
    _ record: RecordID, _ request: ServiceRequest, _ id: Int64, _ now: Int64
  ) {
    let service = record.service
    let data = request.data ?? .null
    let alike =
      if let first = ServiceOrigin.longestText(of: data) {
        mirror.records(of: service, with: first.text, in: first.key)
      } else {
        mirror.records(of: service)
      }
    let known = alike.filter { child in
      ServiceOrigin.hasScalars(of: data, mirror.record(child.node, child.key, of: service))
    }
    var creation = SentWrites.Creation(
      record: ServiceOrigin.alias(record), data: data,
      known: known.prefix(ServiceOrigin.alikeMax).map(\.key.text))
    let hasID = data[mirror.knownIDField(of: service)] != nil
    creation.isWhole =
      hasID
      || !isTextual && services[service]?.isWhole(nil) == true
        && known.count <= ServiceOrigin.alikeMax
    if let newest = services[service]?.newest, let time = newest.time,
      now - time < markMilliseconds
    {
      creation.mark = newest.mark
    }
    if creation.isWhole, !hasID, creation.mark == nil { creation.mark = wholeMark(service) }
    if sent.creations.isEmpty { (sent.others, formerData) = ([:], []) }
    sent.creations[id] = creation
    isUnsaved = true
    births[id] = Births(service: service)
  }

  /// The longest of a record's texts, as a tree has it.
  private static func longestText(of data: JSONValue) -> (key: Key, text: String)? {
    let texts = (data.object ?? []).compactMap { member in
      member.value.string.map { (name: member.name, text: $0) }
    }
    guard let longest = texts.max(by: { $0.text.utf8.count < $1.text.utf8.count }),
      let key = try? Key(ServiceRecordCoding.key(for: longest.name))
    else { return nil }
    return (key, longest.text)
  }

  /// The fields of a record that can be looked for.
  static func scalars(of data: JSONValue) -> [JSONMember] {
    (data.object ?? []).filter { member in
      switch member.value {
      case .string, .number, .bool: true
      default: false
      }
    }
  }

  static func hasScalars(of data: JSONValue, _ record: JSONValue) -> Bool {
    scalars(of: data).allSatisfy { record[$0.name] == $0.value }
  }

  // MARK: Events

  /// Notes a new record, which may be one that was sent to be created.
  mutating func noteBirth(_ service: Key, _ key: Key, _ record: JSONValue) {
    guard services[service]?.seen.insert(key).inserted == true else { return }
    services[service]?.newest.mark?.note(record)
    noteTwin(service, key, record)
    for (id, born) in births where born.service == service {
      guard let creation = sent.creations[id], !creation.known.contains(key.text),
        let fields = creation.data.object, !fields.isEmpty,
        fields.allSatisfy({ (record[$0.name] ?? .null) == $0.value }),
        creation.mark?.moment(of: record, sent: creation.data) != .before
      else { continue }
      births[id]?.keys.append(key)
      births[id]?.records[key] = record
    }
  }

  /// The key of the record that a creation has made, as events tell it; nil if they do not tell.
  ///
  /// After a loss (`isLost`) nothing is under way any more.
  func born(_ id: Int64, isLost: Bool = false) -> Key? {
    guard let own = births[id], !own.keys.isEmpty else { return nil }
    // Several equal records that were sent are those of as many events.
    let equals = births.filter { $0.value.service == own.service && $0.value.keys == own.keys }
    // As long as an equal one is under way, the events may be about that.
    guard isLost || own.keys.count >= equals.count || !isSendingEqual(id) else { return nil }
    guard own.keys.count <= equals.count,
      let index = equals.keys.sorted().firstIndex(of: id), index < own.keys.count
    else { return nil }
    return own.keys[index]
  }

  /// Acknowledges the creations under way whose records events have told of.
  mutating func adoptBirths() {
    var isOver = false
    while !isOver {
      isOver = true
      for (number, call) in calls.sorted(by: { $0.key < $1.key }) {
        guard case .write(let write) = call, write.kind == .create, let key = born(write.ids[0])
        else { continue }
        // A late answer says nothing new.
        calls[number] = nil
        adopt(key, for: write.record, write.ids)
        isOver = false
      }
    }
  }

  /// Acknowledges writes that have created the record with this key, which was found so.
  mutating func adopt(
    _ key: Key, for record: RecordID, _ ids: [Int64], found: JSONValue? = nil
  ) {
    let creation = sent.creations[ids[0]]
    // A record that is found may have been changed by another since it was told.
    let told = creation?.made == key.text ? creation?.madeRecord : nil
    let made = births[ids[0]]?.records[key] ?? told ?? found
    if let made { services[record.service]?.newest.mark?.note(made) }
    claim(key, of: record.service, ids[0])
    releaseHeld(record.service, key)
    settle(record, ids, key)
    guard let creation, let made,
      let before = try? mirror.stored(creation.data, record.key, of: record.service),
      let after = try? mirror.stored(made, key, of: record.service)
    else { return }
    carry(NodeChange(path: .root, before: before, after: after), to: record)
  }

  /// Notes that a creation has made the record with this key: no other creation has.
  mutating func claim(_ key: Key, of service: Key, _ id: Int64) {
    births[id] = nil
    noteTwin(key, of: service, madeBy: id)
    noteOther(key, of: service, madeBy: id)
    for other in births.keys.map(\.self) where births[other]?.service == service {
      births[other]?.keys.removeAll { $0 == key }
    }
    guard let data = sent.creations[id]?.data else { return }
    var isNoted = false
    for (other, creation) in sent.creations where other != id {
      guard !creation.known.contains(key.text), ServiceOrigin.hasScalars(of: creation.data, data)
      else { continue }
      sent.creations[other]?.known.append(key.text)
      isNoted = true
    }
    if isNoted { save() }
  }

  /// True if a write was sent and is not answered.
  package var isWriting: Bool {
    calls.values.contains { call in
      switch call {
      case .write, .search, .changed: true
      case .page, .record, .sample, .mark: false
      }
    }
  }

  /// True if a record of a service is being created.
  func isCreating(_ service: Key) -> Bool {
    calls.values.contains { call in
      if case .write(let write) = call {
        write.kind == .create && write.record.service == service
      } else {
        false
      }
    }
  }

  /// Forgets the connection, of which these events and answers were the last.
  ///
  /// - Returns: what the replica is to be told before it learns of the loss.
  @discardableResult
  package mutating func disconnected(
    after events: [(path: String, event: ServiceEvent, record: JSONValue)],
    _ answers: [(number: Int, answer: Result<JSONValue, FeathersError>)] = []
  ) -> [OriginMessage] {
    for (path, event, record) in events where event == .created {
      guard let text = try? ServiceRecordCoding.key(for: path), let service = try? Key(text),
        let key = mirror.key(of: record, in: service)
      else { continue }
      noteBirth(service, key, record)
    }
    for (number, answer) in answers {
      guard case .write(let call)? = calls[number], call.kind == .create else { continue }
      if case .failure(let error) = answer, error.data?["isSent"] == false {
        forget(call.ids)
        isUnsaved = true
      }
      guard case .success(let json) = answer else { continue }
      guard let record = ServiceResult(json).record else {
        noteAnswered(call.ids[0])
        continue
      }
      guard let key = mirror.key(of: record, in: call.record.service) else { continue }
      births[call.ids[0]] = Births(
        service: call.record.service, keys: [key], records: [key: record])
    }
    noteMade()
    for id in sent.progress.keys.sorted() { if let job = queue.jobs[id] { tellProgress(job) } }
    defer { progress = [] }
    disconnected()
    return progress
  }

  /// Notes what events have told of the records whose creation is not answered.
  mutating func noteMade() {
    for id in births.keys.sorted() {
      guard let key = born(id, isLost: true) else { continue }
      sent.creations[id]?.made = key.text
      sent.creations[id]?.madeRecord = births[id]?.records[key]
      isUnsaved = true
    }
  }

  // MARK: Searching

  /// Looks for a record that may have been created.
  mutating func search(
    _ record: RecordID, _ creation: SentWrites.Creation, _ id: Int64
  ) -> Effect? {
    if let key = born(id) ?? creation.made.flatMap({ try? Key($0) }) {
      adopt(key, for: record, [id])
      return nil
    }
    guard let query = searchQuery(creation) else {
      setUnknown(record, id)
      return nil
    }
    return .call(
      number(.search(record, [])), path: ServiceMirror.path(of: record.service),
      .find(query: query))
  }

  /// The query that finds the records like one that was sent, the newest first; nil if there is nothing to look
  /// for.
  private func searchQuery(_ creation: SentWrites.Creation) -> ServiceQuery? {
    let scalars = ServiceOrigin.scalars(of: creation.data).filter { member in
      !isTextual || member.value.string != nil
    }
    if scalars.isEmpty { return nil }
    let query = scalars.reduce(ServiceQuery()) { $0.eq($1.name, $1.value) }
      .limit(ServiceOrigin.searchLimit)
    guard let mark = creation.mark, mark.value != nil else { return query }
    return query.sort(mark.field, .descending)
  }

  static let searchLimit = 50
  /// The most records that a search looks at.
  static let searchMax = 1_000

  /// Takes a page of the search.
  mutating func found(
    _ record: RecordID, _ earlier: [JSONValue], _ answer: Result<JSONValue, FeathersError>,
    _ now: Int64
  ) {
    guard let id = queue.ids(of: record).first, let creation = sent.creations[id] else {
      return queue.release(record)
    }
    switch answer {
    case .failure(let error) where error.isRetryable:
      queue.release(record)
      pause(now)
    case .failure: setUnknown(record, id)
    case .success(let json):
      if let key = born(id) { return adopt(key, for: record, [id]) }
      let result = ServiceResult(json)
      let records = earlier + result.records
      let outcome = outcome(creation, id, records, record.service)
      if !outcome.isSortedOut, !ServiceOrigin.isLast(result, records.count) {
        guard records.count < ServiceOrigin.searchMax, let query = searchQuery(creation) else {
          return setUnknown(record, id)
        }
        effects.append(
          .call(
            number(.search(record, records)), path: ServiceMirror.path(of: record.service),
            .find(query: query.skip(records.count))))
        return
      }
      conclude(record, id, outcome, now)
    }
  }

  /// True if a page is the last one of a search that has this many records now.
  static func isLast(_ result: ServiceResult, _ count: Int) -> Bool {
    if result.records.isEmpty { return true }
    if let total = result.page?.total { return total <= count }
    let limit = min(searchLimit, result.page?.limit ?? searchLimit)
    return result.records.count < limit || result.records.count > searchLimit
  }

  mutating func conclude(
    _ record: RecordID, _ id: Int64, _ outcome: TwinSearch, _ now: Int64
  ) {
    let data = sent.creations[id]?.data
    // Equal records that were sent and are not answered may all be there.
    let equalCount = sent.creations.count { other, equal in
      other == id || equal.data == data && !settledIDs.contains(other)
    }
    guard let first = outcome.new.first else {
      if outcome.isUnclear { return setUnknown(record, id) }
      if awaitCreation(record, id, now) { return }
      if sent.creations[id]?.isAnswered == true { return setUnknown(record, id) }
      // It may be there with other values.
      if !searchChanged(record, id) { sendAnew(record, id, now) }
      return
    }
    if isSendingEqual(id) { return searchLater(record, id, now + ServiceOrigin.equalPause) }
    guard outcome.new.count <= equalCount, let child = child(first, record.service) else {
      return setUnknown(record, id)
    }
    put([child], record.service)
    adopt(child.key, for: record, [id], found: first)
  }

  /// Has a record sent again of which nothing is found.
  mutating func sendAnew(_ record: RecordID, _ id: Int64, _ now: Int64) {
    noteRepeat(record, id, now)
    forget([id])
    queue.release(record)
  }

  /// What a search says about a record that was sent to be created.
  struct TwinSearch {
    /// The records that were created since.
    var new: [JSONValue] = []
    /// True if of a record it cannot be told whether it was there before.
    var isUnclear = false
    /// True if all further ones are older.
    var isSortedOut = false
  }

  mutating func outcome(
    _ creation: SentWrites.Creation, _ id: Int64, _ records: [JSONValue], _ service: Key
  ) -> TwinSearch {
    var outcome = TwinSearch()
    // A record may be on two pages.
    var keys: Set<Key> = []
    for record in records where ServiceOrigin.hasScalars(of: creation.data, record) {
      guard let key = mirror.key(of: record, in: service) else {
        outcome.isUnclear = true
        continue
      }
      let moment =
        creation.isWhole
        ? .after : creation.mark?.moment(of: record, sent: creation.data) ?? .unclear
      outcome.isSortedOut = creation.mark?.value != nil && moment == .before
      if creation.known.contains(key.text) || !keys.insert(key).inserted { continue }
      switch moment {
      case .before: break
      case .after: outcome.new.append(record)
      case .unclear: outcome.isUnclear = true
      }
    }
    return outcome
  }
}
