import Foundation
import RunnelBase
import RunnelDatabase
import RunnelServices
import RunnelServicesTree
import RunnelTree
import Testing

/// A Feathers server in memory that answers at once: the naive model.
struct ModelServer {
  /// The records, in the order in which they were made; ids are numbers from 1.
  var records: [JSONValue] = []
  var pageMax: Int? = 5
  private var lastID: Int64 = 0
  /// True if ids are texts that do not tell which record is older.
  var hasTextIDs = false
  /// True if each record has a number `version` that grows with each write.
  var hasVersions = false
  /// The fields in conditions that are refused.
  var refusedNames: Set<String> = []
  /// True if numbers in conditions match nothing, as over REST.
  var readsTextsOnly = false
  /// The texts of records that are not created.
  var refusedTexts: Set<String> = []
  /// The errors that the next writes are answered with.
  var refusals: [FeathersError] = []
  /// True if each page begins with the first record.
  var ignoresSkip = false
  /// What is told of a page instead of what is right: its members, or null for none.
  var told: [JSONMember] = []
  /// True if single records cannot be got.
  var hasNoGet = false
  /// True if texts that are written are kept in capitals.
  var uppercases = false
  /// What the next calls of `find` are answered with, whatever is right.
  var wrongAnswers: [Result<JSONValue, FeathersError>] = []
  /// What the next calls of `get` are answered with, whatever is right.
  var getAnswers: [Result<JSONValue, FeathersError>] = []
  /// True if `create` is answered by null, and told by no event.
  var createsInSilence = false
  /// True if what is created is kept nowhere.
  var keepsNothing = false
  /// The calls that were made.
  var log: [String] = []
  /// The records that were changed, as they were before, and are after; nil if they were removed.
  var replaced: [(id: Int, before: JSONValue, after: JSONValue?)] = []

  private mutating func noteReplaced(_ before: JSONValue, _ after: JSONValue?) {
    if let id = before["id"]?.int { replaced.append((id, before, after)) }
  }

  private func index(_ id: ServiceID?) -> Int? {
    records.firstIndex { $0["id"].flatMap { ServiceID(json: $0) } == id }
  }

  private var nextID: JSONValue {
    hasTextIDs
      ? .string("r\(lastID &* 7_919 % 1_009)") : .number(JSONNumber(lastID))
  }

  /// The index of the record that a call changes.
  ///
  /// - Throws: `NotFound` if there is none that matches the query.
  private func index(_ request: ServiceRequest) throws(FeathersError) -> Int {
    guard let index = index(request.id),
      try QueryReading(query(of: request)).matches(records[index])
    else { throw FeathersError(.notFound, "none") }
    return index
  }

  /// The query as the server reads it.
  private func query(of request: ServiceRequest) throws(FeathersError) -> ServiceQuery {
    if let name = request.query.members.map(\.name).first(where: refusedNames.contains) {
      throw FeathersError(.badRequest, "Invalid query parameter \(name)")
    }
    if !readsTextsOnly { return request.query }
    let members = request.query.members.map { member in
      guard case .number = member.value, !member.name.hasPrefix("$") else { return member }
      return JSONMember(member.name, .string(member.value.jsonText()))
    }
    return ServiceQuery(json: .object(members)) ?? ServiceQuery()
  }

  private func versioned(_ record: JSONValue, after old: JSONValue?) -> JSONValue {
    if !hasVersions { return record }
    let version = (old?["version"]?.int ?? 0) + 1
    return record.setting("version", to: .number(JSONNumber(Int64(version))))
  }

