import RunnelBase
import RunnelDatabase
import RunnelSync
import RunnelTree

/// The tree of a served database: its listens, and the checks of operations.
///
/// Responsibilities:
/// - It does each job within a transaction: it asks the rules, writes, and computes the messages.
/// - It does the disconnect requests of connections, once.
///
/// Its messages and their order are those of `MemoryServedTree`, the model of every served tree.
///
/// Terms. A *batch* is the jobs of one transaction. A write that was refused has changed nothing.
/// Any failure after a write began is a failure of the batch: the caller rolls the transaction
/// back, and does the jobs one by one.
///
/// Isolation: a value of the tree's thread.
struct ServedTree {
  /// The rules; nil if everything is allowed.
  private(set) var rules: RulesEngine?
  /// How often the rules were replaced.
  private(set) var rulesVersion = 0
  /// The limits of callers.
  let allowance: TreeAllowance
  /// The rules whose denials are only logged; nil for none.
  private let trial: RulesTrial?
  /// Who is told of onDisconnect writes that are refused when they are due.
  let undone: UndoneDisconnects?
  var audiences = Audiences()
  /// The hashes and answers that were computed before.
  var shelf = AnswerShelf()
  /// Places that were found to be large, so that they need not be measured again; some may be no longer.
  var largePlaces: Set<Path> = []
  /// The queries as they were asked, which the rules are checked against, by connection.
  var asked: [Int64: [Audiences.Member: Asked]] = [:]
  /// The caller of each stream.
  var streamCallers: [Int64: Caller] = [:]
  /// The collections that are served as services, and who is told their events.
  var services: ServiceAudience
  /// The connections whose disconnect requests are stored, or may be after a failure, with the names of the
  /// leases under which they are.
  private var keptConnections: [Int64: String] = [:]
  /// The places whose writes make no entries in the history.
  var passing = PassingPlaces()
  private var pushIDs = PushIDGenerator()
  /// The connections that joined in this batch.
  private var joined: [Audiences.Member] = []
  /// The connections whose disconnect requests were stored (true) or removed in this batch, under the name of
  /// a lease.
  private var keptInBatch: [Int64: (lease: String, isKept: Bool)] = [:]

  /// A listen.
  struct Asked {
    /// The query, which the rules are checked against.
    var query: Query
    /// The query whose changes are sent, if another one because an index is missing.
    var sent: Query?
  }

  /// The listen of a stream, which is the only one of its connection.
  static let streamListen = ListenNumber(0)

  init(
    rules: RulesEngine?, _ allowance: TreeAllowance, services: [ServedCollection] = [],
    trial: RulesTrial? = nil, undone: UndoneDisconnects? = nil
  ) {
    (self.rules, self.allowance) = (rules, allowance)
    (self.trial, self.undone) = (trial, undone)
    self.services = ServiceAudience(services)
  }

  /// The number of listens of all connections.
  var listenCount: Int { audiences.memberCount }

  /// Replaces the rules; all connections are told to have their listens checked.
  mutating func take(_ rules: RulesEngine?) -> TreeTold {
    self.rules = rules
    rulesVersion += 1
    var told: TreeTold = []
    for connection in asked.keys.sorted() { told.append((connection, .rulesChanged)) }
    return told
  }

  /// The messages about writes of other processes since the last transaction.
  mutating func foreignChanges(
    now: Int64, _ transaction: some ServedTransaction
  ) throws -> TreeTold {
    let paths = transaction.foreignPaths
    if paths.isEmpty { return [] }
    for path in paths {
      shelf.forget(around: path)
      passing.forget(around: path)
    }
    let events = try serviceEvents(touched: paths, now: now, transaction)
    return ServedTree.told(try audiences.apply(touched: paths, after: transaction)) + events
  }

  /// The number of members from which on a change is told to all of them by one message.
  private static let sharedMin = 8

  /// The messages to members.
  static func told(_ pushes: [Audiences.Told]) -> TreeTold {
    var told: TreeTold = []
    for push in pushes {
      if push.members.count >= sharedMin {
        told.append((0, .pushed(push.members, EncodedPush(push.change).shared())))
        continue
      }
      // The push is encoded once for all sessions.
      var encoded: EncodedPush?
      for member in push.members {
        if member.listen == streamListen {
          told.append((member.connection, .changed(push.change)))
        } else {
          let shared = encoded ?? EncodedPush(push.change).shared()
          encoded = shared
          told.append((member.connection, shared.news(for: member)))
        }
      }
    }
    return told
  }

