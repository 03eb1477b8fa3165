import RunnelBase
import RunnelTree

/// The words in which a scenario says what happens.
///
/// ```
/// NAME listens PATH [OPTION ...]        OPTION: orderBy=.key|.value|.priority|CHILD/PATH
/// NAME extends COUNT | NAME stops               startAt= startAfter= endAt= endBefore= equalTo=
/// keeps PATH [OPTION ...]                           JSON, or JSON,KEY
/// lets go PATH [OPTION ...]                     limitToFirst=N limitToLast=N
///                                               page=first|last,COUNT
///                                               events=all|children|value|pending|added+…
/// [hidden] set PATH JSON                origin sets PATH [tag N] JSON
/// update PATH JSON                      origin merges PATH [tag N] JSON
/// remove PATH                           origin prioritises PATH [tag N] JSON
///                                       origin tells ranges PATH [tag N] [{"s":…,"e":…,"m":…}, …]
///                                       origin completes PATH [tag N]
///                                       origin refuses PATH [tag N]
/// transaction PATH [hidden] BODY        origin revokes PATH [OPTION ...]
///   BODY: add N | set JSON | give up    origin ends PATH [tag N]
///         claim JSON                    origin acknowledges N | the last
/// connects [at TIME] | disconnects      origin rejects N
/// restarts | gives up writes            origin calls N | the last stale
/// gets PATH [OPTION ...] | waits MILLISECONDS       origin answers N JSON
/// on disconnect set PATH JSON | update PATH JSON | remove PATH | cancel PATH
/// ```
/// `claim` sets what is empty and gives up on anything else; `the last` is the last comparison sent.
/// `completes` and `refuses` answer the last listen of the query; with the word `late` at the end, the
/// last one that was ended. `ends` answers the last unlisten: see `Scenario`.
enum ScenarioInput {
  /// What the origin says to a listen or an unlisten.
  enum Answer {
    case complete
    case refuse
    case end
  }

  case listen(String, ListenRequest)
  case extend(String, Int)
  case stop(String)
  case keep(Query, Bool)
  case write(Write)
  case hiddenWrite(Write)
  case transaction(TransactionRequest)
  case message(OriginMessage)
  case answerLast((Int64) -> OriginMessage)
  case answerAsk(Path, tag: Int?, isLate: Bool, Answer)
  case connect(originTime: Int64?)
  case disconnect
  case restart
  case purge
  case get(Query)
  case wait(Int64)
  case onDisconnect(DisconnectRequest)

  init(_ text: String) throws {
    var words = Words(text)
    let first = try words.next()
    switch first {
    case "connects": self = .connect(originTime: try words.take("at") ? words.number() : nil)
    case "disconnects": self = .disconnect
    case "restarts": self = .restart
    case "gives":
      try words.expect("up writes")
      self = .purge
    case "on":
      try words.expect("disconnect")
      self = .onDisconnect(try words.disconnectRequest())
    case "gets": self = .get(try words.request().query)
    case "waits": self = .wait(try words.number())
    case "keeps": self = .keep(try words.request().query, true)
    case "lets":
      try words.expect("go")
      self = .keep(try words.request().query, false)
    case "set": self = .write(.set(try words.path(), try words.json()))
    case "remove": self = .write(.remove(try words.path()))
    case "update":
      let path = try words.path()
      guard case .object(let members) = try words.json() else {
        throw ScenarioError("an update is an object: \(text)")
      }
      self = .write(.update(path, members))
    case "transaction": self = .transaction(try words.transaction())
    case "hidden":
      try words.expect("set")
      self = .hiddenWrite(.set(try words.path(), try words.json()))
    case "origin":
      self = try words.answerOfLast() ?? words.answerOfAsk() ?? .message(words.message())
    default: self = try ScenarioInput.listener(first, &words)
    }
    try words.finish()
  }

  private static func listener(_ name: String, _ words: inout Words) throws -> ScenarioInput {
    switch try words.next() {
    case "listens": return .listen(name, try words.request())
    case "extends": return .extend(name, Int(try words.number()))
    case "stops": return .stop(name)
    case let word: throw ScenarioError("\(name) \(word): unknown words")
    }
  }
}

/// The rest of a text, word by word.
struct Words {
  private let text: String
  private var rest: Substring

  init(_ text: String) {
    self.text = text
    rest = text[...]
  }

