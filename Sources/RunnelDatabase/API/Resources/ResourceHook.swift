public import RunnelStreams

/// A function of this program that is called around the changes of records.
///
/// Hooks for the same moment are called one after the other, in the order of the list, for each
/// change of the operation in turn. A condition that must hold for every writer is better a
/// `ResourceRule`, which is checked within the write. If the program ends while a write is pending,
/// no hook is called when the write is acknowledged or rejected later.
///
/// Source: origins, sections 2.2 to 2.4.
public struct ResourceHook: Sendable {
  /// The moment at which a hook is called.
  public enum Moment: Sendable {
    /// The moment before the write. The hook may take its time, so stored data may change until the
    /// write.
    case before(@Sendable (ResourceHookContext) async throws -> ResourceVerdict)
    /// The moment after the write is on disk here, and handlers were told.
    case committed(@Sendable (ResourceHookContext) async -> Void)
    /// The moment after the write is final; on a tree of its own this is right after `committed`.
    case acknowledged(@Sendable (ResourceHookContext) async -> Void)
    /// The moment after the origin of a replica has refused the write, which is no longer shown.
    case rejected(@Sendable (ResourceHookContext, DatabaseError) async -> Void)
  }

  /// The name of the hook.
  public var name: String
  /// The changes for which it is called.
  public var scope: ResourceScope
  /// The moment at which it is called, and its function.
  public var moment: Moment

  /// Makes a hook.
  public init(_ name: String, for scope: ResourceScope = .everything, _ moment: Moment) {
    self.name = name
    self.scope = scope
    self.moment = moment
  }
}

extension [ResourceHook] {
  /// Asks the hooks about a change, until one forbids the change or replaces it.
  ///
  /// The hooks before `start` were asked already; `next` is the one after the hook that answered.
  func verdict(
    on change: ResourceHookContext, from start: Int
  ) async throws -> (verdict: ResourceVerdict, next: Int) {
    for index in indices.dropFirst(start) {
      guard case .before(let ask) = self[index].moment, self[index].scope.contains(change) else {
        continue
      }
      let verdict = try await ask(change)
      if verdict != .allow { return (verdict, index + 1) }
    }
    return (.allow, endIndex)
  }

  /// True if a hook is called before writes.
  var hasBefore: Bool {
    contains { if case .before = $0.moment { true } else { false } }
  }

  /// True if a hook is called for the origin's answer.
  var hasAnswer: Bool {
    contains { hook in
      switch hook.moment {
      case .acknowledged, .rejected: true
      case .before, .committed: false
      }
    }
  }

  func tellCommitted(_ changes: [ResourceHookContext]) async {
    for change in changes {
      for hook in self where hook.scope.contains(change) {
        if case .committed(let body) = hook.moment { await body(change) }
      }
    }
  }

  func tellAcknowledged(_ changes: [ResourceHookContext]) async {
    for change in changes {
      for hook in self where hook.scope.contains(change) {
        if case .acknowledged(let body) = hook.moment { await body(change) }
      }
    }
  }

  func tellRejected(_ changes: [ResourceHookContext], _ error: DatabaseError) async {
    for change in changes {
      for hook in self where hook.scope.contains(change) {
        if case .rejected(let body) = hook.moment { await body(change, error) }
      }
    }
  }
}
