public import RunnelTree

/// A request without its content.
public struct RequestSummary: Hashable, Sendable {
  /// The kinds of request.
  public enum Kind: String, Hashable, Sendable, CaseIterable {
    /// A request to put an object at a place.
    case create
    /// A request to replace some children of an object.
    case update
    /// A request to replace some leaves of an object.
    case merge
    /// A request to remove an object.
    case remove
    /// A request to read an object.
    case get
    /// A request to read the objects of a query.
    case search
  }

  /// The name of the request.
  public var id: RequestID
  /// The kind of request.
  public var kind: Kind
  /// The place; for a new child that of the child, for a search that of the collection.
  public var path: Path

  /// Makes a summary.
  public init(id: RequestID, kind: Kind, path: Path) {
    self.id = id
    self.kind = kind
    self.path = path
  }
}

/// A request was made and waits for its answer.
public struct RequestPending<Object: TreeObject>: Action, Equatable {
  /// The request.
  public var request: RequestSummary

  /// Makes the action.
  public init(_ request: RequestSummary) { self.request = request }
}

/// A request was answered.
public struct RequestSucceeded<Object: TreeObject>: Action, Equatable {
  /// The answers to requests.
  public enum Answer: Equatable, Sendable {
    /// The write is on disk. If the origin is to answer too, `RequestAcknowledged` or `RequestFailed`
    /// follows.
    case written(awaitsOrigin: Bool)
    /// The object at the place; nil if there is none.
    case object(Object?)
    /// The objects of the query, in its order, and the errors of children that are not objects.
    case objects([ObjectEntry<Object>], malformed: [TreeError])
  }

  /// The request.
  public var request: RequestSummary
  /// The answer.
  public var answer: Answer

  /// Makes the action.
  public init(_ request: RequestSummary, answer: Answer) {
    self.request = request
    self.answer = answer
  }
}

/// The origin did a write that was waiting for it.
public struct RequestAcknowledged<Object: TreeObject>: Action, Equatable {
  /// The request.
  public var request: RequestSummary

  /// Makes the action.
  public init(_ request: RequestSummary) { self.request = request }
}

/// A request failed; nothing of a failed write remains.
public struct RequestFailed<Object: TreeObject>: FailureAction, Equatable {
  /// The request.
  public var request: RequestSummary
  /// The reason.
  public var error: TreeError

  /// Makes the action.
  public init(_ request: RequestSummary, error: TreeError) {
    self.request = request
    self.error = error
  }
}

/// A request was cancelled; no other action follows for it.
///
/// A write that had begun is carried out nevertheless.
public struct RequestCancelled<Object: TreeObject>: Action, Equatable {
  /// The request.
  public var request: RequestSummary

  /// Makes the action.
  public init(_ request: RequestSummary) { self.request = request }
}
