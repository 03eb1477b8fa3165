public import RunnelStreams
import RunnelTree

/// What came of an operation on a resource.
public struct ResourceResult<Object: Sendable>: Sendable {
  /// The object, which has its key now.
  public var object: Object
  /// What became of the record; nil if nothing did, because what was to be destroyed was not there.
  public var kind: ResourceChangeKind?
  /// Where the record stands, or stood.
  public var reference: Reference
  /// The changes of records: this one, then those of records destroyed with it.
  public var changes: [ResourceHookContext]
  /// Tells what the origin of a replica answers; settled at once on a tree of its own.
  public var receipt: WriteReceipt
}

/// Creates, changes and destroys records of resources in a database.
///
/// A value, to be kept and used on any thread. Each operation is one write: the record, what is counted,
/// copied and destroyed with it, and the entry of the action log. It either happens or throws.
///
/// Source: origins, section 2.
public struct ResourceBase: Sendable {
  /// The database.
  public let database: Database
  /// What is known of resources.
  public let registry: ResourceRegistry
  /// What is done around changes, in this order.
  public let hooks: [ResourceHook]
  /// How dates of typed objects are written and read.
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
  /// In order: the hooks before are asked; the write is planned and done; those who observe are told;
  /// the hooks after the commit are called, and those after the acknowledgement as well, unless the
  /// origin of a replica has yet to answer. An operation that was begun is not cancelled with its task.
  ///
  /// - Parameter operation: what is to be done.
  /// - Returns: what came of it.
  /// - Throws: `ResourceError` if it is refused, what a hook before it throws, `DatabaseError` if the
  ///   storage fails; then nothing was written.
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
    return ResourceResult(
      object: object, kind: plan.changes.first?.kind,
      reference: database.reference(at: plan.path), changes: plan.changes, receipt: receipt)
  }

  /// Asks the hooks before an operation; returns it as they want it written.
  private func askHooks(_ operation: ResourceOperation) async throws -> ResourceOperation {
    guard hooks.hasBefore else { return operation }
    var operation = operation
    var next = 0
    while true {
      let plan = try await database.plan(operation, in: registry)
      // The record is to get the key that the hooks were told.
      if operation.object.key == nil { operation.newKey = plan.identity.key }
      guard let first = plan.changes.first else { return operation }
      let (verdict, after) = try await hooks.verdict(on: first, from: next)
      next = after
      switch verdict {
      case .write(let json): operation.object.value = json
      case .veto(let reason): throw ResourceBase.veto(reason, first)
      case .allow:
        try await askHooks(aboutCascaded: plan.changes.dropFirst())
        return operation
      }
    }
  }

  private func askHooks(
    aboutCascaded changes: ArraySlice<ResourceHookContext>
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

  /// Calls the hooks that wait for the origin's answer when it has come, however late that is.
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

  /// What an operation on a resource would come to now.
  func plan(_ operation: ResourceOperation, in registry: ResourceRegistry) throws -> ResourcePlan {
    try answer { try $0.plan(operation, in: registry) }
  }
}
