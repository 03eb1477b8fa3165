import RunnelBase
import RunnelServices
import RunnelSync
import RunnelTree

// The reading of collections: only what a query needs is read, and little of it is kept.
//
// - Records that are asked for by their ids are read by their keys.
// - Without a condition, a page is read from the order of the keys, or from an index if there is one by
//   the field of the order. The total is known without reading.
// - With conditions, the records of an index in which all that can match stand are read one after the
//   other; without such an index, all records. Only the page is kept.
//
// Source: services protocol, sections 3.3 and 12.

extension ServedTree {
  /// The answer to `find`.
  ///
  /// - Throws: `TreeError` (`tooBig`) if more has to be read than a call may; `FeathersError`.
  func find(
    _ task: ServiceTask, _ reading: QueryReading, _ now: Int64,
    _ transaction: some ServedTransaction
  ) throws -> JSONValue {
    try checkRead(Query(task.collection.place), task.caller, now: now, transaction)
    let page: ServicePage
    if let found = try plainPage(task, reading, transaction) {
      page = found
    } else {
      let (end, isOver) = reading.skip.addingReportingOverflow(reading.limit ?? .max)
      var first = FirstRecords(
        reading.order, max: reading.limit == 0 ? 0 : (isOver ? Int.max : end))
      try forEachMatch(task, reading, transaction) { first.add($0) }
      let records = first.take().dropFirst(reading.skip).map { shown($0.record, reading) }
      page = ServicePage(
        total: first.total, limit: reading.limit, skip: reading.skip, records: records)
    }
    return page.json
  }

  /// Calls `body` with each record that matches a query, in an order that is not told.
  ///
  /// - Throws: `TreeError` (`tooBig`) if more has to be read than a call may; `FeathersError`.
  func forEachMatch(
    _ task: ServiceTask, _ reading: QueryReading, _ transaction: some ServedTransaction,
    _ body: (StoredRecord) -> Void
  ) throws {
    var reading = reading
    let place = task.collection.place
    if let records = try recordsByKey(task, reading.condition, transaction) {
      if task.call.isTextual {
        var kinds = FieldKinds(for: reading.condition)
        for record in records { kinds.note(record.record) }
        reading.condition = kinds.typed(reading.condition)
      }
      for record in records where try reading.matches(record.record) { body(record) }
      return
    }
    if task.call.isTextual {
      reading.condition = try typed(reading.condition, place, transaction)
    }
    let candidates = RecordSlices.candidates(for: reading.condition) { order in
      transaction.hasIndex(order, at: place)
    }
    var reader = CollectionReader(place, allowance)
    let most = task.call.recordsMax
    var count = 0
    for slice in candidates ?? [RowSlice(index: .key)] {
      try reader.forEach(in: slice, transaction) { record in
        count += 1
        try task.call.checkCompared(count, max: most)
        if try reading.matches(record.record) { body(record) }
        return true
      }
    }
  }

  /// The most ids that are looked up one by one.
  private static let idsMax = 1000

  /// The records with the ids that a condition names; nil if it names none, or if one of them is no key of
  /// a record with this id: then it may be a field of another record.
  private func recordsByKey(
    _ task: ServiceTask, _ condition: ServiceCondition, _ transaction: some ServedTransaction
  ) throws -> [StoredRecord]? {
    guard let (field, values) = condition.values(ofOneOf: [ServedCollection.idField, "_id"]),
      values.count <= ServedTree.idsMax
    else { return [StoredRecord]?.none }
    let ids = Set(values.compactMap { ServiceID(json: $0) })
    // A value that is no id, such as null, is no key either.
    guard values.allSatisfy({ ServiceID(json: $0) != nil }) else { return [StoredRecord]?.none }
    let place = task.collection.place
    var reader = CollectionReader(place, allowance)
    var found: [StoredRecord] = []
    for id in ids {
      guard let text = try? ServiceRecordCoding.key(for: id.text), let key = try? Key(text),
        let row = try transaction.row(
          key, of: place, in: RowSlice(index: .key), detail: .stored)
      else { return [StoredRecord]?.none }
      let record = try reader.record(row, transaction)
      guard record.record[field].flatMap({ ServiceID(json: $0) }) == id else {
        return [StoredRecord]?.none
      }
      found.append(record)
    }
    return found
  }