  /// Carries out a call.
  ///
  /// - Returns: the answer, and the event that it raises.
  mutating func handle(
    _ request: ServiceRequest
  ) -> (Result<JSONValue, FeathersError>, (ServiceEvent, JSONValue)?) {
    log.append(
      "\(request.method.name) \(request.id?.text ?? "") \(request.query.json.jsonText())")
    if request.method == .find, !wrongAnswers.isEmpty { return (wrongAnswers.removeFirst(), nil) }
    do throws(FeathersError) {
      switch request.method {
      case .find:
        let rules = QueryRules(pages: pageMax.map { PageRules(standard: $0, max: $0) })
        var query = try query(of: request)
        if ignoresSkip { query["$skip"] = JSONValue?.none }
        let answer = try QueryReading(query, rules: rules)
          .answer(over: records, idField: "id", isPaged: pageMax != nil)
        return (.success(told.reduce(answer) { $0.setting($1.name, to: $1.value) }), nil)
      case .get:
        if !getAnswers.isEmpty { return (getAnswers.removeFirst(), nil) }
        if hasNoGet { throw FeathersError(.methodNotAllowed, "no get") }
        guard let index = index(request.id) else { throw FeathersError(.notFound, "none") }
        return (.success(records[index]), nil)
      default: break
      }
      if !refusals.isEmpty { throw refusals.removeFirst() }
      if let text = request.data?["text"]?.string, refusedTexts.contains(text) {
        throw FeathersError(.badRequest, "\(text) is refused")
      }
      var data = request.data?.object ?? []
      if uppercases {
        data = data.map {
          JSONMember($0.name, $0.value.string.map { .string($0.uppercased()) } ?? $0.value)
        }
      }
      switch request.method {
      case .create:
        lastID += 1
        let id = JSONMember("id", nextID)
        let record = versioned(.object([id] + data.filter { $0.name != "id" }), after: nil)
        if !keepsNothing { records.append(record) }
        if createsInSilence { return (.success(.null), nil) }
        return (.success(record), (.created, record))
      case .update, .patch:
        let index = try index(request)
        let old = request.method == .patch ? (records[index].object ?? []) : []
        var record = data.reduce(JSONValue.object(old)) { $0.setting($1.name, to: $1.value) }
        record = record.setting("id", to: records[index]["id"] ?? .null)
        record = versioned(record, after: records[index])
        noteReplaced(records[index], record)
        records[index] = record
        return (.success(record), (request.method == .patch ? .patched : .updated, record))
      case .remove:
        let index = try index(request)
        let record = records.remove(at: index)
        noteReplaced(record, nil)
        return (.success(record), (.removed, record))
      default: throw FeathersError(.methodNotAllowed, "no such method")
      }
    } catch {
      return (.failure(error), nil)
    }
  }
}

/// A replica, the origin that answers it, and a server, with the network between them in the hands
/// of a test.
final class ServiceWorld {
  /// A call under way: sent, or also carried out.
  struct Flight {
    var number: Int
    var request: ServiceRequest
    var answer: Result<JSONValue, FeathersError>?
  }

  var server = ModelServer()
  private(set) var session: DatabaseSession
  private(set) var origin: ServiceOrigin
  /// What is on disk.
  private(set) var disk = SentWrites()
  var flights: [Flight] = []
  var events: [(path: String, event: ServiceEvent, record: JSONValue)] = []
  private(set) var isConnected = false
  private(set) var refused: [Int64: TreeError] = [:]
  private(set) var acknowledged: Set<Int64> = []
  /// What was said of lists that were refused.
  private(set) var refusedLists: [String] = []
  /// How often the server said that nobody is signed in.
  private(set) var signOutCount = 0
  /// True if the server is asked as a user.
  var isSignedIn = false
  /// What was left of refused writes when they were refused.
  private(set) var rests: [Int64: PendingWrite] = [:]
  /// The bytes of what was kept on disk, altogether.
  private(set) var savedBytes = 0
  /// Which records are said not to be sent.
  private(set) var limits: [String] = []
  /// Which records may be there twice.
  private(set) var doubles: [String] = []
  /// Why the records are not read yet.
  private(set) var trouble: String?
  var now: Int64 = 1_790_000_000_000
  private let folder: URL
  private var listened: [ListenerID: ListenRequest] = [:]

