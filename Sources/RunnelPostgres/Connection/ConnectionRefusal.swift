/// Why there is no connection, as libpq told it.
struct ConnectionRefusal {
  /// The code that the server gave, five characters; nil if the server gave none.
  private(set) var state: String?
  /// What happened, in one line.
  private(set) var text = ""

  /// The beginnings of texts about the place itself: what is written there, or a file that it names.
  private static let faultsOfPlaces = [
    "invalid ", "missing ", "unterminated ", "definition of service", "service file",
    "syntax error in service file", "could not match ", "line ",
  ]

  /// Reads a text of libpq, which was asked for codes.
  init(_ raw: String) {
    var parts: [Substring] = []
    for line in raw.split(separator: "\n") where !line.hasPrefix("LOCATION:") {
      parts.append(contentsOf: line.split(separator: "\t"))
    }
    text = MessageLines.joined(parts)
    guard let found = ConnectionRefusal.code(in: text) else { return }
    state = String(text[found].prefix(5))
    text.removeSubrange(found)
  }

  /// The place of a code behind two blanks, with the colon and the blank after it.
  private static func code(in text: String) -> Range<String.Index>? {
    var start = text.startIndex
    while let colon = text[start...].firstRange(of: ":  ") {
      let code = text[colon.upperBound...].prefix(5)
      let isCode =
        code.utf8.count == 5
        && code.utf8.allSatisfy { (48...57).contains($0) || (65...90).contains($0) }
      if isCode, text[code.endIndex...].hasPrefix(": ") {
        return colon.upperBound..<text.index(code.endIndex, offsetBy: 2)
      }
      start = colon.upperBound
    }
    return nil
  }

  /// The error that says so; `isStart` is true before anything was sent.
  func error(isStart: Bool) -> PostgresError {
    if isStart, ConnectionRefusal.faultsOfPlaces.contains(where: { text.hasPrefix($0) }) {
      return PostgresError(.unsuitable, "The place of the database is not understood: \(text)")
    }
    // Source: libpq, `fe-auth.c`; it is no text of the server.
    if text.contains("no password supplied") {
      return PostgresError(
        .disconnected, state: PostgresError.wrongPassword,
        PostgresHandshake.beginning + text + ": write it into ~/.pgpass as "
          + "HOST:PORT:DATABASE:USER:PASSWORD, which only you may read (chmod 600)")
    }
    // Of a place without another host: libpq asks for a session that writes.
    let isStandby = text.contains("session is read-only")
    let advice = isStandby ? " (it is a standby: name the host of the primary, too)" : ""
    return PostgresError(.disconnected, state: state, PostgresHandshake.beginning + text + advice)
  }
}