  /// A condition with numbers and flags in place of texts, by the kinds of the fields in a collection.
  private func typed(
    _ condition: ServiceCondition, _ place: Path, _ transaction: some ServedTransaction
  ) throws -> ServiceCondition {
    var kinds = FieldKinds(for: condition)
    var reader = CollectionReader(place, allowance)
    var isScanNeeded = false
    for field in kinds.openFields {
      guard let slices = RecordSlices(field), transaction.hasIndex(slices.order, at: place) else {
        isScanNeeded = true
        continue
      }
      for kind in RecordSlices.Kind.allCases {
        var slice = slices.all(kind)
        slice.limit = try CollectionReader.limit(1, .first)
        for row in try transaction.rows(of: place, in: slice, detail: .shallow) {
          if case .leaf(let leaf) = row.value { kinds.note(leaf.json, of: field) }
        }
      }
      try reader.forEach(in: slices.nested, transaction) { record in
        kinds.note(record.record)
        return true
      }
    }
    if isScanNeeded {
      try reader.forEach(in: RowSlice(index: .key), transaction) { record in
        kinds.note(record.record)
        return !kinds.openFields.isEmpty
      }
    }
    return kinds.typed(condition)
  }

  // MARK: Pages without a condition

  /// The answer to a query without a condition, of which only the page is read; nil if there is none, or
  /// no index by its order.
  ///
  /// An order by the id is that of the keys, if these are the ids of the records.
  private func plainPage(
    _ task: ServiceTask, _ reading: QueryReading, _ transaction: some ServedTransaction
  ) throws -> ServicePage? {
    let place = task.collection.place
    var terms = reading.order.terms.filter { $0.direction != 0 }
    var isByID = false
    var isKeyDescending = false
    if let last = terms.firstIndex(where: { $0.field == ServedCollection.idField }) {
      (isByID, isKeyDescending) = (true, terms[last].direction < 0)
      terms.removeSubrange(last...)
    }
    // No index has records with one value in the reverse order of their keys.
    if isKeyDescending, terms.first?.direction ?? -1 > 0 { return ServicePage?.none }
    guard task.call.query.conditions.isEmpty, let limit = reading.limit,
      terms.count <= 1 || limit == 0
    else { return ServicePage?.none }
    var slices: RecordSlices?
    if limit > 0, let term = terms.first {
      guard let found = RecordSlices(term.field), transaction.hasIndex(found.order, at: place)
      else { return ServicePage?.none }
      slices = found
    }
    var total = 0
    if case .children(let count) = try transaction.summary(at: place).kind { total = count }
    var records: [JSONValue] = []
    if limit > 0, reading.skip < total {
      var reader = CollectionReader(place, allowance)
      var skipped = 0
      var areKeysIDs = true
      func take(_ record: StoredRecord) -> Bool {
        if isByID, !record.isNamedByKey {
          areKeysIDs = false
          return false
        }
        if skipped < reading.skip {
          skipped += 1
        } else {
          records.append(shown(record.record, reading))
        }
        return records.count < limit
      }
      if let slices, let term = terms.first {
        try walk(
          slices, term, reading.order, isKeyDescending: isKeyDescending, &reader, transaction, take)
      } else if isKeyDescending {
        try reader.forEachReversed(in: RowSlice(index: .key), transaction, take)
      } else {
        try reader.forEach(in: RowSlice(index: .key), transaction, take)
      }
      if !areKeysIDs { return ServicePage?.none }
    }
    return ServicePage(total: total, limit: limit, skip: reading.skip, records: records)
  }

  /// Calls `body` with the records in the order of a field that has an index, until it returns false.
  ///
  /// Null, arrays and objects, which have no places of their own in an index, are read at once.
  private func walk(
    _ slices: RecordSlices, _ term: RecordOrder.Term, _ order: RecordOrder,
    isKeyDescending: Bool, _ reader: inout CollectionReader,
    _ transaction: some ServedTransaction, _ body: (StoredRecord) throws -> Bool
  ) throws {
    var nulls: [StoredRecord] = []
    var lists = FirstRecords(order, max: .max)
    try reader.forEach(in: slices.nested, transaction) { record in
      if record.record[term.field] == .null { nulls.append(record) } else { lists.add(record) }
      return true
    }
    if term.direction > 0 {
      guard try reader.forEach(in: slices.absent, transaction, body) else { return }
      for record in nulls where try !body(record) { return }
      for kind in [RecordSlices.Kind.number, .text, .flag] {
        guard try reader.forEach(in: slices.all(kind), transaction, body) else { return }
      }
      for record in lists.take() where try !body(record) { return }
      return
    }
    for record in lists.take() where try !body(record) { return }
    if isKeyDescending {
      for kind in [RecordSlices.Kind.flag, .text, .number] {
        guard try reader.forEachReversed(in: slices.all(kind), transaction, body) else { return }
      }
      for record in nulls.reversed() where try !body(record) { return }
      try reader.forEachReversed(in: slices.absent, transaction, body)
      return
    }
    for kind in [RecordSlices.Kind.flag, .text, .number] {
      guard try reader.forEachBackward(in: slices.all(kind), transaction, body) else { return }
    }
    for record in nulls where try !body(record) { return }
    try reader.forEach(in: slices.absent, transaction, body)
  }
}
