import RunnelTree

// Refusals by an origin, in the words that clients of realtime databases know. Source: tree
// semantics, section 18.

extension DatabaseError {
  /// The error of a refused write: the status in capitals, and the origin's reason.
  init(rejection error: TreeError) {
    let status = error.code.rawValue.uppercased()
    self.init(
      Code(rawValue: status), error.message.isEmpty ? status : "\(status): \(error.message)")
  }

  /// The error of a refused or revoked query: the status, the place, and a fixed text for the
  /// status.
  init(cancelled error: TreeError) {
    let status = error.code.rawValue
    self.init(
      Code(rawValue: status.uppercased()),
      "\(status) at \(error.path ?? "/"): \(DatabaseError.reason(of: error))")
  }

  private static func reason(of error: TreeError) -> String {
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
    self.init(Code(rawValue: error.code.rawValue), error.message)
  }

  /// The error of a failed transaction: only the status; of one that was given up, as of a write.
  init(transaction error: TreeError) {
    if error.code == .writeCanceled {
      self.init(rejection: error)
      return
    }
    self.init(Code(rawValue: error.code.rawValue), error.code.rawValue)
  }
}
