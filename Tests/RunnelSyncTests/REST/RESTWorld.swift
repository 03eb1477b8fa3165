import RunnelBase
import RunnelSync
import RunnelTree

/// Requests to a tree in memory, without a network.
struct RESTWorld {
  struct Answer: Hashable {
    var status: Int
    var headers: [RESTRequest.Header]
    var body: String

    subscript(header: String) -> String? { headers.first { $0.name == header }?.value }
  }

  var tree: MemoryServedTree
  var now = WireTime(calendar: 1_735_689_600_123, uptime: 0)
  var rules = "{\"rules\":{}}"
  var limits = RESTExchange.Limits()
  private var random = SeededRandom(seed: 1)
  /// The streams that are open, with what was sent and not taken.
  private var streams: [Int64: RESTExchange] = [:]
  private var events: [Int64: String] = [:]
  private var streamCount: Int64 = 0
  private(set) var spooled = 0
  /// The limits that clients reached, in order.
  private(set) var reached: [RESTLimit] = []

  init(_ json: String = "null", access: MemoryServedTree.Access = .init()) throws {
    tree = MemoryServedTree(MemoryTree(try Node(json: JSONValue(parsing: json))), access: access)
  }

  /// A request and its answer.
  mutating func ask(
    _ method: String, _ target: String, _ body: String? = nil,
    _ headers: KeyValuePairs<String, String> = [:]
  ) -> Answer {
    let (answer, _) = run(method, target, body, headers)
    return answer
  }

  /// A stream; returns its name and its head.
  mutating func stream(
    _ target: String, _ headers: KeyValuePairs<String, String> = [:]
  ) -> (stream: Int64, answer: Answer) {
    var all = headers.map { RESTRequest.Header($0.key, $0.value) }
    all.append(RESTRequest.Header("Accept", "text/event-stream"))
    let (answer, exchange) = run(RESTRequest("GET", target, headers: all), nil)
    if exchange.isStreaming { streams[streamCount] = exchange }
    return (streamCount, answer)
  }

  /// The events of a stream since the last time.
  mutating func take(_ stream: Int64) -> String {
    defer { events[stream] = "" }
    return events[stream] ?? ""
  }

  func isOpen(_ stream: Int64) -> Bool { streams[stream]?.isEnded == false }

  mutating func change(
    _ stream: Int64, _ body: (inout RESTExchange, WireTime) -> [RESTExchange.Effect]
  ) {
    guard var exchange = streams[stream] else { return }
    for effect in body(&exchange, now) {
      if case .body(let bytes) = effect {
        events[stream, default: ""] += String(decoding: bytes, as: UTF8.self)
      }
    }
    streams[stream] = exchange
  }

  private mutating func run(
    _ method: String, _ target: String, _ body: String?,
    _ headers: KeyValuePairs<String, String>
  ) -> (Answer, RESTExchange) {
    run(
      RESTRequest(method, target, headers: headers.map { RESTRequest.Header($0.key, $0.value) }),
      body)
  }

  private mutating func run(_ request: RESTRequest, _ body: String?) -> (Answer, RESTExchange) {
    streamCount += 1
    var exchange = RESTExchange(request, limits: limits)
    var answer = Answer(status: 0, headers: [], body: "")
    carryOut(exchange.begin(now: now), &exchange, &answer)
    // A body arrives in pieces.
    var rest = Array((body ?? "").utf8)[...]
    while !rest.isEmpty {
      carryOut(exchange.receive(Array(rest.prefix(7)), now: now), &exchange, &answer)
      rest = rest.dropFirst(7)
    }
    carryOut(exchange.receivedAll(now: now), &exchange, &answer)
    return (answer, exchange)
  }

  private mutating func carryOut(
    _ effects: [RESTExchange.Effect], _ exchange: inout RESTExchange, _ answer: inout Answer
  ) {
    for effect in effects {
      switch effect {
      case .verify(let credential):
        let result = Result { () throws(CredentialRefusal) in
          try TestVerifier().verify(credential, now: now.calendar)
        }
        carryOut(exchange.verified(result, now: now), &exchange, &answer)
      case .spool(let bytes): spooled += bytes.count
      case .parse(let body):
        let parsed = RESTBody(parsing: body, exchange.limits)
        carryOut(exchange.parsed(parsed), &exchange, &answer)
      case .operate(let operation, let caller):
        let result = perform(operation, caller)
        carryOut(exchange.answer(result, now: now), &exchange, &answer)
      case .readNext(var export):
        // What is read from memory cannot fail.
        while let piece = try? export.next(from: tree.tree, bytesMax: 16) {
          carryOut(exchange.piece(piece), &exchange, &answer)
        }
        carryOut(exchange.piece(nil), &exchange, &answer)
      case .head(let head): (answer.status, answer.headers) = (head.status, head.headers)
      case .body(let bytes):
        let text = String(decoding: bytes, as: UTF8.self)
        if exchange.isStreaming {
          events[streamCount, default: ""] += text
        } else {
          answer.body += text
        }
      case .note(let limit): reached.append(limit)
      case .end, .abort, .cancel: break
      }
    }
  }

  private mutating func perform(_ operation: RESTOperation, _ caller: Caller) -> RESTAnswer {
    switch operation {
    case .readRules: return .rules(Array(rules.utf8))
    case .writeRules(let text, let isDryRun):
      let text = String(decoding: text, as: UTF8.self)
      if text.contains("foo()") { return .rulesRefused("1: No such method/property 'foo'.\n") }
      if !isDryRun { rules = text }
      return .rulesTaken
    case .putSpooled: return .written([], hash: nil)
    default: break
    }
    let member = Audiences.Member(connection: streamCount, listen: ListenNumber(1))
    let (answer, told) = tree.perform(
      operation, for: caller, as: member, now: now.calendar, random: &random)
    for (stream, told) in told {
      if case .push(_, let push) = told, let change = push.change { tell(stream, change) }
    }
    return answer
  }

  private mutating func tell(_ stream: Int64, _ told: AudienceChange) {
    change(stream) { $0.tell(told, now: $1) }
  }
}
