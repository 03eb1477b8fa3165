public import RunnelBase

/// A change that depends on what stands at a place: it is computed anew until it was done on exactly
/// the state that it was computed from.
///
/// Source: tree semantics, section 11.
public struct TransactionRequest: Sendable {
  /// The place.
  public var path: Path
  /// What is to stand there in place of what does; nil gives up.
  ///
  /// It is called on the tree's thread, maybe several times, at first maybe with an empty node
  /// although something stands there that is not known yet.
  public var body: @Sendable (Node) -> JSONValue?
  /// True if listeners here see the result before the origin has done it.
  public var appliesLocally: Bool

  /// Makes a request.
  public init(
    _ path: Path, appliesLocally: Bool = true, body: @escaping @Sendable (Node) -> JSONValue?
  ) {
    self.path = path
    self.body = body
    self.appliesLocally = appliesLocally
  }
}

/// A transaction that has not ended.
struct Transaction: Sendable, Identifiable {
  /// Where it stands.
  enum Status: Sendable {
    /// Computed, not sent.
    case waiting
    /// Sent with this command.
    case sent(command: Int64)
    /// Sent, but a write made here since then ends it, unless the origin did it.
    case sentInVain(command: Int64)
    /// To be computed anew.
    case stale
  }

  /// How often the origin is asked.
  static let retryCountMax = 25

  let id: Int64
  let request: TransactionRequest
  var status = Status.waiting
  var retryCount = 0
  var input = Node.empty
  /// True while the origin is asked what stands at the place for the transaction's sake.
  var isListening = true
  /// The pending write that holds the result.
  var write: PendingWrite?

  var isSent: Bool { command != nil }

  var isStale: Bool { if case .stale = status { true } else { false } }

  /// The command that it was sent with.
  var command: Int64? {
    switch status {
    case .sent(let command), .sentInVain(let command): command
    case .waiting, .stale: nil
    }
  }

  /// True if what happens at a place matters.
  func concerns(_ path: Path) -> Bool {
    request.path.contains(path) || path.contains(request.path)
  }

  /// What stands at the place in the end.
  var output: Node {
    guard case .node(let node)? = write?.parts.first?.target else { return .empty }
    return node
  }
}
