import RunnelBase
import RunnelServices
import RunnelTree

// Records that were created, and changed by another client before they were looked for.
//
// A search for what was sent does not find them, so nothing is sent again before the newest records were looked at. One
// that is newer than all that were known, has the fields that were sent and some of their values may be the one:
// then the outcome is unknown, and the user decides.
//
// Source: services protocol, section 11.5.

extension ServiceOrigin {
  /// The most data of earlier creations that are remembered.
  private static let formerMax = 256

  /// Notes what was sent of creations that are answered though it is kept on disk: their records are others.
  mutating func noteFormer(pending: Set<Int64>) {
    for (id, creation) in sent.creations.sorted(by: { $0.key < $1.key })
    where !pending.contains(id) && formerData.count < ServiceOrigin.formerMax {
      formerData.append(creation.data)
    }
  }

  /// Notes the record of a creation for the others that are not answered: it is none of theirs.
  mutating func noteOther(_ key: Key, of service: Key, madeBy id: Int64) {
    let start = service.text + "/"
    let isOpen = sent.creations.contains { other, creation in
      other != id && creation.record?.hasPrefix(start) == true
    }
    if !isOpen { return }
    sent.note(other: key.text, of: service.text)
    isUnsaved = true
  }

  /// The newest record of a service of which all records are known; nil if they do not tell which it is.
  ///
  /// O(n) in the records the first time.
  mutating func wholeMark(_ service: Key) -> CreationMark? {
    if let mark = services[service]?.newest.mark { return mark }
    let records = mirror.records(of: service)
    let idField = mirror.knownIDField(of: service)
    guard let first = records.first,
      let field = CreationMark.field(
        of: mirror.record(first.node, first.key, of: service), idField: idField)
    else { return nil }
    var mark = CreationMark(field: field)
    for child in records { mark.note(mirror.record(child.node, child.key, of: service)) }
    services[service]?.newest.mark = mark
    return mark
  }

  // MARK: Looking

  /// Looks for a record that may be the one that was sent, changed by another; false if nothing can be asked.
  mutating func searchChanged(
    _ record: RecordID, _ id: Int64, _ earlier: [JSONValue] = []
  ) -> Bool {
    guard let creation = sent.creations[id],
      let query = changedQuery(creation, record.service)
    else { return false }
    effects.append(
      .call(
        number(.changed(record, earlier)), path: ServiceMirror.path(of: record.service),
        .find(query: earlier.isEmpty ? query : query.skip(earlier.count))))
    return true
  }

  /// The query that finds the newest records, or the one that has the id that was sent.
  private func changedQuery(_ creation: SentWrites.Creation, _ service: Key) -> ServiceQuery? {
    let idField = mirror.knownIDField(of: service)
    if let id = creation.data[idField] { return ServiceQuery().eq(idField, id).limit(1) }
    guard let mark = creation.mark, !ServiceOrigin.scalars(of: creation.data).isEmpty else {
      return nil
    }
    return ServiceQuery().limit(ServiceOrigin.searchLimit).sort(mark.field, .descending)
  }

  /// Takes a page of them.
  mutating func foundChanged(
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
      // The server may have done it meanwhile.
      let outcome = outcome(creation, id, records, record.service)
      if !outcome.new.isEmpty || outcome.isUnclear { return conclude(record, id, outcome, now) }
      for found in records where mayBe(found, creation, id, record.service) {
        tellChanged(found, record.service)
        return setUnknown(record, id)
      }
      let isOlder = records.last.map {
        creation.mark?.moment(of: $0, sent: creation.data) == .before
      }
      if isOlder == true || ServiceOrigin.isLast(result, records.count)
        || creation.data[mirror.knownIDField(of: record.service)] != nil
      {
        return sendAnew(record, id, now)
      }
      if records.count >= ServiceOrigin.searchMax || !searchChanged(record, id, records) {
        setUnknown(record, id)
      }
    }
  }

  /// True if a record may be the one that was sent, with values that another has changed since.
  private mutating func mayBe(
    _ record: JSONValue, _ creation: SentWrites.Creation, _ id: Int64, _ service: Key
  ) -> Bool {
    guard let key = mirror.key(of: record, in: service), !creation.known.contains(key.text),
      sent.others[service.text]?.contains(key.text) != true
    else { return false }
    let data = creation.data
    let idField = mirror.knownIDField(of: service)
    if let sent = data[idField] { return record[idField] == sent }
    guard let mark = creation.mark else { return false }
    switch mark.moment(of: record, sent: data) {
    case .before: return false
    // A time that was chosen here tells nothing of the others.
    case .unclear: if data[mark.field] != nil { return false }
    case .after: break
    }
    let fields = ServiceOrigin.scalars(of: data)
    let equalCount = fields.count { record[$0.name] == $0.value }
    guard equalCount > 0 || fields.count == 1,
      fields.allSatisfy({ record[$0.name] != nil })
    else { return false }
    let own = sent.creations.filter { $0.key != id }.map(\.value.data) + formerData
    return !own.contains { ServiceOrigin.hasScalars(of: $0, record) }
  }

  private mutating func tellChanged(_ record: JSONValue, _ service: Key) {
    let name = mirror.key(of: record, in: service).map { ServiceRecordCoding.name(of: $0.text) }
    effects.append(
      .doubled(
        path: ServiceMirror.path(of: service),
        "\(name ?? "a record") may be the new record, changed by another: it is not sent again by itself"
      ))
  }
}
