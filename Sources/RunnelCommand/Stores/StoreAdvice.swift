import RunnelPostgres

extension PostgresError {
  /// The error as a command tells it, with what helps if a role lacks a right, or no answer came.
  var told: String {
    if kind == .timedOut, !message.hasPrefix("There is no connection") {
      return
        "\(self) What is written waits for the synchronous standby: `runnel store status` says whether that is "
        + "attached. Whether this was done is not known, so look before you do it again."
    }
    guard kind == .refused, state == "42501" else { return "\(self)" }
    return
      "\(self): the tables are made and changed by the owner of the database, so give --store a name under "
      + "`stores` with that user; `runnel store init --role ROLE` lets another role use them."
  }
}
