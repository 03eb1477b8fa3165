public import RunnelBase

/// The answer to a query, kept current by events, without a network and a clock.
///
/// The owner sends what `Effect` asks for, reports answers and events, and calls `tick` at the
/// deadline. Events that can be decided change the rows at once; the others lead to one new `find`,
/// at most every half second. Times are milliseconds of a clock that only goes forward.
///
/// Rules:
/// - The order is that of the query, then of the ids, so that it is always unique.
/// - A row that leaves the window while there are more is replaced by a question for those behind
///   the last row, which names that row: a number of rows to skip would count the wrong ones.
/// - Where events and answers have crossed, the rows are read once more when it is quiet, at most
///   every five seconds.
/// - An answer is corrected by the events that came since it was asked for: events tell a state, so
///   one that is older than the answer does no harm, and a removal wins.
///
/// Source: services protocol, sections 8.3 and 8.4.
public struct LiveList: Sendable {
  /// How rows are kept when others come in.
  public enum Mode: Hashable, Sendable {
    /// As many rows as the query's limit, at its place.
    case page
    /// All rows that were loaded; more can be fetched at the end.
    case list
  }

  /// What has to be asked of the service.
  package enum Effect: Hashable, Sendable {
    /// Find records, and report the answer under the number.
    case find(Int, ServiceQuery)
  }

  private enum Question { case all, more, count }

  private static let findPause: Int64 = 500
  private static let countPause: Int64 = 5_000
  private static let retryPause: Int64 = 5_000
  /// How much later than an answer an event may come that the answer has already counted.
  private static let lateMilliseconds: Int64 = 2_000
  /// The most changes that are kept to correct an answer; with more, the question is asked again.
  private static let recentMax = 10_000

  /// The rows.
  public private(set) var rows: [JSONValue] = []
  /// How many records match; nil if that is not known.
  public private(set) var total: Int?
  /// False if the total may be wrong until it is counted again.
  public private(set) var isTotalExact = false
  /// The number of matching records before the first row.
  public private(set) var skip: Int
  /// True if there are rows behind the last.
  public private(set) var hasMore = false
  /// True once the rows were read.
  public private(set) var isLoaded = false
  /// The error of the last question; nil if it was answered.
  public private(set) var error: FeathersError?

  private let query: ServiceQuery
  private let reading: QueryReading
  private let mode: Mode
  private var idField: String?
  /// The number of rows of the window; nil for all.
  private var size: Int?
  private var questions: [Int: Question] = [:]
  private var lastNumber = 0
  /// What events told since the oldest open question was asked; nil for a removal.
  private var recent: [ServiceID: JSONValue?] = [:]
  private var (lastFind, lastCount): (Int64, Int64) = (-1_000_000, -1_000_000)
  private var (findTime, countTime): (Int64?, Int64?)
  private var lastAnswer: Int64 = -1_000_000
  /// True if events and answers have crossed, so that a row may be missing: the rows are read once
  /// more when it is quiet.
  private var needsProof = false
  /// True if the rows may be wrong in a way that only a new `find` mends.
  private var isStale = false
  /// How often in a row the answer for the end brought known rows only: the service ignores the question.
  private var idleCount = 0

  /// Makes a list that is not read yet.
  ///
  /// - Parameters:
  ///   - query: the query, with order, limit and number to skip.
  ///   - mode: how rows are kept.
  ///   - idField: the name of the id; nil to find it in the first record: `_id`, `id` or `uuid`.
  ///   - operators: operators that the service knows besides those of Feathers.
  /// - Throws: `BadRequest` if the query is none that Feathers understands.
  package init(
    _ query: ServiceQuery, mode: Mode = .list, idField: String? = nil,
    operators: Set<String> = []
  ) throws(FeathersError) {
    reading = try QueryReading(
      query, rules: QueryRules(operators: operators, filters: operators))
    (self.query, self.mode, self.idField) = (query, mode, idField)
    (size, skip) = (reading.limit, reading.skip)
  }

  /// When `tick` has to be called; nil for never.
  package var deadline: Int64? { [findTime, countTime].compactMap { $0 }.min() }

  // MARK: Order

  private func id(_ record: JSONValue) -> ServiceID? {
    idField.flatMap { record[$0] }.flatMap { ServiceID(json: $0) }
  }

  private var order: RecordOrder {
    var terms = reading.order.terms
    if let idField, !terms.contains(where: { $0.field == idField }) {
      terms.append(RecordOrder.Term(idField, 1))
    }
    return RecordOrder(terms)
  }

