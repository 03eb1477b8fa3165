public import RunnelTree

/// A value that describes an event or a request.
///
/// The reducer of a store computes the next state from it.
public protocol Action: Sendable {}

/// An action that reports a failure, so that one middleware or reducer can handle all failures.
public protocol FailureAction: Action {
  /// The failure, in words for a person, and its place in the tree.
  var error: TreeError { get }
  /// True if a request failed; false if only one part of the data could not be used, and the rest
  /// was.
  ///
  /// The default is true.
  var isSerious: Bool { get }
}

extension FailureAction {
  /// True: a request failed.
  public var isSerious: Bool { true }
}

/// An action about data of the tree: a request and its answers, or an event of objects.
///
/// One middleware or reducer can handle all of them, whatever the type of the objects.
public protocol DataAction: Action {
  /// The place that the action is about: the place of the request or the object, or of the query if
  /// it is about all of its objects.
  var path: Path { get }
}

/// An action for a middleware; no reducer handles it.
package protocol CommandAction: Action {
  /// The middleware that carries it out, as it is written where the store is made.
  static var middlewareName: String { get }
}
