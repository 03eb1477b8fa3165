import RunnelPostgres

extension PostgresError {
  /// The error as a command tells it, with what helps if a role lacks a right, or no answer came.
  var told: String {
    if isWait {
      return "\(toldWithState) Whether this was done is not known, so look before you do it again."
    }
    if let name = unknownService, StoreOption.configured(name) == nil {
      return
        "\(self). \(name) is no name under `stores` in the configuration either (`runnel config path`)."
    }
    guard kind == .refused, state == "42501" else { return "\(self)" }
    return
      "\(self): the tables are made and changed by the owner of the database, so give --store a name under "
      + "`stores` with that user; `runnel store init --role ROLE` lets another role use them."
  }

  /// The error for a command that says by itself what was done.
  var toldWithState: String {
    guard isWait else { return told }
    return
      "\(self) What is written waits for the synchronous standby, and for locks of other transactions: `runnel "
      + "store status` says whether the standby is attached."
  }

  private var isWait: Bool { kind == .timedOut && !message.hasPrefix("There is no connection") }

  /// The service that libpq does not know, as the error names it; nil for any other error.
  private var unknownService: String? {
    guard let start = message.firstRange(of: "definition of service \"") else { return nil }
    let rest = message[start.upperBound...]
    guard let end = rest.firstRange(of: "\" not found") else { return nil }
    return String(rest[..<end.lowerBound])
  }
}