  /// Does the jobs of a batch within `body`; if that throws, all of it is undone, joins and rules included.
  ///
  /// - Throws: the errors of `body`.
  mutating func atomically<Result>(
    _ body: (inout ServedTree) throws -> Result
  ) throws -> Result {
    (joined, keptInBatch) = ([], [:])
    let (rulesBefore, passingBefore) = (rules, passing)
    var outer = Audiences()
    swap(&outer, &audiences)
    defer { swap(&outer, &audiences) }
    let result = try outer.atomically { inner in
      swap(&inner, &audiences)
      defer { swap(&inner, &audiences) }
      do {
        return try body(&self)
      } catch {
        for member in joined { leave(member) }
        (rules, passing) = (rulesBefore, passingBefore)
        // What was computed in this batch may be of writes that are undone.
        shelf.forgetAll()
        // Nobody may know yet whether the transaction was done.
        for (connection, kept) in keptInBatch where keptConnections[connection] == nil {
          keptConnections[connection] = kept.lease
        }
        throw error
      }
    }
    for (connection, kept) in keptInBatch {
      keptConnections[connection] = kept.isKept ? kept.lease : nil
    }
    return result
  }

  // MARK: Listening

  mutating func join(
    _ member: Audiences.Member, _ query: Query, sent: Query? = nil,
    _ transaction: some ServedTransaction
  ) throws(TreeError) {
    try audiences.join(member, sent ?? query, reader: transaction)
    asked[member.connection, default: [:]][member] = Asked(query: query, sent: sent)
    joined.append(member)
  }

  mutating func leave(_ member: Audiences.Member) {
    audiences.leave(member)
    asked[member.connection]?[member] = nil
    if asked[member.connection]?.isEmpty == true { asked[member.connection] = nil }
    joined.removeAll { $0 == member }
  }

  /// Removes the listens of a connection that ended.
  mutating func leaveAll(_ connection: Int64) {
    for member in (asked[connection] ?? [:]).keys { leave(member) }
    streamCallers[connection] = nil
  }

  // MARK: Disconnect requests

  /// The name of the lease under which disconnect requests of a connection are stored, or may be.
  private func lease(of connection: Int64) -> String? {
    guard let kept = keptInBatch[connection] else { return keptConnections[connection] }
    return kept.isKept ? kept.lease : nil
  }

  /// Refuses to store disconnect requests of a connection that has some under a lease that has ended:
  /// whoever takes these over does them, and the connection ends.
  func checkLease(
    of connection: Int64, _ transaction: some ServedTransaction
  ) throws(TreeError) {
    if let lease = lease(of: connection), lease != transaction.leaseName {
      throw TreeError(.unavailable, "The lease under which this connection began has ended.")
    }
  }

  /// Stores the disconnect requests of a connection; nil removes them.
  mutating func keep(
    _ kept: KeptDisconnect?, for connection: Int64, _ transaction: some ServedTransaction
  ) throws {
    if kept == nil, lease(of: connection) == nil { return }
    try transaction.keepDisconnect(kept?.text, of: connection)
    keptInBatch[connection] = (transaction.leaseName, kept != nil)
  }

  /// False if another server does the disconnect requests of a connection, since the lease under which
  /// they were stored has ended.
  func ownsDisconnect(
    of connection: Int64, _ transaction: some ServedTransaction
  ) throws -> Bool {
    guard let lease = lease(of: connection) else { return true }
    return try lease == transaction.leaseName && transaction.keepsDisconnect(of: connection)
  }

  /// Makes a key that comes after those made before.
  mutating func nextPushID(now: Int64) -> Key {
    var random = SystemRandomNumberGenerator()
    return pushIDs.next(now: now, random: &random)
  }
}

extension EncodedPush {
  /// The message about the push to one member.
  func news(for member: Audiences.Member) -> TreeNews {
    if member.listen == ServedTree.streamListen, let change { return .changed(change) }
    return .told(.push(member.listen, self))
  }
}

// MARK: Checks

extension ServedTree {
  /// - Throws: `TreeError` (`permissionDenied`) if a caller may not read the result of a query.
  func checkRead(
    _ query: Query, _ caller: Caller, now: Int64, _ transaction: some ServedTransaction
  ) throws(TreeError) {
    if try !canRead(query, caller, now: now, transaction) {
      throw MemoryServedTree.denied(query.path)
    }
    try lookOnTrial(at: .read(query), caller, now: now, transaction)
  }

  /// Checks a listen: of the query, and without an index of all that is sent.
  ///
  /// - Returns: the query whose changes are sent, if another one because an index is missing.
  /// - Throws: `TreeError` (`permissionDenied`) if a caller may not read the result of either.
  func checkListen(
    _ query: Query, _ caller: Caller, now: Int64, _ transaction: some ServedTransaction
  ) throws(TreeError) -> Query? {
    if try !canRead(query, caller, now: now, transaction) {
      throw MemoryServedTree.denied(query.path)
    }
    let whole = Query(query.path)
    let isIndexed = isIndexed(query, transaction)
    if !isIndexed { try checkSent(whole, of: query, caller, now: now, transaction) }
    let isAllowedOnTrial = try lookOnTrial(at: .read(query), caller, now: now, transaction)
    // The rules on trial may lack the index; one listen is counted once.
    if isAllowedOnTrial, let trial, !trial.hasIndex(query),
      !transaction.hasIndex(query.index, at: query.path)
    {
      try lookOnTrial(at: .read(whole), caller, now: now, transaction)
    }
    return isIndexed ? nil : whole
  }

