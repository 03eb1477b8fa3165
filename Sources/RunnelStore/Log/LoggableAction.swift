public import RunnelBase

/// An action that can be written to an action log and read back.
///
/// The JSON must contain everything that the reducer uses of the action, so that replaying a log
/// leads to an equal state.
public protocol LoggableAction: Action {
  /// The word that identifies actions of this type in a log.
  static var kind: String { get }

  /// The content as JSON.
  ///
  /// - Throws: any error if the content cannot be written; the log then contains only the name of
  ///   the type.
  func json() throws -> JSONValue

  /// Reads what `json` wrote.
  ///
  /// - Throws: any error if the JSON does not fit.
  init(json: JSONValue) throws
}

/// The types of actions that can be read from a log, by their kinds.
public struct ActionRegistry: Sendable {
  private var types: [String: any LoggableAction.Type] = [:]

  /// Makes a registry with `ConnectionChanged`, the one action of this library that has no object
  /// type.
  public init() { register(ConnectionChanged.self) }

  /// Adds a type of action.
  ///
  /// - Precondition: no other type has its kind.
  public mutating func register(_ type: any LoggableAction.Type) {
    let known = types.updateValue(type, forKey: type.kind)
    precondition(
      known == nil || known == type, "Two types of action have the kind \"\(type.kind)\".")
  }

  /// Adds all actions of this library about a type of object.
  ///
  /// - Precondition: no other type has its `objectName`.
  public mutating func registerActions<Object: TreeObject>(about type: Object.Type) {
    register(RequestPending<Object>.self)
    register(RequestSucceeded<Object>.self)
    register(RequestAcknowledged<Object>.self)
    register(RequestFailed<Object>.self)
    register(RequestCancelled<Object>.self)
    register(ObjectSubscribed<Object>.self)
    register(ObjectsLoaded<Object>.self)
    register(ObjectAdded<Object>.self)
    register(ObjectChanged<Object>.self)
    register(ObjectMoved<Object>.self)
    register(ObjectRemoved<Object>.self)
    register(ObjectErrored<Object>.self)
    register(ObjectObserved<Object>.self)
  }

  /// Reads an action.
  ///
  /// - Throws: `ActionLogError` (`unknownKind`, or `malformed` with the reason).
  public func action(
    kind: String, json: JSONValue
  ) throws(ActionLogError) -> any LoggableAction {
    guard let type = types[kind] else {
      throw ActionLogError(
        .unknownKind, "No type of action with the kind \"\(kind)\" is registered.")
    }
    do {
      return try type.init(json: json)
    } catch {
      throw ActionLogError(.malformed, "An action of the kind \"\(kind)\" cannot be read: \(error)")
    }
  }
}

/// The reason why an action log cannot be read or replayed.
public struct ActionLogError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The kinds of failure.
  public enum Code: String, Hashable, Sendable {
    /// A line, or the content of an action, does not have the format of a log.
    case malformed
    /// The log was written by a newer version.
    case newerVersion = "newer_version"
    /// An entry is missing: the numbers of two lines do not follow each other.
    case gap
    /// The kind of an action is not registered.
    case unknownKind = "unknown_kind"
  }

  /// The kind of failure.
  public var code: Code
  /// The message: what is wrong and what to do.
  public var message: String
  /// The line of the log, from 1; nil if it is not known.
  public var line: Int?

  /// Makes an error.
  public init(_ code: Code, _ message: String, line: Int? = nil) {
    self.code = code
    self.message = message
    self.line = line
  }

  /// The message with its line.
  public var description: String { line.map { "line \($0): \(message)" } ?? message }
}

/// The limits of an action log.
enum ActionLogLimits {
  /// The deepest nesting of values that is searched for secrets: a tree is at most 32 levels deep,
  /// and each takes a few levels of values.
  static let depthMax = 256
}