  /// Returns where a record belongs among the rows.
  ///
  /// O(log n) in the rows; O(n) if they have selected fields only, which may not be those of the order.
  private func place(of record: JSONValue) -> Int {
    let order = order
    if reading.select != nil {
      return rows.firstIndex { order.compare(record, $0) < 0 } ?? rows.count
    }
    return rows.lowerBound { order.compare(record, $0) >= 0 }
  }

  /// Returns where the row with an id is, of which an event told.
  ///
  /// O(log n) in the rows if the row has not moved.
  private func index(of id: ServiceID, as record: JSONValue) -> Int? {
    guard let idField else { return nil }
    let (order, isWhole) = (order, reading.select == nil)
    if isWhole {
      let place = rows.lowerBound { order.compare($0, record) < 0 }
      if place < rows.count, self.id(rows[place]) == id { return place }
    }
    return rows.firstIndex { row in
      switch (row[idField], id.json) {
      // Their texts need not be made.
      case (.number(let left)?, .number(let right)): left == right
      case (let json?, _): ServiceID(json: json) == id
      case (nil, _): false
      }
    }
  }

  private mutating func learnID(from record: JSONValue?) {
    guard idField == nil, let record else { return }
    idField = ["_id", "id", "uuid"].first { record[$0].flatMap { ServiceID(json: $0) } != nil }
  }

  // MARK: Questions

  /// Reads the rows, at first or once more.
  package mutating func load(now: Int64) -> [Effect] {
    isStale = true
    return ask(now)
  }

  /// Reads the rows once more after a reconnection, since events may be missing.
  package mutating func reconnected(now: Int64) -> [Effect] {
    // The first question itself may have led to the connection.
    !isLoaded && isOpen(.all) ? [] : load(now: now)
  }

  /// Asks for more rows at the end.
  package mutating func fetchMore(_ count: Int, now: Int64) -> [Effect] {
    guard mode == .list, isLoaded, hasMore, count > 0 else { return [] }
    (size, idleCount) = ((size ?? rows.count) + count, 0)
    return refill(now)
  }

  private func isOpen(_ question: Question) -> Bool { questions.values.contains(question) }

  private mutating func number(_ question: Question) -> Int {
    lastNumber += 1
    questions[lastNumber] = question
    return lastNumber
  }

  /// Asks for all rows, if that is needed and not asked too often.
  private mutating func ask(_ now: Int64) -> [Effect] {
    guard isStale, !isOpen(.all) else { return [] }
    let time = lastFind + LiveList.findPause
    if time > now {
      findTime = min(findTime ?? time, time)
      return []
    }
    (findTime, lastFind, isStale) = (nil, now, false)
    // What is asked for the end of the old rows does not matter any more.
    questions = questions.filter { $0.value == .count }
    var asked = sorted(query)
    if let size { asked = asked.limit(size) }
    if skip > 0 || query["$skip"] != nil { asked = asked.skip(skip) }
    return [.find(number(.all), asked)]
  }

  /// Returns a query with an order that is unique.
  private func sorted(_ query: ServiceQuery) -> ServiceQuery {
    guard let idField, query["$sort"]?[idField] == nil else { return query }
    return query.sort(idField)
  }

  /// Asks for the rows that are missing at the end of the window.
  private mutating func refill(_ now: Int64) -> [Effect] {
    guard let size, rows.count < size, hasMore, idleCount < 2, !isOpen(.all), !isOpen(.more)
    else { return [] }
    guard let last = rows.last, let behind = cursor(after: last) else {
      isStale = true
      return ask(now)
    }
    return [.find(number(.more), behind.limit(size - rows.count))]
  }

  /// Returns the query for the records behind one; nil if its values cannot be compared.
  private func cursor(after record: JSONValue) -> ServiceQuery? {
    var ladder: [ServiceQuery] = []
    var equal = ServiceQuery()
    for term in order.terms where term.direction != 0 {
      let value = FieldWalk.value(record, term.field)
      switch value {
      case .number?, .string?, .bool?: break
      default: return nil
      }
      guard let value else { return nil }
      ladder.append(
        term.direction > 0 ? equal.gt(term.field, value) : equal.lt(term.field, value))
      equal = equal.eq(term.field, value)
    }
    if ladder.isEmpty { return nil }
    var result = sorted(query)
    result["$skip"] = JSONValue?.none
    result["$limit"] = JSONValue?.none
    return result.or(ladder)
  }