  /// - Throws: `TreeError` (`permissionDenied`) if a caller may not read what is sent in place of a
  ///   query's result, because an index is missing.
  func checkSent(
    _ sent: Query, of query: Query, _ caller: Caller, now: Int64,
    _ transaction: some ServedTransaction
  ) throws(TreeError) {
    if try canRead(sent, caller, now: now, transaction) { return }
    throw MemoryServedTree.deniedWithoutIndex(query)
  }

  /// Lets the rules on trial look at an operation that is allowed.
  ///
  /// - Returns: true if they allow it too, or there are none.
  @discardableResult
  private func lookOnTrial(
    at operation: RulesOperation, _ caller: Caller, now: Int64,
    _ transaction: some ServedTransaction
  ) throws(TreeError) -> Bool {
    guard let trial, !caller.isAdministrator else { return true }
    return try trial.look(at: operation, by: caller, now: now, before: TreeRulesReader(transaction))
  }

  func canRead(
    _ query: Query, _ caller: Caller, now: Int64, _ transaction: some ServedTransaction
  ) throws(TreeError) -> Bool {
    guard let rules, !caller.isAdministrator else { return true }
    return isAllowed(
      try rules.decide(
        .read(query), as: caller.auth, now: now, before: TreeRulesReader(transaction)))
  }

  /// True if the rules allow an operation; a decision that is too costly is a refusal.
  private func isAllowed(_ verdict: RulesVerdict) -> Bool {
    if verdict == .tooCostly { allowance.reached(.rulesSteps) }
    return verdict.isAllowed
  }

  func checkWrite(
    _ parts: [Assignment], _ caller: Caller, now: Int64, _ transaction: some ServedTransaction
  ) throws(TreeError) {
    if let rules, !caller.isAdministrator {
      let verdict = try rules.decide(
        .write(parts), as: caller.auth, now: now, before: TreeRulesReader(transaction))
      if !isAllowed(verdict) { throw MemoryServedTree.denied(parts.first?.path ?? .root) }
    }
    try lookOnTrial(at: .write(parts), caller, now: now, transaction)
  }

  /// - Throws: `TreeError` (`invalidPath`) if a write is deeper than allowed.
  func checkDepth(_ write: Write) throws(TreeError) {
    let depthMax = allowance.limits.depthMax
    guard depthMax < TreeLimits.depthMax, write.levelCount > depthMax else { return }
    allowance.reached(TreeLimit.depth)
    throw TreeError(
      .invalidPath,
      "The write has \(write.levelCount) levels: \(depthMax) are allowed here (--max-depth).")
  }

  /// Runs `body`, and counts a write that it refuses because of more levels than any tree has.
  func counting<Result>(
    _ write: Write, _ body: () throws(TreeError) -> Result
  ) throws(TreeError) -> Result {
    do throws(TreeError) {
      return try body()
    } catch {
      // Only what is refused is measured.
      if error.code == .invalidPath, write.levelCount > TreeLimits.depthMax {
        allowance.reached(TreeLimit.depth)
      }
      throw error
    }
  }

  /// - Throws: `TreeError` (`tooBig`) if the result of a query is larger than a caller may read at
  ///   once.
  func checkSize(
    _ query: Query, _ caller: Caller, _ transaction: some ServedTransaction
  ) throws(TreeError) {
    let most = allowance.readBytesMax
    // The content of a smaller file is no larger.
    if caller.isAdministrator || transaction.storedBytes <= most { return }
    if query.loadsAllData, try transaction.smallNode(at: query.path) != nil { return }
    var export = TreeExport(query, form: .export)
    var count = 0
    while let piece = try export.next(from: transaction) {
      count += piece.count
      if count <= most { continue }
      allowance.reached(.readBytes)
      throw ServedTree.tooMuch(query.path, most)
    }
  }

  /// - Throws: `TreeError` (`tooBig`) if a text is larger than a caller may read at once.
  func checkSize(_ text: [UInt8], _ query: Query, _ caller: Caller) throws(TreeError) {
    if caller.isAdministrator || text.count <= allowance.readBytesMax { return }
    allowance.reached(.readBytes)
    throw ServedTree.tooMuch(query.path, allowance.readBytesMax)
  }

  private static func tooMuch(_ path: Path, _ most: Int) -> TreeError {
    TreeError(
      .tooBig,
      "What is here has more than \(most) bytes, which is the most of one read (--max-read): ask for less.",
      path: path.description)
  }

  /// True if a query need not read all children of its place.
  ///
  /// Without rules there are no declared indexes, so every order is allowed.
  func isIndexed(_ query: Query, _ transaction: some ServedTransaction) -> Bool {
    guard let rules else { return true }
    return rules.hasIndex(query.index, at: query.path)
      || transaction.hasIndex(query.index, at: query.path)
  }

  func checkIndex(_ query: Query, _ transaction: some ServedTransaction) throws(TreeError) {
    if !isIndexed(query, transaction) { throw MemoryServedTree.missingIndex(query) }
  }
}
