public import RunnelStreams
import RunnelTree

/// The result of an operation on a resource.
public struct ResourceResult<Object: Sendable>: Sendable {
  /// The object as it is stored, with its key: with the changes of hooks, and with its counters and
  /// copies; a server's time is as estimated here.
  ///
  /// Of a destroyed record, and of one that no longer fits the type, it is the given object.
  public var object: Object
  /// The change of the record; nil if a record that was to be destroyed did not exist.
  public var kind: ResourceChangeKind?
  /// The place of the record.
  public var reference: Reference
  /// The changes of records: this one, then those of records destroyed with it.
  public var changes: [ResourceHookContext]
  /// The receipt, which tells the answer of a replica's origin; on a tree of its own it is settled
  /// at once.
  public var receipt: WriteReceipt
}

/// Creates, changes and destroys records of resources in a database.
///
/// It is a value, and may be kept and used on any thread. Each operation is one write: the record,
/// the counters and copies that follow from it, the records destroyed with it, and the entry of the
/// action log. It happens as a whole, or throws.
///
/// Source: origins, section 2.
public struct ResourceBase: Sendable {
  /// The database.
  public let database: Database
  /// The registered resources.
  public let registry: ResourceRegistry
  /// The hooks around changes, in this order.
  public let hooks: [ResourceHook]
  /// The format in which dates of typed objects are written and read.
  public let dates: DateCoding

  /// Makes a base.
  ///
  /// - Throws: `ResourceError` (`unknownResource`) if a resource refers to one that is not registered.
  public init(
    _ database: Database, _ registry: ResourceRegistry, hooks: [ResourceHook] = [],
    dates: DateCoding = .milliseconds
  ) throws(ResourceError) {
    try registry.checkReferences()
    self.database = database
    self.registry = registry
    self.hooks = hooks
    self.dates = dates
  }

  /// Carries out an operation on a record that is given as JSON.
  ///
  /// In this order: the `before` hooks are asked; the write is planned and done; observers are
  /// told; the `committed` hooks are called, and the `acknowledged` hooks as well, unless the
  /// origin of a replica has yet to answer. If the task is cancelled, an operation that has begun
  /// is carried out nevertheless.
  ///
  /// - Parameter operation: the operation.
  /// - Returns: the result.
  /// - Throws: `ResourceError` if it is refused, the errors of `before` hooks, `DatabaseError` if
  ///   the storage fails; then nothing was written.
  @discardableResult
  public func perform(
    _ operation: ResourceOperation
  ) async throws -> ResourceResult<ResourceObject> {
    let operation = try await askHooks(operation)
    let (plan, receipt) = try await database.perform(operation, in: registry)
    await hooks.tellCommitted(plan.changes)
    if receipt.isPending {
      followAnswer(receipt, plan.changes)
    } else {
      await hooks.tellAcknowledged(plan.changes)
    }
    var object = operation.object
    object.key = plan.identity.key
    if let change = plan.changes.first, change.kind != .destroy { object.value = change.new }
    return ResourceResult(
      object: object, kind: plan.changes.first?.kind,
      reference: database.reference(at: plan.path), changes: plan.changes, receipt: receipt)
  }

  /// Undoes a write, if its result still stands: one that an operation made, in one write by
  /// operations, so that counters and copies are right whatever was counted and copied since; any other
  /// one by putting back what stood there.
  ///
  /// The `before` hooks of an operation's changes may forbid them; a record that they return in place of
  /// the one that comes back is ignored. The other hooks are called as by `perform`.
  ///
  /// - Parameter id: the entry of the write in the history of the database.
  /// - Returns: the receipt, which tells the answer of a replica's origin.
  /// - Throws: as `Database.undo`, and the errors of `before` hooks; then nothing was written.
  @discardableResult
  public func undo(_ id: Int64) async throws -> WriteReceipt {
    if hooks.hasBefore, let plan = try await database.plan(undoing: id, in: registry) {
      try await askHooks(about: plan.changes[...])
    }
    let (changes, receipt) = try await database.undoing(id, in: registry)
    await hooks.tellCommitted(changes)
    if receipt.isPending {
      followAnswer(receipt, changes)
    } else {
      await hooks.tellAcknowledged(changes)
    }
    return receipt
  }

