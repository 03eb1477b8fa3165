/// Why a server ends connections whose clients did nothing.
enum StopReason: Sendable {
  case serverEnds
  /// The primary does not confirm that the server may serve.
  case noLease
  /// The namespace is in the store no more.
  case dropped
  /// The namespace is in another store.
  case moved

  /// What the client is told; a close frame has 123 bytes for it.
  var text: String {
    switch self {
    case .serverEnds: "The server ends."
    case .noLease: "The primary of the store does not confirm that this server may serve."
    case .dropped: "The database is not there any more."
    case .moved: "The database was moved to another store."
    }
  }
}
