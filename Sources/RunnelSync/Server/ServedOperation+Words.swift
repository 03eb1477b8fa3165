extension ServedOperation {
  /// The word of the log for what a client asked; nil for what the server does by itself.
  package var word: String? {
    switch self {
    case .listen: "listen"
    case .get: "get"
    case .write, .writeIf: "write"
    case .compareAndSet: "transaction"
    case .keepForDisconnect: "onDisconnect"
    case .unlisten, .review, .doDisconnects, .leave: nil
    }
  }
}

extension ServerSession {
  /// The operation of an id that is under way; nil if there is none.
  package func operation(_ id: Int64) -> ServedOperation? { underWay[id]?.operation }
}
