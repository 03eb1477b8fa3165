import RunnelBase

/// An address in the form for servers of mail, and for the headers of mails: its domain is of ASCII.
///
/// Source: RFC 5321, RFC 5890, RFC 6531.
package struct MailAddress: Hashable, Sendable {
  package let text: String
  /// True if the name before the @ is beyond ASCII: a server takes it only with `SMTPUTF8`.
  package let needsUnicode: Bool

  /// Makes the form of an address; nil if it has none, or could change the dialogue with a server.
  package init?(_ address: String) {
    guard let at = address.lastIndex(of: "@"),
      let domain = MailAddress.domain(String(address[address.index(after: at)...]))
    else { return nil }
    let name = address[..<at]
    guard !name.isEmpty, name.unicodeScalars.allSatisfy(MailAddress.isPlain) else { return nil }
    text = "\(name)@\(domain)"
    needsUnicode = !name.utf8.allSatisfy { $0 < 0x80 }
  }

  /// Returns the name of a host in ASCII: labels beyond it are coded; nil if it has no such form.
  package static func domain(_ domain: String) -> String? {
    guard !domain.isEmpty, domain.unicodeScalars.allSatisfy(isPlain) else { return nil }
    if domain.utf8.allSatisfy({ $0 < 0x80 }) { return domain }
    var labels: [String] = []
    for given in domain.split(separator: ".", omittingEmptySubsequences: false) {
      let label = given.lowercased().composed
      let isPlain = label.utf8.allSatisfy { $0 < 0x80 }
      let code = isPlain ? label : Punycode.prefix + Punycode.code(of: label)
      guard (1...Punycode.labelBytesMax).contains(code.utf8.count) else { return nil }
      labels.append(code)
    }
    return labels.joined(separator: ".")
  }

  /// True for what ends neither an address nor a line.
  private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
    if "<>@".unicodeScalars.contains(scalar) { return false }
    if scalar.isASCII { return scalar.value > 0x20 && scalar.value < 0x7F }
    return scalar.properties.generalCategory != .control && !scalar.properties.isWhitespace
  }
}
