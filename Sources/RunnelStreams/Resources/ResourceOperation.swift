public import RunnelBase
public import RunnelTree

/// Something that is to be done with a record of a resource.
public struct ResourceOperation: Hashable, Sendable {
  /// What is to be done.
  public enum Kind: Hashable, Sendable {
    /// Put the record there, in the place of what may be there.
    case create
    /// Replace the fields that are given, and leave the others; a null removes its field.
    case update
    /// Remove the record, if it is there.
    case destroy
    /// `update` if the record exists, `create` if not; what is given goes before what is stored.
    case createOrUpdate(exists: Bool? = nil)
    /// `destroy` if the record exists, `create` if not; what is given goes before what is stored.
    case toggle(exists: Bool? = nil)
  }

  /// What is to be done.
  public var kind: Kind
  /// The record; for `destroy` its value does not count.
  public var object: ResourceObject
  /// The objects that the names of its path stand for, by name.
  public var context: [String: ResourceObject]
  /// The key that the record gets if it has none; nil to make one.
  ///
  /// It must just have been made, so that nothing can refer to it yet.
  public var newKey: Key?
  /// False if fields that the record is not given stay without a value: what is put back is what was.
  var appliesInitialValues = true

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

/// What becomes of a record.
public enum ResourceChangeKind: String, Hashable, Sendable, CaseIterable {
  /// It is put there.
  case create
  /// Fields of it are replaced.
  case update
  /// It is removed.
  case destroy
}

extension ResourceOperation.Kind {
  /// What becomes of a record that exists, or does not.
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

/// What a hook knows of the change of one record.
public struct ResourceHookContext: Hashable, Sendable {
  /// What becomes of the record.
  public var kind: ResourceChangeKind
  /// Which record it is.
  public var identity: ResourceIdentity
  /// Where it stands.
  public var path: Path
  /// What stood there before; null if nothing did.
  public var old: JSONValue
  /// What is to stand there; null if nothing is.
  ///
  /// Server values are what they come to here and now.
  public var new: JSONValue
  /// The objects of the operation's context, by name.
  public var context: [String: ResourceObject]
  /// True if it follows from the destruction of its owner.
  public var isCascaded: Bool
}

/// What a rule says of a change.
public enum ResourceVerdict: Hashable, Sendable {
  /// It may be done.
  case allow
  /// This is to be written in the place of what was given: for an update the fields, for a creation
  /// the record. It does not count for a record that is destroyed.
  case write(JSONValue)
  /// It must not be done, for this reason; nothing of the operation is.
  case veto(String)
}

/// Which changes a hook or rule is about.
public struct ResourceScope: Hashable, Sendable {
  /// The resources; nil for all.
  public var resources: Set<String>?
  /// The kinds of changes.
  public var kinds: Set<ResourceChangeKind>

  /// All changes of all resources.
  public static let everything = ResourceScope()

  /// Makes a scope.
  public init(
    _ resources: Set<String>? = nil,
    kinds: Set<ResourceChangeKind> = Set(ResourceChangeKind.allCases)
  ) {
    self.resources = resources
    self.kinds = kinds
  }

  /// True if a change belongs to it.
  public func contains(_ context: ResourceHookContext) -> Bool {
    kinds.contains(context.kind) && resources?.contains(context.identity.resource) ?? true
  }
}

/// A hook that is asked within the write, and so knows what is stored at that moment.
///
/// Rules are asked in the order in which they were registered; the first veto ends the operation.
public struct ResourceRule: Sendable {
  /// What it is called, for a person who asks why something was refused.
  public var name: String
  /// Which changes it is asked about.
  public var scope: ResourceScope
  /// What it says; it must be quick, and must not wait.
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