  /// Asks the `before` hooks about an operation; returns it with their changes.
  private func askHooks(_ operation: ResourceOperation) async throws -> ResourceOperation {
    guard hooks.hasBefore else { return operation }
    var operation = operation
    var next = 0
    while true {
      let plan = try await database.plan(operation, in: registry)
      // The record must get the key that the hooks were told.
      if operation.object.key == nil { operation.newKey = plan.identity.key }
      guard let first = plan.changes.first else { return operation }
      let (verdict, after) = try await hooks.verdict(on: first, from: next)
      next = after
      switch verdict {
      case .write(let json): operation.object.value = json
      case .veto(let reason): throw ResourceBase.veto(reason, first)
      case .allow:
        try await askHooks(about: plan.changes.dropFirst())
        return operation
      }
    }
  }

  /// Asks the `before` hooks about changes that they can only forbid.
  private func askHooks(
    about changes: ArraySlice<ResourceHookContext>
  ) async throws {
    for change in changes {
      var next = 0
      while next < hooks.count {
        let (verdict, after) = try await hooks.verdict(on: change, from: next)
        next = after
        if case .veto(let reason) = verdict { throw ResourceBase.veto(reason, change) }
      }
    }
  }

  private static func veto(_ reason: String, _ change: ResourceHookContext) -> ResourceError {
    ResourceError(.vetoed, reason, resource: change.identity.resource)
  }

  /// Calls the hooks that wait for the origin's answer, as soon as it has come.
  private func followAnswer(_ receipt: WriteReceipt, _ changes: [ResourceHookContext]) {
    guard hooks.hasAnswer else { return }
    Task {
      do {
        try await receipt.acknowledgement()
        await hooks.tellAcknowledged(changes)
      } catch let error as DatabaseError where error.code != .closed {
        await hooks.tellRejected(changes, error)
      } catch {
        // The database was closed: the write is still pending in the file.
      }
    }
  }
}

extension Database {
  /// Carries out an operation on a resource, without hooks.
  func perform(
    _ operation: ResourceOperation, in registry: ResourceRegistry
  ) async throws -> (plan: ResourcePlan, receipt: WriteReceipt) {
    var plan: ResourcePlan?
    let receipt = try await write { session in
      let outcome = try session.perform(operation, in: registry)
      plan = outcome.plan
      return (outcome.plan.write != nil, outcome.deliveries)
    }
    guard let plan else { preconditionFailure("A write that returned was planned.") }
    return (plan, receipt)
  }

  /// Undoes a write, without hooks; returns the changes of records, if an operation made it.
  func undoing(
    _ id: Int64, in registry: ResourceRegistry
  ) async throws -> (changes: [ResourceHookContext], receipt: WriteReceipt) {
    var changes: [ResourceHookContext] = []
    let receipt = try await write { session in
      let entry = try session.rememberedEntry(id)
      guard entry.operation != nil else { return (true, try session.undo(id)) }
      let outcome = try session.undo(entry, in: registry)
      changes = outcome.plan.changes
      return (outcome.plan.write != nil, outcome.deliveries)
    }
    return (changes, receipt)
  }

  /// The plan for undoing a write; nil if no operation made it.
  func plan(undoing id: Int64, in registry: ResourceRegistry) throws -> ResourcePlan? {
    try answer { try $0.plan(undoing: id, in: registry) }
  }

  /// The plan for an operation on a resource; nothing is written.
  func plan(_ operation: ResourceOperation, in registry: ResourceRegistry) throws -> ResourcePlan {
    try answer { try $0.plan(operation, in: registry) }
  }
}
