import RunnelBase

/// The address from which mails come, which may have a name for readers.
///
/// Source: RFC 5322, section 3.4; RFC 2047.
package struct MailSender: Hashable, Sendable {
  private static let nameBytesMax = 200
  /// The most bytes of an encoded word, so that it has at most 75 characters.
  private static let wordBytesMax = 45

  /// The name for readers; nil for none.
  private let name: String?
  package let address: MailAddress

  /// Makes a sender of `address`, `<address>`, `name <address>` or `"name" <address>`; nil if the text is none
  /// of these.
  package init?(_ text: String) {
    guard text.hasSuffix(">"), let start = text.lastIndex(of: "<") else {
      guard let address = MailSender.checked(text) else { return nil }
      (name, self.address) = (nil, address)
      return
    }
    guard let address = MailSender.checked(text[text.index(after: start)...].dropLast()) else {
      return nil
    }
    var name = text[..<start].drop { $0 == " " }
    while name.last == " " { name.removeLast() }
    let isQuoted = name.count >= 2 && name.hasPrefix("\"") && name.hasSuffix("\"")
    if isQuoted { name = name.dropFirst().dropLast() }
    let isPlain = name.unicodeScalars.allSatisfy { scalar in
      switch scalar.properties.generalCategory {
      case .control, .lineSeparator, .paragraphSeparator, .surrogate: false
      default:
        !"\"\\".unicodeScalars.contains(scalar) && (isQuoted || scalar != "<" && scalar != ">")
      }
    }
    guard isPlain, name.utf8.count <= MailSender.nameBytesMax else { return nil }
    (self.name, self.address) = (name.isEmpty ? nil : String(name), address)
  }

  private static func checked(_ text: some StringProtocol) -> MailAddress? {
    let isOne = text.filter { $0 == "@" }.count == 1 && !text.contains { ",;\"".contains($0) }
    return isOne ? MailAddress(String(text)) : nil
  }

  /// The value of the header `From`.
  package var header: String {
    guard let name else { return "<\(address.text)>" }
    let isASCII = name.utf8.allSatisfy { $0 < 0x80 }
    // What looks like an encoded word would be shown as another name.
    let shown = isASCII && !name.contains("=?") ? "\"\(name)\"" : MailSender.encoded(name)
    return "\(shown) <\(address.text)>"
  }

  /// Returns a text in encoded words, each on a line.
  private static func encoded(_ text: String) -> String {
    var words: [[UInt8]] = [[]]
    for scalar in text.unicodeScalars {
      let bytes = Array(String(scalar).utf8)
      if words[words.count - 1].count + bytes.count > wordBytesMax { words.append([]) }
      words[words.count - 1] += bytes
    }
    return words.map { "=?utf-8?B?\(Base64.text(of: $0))?=" }.joined(separator: "\r\n ")
  }
}
