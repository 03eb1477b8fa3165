import RunnelBase

/// An e-mail address, as it is stored and looked for.
///
/// Capital letters do not count, nor does it whether a letter and its accent are one character of Unicode
/// or two.
package struct EmailAddress: Sendable {
  /// The address in small letters and composed characters, as a new account gets it.
  package let text: String
  /// The spellings under which an account may stand: those of older files first have the one that was given.
  package let spellings: [String]

  package init(_ given: String) {
    let small = given.lowercased()
    text = small.composed
    var spellings: [String] = []
    // Two equal strings may differ in their characters.
    for spelling in [small, text, small.decomposed]
    where !spellings.contains(where: { $0.utf8.elementsEqual(spelling.utf8) }) {
      spellings.append(spelling)
    }
    self.spellings = spellings
  }
}