  // MARK: Answers

  /// Takes the answer to a question; one that does not matter any more is ignored.
  package mutating func answered(_ number: Int, _ result: ServiceResult, now: Int64) -> [Effect] {
    guard let question = questions.removeValue(forKey: number) else { return [] }
    error = nil
    learnID(from: result.records.first)
    switch question {
    case .all: takeAll(result)
    case .more: takeMore(result)
    case .count:
      if let counted = result.page?.total { (total, isTotalExact) = (counted, recent.isEmpty) }
    }
    lastAnswer = now
    if questions.isEmpty { recent = [:] }
    compareWithTotal()
    return ask(now) + refill(now) + settle(now)
  }

  /// A question was not answered.
  package mutating func failed(_ number: Int, _ error: FeathersError, now: Int64) -> [Effect] {
    guard let question = questions.removeValue(forKey: number) else { return [] }
    self.error = error
    if questions.isEmpty { recent = [:] }
    let isPassing = error.isRetryable
    if question == .count {
      isTotalExact = false
      if isPassing { countTime = now + LiveList.retryPause }
    } else {
      isStale = true
      if isPassing { findTime = now + LiveList.retryPause }
    }
    return []
  }

  private mutating func takeAll(_ result: ServiceResult) {
    if size == nil, let limit = result.page?.limit { size = limit }
    total = result.page.map(\.total) ?? (size == nil ? skip + result.records.count : nil)
    isTotalExact = total != nil
    isLoaded = true
    let answered = result.records.count
    hasMore =
      total.map { skip + answered < $0 } ?? (size.map { answered >= $0 && $0 > 0 } ?? false)
    rows = corrected(result.records)
    replay()
  }

  private mutating func takeMore(_ result: ServiceResult) {
    let answered = result.records.count
    hasMore = result.page?.total.map { $0 > answered } ?? !result.records.isEmpty
    let known = Set(rows.compactMap(id))
    idleCount =
      result.records.allSatisfy { id($0).map(known.contains) ?? false } ? idleCount + 1 : 0
    for record in corrected(result.records) where id(record).map({ !known.contains($0) }) ?? false {
      rows.insert(record, at: place(of: record))
    }
    replay()
    cut()
  }

  /// Compares what is thought of the rows behind the last with the total.
  private mutating func compareWithTotal() {
    guard isTotalExact, let total else { return }
    let areMore = skip + rows.count < total
    // Rows that were put at the end may have others before them.
    if areMore, !hasMore { isStale = true }
    if !areMore { hasMore = false }
  }

  /// Returns the records of an answer as the events since then have made them.
  private func corrected(_ records: [JSONValue]) -> [JSONValue] {
    let order = order
    let now = records.compactMap { record -> JSONValue? in
      guard let id = id(record), let state = recent[id] else { return record }
      guard let state, reading.condition.holds(for: state) != false else {
        return JSONValue?.none
      }
      // Behind the last one of the answer there may be others before it.
      if hasMore, let last = records.last, order.compare(state, last) > 0 { return JSONValue?.none }
      return selected(state)
    }
    return order.sorted(now)
  }

  /// Puts the records in that events told since the question was asked.
  private mutating func replay() {
    if recent.isEmpty { return }
    isTotalExact = false
    for (id, state) in recent {
      guard let state, reading.condition.holds(for: state) == true,
        index(of: id, as: state) == nil
      else { continue }
      let place = place(of: state)
      if place == rows.count && hasMore || place == 0 && skip > 0 { continue }
      rows.insert(selected(state), at: place)
    }
    // How many were removed or added elsewhere is not known.
    if skip > 0 { isStale = true }
    cut()
  }

  private func selected(_ record: JSONValue) -> JSONValue {
    reading.selected(record, idField: idField ?? "id")
  }

  /// Takes away the rows that do not fit in the page.
  private mutating func cut() {
    guard let size, rows.count > size else { return }
    if mode == .list {
      self.size = rows.count
    } else {
      rows.removeLast(rows.count - size)
      hasMore = true
      // What is asked for behind the old last row would leave a gap.
      questions = questions.filter { $0.value != .more }
    }
  }

  // MARK: Events

