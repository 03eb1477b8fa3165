/// An e-mail address, as it is stored and looked for.
///
/// Capital letters do not count, nor does it whether a letter and its accent are one character of Unicode
/// or two, nor whether the domain stands in its form for the network (`xn--bcher-kva.org`).
///
/// Limit: of the letters that IDNA takes for others (RFC 5892), only capital ones are folded.
///
/// Source: RFC 3492, RFC 5890.
package struct EmailAddress: Sendable {
  /// The address in small letters and composed characters, as a new account gets it.
  package let text: String
  /// The spellings under which an account may stand: those of older files first have the one that was given.
  package let spellings: [String]

  /// Makes the address of a text that may be none.
  package init(_ given: String) {
    let small = given.lowercased()
    text = EmailAddress.inUnicode(small.composed)
    let all = [small, text, small.decomposed, text.decomposed]
    var spellings: [String] = []
    // Two equal strings may differ in their characters.
    for spelling in all + [small.composed, text, small.decomposed].map(EmailAddress.forNetwork)
    where !spellings.contains(where: { $0.utf8.elementsEqual(spelling.utf8) }) {
      spellings.append(spelling)
    }
    self.spellings = spellings
  }

  /// Whether a stored text is a spelling of the address.
  package func isSpelled(_ stored: String?) -> Bool {
    stored.map { EmailAddress($0).text == text } ?? false
  }

  /// Whether two texts are spellings of one address; false if one is missing.
  package static func areSame(_ one: String?, _ other: String?) -> Bool {
    guard let one, let other else { return false }
    return EmailAddress(one).isSpelled(other)
  }

  /// Returns an address whose domain has no codes of labels beyond ASCII.
  private static func inUnicode(_ address: String) -> String {
    guard address.contains(Punycode.prefix) else { return address }
    return mapped(address) { given in
      guard given.hasPrefix(Punycode.prefix), given.utf8.count <= Punycode.labelBytesMax,
        let label = Punycode.label(ofCode: given.dropFirst(Punycode.prefix.count)),
        label.unicodeScalars.allSatisfy(isSeen)
      else { return given }
      // What the network would call otherwise is no form of this label.
      return code(of: label.lowercased().composed) == given ? label : given
    }
  }

  /// Whether a character has a glyph of its own: labels with others stay in the form for the network, in which
  /// they look like no others.
  private static func isSeen(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .format, .privateUse, .surrogate, .unassigned: false
    default:
      !scalar.properties.isDefaultIgnorableCodePoint && !scalar.properties.isWhitespace
    }
  }

  /// Returns an address whose domain is of ASCII.
  private static func forNetwork(_ address: String) -> String {
    mapped(address) { code(of: $0.composed) }
  }

  private static func code(of label: String) -> String {
    label.utf8.allSatisfy { $0 < 0x80 } ? label : Punycode.prefix + Punycode.code(of: label)
  }

  /// Returns an address whose domain has other labels.
  private static func mapped(_ address: String, _ change: (String) -> String) -> String {
    guard let at = address.lastIndex(of: "@") else { return address }
    let labels = address[at...].dropFirst().split(separator: ".", omittingEmptySubsequences: false)
    // Longer ones are no address, and are refused as such.
    guard address.utf8.count <= bytesMax else { return address }
    return address[...at] + labels.map { change(String($0)) }.joined(separator: ".")
  }

  /// The most bytes of an address whose domain is looked at.
  private static let bytesMax = 1024
}
