import RunnelBase
import RunnelServices
import RunnelTree

// Queries: what has to be read for their answers, and what is told when it was read.

extension ServiceOrigin {
  /// What has to be read for a query of a service's records.
  private func need(_ query: Query) -> ServiceNeed {
    let service = query.path.keys.first
    return ServiceNeed(
      query, idField: service.map { mirror.knownIDField(of: $0) } ?? "id", isTextual: isTextual,
      declined: service.flatMap { services[$0]?.declined } ?? [])
  }

  // MARK: Asks

  mutating func listen(_ id: AskID, _ query: Query, _ tag: Int?) {
    guard let service = query.path.keys.first else {
      messages.append(.listenRefused(id, ServiceOrigin.noRoot))
      return
    }
    begin(service)
    asks[listener()] = Ask(kind: .listen(id, tag: tag), query: query)
  }

  mutating func get(_ id: Int64, _ query: Query) {
    guard let service = query.path.keys.first else {
      messages.append(.rejected(id: id, ServiceOrigin.noRoot))
      return
    }
    begin(service)
    asks[listener()] = Ask(kind: .get(id), query: query)
  }

  private static let noRoot = TreeError(
    .unavailable, "A Feathers server does not list its services: open one by its path.")

  mutating func begin(_ service: Key) {
    guard services[service] == nil else { return }
    services[service] = ServiceState()
    effects.append(.listen(path: ServiceMirror.path(of: service)))
  }

  mutating func unlisten(_ id: AskID, _ query: Query) {
    let ended = asks.filter { _, ask in
      if case .listen(id, _) = ask.kind { true } else { false }
    }
    for listener in ended.keys {
      asks[listener] = nil
      engine.unlisten(listener)
    }
    messages.append(.unlistened(id))
  }

  // MARK: Reading

  /// Makes the call that a query needs next, if it is not made already.
  mutating func read(for listener: ListenerID) {
    guard let ask = asks[listener], let service = ask.query.path.keys.first, !isSatisfied(ask),
      let state = services[service]
    else { return }
    if ask.query.path.keys.count > 1 { return fetch(service, ask.query.path.keys[1]) }
    let need = need(ask.query)
    if case .record(let key) = need { return fetch(service, key) }
    guard let id = need.run, state.trouble.retryTime == nil else { return }
    var run = state.runs[id] ?? ServiceRun(id)
    guard run.call == nil, !run.isExhausted, !run.isStuck, !isReadBackwards(id, ask.query, state)
    else { return }
    guard state.isSampled, let idField = mirror.idField(of: service) else {
      return sample(service)
    }
    let surroundings = ServiceRun.Surroundings(
      idField: idField, isTextual: isTextual, records: mirror.records(of: service),
      id: { [mirror] in mirror.id(of: service, $0) })
    let page = run.nextPage(wanted(need, run), surroundings)
    let number = number(.page(service, id, page, since: news.last))
    run.call = number
    services[service]?.runs[id] = run
    let path = ServiceMirror.path(of: service)
    if let condition = id.condition { effects.append(.asked(path: path, condition)) }
    effects.append(.call(number, path: path, .find(query: page.query)))
  }

  private func wanted(_ need: ServiceNeed, _ run: ServiceRun) -> Int {
    if run.isDisordered { return ServiceRun.pageMax }
    switch need {
    case .rows(_, let limit, _): return limit.count + 10
    case .through: return 100
    case .all, .record: return ServiceRun.pageMax
    }
  }

  /// Asks for one record, to see what the id is called; for more if the first has none.
  mutating func sample(_ service: Key, limit: Int = 1) {
    guard services[service]?.isSampling == false else { return }
    services[service]?.isSampling = true
    let number = number(.sample(service, limit: limit))
    effects.append(
      .call(
        number, path: ServiceMirror.path(of: service), .find(query: ServiceQuery().limit(limit))))
  }

  /// The number of records among which one with an id is looked for.
  private static let widerSample = 100

  /// Gets a record that nobody knows.
  mutating func fetch(_ service: Key, _ key: Key) {
    guard services[service]?.asked.insert(key).inserted == true else { return }
    let number = number(.record(service, key, since: news.last))
    effects.append(
      .call(
        number, path: ServiceMirror.path(of: service), .get(id: mirror.id(of: service, key))))
  }

  /// True if it is known whether there is such a record, and what it is.
  func isKnown(_ service: Key, _ key: Key) -> Bool {
    guard let state = services[service] else { return false }
    return !mirror.node(service, key).isEmpty || state.absent.contains(key)
      || state.isWhole(nil)
  }

