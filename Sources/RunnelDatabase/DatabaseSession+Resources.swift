public import RunnelStreams
public import RunnelTree

/// What an operation on a resource came to.
public struct ResourceOutcome: Hashable, Sendable {
  /// What was written; nothing, if its `write` is nil.
  public var plan: ResourcePlan
  /// What listeners of the session are to be told, in order.
  public var deliveries: [Delivery]
}

extension DatabaseSession {
  /// Carries out an operation on a resource.
  ///
  /// It is planned within the write, so that no other process writes between what the plan has read and
  /// what it writes: counters never drift. On a replica the write is pending as a whole, and is taken
  /// back as a whole if the origin refuses it. Two offline replicas that create the same record each
  /// count it, which `runnel doctor` corrects.
  ///
  /// - Parameters:
  ///   - operation: what is to be done.
  ///   - registry: what is known of resources.
  ///   - conditions: what is to stand at places for it to be carried out.
  /// - Returns: what was written, and what listeners are to be told.
  /// - Throws: `ResourceError` if it is refused, `DatabaseError` if a place does not stand as expected
  ///   (`changed`) or the storage fails; then nothing was written.
  public func perform(
    _ operation: ResourceOperation, in registry: ResourceRegistry,
    if conditions: [WriteCondition] = []
  ) throws -> ResourceOutcome {
    try carryOut(if: conditions) { reader, now throws(ResourceError) in
      try planned(operation, registry, reader, now)
    }
  }

  /// Takes an entry of the action log back, by an operation that is logged in turn.
  ///
  /// Whether it still can be is found out within the write.
  ///
  /// - Parameters:
  ///   - entry: the entry.
  ///   - registry: what is known of resources.
  /// - Returns: what was written, and what listeners are to be told.
  /// - Throws: `ResourceError` (`cannotUndo` and others) if it cannot, `DatabaseError` if the storage
  ///   fails; then nothing was written.
  public func undo(
    _ entry: ActionLogEntry, in registry: ResourceRegistry
  ) throws -> ResourceOutcome {
    try carryOut { reader, now throws(ResourceError) in
      try planned(undoing: entry, registry, reader, now)
    }
  }

  /// Carries out what is planned within the write.
  private func carryOut(
    if conditions: [WriteCondition] = [],
    _ planning: (any TreeReader, _ now: Int64) throws(ResourceError) -> ResourcePlan
  ) throws -> ResourceOutcome {
    var made: Result<ResourcePlan, ResourceError>?
    do {
      let deliveries = try write { reader, now in
        try WriteCondition.check(conditions, reader)
        let plan = Result { () throws(ResourceError) in try planning(reader, now) }
        made = plan
        guard let write = try plan.get().write else { throw NothingToWrite() }
        return write
      }
      guard case .success(let plan)? = made else { preconditionFailure("Nothing was planned.") }
      return ResourceOutcome(plan: plan, deliveries: deliveries)
    } catch {
      switch made {
      case .success(let plan)? where plan.write == nil:
        return ResourceOutcome(plan: plan, deliveries: [])
      case .failure(let refusal)?: throw outward(refusal)
      case .success?, nil: throw error
      }
    }
  }

  /// What an operation would come to now; nothing is written.
  ///
  /// - Throws: as `perform`.
  public func plan(
    _ operation: ResourceOperation, in registry: ResourceRegistry
  ) throws -> ResourcePlan {
    let now = environment.now()
    return try reading { reader throws(ResourceError) in
      try planned(operation, registry, reader, now)
    }
  }

  private func planned(
    _ operation: ResourceOperation, _ registry: ResourceRegistry, _ reader: some TreeReader,
    _ now: Int64
  ) throws(ResourceError) -> ResourcePlan {
    try planner(registry, reader, now).plan(operation)
  }

  private func planned(
    undoing entry: ActionLogEntry, _ registry: ResourceRegistry, _ reader: some TreeReader,
    _ now: Int64
  ) throws(ResourceError) -> ResourcePlan {
    try planner(registry, reader, now).plan(undoing: entry)
  }

  private func planner<Reader: TreeReader>(
    _ registry: ResourceRegistry, _ reader: Reader, _ now: Int64
  ) -> ResourcePlanner<Reader> {
    ResourcePlanner(
      registry: registry, reader: reader, now: now, author: environment.author,
      newKey: { self.newKey() })
  }

  // MARK: Care

  /// Compares counters and copies with the records, and finds orphans; nothing is written.
  ///
  /// One state of the tree is looked at, whatever others write meanwhile. O(n) in the records.
  ///
  /// - Parameters:
  ///   - registry: what is known of resources.
  ///   - progress: told what is being done, and how many records were read; false stops it.
  /// - Returns: what was found; nil if it was stopped.
  /// - Throws: `DatabaseError` if the tree cannot be read.
  public func audit(
    _ registry: ResourceRegistry,
    progress: @escaping (_ step: String, _ records: Int) -> Bool = { _, _ in true }
  ) throws -> ResourceReport? {
    try reading { reader throws(ResourceError) in
      try audit(registry, reader, progress)
    }
  }

  /// Puts counters and copies right, within one write.
  ///
  /// - Parameters:
  ///   - registry: what is known of resources.
  ///   - progress: told what is being done, and how many records were read; false stops it.
  /// - Returns: what had been found, and what listeners are to be told; nil if it was stopped.
  /// - Throws: `DatabaseError` if the storage fails; then nothing was written.
  public func repair(
    _ registry: ResourceRegistry,
    progress: @escaping (_ step: String, _ records: Int) -> Bool = { _, _ in true }
  ) throws -> (found: ResourceReport, deliveries: [Delivery])? {
    var made: Result<ResourceReport?, ResourceError>?
    do {
      let deliveries = try write { reader, _ in
        let report = Result { () throws(ResourceError) in
          try audit(registry, reader, progress)
        }
        made = report
        guard let write = try report.get()?.repair else { throw NothingToWrite() }
        return write
      }
      guard case .success(let report?)? = made else { preconditionFailure("Nothing was found.") }
      return (report, deliveries)
    } catch {
      switch made {
      case .success(let report)? where report?.repair == nil: return report.map { ($0, []) }
      case .failure(let refusal)?: throw outward(refusal)
      case .success?, nil: throw error
      }
    }
  }

  private func audit(
    _ registry: ResourceRegistry, _ reader: some TreeReader,
    _ progress: @escaping (_ step: String, _ records: Int) -> Bool
  ) throws(ResourceError) -> ResourceReport? {
    try ResourceAudit(registry: registry, reader: reader, isWanted: progress).run()
  }

  // MARK: Reading and writing

  /// Ends a write that has nothing to write.
  private struct NothingToWrite: Error {}

  /// Carries out a write that is made from the tree as it is at that moment.
  func write(_ make: WriteMaker) throws -> [Delivery] { try core.write(make) }

  private func reading<Value>(
    _ body: (any TreeReader) throws(ResourceError) -> Value
  ) throws -> Value {
    let result: Result<Value, ResourceError> = try store.read { transaction in
      Result { () throws(ResourceError) in
        try body(core.shown(transaction))
      }
    }
    switch result {
    case .success(let value): return value
    case .failure(let error): throw outward(error)
    }
  }

  /// A refusal as the caller is to see it: a failure of the storage is none of the resource.
  private func outward(_ error: ResourceError) -> any Error {
    guard let tree = error.tree, tree.code == .storage else { return error }
    return DatabaseError(tree, file: file)
  }
}
