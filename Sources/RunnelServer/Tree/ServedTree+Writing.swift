import RunnelBase
import RunnelDatabase
import RunnelSync
import RunnelTree

/// Why a job was not done.
enum Refused: Error {
  /// It is refused, and has changed nothing.
  case refusal(TreeError)
  /// It failed, maybe half done: the batch fails.
  case failure(any Error)

  /// What its connection is told.
  ///
  /// - Throws: what makes the batch fail.
  func refusal() throws -> TreeError {
    switch self {
    case .refusal(let error): return error
    case .failure(let error): throw error
    }
  }
}

/// Runs `body`, which changes nothing if it throws.
func refusing<Result>(_ body: () throws(TreeError) -> Result) throws(Refused) -> Result {
  do throws(TreeError) {
    return try body()
  } catch {
    // What cannot be read may be damaged, or gone: nothing is said of the rest of the batch.
    throw error.code == .storage ? .failure(error) : .refusal(error)
  }
}

/// Runs `body`, whose failure is one of the batch.
func failing<Result>(_ body: () throws -> Result) throws(Refused) -> Result {
  do {
    return try body()
  } catch {
    throw .failure(error)
  }
}

// Writes, in a transaction. Source: wire protocol, section A9; tree semantics, sections 8, 11 and 12.

extension ServedTree {
  /// Does a write, once for each name; returns what it set.
  ///
  /// What was refused was not done: it may be allowed when it is sent again. Of one that was done before,
  /// what stands there now is returned.
  mutating func performOnce(
    _ write: Write, _ name: WriteID?, _ caller: Caller, _ now: Int64,
    _ transaction: ServingTransaction, _ told: inout TreeTold
  ) throws(Refused) -> [Assignment] {
    if try isDone(name, transaction) { return try standing(write, transaction) }
    let parts = try perform(write, caller, now, transaction, &told)
    if let name { try failing { try transaction.noteName(name) } }
    return parts
  }

  /// True if the write of a name was done.
  func isDone(_ name: WriteID?, _ transaction: ServingTransaction) throws(Refused) -> Bool {
    guard let name else { return false }
    do {
      return try transaction.isNameTaken(name)
    } catch let error as DatabaseError where error.code == .forgotten {
      throw .refusal(TreeError(.unavailable, error.message))
    } catch {
      throw .failure(error)
    }
  }

  private func standing(
    _ write: Write, _ transaction: ServingTransaction
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

  /// What a write comes to, if it is allowed.
  func checked(
    _ write: Write, _ caller: Caller, _ now: Int64, _ transaction: ServingTransaction
  ) throws(Refused) -> [Assignment] {
    try refusing { () throws(TreeError) in
      try checkDepth(write)
      let parts = try write.assignments(now: now, reader: transaction)
      try checkWrite(parts, caller, now: now, transaction)
      return parts
    }
  }

  /// Does a write that is allowed.
  private mutating func perform(
    _ write: Write, _ caller: Caller, _ now: Int64, _ transaction: ServingTransaction,
    _ told: inout TreeTold
  ) throws(Refused) -> [Assignment] {
    let parts = try checked(write, caller, now, transaction)
    try failing {
      let before = try self.before(parts, transaction)
      try transaction.carryOut(parts, author: caller.author, now: now)
      told += ServedTree.told(
        try audiences.apply(CommittedWrite(write, parts), before: before, after: transaction))
    }
    return parts
  }

  /// What stands where a write will set something, if somebody is shown it.
  private func before(
    _ parts: [Assignment], _ transaction: ServingTransaction
  ) throws -> MemoryTree {
    var root = Node.empty
    guard audiences.areShownWhole(parts.map(\.path)) else { return MemoryTree() }
    for part in parts {
      switch part.target {
      case .node: root = root.replacing(part.path, with: try transaction.node(at: part.path))
      case .priority:
        // Of what stands there only the priority is asked for.
        let summary = try transaction.summary(at: part.path)
        if summary.kind == .empty || !root[part.path].isEmpty { continue }
        root = root.replacing(part.path, with: Node(.bool(true), priority: summary.priority))
      }
    }
    return MemoryTree(root)
  }

  /// Does what a connection left, each write that is allowed.
  mutating func carryOut(
    _ kept: KeptDisconnect, _ now: Int64, _ transaction: ServingTransaction,
    _ told: inout TreeTold
  ) throws(Refused) {
    for write in kept.writes {
      do throws(Refused) {
        _ = try perform(write, kept.caller, now, transaction, &told)
      } catch {
        // One that is refused at the end is dropped: nobody is there who could be told.
        if case .failure = error { throw error }
      }
    }
  }

  /// Does all that connections left when the server ended without a word.
  mutating func carryOutAll(
    now: Int64, _ transaction: ServingTransaction
  ) throws -> TreeTold {
    var told: TreeTold = []
    for (name, kept) in try KeptDisconnect.all(transaction) {
      try transaction.keep(nil, name)
      guard let kept else { continue }
      do throws(Refused) {
        try carryOut(kept, now, transaction, &told)
      } catch {
        _ = try error.refusal()
      }
    }
    return told
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