  private mutating func skipBlanks() { rest = rest.drop { $0 == " " } }

  mutating func peek() -> String? {
    skipBlanks()
    return rest.isEmpty ? nil : String(rest.prefix { $0 != " " })
  }

  mutating func next() throws -> String {
    guard let word = peek() else { throw ScenarioError("more is expected after: \(text)") }
    rest = rest.dropFirst(word.count)
    return word
  }

  mutating func expect(_ words: String) throws {
    for word in words.split(separator: " ") where try next() != word {
      throw ScenarioError("\(word) is expected in: \(text)")
    }
  }

  mutating func take(_ word: String) throws -> Bool {
    guard peek() == word else { return false }
    _ = try next()
    return true
  }

  mutating func finish() throws {
    if let word = peek() { throw ScenarioError("\(word) is too much in: \(text)") }
  }

  mutating func path() throws -> Path { try Path(next()) }

  mutating func number() throws -> Int64 {
    guard let number = Int64(try next()) else { throw ScenarioError("a number: \(text)") }
    return number
  }

  /// All that is left, as JSON.
  mutating func json() throws -> JSONValue {
    skipBlanks()
    let json = try JSONValue(parsing: String(rest))
    rest = ""
    return json
  }

  mutating func disconnectRequest() throws -> DisconnectRequest {
    switch try next() {
    case "set": return .set(try path(), try json())
    case "remove": return .set(try path(), .null)
    case "cancel": return .cancel(try path())
    case "update":
      let path = try path()
      guard case .object(let members) = try json() else {
        throw ScenarioError("an update is an object: \(text)")
      }
      return .update(path, members)
    case let word: throw ScenarioError("on disconnect \(word): unknown words")
    }
  }

  mutating func tag() throws -> Int? { try take("tag") ? Int(try number()) : nil }

  /// An answer to the last comparison, if that is what it is.
  mutating func answerOfLast() throws -> ScenarioInput? {
    var words = self
    let verb = try words.next()
    guard try words.take("the") else { return nil }
    try words.expect("last")
    self = words
    switch verb {
    case "acknowledges": return .answerLast { .acknowledged(id: $0) }
    case "calls":
      try expect("stale")
      return .answerLast { .stale(id: $0) }
    default: throw ScenarioError("origin \(verb) the last: unknown words")
    }
  }

  /// An answer to a listen or an unlisten, if that is what it is.
  mutating func answerOfAsk() throws -> ScenarioInput? {
    let answers: [String: ScenarioInput.Answer] = [
      "completes": .complete, "refuses": .refuse, "ends": .end,
    ]
    guard let verb = peek(), let answer = answers[verb] else { return nil }
    _ = try next()
    return .answerAsk(try path(), tag: try tag(), isLate: try take("late"), answer)
  }

  mutating func message() throws -> OriginMessage {
    switch try next() {
    case "sets":
      let (path, tag) = (try path(), try tag())
      return .push(.set(try Node(json: json())), path, tag: tag)
    case "merges":
      let (path, tag) = (try path(), try tag())
      guard case .object(let members) = try json() else { throw ScenarioError("\(text)") }
      return .push(.merge(try members.map(Words.part)), path, tag: tag)
    case "prioritises":
      let (path, tag) = (try path(), try tag())
      return .push(.priority(Leaf(try json())), path, tag: tag)
    case "tells":
      try expect("ranges")
      let (path, tag) = (try path(), try tag())
      guard case .array(let elements) = try json() else { throw ScenarioError(text) }
      return .ranges(try elements.map(Words.range), path, tag: tag)
    case "revokes": return .listenRevoked(try request().query, Words.refusal)
    case "answers": return .answer(id: try number(), try Node(json: json()))
    case "acknowledges": return .acknowledged(id: try number())
    case "rejects": return .rejected(id: try number(), Words.refusal)
    case "calls":
      let id = try number()
      try expect("stale")
      return .stale(id: id)
    case let word: throw ScenarioError("origin \(word): unknown words")
    }
  }

  /// A member of a merge, as it is sent.
  private static func part(_ member: JSONMember) throws -> Assignment {
    let pieces = member.name.split(separator: "/").map(String.init)
    guard pieces.last == ".priority" else {
      return Assignment(path: try Path(member.name), target: .node(try Node(json: member.value)))
    }
    let path = try Path(pieces.dropLast().joined(separator: "/"))
    return Assignment(path: path, target: .priority(Leaf(member.value)))
  }

