public import RunnelStreams

/// Something that is done around the changes of records, of this program.
///
/// Hooks are a list: those of one moment are called one after the other in its order, for each change
/// of the operation in turn. What must hold whoever writes is better a `ResourceRule`, which is asked
/// within the write. Writes that were pending when the program ended call no hook after reopening, when
/// they are acknowledged or rejected.
///
/// Source: origins, sections 2.2 to 2.4.
public struct ResourceHook: Sendable {
  /// When a hook is called.
  public enum Moment: Sendable {
    /// Before the write. It may take its time, so what is stored may change until the write.
    case before(@Sendable (ResourceHookContext) async throws -> ResourceVerdict)
    /// The write is on disk here, and handlers were told.
    case committed(@Sendable (ResourceHookContext) async -> Void)
    /// The write is final; on a tree of its own that is right after `committed`.
    case acknowledged(@Sendable (ResourceHookContext) async -> Void)
    /// On a replica: the origin refused the write, and nothing of it shows any more.
    case rejected(@Sendable (ResourceHookContext, DatabaseError) async -> Void)
  }

  /// What it is called.
  public var name: String
  /// Which changes it is called for.
  public var scope: ResourceScope
  /// When it is called, and what it does.
  public var moment: Moment

  /// Makes a hook.
  public init(_ name: String, for scope: ResourceScope = .everything, _ moment: Moment) {
    self.name = name
    self.scope = scope
    self.moment = moment
  }
}

extension [ResourceHook] {
  /// Asks the hooks before a change, until one forbids it or has something else written.
  ///
  /// The hooks before `start` were asked already; `next` is the one after that which answered.
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

  /// True if something is asked before writes.
  var hasBefore: Bool {
    contains { if case .before = $0.moment { true } else { false } }
  }

  /// True if someone waits for what the origin answers.
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
