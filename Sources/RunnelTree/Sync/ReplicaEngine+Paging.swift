// Paged windows. Source: tree semantics, sections 5 and 7; the windows go beyond it.

extension ReplicaEngine {
  /// Registers a paged listener.
  mutating func listenPaged(
    _ listener: ListenerID, _ request: ListenRequest, _ paging: Paging, now: Int64,
    _ storage: inout some ReplicaStorage
  ) throws(TreeError) -> ReplicaOutcome {
    var paged = PagedListen(request.query, paging)
    var outcome = try want(paged.wanted, insteadOf: [], now: now, &storage)
    outcome.append(try advance(&paged, now: now, &storage).outcome)
    outcome.deliveries += try engine.listen(
      listener, request, part: paged.part, reader: reader(storage))
    if isConnected, paged.hold == nil { holdBackAnswer(of: listener, &outcome) }
    pages[listener] = paged
    return outcome
  }

  /// Takes back that the origin has answered: it did on an earlier connection, and is asked again.
  private mutating func holdBackAnswer(of listener: ListenerID, _ outcome: inout ReplicaOutcome) {
    let count = outcome.deliveries.count
    outcome.deliveries.removeAll { delivery in
      if case .answered = delivery.event { delivery.listener == listener } else { false }
    }
    if outcome.deliveries.count < count { unconfirmed.insert(listener) }
  }

  /// Tells that the origin has answered, if that was held back, before the page of the answer.
  private mutating func tellAnswer(to listener: ListenerID, _ deliveries: inout [Delivery]) {
    guard unconfirmed.contains(listener), engine.isAnswer(listener) else { return }
    unconfirmed.remove(listener)
    let isTold = deliveries.contains { delivery in
      if case .answered = delivery.event { delivery.listener == listener } else { false }
    }
    if isTold { return }
    let page = deliveries.lastIndex { delivery in
      if case .page = delivery.event { delivery.listener == listener } else { false }
    }
    deliveries.insert(
      Delivery(listener: listener, event: .answered), at: page ?? deliveries.count)
  }

  /// Extends the window of a paged listener by up to `count` rows.
  ///
  /// With a connection, or if another session asks for this one, the origin is asked for the rows, and
  /// the window is extended when it has answered. Without one the window is extended by the rows that
  /// are known, and there may be more. `page` is the last event. A count below 1 gains nothing. `now` is in milliseconds since
  /// 1970.
  ///
  /// - Throws: `TreeError` (`unknownListener`, `storage`); the window is then as before.
  package mutating func extend(
    _ listener: ListenerID, by count: Int, now: Int64, _ storage: inout some ReplicaStorage
  ) throws(TreeError) -> ReplicaOutcome {
    var outcome = ReplicaOutcome()
    if info.contains(listener) {
      outcome.deliveries = try info.extend(listener, by: count)
      return outcome
    }
    guard var paged = pages[listener] else {
      throw TreeError(.unknownListener, "There is no paged listener \(listener.rawValue).")
    }
    let before = paged.wanted
    paged.want(max(count, 0))
    if !isConnected, paged.hold != nil, try !isSpokenFor(paged, storage) {
      try reachKnown(&paged, storage)
    }
    outcome = try want(paged.wanted, insteadOf: before, now: now, &storage)
    outcome.append(try advance(&paged, now: now, &storage).outcome)
    pages[listener] = paged
    if paged.hold == nil || paged.wantedCount == 0 {
      var shown = try engine.show(paged.part, to: listener, reader: reader(storage))
      if paged.hold != nil { tellAnswer(to: listener, &shown) }
      outcome.deliveries += shown
    }
    try sendReady(now: now, &outcome, &storage)
    return outcome
  }

  /// The query that a listener is shown; for a paged window, the part of its request that is shown.
  ///
  /// For tests.
  package func shownQuery(of listener: ListenerID) -> Query? {
    pages[listener]?.part.query ?? listened[listener]
  }

  /// Moves the windows whose queries the origin has answered.
  mutating func advancePages(
    now: Int64, _ outcome: inout ReplicaOutcome, _ storage: inout some ReplicaStorage
  ) throws(TreeError) {
    for listener in pages.keys.sorted() {
      guard var paged = pages[listener] else { continue }
      let result = try advance(&paged, now: now, &storage)
      pages[listener] = paged
      outcome.append(result.outcome)
      if result.isMoved {
        var shown = try engine.show(paged.part, to: listener, reader: reader(storage))
        tellAnswer(to: listener, &shown)
        outcome.deliveries += shown
      }
    }
  }

  /// Asks for the first page again if a window has lost all its rows and there are more beyond it.
  ///
  /// Without a connection the window stays empty until it is extended.
  mutating func refillPages(
    now: Int64, _ outcome: inout ReplicaOutcome, _ storage: inout some ReplicaStorage
  ) throws(TreeError) {
    guard isConnected else { return }
    for listener in pages.keys.sorted() {
      guard let paged = pages[listener], paged.isSettled, paged.hasMore, engine.isEmpty(listener)
      else { continue }
      outcome.append(try extend(listener, by: paged.firstCount, now: now, &storage))
    }
  }

  /// Extends windows by the rows that are known, since there is no connection.
  mutating func settlePages(
    now: Int64, _ outcome: inout ReplicaOutcome, _ storage: inout some ReplicaStorage
  ) throws(TreeError) {
    for listener in pages.keys.sorted() {
      guard var paged = pages[listener] else { continue }
      let before = paged.wanted
      let isExtended = paged.hold != nil && paged.wantedCount > 0
      if isExtended { try reachKnown(&paged, storage) }
      paged.dropReplaced()
      outcome.append(try want(paged.wanted, insteadOf: before, now: now, &storage))
      pages[listener] = paged
      if isExtended {
        outcome.deliveries += try engine.show(paged.part, to: listener, reader: reader(storage))
      }
      tellAnswer(to: listener, &outcome.deliveries)
    }
  }

