public import RunnelTree

/// A value that describes an event or a request.
///
/// The reducer of a store computes the next state from it.
public protocol Action: Sendable {}

/// An action that reports a failure, so that one middleware or reducer can handle all failures.
public protocol FailureAction: Action {
  /// The failure, in words for a person, and its place in the tree.
  var error: TreeError { get }
  /// True if something that was wanted did not happen; false if one thing among others could not be
  /// used, and all else goes on. True unless the type says otherwise.
  var isSerious: Bool { get }
}

extension FailureAction {
  /// True: what was wanted did not happen.
  public var isSerious: Bool { true }
}

/// An action about data of the tree: a request and its answers, or an event of objects.
///
/// One middleware or reducer can handle all of them, whatever the type of the objects.
public protocol DataAction: Action {
  /// The place that it is about: that of the request or the object; for all objects of a query that
  /// of the query.
  var path: Path { get }
}

/// An action for a middleware; no reducer handles it.
package protocol CommandAction: Action {
  /// The middleware that carries it out, as it is written where the store is made.
  static var middlewareName: String { get }
}
