package import RunnelStreams
package import RunnelTree

/// The result of an operation on a resource.
package struct ResourceOutcome: Hashable, Sendable {
  /// The plan that was carried out; nothing was written if its `write` is nil.
  package var plan: ResourcePlan
  /// The deliveries for listeners of the session, in order.
  package var deliveries: [Delivery]
}

extension DatabaseSession {
  /// Carries out an operation on a resource.
  ///
  /// It is planned within the write, so no other process can write between the reads of the plan
  /// and its write: counters never drift. On a replica the write is pending as a whole, and is
  /// taken back as a whole if the origin refuses it. If two offline replicas create the same
  /// record, each counts it; `runnel doctor` corrects that.
  ///
  /// - Parameters:
  ///   - operation: the operation.
  ///   - registry: the registered resources.
  ///   - conditions: the conditions on other places; see `write(_:if:needsOrigin:)`.
  /// - Returns: the plan that was carried out, and the deliveries for listeners.
  /// - Throws: `ResourceError` if it is refused, `DatabaseError` if a condition does not hold
  ///   (`changed`) or the storage fails; then nothing was written.
  package func perform(
    _ operation: ResourceOperation, in registry: ResourceRegistry,
    if conditions: [WriteCondition] = []
  ) throws -> ResourceOutcome {
    try carryOut(in: registry, if: conditions) { reader, now throws(ResourceError) in
      try planned(operation, registry, reader, now)
    }
  }

  /// Undoes an entry of the action log, by an operation that is logged in turn.
  ///
  /// Whether that is possible is checked within the write.
  ///
  /// - Parameters:
  ///   - entry: the entry.
  ///   - registry: the registered resources.
  /// - Returns: the plan that was carried out, and the deliveries for listeners.
  /// - Throws: `ResourceError` (`cannotUndo` and others) if it is not possible, `DatabaseError` if
  ///   the storage fails; then nothing was written.
  package func undo(
    _ entry: ActionLogEntry, in registry: ResourceRegistry
  ) throws -> ResourceOutcome {
    try carryOut(in: registry, of: [entry.path]) { reader, now throws(ResourceError) in
      try planned(undoing: entry, registry, reader, now)
    }
  }

  /// Undoes a write of the history that an operation made, by operations: all of its records become
  /// what they were, and counters and copies follow.
  ///
  /// Whether that is possible is checked within the write.
  ///
  /// - Returns: the plan that was carried out, and the deliveries for listeners.
  /// - Throws: as for an entry of the action log.
  func undo(_ entry: HistoryEntry, in registry: ResourceRegistry) throws -> ResourceOutcome {
    try carryOut(in: registry, undoes: entry) { reader, now throws(ResourceError) in
      try planned(undoing: entry, registry, reader, now)
    }
  }

  /// Carries out an operation that is planned within the write.
  private func carryOut(
    in registry: ResourceRegistry, undoes entry: HistoryEntry? = nil,
    of records: [Path] = [], if conditions: [WriteCondition] = [],
    _ planning: (any TreeReader, _ now: Int64) throws(ResourceError) -> ResourcePlan
  ) throws -> ResourceOutcome {
    var made: Result<ResourcePlan, ResourceError>?
    let info = connectionInfo
    let cause = WriteCause(undoes: entry) {
      guard registry.hasConsequences, case .success(let plan)? = made else { return nil }
      return plan.path
    }
    do {
      let conditionSet = ConditionSet(
        conditions: conditions, records: records, undoes: !records.isEmpty)
      let written = try core.write(name: nil, cause: cause, if: conditionSet) { reader, now in
        try WriteCondition.check(conditions, reader, info)
        let plan = Result { () throws(ResourceError) in try planning(reader, now) }
        made = plan
        guard let write = try plan.get().write else { throw NothingToWrite() }
        return write
      }
      guard case .success(let plan)? = made else { preconditionFailure("Nothing was planned.") }
      return ResourceOutcome(plan: plan, deliveries: written.deliveries)
    } catch {
      switch made {
      case .success(let plan)? where plan.write == nil:
        return ResourceOutcome(plan: plan, deliveries: [])
      case .failure(let refusal)?: throw outward(refusal)
      case .success?, nil: throw error
      }
    }
  }

  /// The plan for undoing a write of the history on the present tree; nil if no operation made it.
  ///
  /// Nothing is written.
  ///
  /// - Throws: as `undo`.
  func plan(undoing id: Int64, in registry: ResourceRegistry) throws -> ResourcePlan? {
    let entry = try rememberedEntry(id)
    if entry.operation == nil { return nil }
    if replica == nil { try store.read { try $0.checkNotUndone(entry) } }
    let now = environment.now()
    return try reading { reader throws(ResourceError) in
      try planned(undoing: entry, registry, reader, now)
    }
  }

  /// The plan for an operation on the present tree; nothing is written.
  ///
  /// - Throws: as `perform`.
  package func plan(
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

  private func planned(
    undoing entry: HistoryEntry, _ registry: ResourceRegistry, _ reader: some TreeReader,
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
  /// It reads one state of the tree, whatever others write meanwhile. O(n) in the records.
  ///
  /// - Parameters:
  ///   - registry: the registered resources.
  ///   - progress: called with the present step and the number of records read; false stops it.
  /// - Returns: the report; nil if it was stopped.
  /// - Throws: `DatabaseError` if the tree cannot be read.
  package func audit(
    _ registry: ResourceRegistry,
    progress: @escaping (_ step: String, _ records: Int) -> Bool = { _, _ in true }
  ) throws -> ResourceReport? {
    try reading { reader throws(ResourceError) in
      try audit(registry, reader, progress)
    }
  }

  /// Corrects counters and copies, in one write.
  ///
  /// - Parameters:
  ///   - registry: the registered resources.
  ///   - progress: called with the present step and the number of records read; false stops it.
  /// - Returns: the report before the repair, and the deliveries for listeners; nil if the repair
  ///   was stopped.
  /// - Throws: `DatabaseError` if the storage fails; then nothing was written.
  package func repair(
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

  /// Carries out a write that is made from the current tree, within the transaction that carries it
  /// out.
  ///
  /// - Throws: `DatabaseError`, and the errors of `make`; then nothing was written.
  package func write(_ make: WriteMaker) throws -> [Delivery] { try core.write(make) }

  /// Carries out such a write under conditions, which `make` has to check.
  func write(if conditions: ConditionSet, _ make: WriteMaker) throws -> [Delivery] {
    try core.write(name: nil, cause: WriteCause(), if: conditions, make).deliveries
  }

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

  /// The error for the caller: a failure of the storage is not reported as one of the resource.
  private func outward(_ error: ResourceError) -> any Error {
    guard let tree = error.tree, tree.code == .storage else { return error }
    return DatabaseError(tree, file: file)
  }
}