  /// Takes an event of the service.
  package mutating func take(
    _ event: ServiceEvent, _ record: JSONValue, now: Int64
  ) -> [Effect] {
    learnID(from: record)
    guard let id = id(record), [.created, .updated, .patched, .removed].contains(event) else {
      return []
    }
    let index = index(of: id, as: record)
    var state = record
    if event == .patched, let index { state = merged(rows[index], record) }
    if !questions.isEmpty {
      recent[id] = event == .removed ? .some(nil) : state
      if recent.count > LiveList.recentMax {
        recent = [:]
        questions = [:]
        isStale = true
      }
    }
    // Before the first answer there is nothing to change.
    if !isLoaded { return ask(now) }
    // The last answer may have counted it.
    if now - lastAnswer < LiveList.lateMilliseconds || isOpen(.more) || isOpen(.all) {
      (isTotalExact, needsProof) = (false, true)
    }
    if event == .removed {
      remove(state, index)
    } else if let matches = decided(state, isSelected: index != nil && event == .patched) {
      change(event, state, index, matches)
    } else {
      isStale = true
    }
    compareWithTotal()
    return ask(now) + refill(now) + settle(now)
  }

  /// Returns whether a record matches; nil if only the server knows.
  private func decided(_ record: JSONValue, isSelected: Bool) -> Bool? {
    // Of a row with selected fields the others are not known.
    if isSelected, reading.select != nil, query.conditions.members.isEmpty == false {
      let names = query.conditions.members.map(\.name)
      if names.contains(where: { $0.hasPrefix("$") || record[$0] == nil }) { return nil }
    }
    return reading.condition.holds(for: record)
  }

  private func merged(_ old: JSONValue, _ new: JSONValue) -> JSONValue {
    (new.object ?? []).reduce(old) { $0.setting($1.name, to: $1.value) }
  }

  private mutating func count(_ difference: Int) {
    if let total { self.total = max(0, total + difference) }
  }

  private mutating func remove(_ record: JSONValue, _ index: Int?) {
    if let index {
      rows.remove(at: index)
      return count(-1)
    }
    switch reading.condition.holds(for: record) {
    case true?:
      count(-1)
      if skip > 0, place(of: record) == 0 { leaveBefore() }
    case false?: break
    case nil: isStale = true
    }
  }

  /// A record before the first row has gone.
  private mutating func leaveBefore() {
    if mode == .list { skip -= 1 } else { isStale = true }
  }

  private mutating func change(
    _ event: ServiceEvent, _ record: JSONValue, _ index: Int?, _ matches: Bool
  ) {
    guard let index else {
      // It may have moved over the page, from one side of it to the other.
      if event != .created, mode == .page, skip > 0 { isStale = true }
      if matches { return enter(event, record) }
      // It may have matched before, elsewhere.
      if event != .created { isTotalExact = false }
      return
    }
    let old = rows.remove(at: index)
    if !matches { return count(-1) }
    let place = place(of: record)
    // Behind the last row there may be others before it; unless it has not moved that way.
    let isPast = place == rows.count && hasMore && order.compare(record, old) > 0
    let isBefore = place == 0 && skip > 0 && order.compare(record, old) < 0
    if isPast { return }
    if isBefore {
      isStale = true
      return
    }
    rows.insert(selected(record), at: place)
  }

  /// A record that is no row matches.
  private mutating func enter(_ event: ServiceEvent, _ record: JSONValue) {
    let isNew = event == .created
    if isNew { count(1) } else { isTotalExact = false }
    let place = place(of: record)
    if place == 0, skip > 0 {
      if mode == .list, isNew { skip += 1 } else { isStale = true }
    } else if place < rows.count || !hasMore {
      rows.insert(selected(record), at: place)
      cut()
    }
  }

  // MARK: Time

  /// Counts the matching records again, if the total may be wrong.
  private mutating func settle(_ now: Int64) -> [Effect] {
    guard isLoaded, needsProof || total != nil && !isTotalExact, !isOpen(.count), !isOpen(.all)
    else { return [] }
    // Late events would be counted twice.
    let time = max(lastCount + LiveList.countPause, lastAnswer + LiveList.lateMilliseconds)
    if time > now {
      countTime = time
      return []
    }
    (countTime, lastCount) = (nil, now)
    if needsProof {
      (needsProof, isStale) = (false, true)
      return ask(now)
    }
    return [.find(number(.count), query.conditions.limit(0))]
  }

  /// Does what is due.
  package mutating func tick(now: Int64) -> [Effect] {
    var effects: [Effect] = []
    if let findTime, findTime <= now {
      self.findTime = nil
      effects += ask(now)
    }
    if let countTime, countTime <= now {
      self.countTime = nil
      effects += settle(now)
    }
    return effects
  }
}