  /// True if everything is known that belongs to the answer of a query.
  private func isSatisfied(_ ask: Ask) -> Bool {
    let keys = ask.query.path.keys
    if keys.count > 1 { return isKnown(keys[0], keys[1]) }
    guard let state = services[keys[0]] else { return false }
    let need = need(ask.query)
    if case .record(let key) = need { return isKnown(keys[0], key) }
    if state.isWhole(need.run?.condition) || isCovered(ask.query, need, state) { return true }
    guard let run = need.run.flatMap({ state.runs[$0] }) else { return false }
    if run.isStuck { return true }
    switch need {
    case .all, .record: return false
    case .through(_, let position): return run.reaches(position)
    case .rows(_, let limit, let end):
      if let end, run.reaches(end) { return true }
      let rows = RowSlice(ask.query).rows(
        among: mirror.records(of: keys[0]), detail: .shallow)
      guard rows.count >= limit.count,
        let last = limit.side == .first ? rows.last : rows.first
      else { return false }
      return run.reaches(last.position)
    }
  }

  /// True if the run from one end of the order has reached the bound of a query on the other side: then all
  /// records of the query are known, whichever of them it wants.
  private func isCovered(_ query: Query, _ need: ServiceNeed, _ state: ServiceState) -> Bool {
    var id: ServiceRun.ID
    switch need {
    case .record, .all: return false
    case .through(let run, _), .rows(let run, _, _): id = run
    }
    for (bound, isBackward) in [(query.start, true), (query.end, false)] {
      id.isBackward = isBackward
      if let bound, state.runs[id]?.reaches(bound.position) == true { return true }
    }
    return false
  }

  /// True if a page is on its way that the run from the other end reads, and that may reach a query's bound: so it
  /// is when a list goes to its last page.
  private func isReadBackwards(
    _ id: ServiceRun.ID, _ query: Query, _ state: ServiceState
  ) -> Bool {
    var other = id
    other.isBackward.toggle()
    let bound = other.isBackward ? query.start : query.end
    return bound != nil && state.runs[other]?.call != nil
  }

  // MARK: Answers of the server

  mutating func sampled(
    _ service: Key, limit: Int, _ answer: Result<JSONValue, FeathersError>, _ now: Int64
  ) {
    services[service]?.isSampling = false
    let answer = listed(answer, service)
    let records = (try? answer.get()).map { ServiceResult($0).records } ?? []
    let named = records.first { mirror.key(of: $0, in: service) != nil }
    if named == nil, !records.isEmpty, limit < ServiceOrigin.widerSample {
      return sample(service, limit: ServiceOrigin.widerSample)
    }
    noteExample(answer.map { _ in named ?? records.first }, service, now)
    switch answer {
    case .failure(let error): failed(service, error, now)
    case .success:
      services[service]?.isSampled = true
      if named == nil, !records.isEmpty {
        let error = FeathersError(
          .generalError,
          "The records of the service have no _id, id or uuid, so they cannot be shown.")
        return refuse(error) { $0.query.path.keys == [service] }
      }
      if records.isEmpty {
        succeeded(service)
        // Events tell of the first records.
        services[service]?.isSampled = false
        var run = ServiceRun(ServiceRun.ID())
        run.noteEmpty()
        services[service]?.runs[run.id] = run
      }
    }
  }

  mutating func answered(
    _ service: Key, _ id: ServiceRun.ID, _ page: ServiceRun.Page, since: Int,
    _ answer: Result<JSONValue, FeathersError>, _ now: Int64
  ) {
    guard var run = services[service]?.runs[id] else { return }
    let answer = listed(answer, service)
    switch answer {
    case .failure(let error):
      if error.kind == .badRequest, page.skip == nil {
        run.noteRefusal()
        services[service]?.runs[id] = run
      } else if error.kind == .badRequest, let condition = id.condition {
        // What the server does not check is checked here, record by record.
        services[service]?.runs[id] = nil
        services[service]?.declined.insert(condition)
        let path = ServiceMirror.path(of: service)
        effects.append(
          .note("\(path) is not filtered by the server, which says: \(error.message)"))
        effects.append(.declined(path: path, condition))
      } else {
        run.call = nil
        services[service]?.runs[id] = run
        failed(service, error, now)
      }
    case .success(let json):
      let result = ServiceResult(json)
      let read = result.records.compactMap { child($0, service) }
      run.checkOrder(read)
      // What events have told since is newer.
      put(read.filter { !hasNews(service, $0.key, since: since) }, service)
      run.take(read, received: result.records.count, page, told: result.page)
      services[service]?.runs[id] = run
      succeeded(service)
      if run.isStuck {
        effects.append(.limited(path: ServiceMirror.path(of: service), run.limitText))
      }
    }
  }