  /// Takes the next steps for which the answers have come; `isMoved` if the frontier moved.
  private mutating func advance(
    _ paged: inout PagedListen, now: Int64, _ storage: inout some ReplicaStorage
  ) throws(TreeError) -> (isMoved: Bool, outcome: ReplicaOutcome) {
    var outcome = ReplicaOutcome()
    var isMoved = false
    if let probe = paged.probe, try isAnswered(probe, storage) {
      let before = paged.wanted
      paged.reach(try rows(of: probe, storage), isAnswer: true)
      outcome = try want(paged.wanted, insteadOf: before, now: now, &storage)
      isMoved = true
    }
    if let hold = paged.hold, !paged.replaced.isEmpty, try isAnswered(hold, storage) {
      let before = paged.wanted
      paged.dropReplaced()
      outcome.append(try want(paged.wanted, insteadOf: before, now: now, &storage))
      var touched: [Path] = []
      for query in before { touched += try replica.discard(query, &storage) }
      try refresh(touched, now: now, &outcome, &storage)
    }
    return (isMoved, outcome)
  }

  /// True if the origin has answered a query on this connection, and sends its changes; or if another
  /// session asks it for this one, and it was answered.
  ///
  /// Limit: an answer of an earlier connection counts until the other session has a new one.
  private func isAnswered(
    _ query: Query, _ storage: some ReplicaStorage
  ) throws(TreeError) -> Bool {
    guard try replica.book.knowledge(of: query, storage).isAnswer else { return false }
    if !isConnected { return try isSpokenFor(query, storage) }
    return answering(query).contains(where: hasAnswered)
  }

  /// The queries whose answers answer a query: itself, and those of all children above.
  private func answering(_ query: Query) -> [Query] {
    [query.asked(reach)]
      + (0...query.path.keys.count).map { depth in
        Query(Path(unchecked: Array(query.path.keys[..<depth])))
      }
  }

  /// True if a session with the connection asks, for this one, what answers a query.
  private func isSpokenFor(
    _ query: Query, _ storage: some ReplicaStorage
  ) throws(TreeError) -> Bool {
    let records = answering(query).compactMap { replica.book.record(of: $0)?.id }
    return try !storage.queriesSpokenFor().isDisjoint(with: records)
  }

  /// The same of one of the queries that a window needs.
  private func isSpokenFor(
    _ paged: PagedListen, _ storage: some ReplicaStorage
  ) throws(TreeError) -> Bool {
    for query in paged.wanted where try isSpokenFor(query, storage) { return true }
    return false
  }

  /// True if `followOthers` would do something.
  func mustFollowOthers(_ storage: some ReplicaStorage) throws(TreeError) -> Bool {
    for paged in pages.values where try mustFollowOthers(paged, storage) { return true }
    return false
  }

  private func mustFollowOthers(
    _ paged: PagedListen, _ storage: some ReplicaStorage
  ) throws(TreeError) -> Bool {
    if let probe = paged.probe, try isAnswered(probe, storage) { return true }
    guard let hold = paged.hold else { return false }
    if !paged.replaced.isEmpty, try isAnswered(hold, storage) { return true }
    if paged.wantedCount == 0 { return false }
    return try !isSpokenFor(paged, storage)
  }

  /// Moves the windows of a session without a connection as far as another one has got answers for it, and
  /// those that wait for rows of which nobody asks any more by the rows that are known.
  mutating func followOthers(
    now: Int64, _ storage: inout some ReplicaStorage
  ) throws(TreeError) -> ReplicaOutcome {
    var outcome = ReplicaOutcome()
    try advancePages(now: now, &outcome, &storage)
    for listener in pages.keys.sorted() {
      guard let paged = pages[listener], paged.hold != nil, paged.wantedCount > 0,
        try !isSpokenFor(paged, storage)
      else { continue }
      outcome.append(try extend(listener, by: 0, now: now, &storage))
    }
    return outcome
  }

  /// The rows of the origin's answer to a query.
  private func rows(
    of query: Query, _ storage: some ReplicaStorage
  ) throws(TreeError) -> [TreeRow] {
    let slice = RowSlice(query)
    guard let record = replica.book.record(of: query), record.isActive, !record.isDefault else {
      return try storage.rows(of: query.path, in: slice, detail: .shallow)
    }
    let reader = ReplicaReader(storage: storage, book: replica.book, writes: .none)
    var rows: [TreeRow] = []
    for key in record.keys {
      let row = try reader.row(key, of: query.path, in: slice, detail: .shallow)
      if let row { rows.append(row) }
    }
    return slice.rows(among: rows)
  }

  /// Extends a window by the rows that are known beyond its frontier.
  private func reachKnown(
    _ paged: inout PagedListen, _ storage: some ReplicaStorage
  ) throws(TreeError) {
    guard let probe = paged.probe else { return }
    var view = View(ListenRequest(query: probe, detail: .shallow))
    try view.load(reader(storage))
    paged.reach(view.rows, isAnswer: view.knowledge.isAnswer)
    paged.dropReplaced()
  }

  /// Asks the origin the new queries, and ends the old ones.
  mutating func want(
    _ new: [Query], insteadOf old: [Query], now: Int64, _ storage: inout some ReplicaStorage
  ) throws(TreeError) -> ReplicaOutcome {
    var outcome = ReplicaOutcome()
    if new == old { return outcome }
    for query in new { outcome.append(try carryOut(plan.want(query), now: now, &storage)) }
    for query in old { outcome.append(try carryOut(plan.unwant(query), now: now, &storage)) }
    return outcome
  }
}
