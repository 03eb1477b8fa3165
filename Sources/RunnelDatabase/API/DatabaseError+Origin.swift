import RunnelTree

// Refusals by an origin, in the words that clients of realtime databases know. Source: tree
// semantics, section 18.

extension DatabaseError.Code {
  // Refusals by an origin have its status in capitals as their code, whatever was refused. Its other
  // statuses are codes in the same way.

  /// The origin does not allow the request.
  public static let permissionDenied = DatabaseError.Code(rawValue: "PERMISSION_DENIED")
  /// The origin cannot answer now.
  public static let unavailable = DatabaseError.Code(rawValue: "UNAVAILABLE")
  /// The answer is larger than the origin gives.
  public static let tooBig = DatabaseError.Code(rawValue: "TOO_BIG")
  /// A pending write was given up.
  public static let writeCanceled = DatabaseError.Code(rawValue: "WRITE_CANCELED")

  // What a replica finds out by itself has a word of its own.

  /// A request that needs a connection to the origin: there is none, and no answer is kept.
  public static let offline = DatabaseError.Code(rawValue: "offline")
  /// The connection was lost before the origin's answer: what was asked for may have been done.
  public static let disconnected = DatabaseError.Code(rawValue: "disconnect")
  /// A transaction ended because another write was made at its place.
  public static let overwritten = DatabaseError.Code(rawValue: "set")
  /// A transaction was tried as often as possible.
  public static let retryLimit = DatabaseError.Code(rawValue: "maxretry")

  fileprivate static let own = [offline, disconnected, overwritten, retryLimit]

  /// The code of a failure on a replica: the status in capitals, or the replica's own word.
  fileprivate init(of error: TreeError) {
    let word = DatabaseError.Code(rawValue: error.code.rawValue)
    self = Self.own.contains(word) ? word : Self(rawValue: word.rawValue.uppercased())
  }
}

extension DatabaseError {
  /// The error of a refused write: the status in capitals, and the origin's reason; of one whose
  /// condition did not hold, or that ended with the connection, the word for what was found here.
  init(rejection error: TreeError) {
    if error.code == .changed {
      self.init(.changed, error.message)
      return
    }
    let status = error.code.rawValue.uppercased()
    self.init(
      Code(of: error), error.message.isEmpty ? status : "\(status): \(error.message)")
    reason = DatabaseError.ownWords(of: error)
  }

  /// The error of a refused or revoked query: the status, the place, and a fixed text for the
  /// status; the origin's own words are its reason.
  init(cancelled error: TreeError) {
    let status = error.code.rawValue
    self.init(
      Code(rawValue: status.uppercased()),
      "\(status) at \(error.path ?? "/"): \(DatabaseError.text(of: error))")
    reason = DatabaseError.ownWords(of: error)
  }

  /// What the origin said; nil if that is no more than its status, or the origin said nothing.
  private static func ownWords(of error: TreeError) -> String? {
    if Code.own.map(\.rawValue).contains(error.code.rawValue) { return nil }
    let status = error.code.rawValue.map { $0 == "_" ? " " : $0 }
    return ["", String(status)].contains(error.message.lowercased()) ? nil : error.message
  }

  private static func text(of error: TreeError) -> String {
    switch error.code {
    case .tooBig:
      "The data requested exceeds the maximum size that can be accessed with a single request."
    case .permissionDenied: "Client doesn't have permission to access the desired data."
    case .unavailable: "The service is unavailable"
    default: error.message
    }
  }

  /// The error of a question that was asked once: the origin's own words.
  init(get error: TreeError) {
    self.init(Code(of: error), error.message)
    reason = DatabaseError.ownWords(of: error)
  }

  /// The error of a failed transaction: only the status, with the origin's words as the reason; of one
  /// that was given up, as of a write.
  init(transaction error: TreeError) {
    if error.code == .writeCanceled {
      self.init(rejection: error)
      return
    }
    self.init(Code(of: error), error.code.rawValue)
    reason = DatabaseError.ownWords(of: error)
  }
}