  mutating func answered(
    _ service: Key, _ key: Key, since: Int, _ answer: Result<JSONValue, FeathersError>,
    _ now: Int64
  ) {
    services[service]?.asked.remove(key)
    switch answer {
    case .success(let json):
      guard let child = child(json, service), child.key == key else {
        // What a proxy sends says nothing of the record.
        if !waiting(for: service, key).isEmpty {
          let error = FeathersError(.generalError, "The answer is no such record.")
          return unread(service, key, error, now)
        }
        services[service]?.absent.insert(key)
        break
      }
      if !hasNews(service, key, since: since) { put([child], service) }
    case .failure(let error) where [404, 410].contains(error.code):
      if !hasNews(service, key, since: since) {
        services[service]?.absent.insert(key)
        put([Child(key: key, node: .empty)], service)
      }
    case .failure(let error) where error.isRetryable:
      pause(now)
      return wakeWrites(service, key, isRead: false)
    case .failure(let error):
      unread(service, key, error, now)
      // Some services have lists only: then what these tell is all that can be known.
      if !mirror.node(service, key).isEmpty { break }
      let rows = asks.values.map(\.query).filter { query in
        guard query.path.keys == [service], case .record(key) = need(query) else { return false }
        return true
      }
      refuse(error) { ask in
        rows.contains(ask.query) || ask.query.path.keys.starts(with: [service, key])
      }
    }
    wakeWrites(service, key, isRead: true)
  }

  /// Returns the child that a record is; nil if a tree cannot hold it.
  mutating func child(_ record: JSONValue, _ service: Key) -> Child? {
    guard let key = mirror.key(of: record, in: service) else {
      effects.append(
        .note("A record of \(ServiceMirror.path(of: service)) has no usable id and is not shown."))
      return nil
    }
    services[service]?.seen.insert(key)
    do {
      return Child(key: key, node: try mirror.stored(record, key, of: service))
    } catch {
      effects.append(
        .note(
          "The record \(key.text) of \(ServiceMirror.path(of: service)) is not shown: \(error)"))
      return nil
    }
  }

  // MARK: Telling

  /// Changes records; those who listen are told by `tellChanges`.
  mutating func put(_ records: [Child], _ service: Key) {
    for record in records where mirror.node(service, record.key) != record.node {
      mirror.put(record, in: service)
      if !record.node.isEmpty { services[service]?.absent.remove(record.key) }
    }
  }

  /// Tells those who listen what this step has changed, before what became of writes in it.
  mutating func tellChanges() {
    // What was not read was told before anything of it was.
    messages = unread + messages
    unread = []
    let places = mirror.takeChanges()
    if places.isEmpty { return }
    let outcomes = messages
    messages = []
    // A tree in memory can always be read.
    let deliveries = (try? engine.apply(touched: places, reader: mirror)) ?? []
    for delivery in deliveries {
      guard let ask = asks[delivery.listener], case .listen(_, let tag) = ask.kind,
        let service = ask.query.path.keys.first, let row = delivery.event.row
      else { continue }
      var node = Node.empty
      if case .childRemoved = delivery.event {} else { node = mirror.node(service, row.key) }
      messages.append(.push(.set(node), ServiceMirror.place(service, row.key), tag: tag))
    }
    // Who asked before, and does not listen, may have kept a record that is gone.
    for place in places where mirror.node(at: place).isEmpty {
      messages.append(.push(.set(.empty), place, tag: nil))
    }
    let changed = Set(places)
    for (listener, ask) in asks.sorted(by: { $0.key < $1.key }) where ask.isAnswered {
      let keys = ask.query.path.keys
      if keys.count > 1, changed.contains(ServiceMirror.place(keys[0], keys[1])) { tell(listener) }
    }
    messages += outcomes
  }

  /// Answers the queries of which everything is known.
  mutating func answerAsks() {
    for (listener, ask) in asks.sorted(by: { $0.key < $1.key }) where !ask.isAnswered {
      guard isSatisfied(ask) else { continue }
      switch ask.kind {
      case .get(let id):
        asks[listener] = nil
        messages.append(.answer(id: id, node(of: ask.query)))
      case .listen(let id, let tag):
        asks[listener]?.isAnswered = true
        if ask.query.path.keys.count > 1 {
          tell(listener, always: true)
        } else {
          // A tree in memory can always be read.
          _ = try? engine.listen(
            listener, ListenRequest(query: ask.query), reader: mirror)
          messages.append(.push(.set(node(of: ask.query)), ask.query.path, tag: tag))
        }
        messages.append(.listenComplete(id))
      }
    }
  }

