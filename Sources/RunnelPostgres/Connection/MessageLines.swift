/// The lines of a message of PostgreSQL as one, with a full stop between sentences.
enum MessageLines {
  /// Joins parts: after one without a sign at its end, a part that begins with a capital letter is a sentence of its
  /// own.
  static func joined(_ parts: some Sequence<Substring>) -> String {
    var text = ""
    for part in parts where !part.isEmpty {
      let isClosed = text.last.map { ".,;:?!".contains($0) } ?? true
      if !isClosed, part.first?.isUppercase == true { text += "." }
      if !text.isEmpty { text += " " }
      text += part
    }
    return text
  }
}