  init() throws {
    folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("runnel-origin-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    session = try ServiceWorld.opened(folder)
    origin = ServiceOrigin()
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  private static func opened(_ folder: URL) throws -> DatabaseSession {
    var environment = DatabaseEnvironment.system
    environment.keepsRefusals = true
    let session = try DatabaseSession(
      file: folder.appendingPathComponent("test.db").path, environment: environment)
    try session.becomeReplica(ofOrigin: "feathers+http://test/")
    return session
  }

  // MARK: The user

  func listen(_ query: Query, page: Int? = nil) throws {
    let id = ListenerID(listened.count + 1)
    let request = ListenRequest(
      query: query, paging: page.map { Paging(anchor: .first, count: $0) }, events: .children)
    listened[id] = request
    _ = try session.listen(id, request)
    try pump()
  }

  /// Ends the program and starts it again, and nobody listens any more.
  func restart() throws {
    try disconnect()
    listened = [:]
    try kill()
  }

  /// Nobody looks at the first list any more.
  func unlisten() throws {
    session.unlisten(ListenerID(1))
    listened[ListenerID(1)] = nil
    try pump()
  }

  func extend(by count: Int) throws {
    _ = try session.extend(ListenerID(1), by: count)
    try pump()
  }

  @discardableResult
  func write(
    _ write: Write, taking: RefusedTaking? = nil, if conditions: [WriteCondition] = []
  ) throws -> Int64? {
    let before = Set(session.pendingWrites.map(\.id))
    if let taking {
      _ = try session.taking(taking) { try session.write(write, if: conditions) }
    } else {
      _ = try session.write(write)
    }
    let id = session.pendingWrites.map(\.id).first { !before.contains($0) }
    try pump()
    return id
  }

  /// The records that the replica shows, by key.
  func shown() throws -> Node { try session.node(at: Path("/notes")) }

  /// The values of a field of the rows that a query shows.
  func rows(_ query: Query, _ field: String) throws -> [String] {
    let key = try Key(field)
    return try session.rows(query).map { $0.node?[key].leaf?.json.string ?? "" }
  }

  // MARK: The network

  func connect(isTextual: Bool = false) throws {
    if isConnected { return }
    isConnected = true
    origin.connected(pending: Set(session.pendingWrites.map(\.id)))
    (origin.isSignedIn, origin.isTextual) = (isSignedIn, isTextual)
    _ = try session.connectOrigin(originTime: now)
    try pump()
  }

  /// The connection is lost; the answers that have come are taken with it.
  func disconnect(answered: Bool = false) throws {
    if !isConnected { return }
    isConnected = false
    let answers = flights.compactMap { flight in
      flight.answer.map { (number: flight.number, answer: $0) }
    }
    (flights, events) = ([], [])
    let told = origin.disconnected(after: [], answered ? answers : [])
    if let sent = origin.takeUnsaved() { keep(sent) }
    if !told.isEmpty { _ = try session.receive(told) }
    _ = try session.disconnectOrigin()
    try pump()
  }

  private func keep(_ sent: SentWrites) {
    disk = SentWrites(json: sent.json)
    savedBytes += sent.json.jsonText().utf8.count
  }

  /// Ends the program without a word, and starts it again.
  func kill() throws {
    (isConnected, flights, events) = (false, [], [])
    try session.close()
    session = try ServiceWorld.opened(folder)
    origin = ServiceOrigin(sent: disk)
    for (id, request) in listened.sorted(by: { $0.key < $1.key }) {
      _ = try session.listen(id, request)
    }
    try pump()
  }

  /// The server carries out a call.
  func execute(_ index: Int) {
    guard flights[index].answer == nil else { return }
    let (answer, event) = server.handle(flights[index].request)
    flights[index].answer = answer
    if let event { events.append(("notes", event.0, event.1)) }
  }

  /// What is read arrives, until the first call is a write.
  func reachWrite() throws {
    while let flight = flights.first, [.find, .get].contains(flight.request.method) {
      execute(0)
      try answer(0)
    }
  }

  /// The answer to a call arrives.
  func answer(_ index: Int) throws {
    let flight = flights.remove(at: index)
    guard let answer = flight.answer else { return }
    try carryOut(origin.answered(flight.number, answer, now: now))
  }

  /// The answer to a call that ended at its time limit arrives.
  func answerLate(_ flight: Flight) throws {
    guard let answer = flight.answer else { return }
    try carryOut(origin.answeredLate(flight.number, answer, now: now))
  }

  /// The events arrive, the first ones twice if asked for.
  func tellEvents(twice: Bool = false) throws {
    let told = events
    events = []
    try carryOut(origin.take(twice ? told + told : told, now: now))
  }

  func tick() throws { try wait(3_000) }

  /// So many milliseconds pass.
  func wait(_ milliseconds: Int64) throws {
    now += milliseconds
    try carryOut(origin.tick(now: now))
  }

  /// The user sends a write of unknown outcome again.
  func sendAgain(_ id: Int64) throws { try carryOut(origin.sendAgain(id, now: now)) }

  /// The user drops a refused write.
  func dropRefused(_ id: Int64) throws {
    _ = try session.dropRefusedWrite(id)
    try pump()
  }

  /// The user gives a write up.
  func drop(_ id: Int64) throws {
    _ = try session.dropPendingWrite(id)
    try carryOut(origin.dropped(id, now: now))
    try pump()
  }

  /// Everything arrives, until nothing is under way.
  func settle() throws {
    for _ in 0..<2_000 {
      if !events.isEmpty { try tellEvents() }
      if flights.isEmpty {
        guard origin.deadline != nil else { break }
        try tick()
        continue
      }
      execute(0)
      if !events.isEmpty { try tellEvents() }
      try answer(0)
    }
    try #require(flights.isEmpty && origin.deadline == nil, "it does not come to rest")
  }

  private func pump() throws {
    // A session that asks for more and more ends the test.
    for _ in 0..<10_000 {
      let output = session.takeOriginOutput()
      for completion in output.completions {
        switch completion {
        case .rejected(let id, let error): refused[id] = error
        case .acknowledged(let id): acknowledged.insert(id)
        default: break
        }
      }
      if output.commands.isEmpty { return }
      guard isConnected else { continue }
      var bases: [Int64: [Path: RunnelTree.Node]] = [:]
      var done: [Int64: Int] = [:]
      for case .write(let id, _) in output.commands {
        (bases[id], done[id]) = (session.bases(ofWrite: id), session.doneCount(ofWrite: id))
      }
      try carryOut(origin.send(output.commands, bases: bases, done: done, now: now))
    }
    Issue.record("the session never comes to rest")
  }

  private func carryOut(_ effects: [ServiceOrigin.Effect]) throws {
    session.moves.note(origin.newPlaces)
    origin.newPlaces = [:]
    for effect in effects {
      switch effect {
      case .call(let number, let path, let request):
        #expect(path == "notes")
        flights.append(Flight(number: number, request: request))
      case .tell(let messages):
        for case .listenRefused(_, let error) in messages { refusedLists.append(error.message) }
        for case .rejected(let id, _) in messages {
          rests[id] = session.pendingWrites.first { $0.id == id }
        }
        _ = try session.receive(messages)
        try pump()
      case .save(let sent): keep(sent)
      case .limited(_, let text): limits.append(text)
      case .troubled(_, let text): trouble = text
      case .doubled(_, let text): doubles.append(text)
      case .signedOut: signOutCount += 1
      case .listen, .note, .asked, .declined: break
      }
    }
    if isConnected { origin.checkInvariants() }
  }
}