  /// Tells a query below a record what it is now.
  private mutating func tell(_ listener: ListenerID, always: Bool = false) {
    guard let ask = asks[listener], case .listen(_, let tag) = ask.kind else { return }
    let node = node(of: ask.query)
    if node == ask.told, !always { return }
    asks[listener]?.told = node
    messages.append(.push(.set(node), ask.query.path, tag: tag))
  }

  /// The known answer of a query.
  private func node(of query: Query) -> Node {
    let node = mirror.node(at: query.path)
    if query.loadsAllData { return node }
    let rows = RowSlice(query).rows(among: node.children, detail: .full)
    return Node(children: rows.compactMap { row in row.node.map { Child(key: row.key, node: $0) } })
  }
}

extension Node {
  /// The children of the node, as parts of a place that may have more.
  fileprivate var parts: Replica.Push {
    .merge(children.map { Assignment(path: Path(unchecked: [$0.key]), target: .node($0.node)) })
  }
}

// MARK: - Events

extension ServiceOrigin {
  mutating func take(
    _ path: String, _ event: ServiceEvent, _ record: JSONValue, _ now: Int64
  ) {
    guard let text = try? ServiceRecordCoding.key(for: path), let service = try? Key(text),
      services[service] != nil,
      [.created, .updated, .patched, .removed].contains(event),
      let key = mirror.key(of: record, in: service)
    else { return }
    if event == .created { noteBirth(service, key, record) }
    note(service, key)
    if event != .created, held[service]?.contains(where: { $0.key == key }) == true {
      adoptBirths()
      releaseHeld(service, key)
    }
    let known = mirror.node(service, key)
    if event == .removed {
      services[service]?.absent.insert(key)
      if known.isEmpty { tellUnread(.set(.empty), service, key) }
      return put([Child(key: key, node: .empty)], service)
    }
    var whole = record
    if event == .patched, !known.isEmpty {
      // Who patches with `$select` makes the server send those fields only.
      whole = (record.object ?? []).reduce(mirror.record(known, key, of: service)) {
        $0.setting($1.name, to: $1.value)
      }
    }
    guard let child = child(whole, service) else { return }
    if known.isEmpty, !concerns(service, child) {
      // The replica cannot have a record that is new.
      if event == .created { return }
      return tellUnread(event == .patched ? child.node.parts : .set(child.node), service, key)
    }
    if event == .created, known.isEmpty, isCreating(service) {
      // It may be the record that a call under way creates: the answer tells.
      held[service, default: []].append(child)
      heldTime = heldTime ?? now + ServiceOrigin.holdMilliseconds
    } else {
      put([child], service)
    }
  }

  /// Tells the replica of a record that was not read on this connection: it may have it from an earlier one,
  /// and takes no notice otherwise.
  private mutating func tellUnread(_ push: Replica.Push, _ service: Key, _ key: Key) {
    unread.append(.push(push, ServiceMirror.place(service, key), tag: nil))
  }

  /// The longest time for which a new record is held, in milliseconds.
  private static let holdMilliseconds: Int64 = 2_000

  /// Shows the new records that were held: all, those of a service, or one.
  mutating func releaseHeld(_ service: Key? = nil, _ key: Key? = nil) {
    for (name, children) in held where service == nil || name == service {
      let released = children.filter { key == nil || $0.key == key }
      let rest = children.filter { child in !released.contains { $0.key == child.key } }
      held[name] = rest.isEmpty ? nil : rest
      put(released, name)
    }
    if held.isEmpty { heldTime = nil }
  }

  /// Notes that a record has news, so that answers under way do not count for it.
  private mutating func note(_ service: Key, _ key: Key) {
    news.note(RecordID(service: service, key: key)) {
      calls.values.compactMap(\.since).min() ?? .max
    }
    for id in services[service]?.runs.keys.map(\.self) ?? [] {
      services[service]?.runs[id]?.drift += 1
    }
  }

  /// True if an event has told of a record after the event `since`.
  func hasNews(_ service: Key, _ key: Key, since: Int) -> Bool {
    news.contains(RecordID(service: service, key: key), since: since)
  }

  /// True if somebody may need a record.
  private func concerns(_ service: Key, _ child: Child) -> Bool {
    guard let state = services[service] else { return false }
    return state.isSampling || state.runs.values.contains { $0.concerns(child) }
      || state.asked.contains(child.key) || state.absent.contains(child.key)
      || asks.values.contains { $0.query.path.keys.starts(with: [service, child.key]) }
  }
}
