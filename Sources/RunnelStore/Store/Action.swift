public import RunnelTree

/// A value that says what happened, or what is wanted.
///
/// The store turns it into a new state.
public protocol Action: Sendable {}

/// An action that says that something failed, so that one middleware or reducer can show all failures.
public protocol FailureAction: Action {
  /// What failed, for a person, and where in the tree.
  var error: TreeError { get }
}

/// An action that a middleware carries out, and that no reducer knows.
package protocol CommandAction: Action {
  /// The middleware that carries it out, as it is written where the store is made.
  static var middlewareName: String { get }
}
