package import RunnelBase

/// A change that depends on the node at a place: it is computed again until the origin has done it
/// on exactly the node that it was computed from.
///
/// Source: tree semantics, section 11.
package struct TransactionRequest: Sendable {
  /// The place.
  package var path: Path
  /// Computes the new node from the old one; nil gives up.
  ///
  /// It is called on the tree's thread, maybe several times, and at first maybe with an empty node,
  /// if the node at the place is not known yet.
  package var body: @Sendable (Node) -> JSONValue?
  /// True if listeners here see the result before the origin has done it.
  package var appliesLocally: Bool

  /// Makes a request.
  package init(
    _ path: Path, appliesLocally: Bool = true, body: @escaping @Sendable (Node) -> JSONValue?
  ) {
    self.path = path
    self.body = body
    self.appliesLocally = appliesLocally
  }
}

/// A transaction that has not ended.
struct Transaction: Sendable, Identifiable {
  /// The state of a transaction.
  enum Status: Sendable {
    /// Computed, but not sent.
    case waiting
    /// Sent by this command.
    case sent(command: Int64)
    /// Sent, but a write was made here since, or nobody waits any more: the transaction ends unless
    /// the origin does it.
    case sentInVain(command: Int64)
    /// Outdated; must be computed again.
    case stale
  }

  /// The most times that the origin is asked to carry it out.
  static let retryCountMax = 25

  let id: Int64
  let request: TransactionRequest
  var status = Status.waiting
  var retryCount = 0
  var input = Node.empty
  /// True while the origin is asked for the node at the place because of the transaction.
  var isListening = true
  /// The pending write that holds the result.
  var write: PendingWrite?

  var isSent: Bool { command != nil }

  var isStale: Bool { if case .stale = status { true } else { false } }

  /// The command by which it was sent.
  var command: Int64? {
    switch status {
    case .sent(let command), .sentInVain(let command): command
    case .waiting, .stale: nil
    }
  }

  /// True if a change at a place affects the transaction.
  func concerns(_ path: Path) -> Bool {
    request.path.contains(path) || path.contains(request.path)
  }

  /// The node that the transaction writes.
  var output: Node {
    guard case .node(let node)? = write?.parts.first?.target else { return .empty }
    return node
  }
}
