import Crypto
import RunnelBase
import RunnelDatabase
import RunnelSync
import RunnelTree

/// The reason why a job was not done.
enum Refused: Error {
  /// The job is refused, and has changed nothing.
  case refusal(TreeError)
  /// The job failed, maybe half done: the batch fails.
  case failure(any Error)

  /// Returns the error for the job's connection.
  ///
  /// - Throws: the error that makes the batch fail.
  func refusal() throws -> TreeError {
    switch self {
    case .refusal(let error): return error
    case .failure(let error): throw error
    }
  }
}

extension WriteID {
  /// The name under which a caller's write is kept: no user's writes pass for those of another, whatever
  /// names they choose.
  func kept(of caller: Caller) -> WriteID {
    let user = caller.auth["uid"]?.string ?? ""
    let kind = caller.isAdministrator ? "administrator" : "user"
    let text = "\(kind) \(user.utf8.count) \(user)\(client)"
    let digits = SHA256.hash(data: Array(text.utf8)).map {
      ($0 < 16 ? "0" : "") + String($0, radix: 16)
    }
    guard let kept = WriteID(client: digits.joined(), number: number) else {
      preconditionFailure("64 digits are a client's name.")
    }
    return kept
  }
}

/// Runs `body`, which changes nothing if it throws.
func refusing<Result>(_ body: () throws(TreeError) -> Result) throws(Refused) -> Result {
  do throws(TreeError) {
    return try body()
  } catch {
    // An unreadable place may be damaged, or its file gone: the whole batch fails.
    throw error.code == .storage ? .failure(error) : .refusal(error)
  }
}

/// Runs `body`; its failure makes the batch fail.
func failing<Result>(_ body: () throws -> Result) throws(Refused) -> Result {
  do {
    return try body()
  } catch {
    throw .failure(error)
  }
}

extension TreeError.Code {
  /// Whether a write was done before is not known any more, and no repetition can tell: over HTTP it is a bad
  /// request.
  static let tooLate = TreeError.Code(rawValue: "too_late")
  /// The name of a write belongs to another one: over HTTP it is a bad request.
  static let nameUsed = TreeError.Code(rawValue: "name_used")
}

// Writes, in a transaction. Source: wire protocol, section A9; tree semantics, sections 8 and 11.

extension ServedTree {
  /// Does a write, once for each name; returns the written values.
  ///
  /// A refused write was not done, and may be allowed when it is sent again. For a write that was
  /// done before, the current nodes are returned. `connection` is nil for a write without one.
  mutating func performOnce(
    _ write: Write, _ name: WriteID?, _ caller: Caller, _ now: Int64,
    _ transaction: some ServedTransaction, _ told: inout TreeTold, of connection: Int64? = nil
  ) throws(Refused) -> [Assignment] {
    if try isDone(name, caller, transaction) { return try standing(write, transaction) }
    let parts = try perform(write, caller, now, transaction, &told, of: connection)
    if let name { try failing { try transaction.noteName(name.kept(of: caller)) } }
    return parts
  }

  /// True if the write of a name was done.
  func isDone(
    _ name: WriteID?, _ caller: Caller, _ transaction: some ServedTransaction
  ) throws(Refused) -> Bool {
    guard let name else { return false }
    do {
      return try transaction.isNameTaken(name.kept(of: caller))
    } catch let error as DatabaseError where error.code == .forgotten {
      throw .refusal(
        TreeError(
          .tooLate,
          "Write \(name.number) of \(name.client) comes too late to tell whether it was carried out before: "
            + "it was not carried out now. Look at the data, and write anew if need be."))
    } catch {
      throw .failure(error)
    }
  }

  private func standing(
    _ write: Write, _ transaction: some ServedTransaction
  ) throws(Refused) -> [Assignment] {
    try refusing { () throws(TreeError) in
      let parts = try write.assignments(now: 0, reader: transaction)
      var standing: [Assignment] = []
      for part in parts {
        guard case .node = part.target else { continue }
        let node = try transaction.node(at: part.path)
        standing.append(Assignment(path: part.path, target: .node(node)))
      }
      return standing
    }
  }

  /// The parts of a write, if it is allowed.
  func checked(
    _ write: Write, _ caller: Caller, _ now: Int64, _ transaction: some ServedTransaction
  ) throws(Refused) -> [Assignment] {
    try refusing { () throws(TreeError) in
      try checkDepth(write)
      let parts = try counting(write) { () throws(TreeError) in
        try write.assignments(now: now, reader: transaction)
      }
      try checkWrite(parts, caller, now: now, transaction)
      return parts
    }
  }

  /// Does a write that was allowed.
  mutating func perform(
    _ write: Write, _ caller: Caller, _ now: Int64, _ transaction: some ServedTransaction,
    _ told: inout TreeTold, of connection: Int64?, leaving places: Set<Path> = []
  ) throws(Refused) -> [Assignment] {
    let parts = try checked(write, caller, now, transaction)
    let isPassing =
      connection.map { passing.hold(parts.map(\.path), of: $0) }
      ?? parts.allSatisfy { places.contains($0.path) }
    if !isPassing { for part in parts { passing.forget(around: part.path) } }
    try failing {
      let before = try self.before(parts, transaction)
      let changes = try serviceChanges(of: parts, now: now, transaction)
      try transaction.carryOut(parts, author: caller.author, now: now, isKept: !isPassing)
      for part in parts { shelf.forget(around: part.path) }
      told += ServedTree.told(
        try audiences.apply(CommittedWrite(write, parts), before: before, after: transaction))
      told += try self.told(changes, now: now, transaction)
    }
    return parts
  }

  /// The nodes that a write will replace, if listeners to whole places need them.
  private func before(
    _ parts: [Assignment], _ transaction: some ServedTransaction
  ) throws -> MemoryTree {
    var root = Node.empty
    guard audiences.areShownWhole(parts.map(\.path)) else { return MemoryTree() }
    for part in parts {
      switch part.target {
      case .node: root = root.replacing(part.path, with: try transaction.node(at: part.path))
      case .priority:
        // Only the priority of the node is needed.
        let summary = try transaction.summary(at: part.path)
        if summary.kind == .empty || !root[part.path].isEmpty { continue }
        root = root.replacing(part.path, with: Node(.bool(true), priority: summary.priority))
      }
    }
    return MemoryTree(root)
  }
}

extension Caller {
  /// The author for the history: the user's id, if there is one.
  var author: String {
    if isAdministrator { return "administrator" }
    if case .string(let user)? = auth["uid"] { return user }
    return ""
  }
}
