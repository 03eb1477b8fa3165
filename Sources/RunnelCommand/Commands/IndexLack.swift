import RunnelBase
import RunnelDatabase
import RunnelSync
import RunnelTree

/// What becomes of a read whose order has no index: it is refused over HTTP, and a listen is sent, and decided
/// as, everything at its place.
struct IndexLack {
  let query: Query
  /// The name of the rules file.
  let file: String
  /// The explanation of the read of everything.
  let listen: RulesExplanation

  /// The index that is missing, and the line that makes it.
  private var advice: String { MemoryServedTree.missingIndex(query).message + " (\(file))" }

  private var listenText: String {
    "a listen is sent everything at \(query.path), and so decided as a read of that: "
      + listen.headline
  }

  /// The explanation of a read, with what the missing index makes of it.
  func text(after explanation: String, isAllowed: Bool) -> String {
    if !isAllowed { return explanation + "\nand it has no index: \(advice)" }
    if listen.verdict.isAllowed {
      return explanation
        + "\nbut it is refused over HTTP, and to `get` of a WebSocket, also to administrators: "
        + "\(advice)\n\(listenText)"
    }
    return
      "denied: the query has no index. It is refused over HTTP, and to `get` of a WebSocket, also "
      + "to administrators: \(advice)\n\(listenText)\nWith the index it is \(explanation)"
  }

  /// Adds what the missing index makes of a read to its explanation.
  func tell(in told: inout JSONValue, isAllowed: Bool) {
    told["missingIndex"] = .string(advice)
    told["listen"] = [
      "allowed": .bool(listen.verdict.isAllowed), "reason": .string(listen.headline),
    ]
    if !isAllowed || listen.verdict.isAllowed { return }
    told["allowed"] = .bool(false)
    told["reason"] = .string("denied: the query has no index, and \(listenText)")
  }
}

extension DatabaseSession {
  /// True if the order of a query needs no index, or has one in the rules or in the file: either serves.
  func hasIndex(_ query: Query, or rules: RulesEngine) -> Bool {
    rules.hasIndex(query.index, at: query.path)
      || indexedOrders(of: query.path).contains(query.index.forward)
  }
}
