import RunnelPostgres

extension PostgresError {
  /// The error as a command tells it, with what helps if a role lacks a right.
  var told: String {
    guard kind == .refused, state == "42501" else { return "\(self)" }
    return
      "\(self): the tables are made and changed by the owner of the database, so give --store a name under "
      + "`stores` with that user; `runnel store init --role ROLE` lets another role use them."
  }
}
