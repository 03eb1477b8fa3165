public import RunnelTree

/// A value that describes an event or a request.
///
/// The reducer of a store computes the next state from it.
public protocol Action: Sendable {}

/// An action that reports a failure, so that one middleware or reducer can handle all failures.
public protocol FailureAction: Action {
  /// The failure, in words for a person, and its place in the tree.
  var error: TreeError { get }
}

/// An action for a middleware; no reducer handles it.
package protocol CommandAction: Action {
  /// The middleware that carries it out, as it is written where the store is made.
  static var middlewareName: String { get }
}
