public import RunnelBase
public import RunnelTree

/// An operation on a record of a resource.
public struct ResourceOperation: Hashable, Sendable {
  /// The kinds of operations.
  public enum Kind: Hashable, Sendable {
    /// Store the record, in place of one that may exist.
    case create
    /// Replace the given fields, and keep the others; null removes a field.
    case update
    /// Remove the record, if it exists.
    case destroy
    /// `update` if the record exists, otherwise `create`; a given `exists` overrides what is
    /// stored.
    case createOrUpdate(exists: Bool? = nil)
    /// `destroy` if the record exists, otherwise `create`; a given `exists` overrides what is
    /// stored.
    case toggle(exists: Bool? = nil)
  }

  /// The kind of operation.
  public var kind: Kind
  /// The record; `destroy` ignores its value.
  public var object: ResourceObject
  /// The objects for the names of its path, by name.
  public var context: [String: ResourceObject]
  /// The key for a record without one; nil to make one.
  ///
  /// It must have just been made, so that nothing can refer to it yet.
  public var newKey: Key?
  /// True if it undoes something: fields without a given value get no initial value, and what was
  /// allowed before its schema may come back.
  var isUndoing = false

  /// Makes an operation.
  public init(
    _ kind: Kind, _ object: ResourceObject, in context: [String: ResourceObject] = [:],
    newKey: Key? = nil
  ) {
    self.kind = kind
    self.object = object
    self.context = context
    self.newKey = newKey
  }
}

/// The kinds of changes of a record.
public enum ResourceChangeKind: String, Hashable, Sendable, CaseIterable {
  /// The record is created.
  case create
  /// Some of its fields are replaced.
  case update
  /// The record is removed.
  case destroy
}

extension ResourceOperation.Kind {
  /// The change of a record that exists, or does not.
  func resolved(exists: Bool) -> ResourceChangeKind {
    switch self {
    case .create: .create
    case .update: .update
    case .destroy: .destroy
    case .createOrUpdate(let given): (given ?? exists) ? .update : .create
    case .toggle(let given): (given ?? exists) ? .destroy : .create
    }
  }
}

/// The change of one record, in the form for hooks.
public struct ResourceHookContext: Hashable, Sendable {
  /// The kind of change.
  public var kind: ResourceChangeKind
  /// The identity of the record.
  public var identity: ResourceIdentity
  /// The place of the record.
  public var path: Path
  /// The record before; null if there was none.
  public var old: JSONValue
  /// The record after; null if there is none.
  ///
  /// Server values are given as estimated here.
  public var new: JSONValue
  /// The objects of the operation's context, by name.
  public var context: [String: ResourceObject]
  /// True if the record is destroyed with its owner.
  public var isCascaded: Bool
}

/// The verdict of a rule or hook on a change.
public enum ResourceVerdict: Hashable, Sendable {
  /// The change is allowed.
  case allow
  /// The change is allowed with other JSON: for an update the fields, for a creation the record. It
  /// is ignored if the record is destroyed.
  case write(JSONValue)
  /// The change is forbidden, for this reason; no part of the operation is carried out.
  case veto(String)
}

/// The changes that a hook or rule is about.
public struct ResourceScope: Hashable, Sendable {
  /// The resources; nil for all.
  public var resources: Set<String>?
  /// The kinds of changes.
  public var kinds: Set<ResourceChangeKind>

  /// The scope of all changes of all resources.
  public static let everything = ResourceScope()

  /// Makes a scope.
  public init(
    _ resources: Set<String>? = nil,
    kinds: Set<ResourceChangeKind> = Set(ResourceChangeKind.allCases)
  ) {
    self.resources = resources
    self.kinds = kinds
  }

  /// True if a change is in the scope.
  public func contains(_ context: ResourceHookContext) -> Bool {
    kinds.contains(context.kind) && resources?.contains(context.identity.resource) ?? true
  }
}

/// A rule that is asked within the write, so that it sees the stored data at that moment.
///
/// Rules are asked in the order in which they were registered; the first veto ends the operation.
public struct ResourceRule: Sendable {
  /// The name, for messages about a refusal.
  public var name: String
  /// The changes about which it is asked.
  public var scope: ResourceScope
  /// Returns the verdict; it must be quick, and must not wait.
  public var verdict: @Sendable (ResourceHookContext) -> ResourceVerdict

  /// Makes a rule.
  public init(
    _ name: String, for scope: ResourceScope = .everything,
    verdict: @escaping @Sendable (ResourceHookContext) -> ResourceVerdict
  ) {
    self.name = name
    self.scope = scope
    self.verdict = verdict
  }
}