  /// A range in the form in which it is sent.
  private static func range(_ json: JSONValue) throws -> RangeMerge {
    func position(_ name: String) throws -> LeafPosition? {
      guard case .string(let text)? = json[name] else { return nil }
      return try LeafPosition(text)
    }
    return RangeMerge(
      after: try position("s"), through: try position("e"),
      node: try Node(json: json["m"] ?? .null))
  }

  static let refusal = TreeError(.permissionDenied, "Permission denied.")

  mutating func transaction() throws -> TransactionRequest {
    let path = try path()
    let isHidden = try take("hidden")
    switch try next() {
    case "add":
      let amount = JSONNumber(try number())
      return TransactionRequest(path, appliesLocally: !isHidden) { node in
        guard case .number(let old)? = node.leaf else { return .number(amount) }
        return .number(JSONNumber((old.integer ?? 0) + (amount.integer ?? 0)))
      }
    case "set":
      let json = try json()
      return TransactionRequest(path, appliesLocally: !isHidden) { _ in json }
    case "claim":
      let json = try json()
      return TransactionRequest(path, appliesLocally: !isHidden) {
        $0.isEmpty ? json : Optional<JSONValue>.none
      }
    case "give":
      try expect("up")
      return TransactionRequest(path, appliesLocally: !isHidden) { _ in nil }
    case let word: throw ScenarioError("transaction … \(word): unknown words")
    }
  }

  /// A path and the options of a query on it.
  mutating func request() throws -> ListenRequest {
    var query = Query(try path())
    var events = EventKinds.all
    var paging: Paging?
    while peek() != nil {
      let option = try next()
      let parts = option.split(separator: "=", maxSplits: 1).map(String.init)
      guard parts.count == 2 else { throw ScenarioError("\(option) is no option") }
      if parts[0] == "events" {
        events = try Words.events(parts[1])
      } else if parts[0] == "page" {
        paging = try Words.paging(parts[1])
      } else {
        query = try Words.changed(query, parts[0], parts[1])
      }
    }
    return ListenRequest(query: query, paging: paging, events: events)
  }

  private static func paging(_ text: String) throws -> Paging {
    let parts = text.split(separator: ",").map(String.init)
    guard parts.count == 2, ["first", "last"].contains(parts[0]), let count = Int(parts[1])
    else { throw ScenarioError("\(text) is no page") }
    return Paging(anchor: parts[0] == "first" ? .first : .last, count: count)
  }

  private static func events(_ text: String) throws -> EventKinds {
    try text.split(separator: "+").reduce(into: []) { kinds, name in
      switch name {
      case "all": kinds.formUnion(.all)
      case "children": kinds.formUnion(.children)
      case "value": kinds.formUnion(.value)
      case "added": kinds.formUnion(.added)
      case "changed": kinds.formUnion(.changed)
      case "moved": kinds.formUnion(.moved)
      case "removed": kinds.formUnion(.removed)
      case "pending": kinds.formUnion(.pending)
      default: throw ScenarioError("\(name) is no kind of event")
      }
    }
  }

  private static func changed(_ query: Query, _ option: String, _ text: String) throws -> Query {
    switch option {
    case "orderBy":
      switch text {
      case ".key": return try query.ordered(by: .key)
      case ".value": return try query.ordered(by: .value)
      case ".priority": return try query.ordered(by: .priority)
      default: return try query.ordered(by: .child(Path(text)))
      }
    case "limitToFirst": return try query.limited(to: Int(text) ?? 0, from: .first)
    case "limitToLast": return try query.limited(to: Int(text) ?? 0, from: .last)
    default: break
    }
    let parts = text.split(separator: ",", maxSplits: 1).map(String.init)
    let value = IndexValue(try Node(json: JSONValue(parsing: parts[0])))
    let key = parts.count > 1 ? try Key(parts[1]) : nil
    switch option {
    case "startAt": return try query.starting(at: value, key: key)
    case "startAfter": return try query.starting(at: value, key: key, isInclusive: false)
    case "endAt": return try query.ending(at: value, key: key)
    case "endBefore": return try query.ending(at: value, key: key, isInclusive: false)
    case "equalTo": return try query.equal(to: value, key: key)
    default: throw ScenarioError("\(option) is no option")
    }
  }
}
