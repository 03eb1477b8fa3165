import RunnelBase
import RunnelTree
import WireSimulation

/// A client of a simulation: a replica, its connection, and what was asked of it and promised by it.
struct SimulatedClient {
  /// What a write was for, so that its end can be judged.
  enum Purpose: Hashable {
    case increment
    case log(Path, JSONValue)
    case forbidden(Path)
    case other
  }

  let number: Int
  var replica: any SimulatedReplica
  /// What was sent and has not arrived yet, in both directions.
  var toOrigin: [OriginCommand] = []
  var fromOrigin: [OriginMessage] = []
  var isConnected = false
  var windows: [ListenerID: ListenerWindow] = [:]
  private var nextListener = 1
  /// The writes that were made, in order, and those that have ended.
  private(set) var writes: [(id: Int64, purpose: Purpose)] = []
  private(set) var acknowledged: Set<Int64> = []
  private(set) var rejected: Set<Int64> = []
  private(set) var committedCount = 0
  /// Transactions that may or may not have been done.
  private(set) var doubtfulCount = 0

  init(number: Int, replica: any SimulatedReplica) {
    self.number = number
    self.replica = replica
  }

  mutating func connect(now: Int64) throws {
    isConnected = true
    try carryOut(.connect, now: now)
  }

  mutating func disconnect(now: Int64) throws {
    isConnected = false
    (toOrigin, fromOrigin) = ([], [])
    try carryOut(.disconnect, now: now)
    farewell = nil
  }

  /// Everything that is not in storage is lost; listeners come back as new ones.
  mutating func crash(now: Int64) throws {
    isConnected = false
    farewell = nil
    (toOrigin, fromOrigin) = ([], [])
    try replica.crash()
    doubtfulCount += runningTransactions.count
    runningTransactions = []
    let requests = windows.values.map(\.request).sorted { "\($0)" < "\($1)" }
    windows = [:]
    for request in requests { try listen(request, now: now) }
    noteAnswered()
  }

  /// What became of writes that another session on the file saw answered.
  private mutating func noteAnswered() {
    let pending = replica.pendingIDs()
    for (id, purpose) in writes where !acknowledged.contains(id) && !pending.contains(id) {
      if case .forbidden = purpose { rejected.insert(id) } else { acknowledged.insert(id) }
    }
  }

  /// What is to stand at `/here/NUMBER` once this client is gone, and under which id it was asked.
  private(set) var farewell: (id: Int64, json: JSONValue)?

  /// What the origin promised to write there; nil if it has promised nothing yet.
  var promisedFarewell: JSONValue? {
    guard let farewell, acknowledged.contains(farewell.id) else { return Optional.none }
    return farewell.json
  }

  /// True if what stands at `/here/NUMBER` is the origin's word, and shown.
  func seesItsFarewellPlace() throws -> Bool {
    let (place, key) = (try Path("/here"), try Key("\(number)"))
    return replica.pendingIDs().isEmpty
      && windows.values.contains { window in
        window.request.query.path == place && window.rows.contains { $0.key == key }
      }
  }

  mutating func askForFarewell(_ json: JSONValue, now: Int64) throws {
    let output = try perform(.ask(.set(Path("/here/\(number)"), json)), now: now)
    if let id = output.id { farewell = (id, json) }
    try take(output)
  }

  private var runningTransactions: Set<Int64> = []

  mutating func listen(_ request: ListenRequest, now: Int64) throws {
    let listener = ListenerID(nextListener)
    nextListener += 1
    windows[listener] = ListenerWindow(request)
    try carryOut(.listen(listener, request), now: now)
  }

  mutating func unlisten(now: Int64) throws {
    guard let listener = windows.keys.min() else { return }
    windows[listener] = nil
    try carryOut(.unlisten(listener), now: now)
  }

  /// The paged windows that may have more rows.
  var extensible: [ListenerID] {
    windows.filter { $0.value.request.paging != nil && $0.value.hasMore }.keys.sorted()
  }

  mutating func extend(_ listener: ListenerID, by count: Int, now: Int64) throws {
    windows[listener]?.isExtended = true
    try carryOut(.extend(listener, count), now: now)
  }

  mutating func write(_ write: Write, _ purpose: Purpose, now: Int64) throws {
    let output = try perform(.write(write), now: now)
    if let id = output.id { writes.append((id, purpose)) }
    try take(output)
  }

  mutating func transact(_ path: Path, isShown: Bool, now: Int64) throws {
    let request = TransactionRequest(path, appliesLocally: isShown) { node in
      guard case .number(let old)? = node.leaf else { return .number(JSONNumber(1)) }
      return .number(JSONNumber((old.integer ?? 0) + 1))
    }
    let output = try perform(.transaction(request), now: now)
    if let id = output.id { runningTransactions.insert(id) }
    try take(output)
  }

  mutating func carryOut(_ input: ReplicaInput, now: Int64) throws {
    try take(perform(input, now: now))
  }

  private mutating func perform(_ input: ReplicaInput, now: Int64) throws -> ReplicaOutput {
    try replica.carryOut(input, now: now)
  }

  private mutating func take(_ output: ReplicaOutput) throws {
    if isConnected { toOrigin += output.commands }
    for delivery in output.deliveries {
      try windows[delivery.listener]?.take(delivery.event)
    }
    for completion in output.completions { take(completion) }
  }

  private mutating func take(_ completion: ReplicaCompletion) {
    switch completion {
    case .acknowledged(let id): acknowledged.insert(id)
    case .rejected(let id, _): rejected.insert(id)
    case .transaction(let id, let isCommitted, _):
      runningTransactions.remove(id)
      if isCommitted { committedCount += 1 }
    case .transactionFailed(let id, let error):
      runningTransactions.remove(id)
      if error.code == .disconnected { doubtfulCount += 1 }
    case .cancelled, .got, .getFailed: break
    }
  }
}
