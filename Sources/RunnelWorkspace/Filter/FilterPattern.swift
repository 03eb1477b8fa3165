import RunnelBase

/// Reads the regular expressions of filters.
///
/// Their syntax is that of security rules. What that reads in a way that surprises people who know other
/// regular expressions is refused.
enum FilterPattern {
  private static let tableBudget = 1_000_000

  /// Reads an expression that disregards case and searches a text in time linear in its length.
  ///
  /// - Throws: `RegularExpressionError` that says what is wrong.
  static func expression(_ text: String) throws(RegularExpressionError) -> RegularExpression {
    try check(text)
    var budget = tableBudget
    return try RegularExpression(Array(text.utf16), ignoresCase: true, budget: &budget)
  }

  private static func check(_ text: String) throws(RegularExpressionError) {
    var previous: Character?
    for (index, character) in text.enumerated() {
      if previous == "(", character == "?" {
        throw RegularExpressionError(
          message: "A group cannot begin with ?: write (a|b), and \\? for the character.",
          unit: index)
      }
      let isEscaped = previous == "\\"
      if isEscaped, character.isASCII, character.isLetter, !"dDwWsS".contains(character) {
        throw RegularExpressionError(
          message: "\\\(character) is not known: \\d \\w \\s and their capitals are.", unit: index)
      }
      previous = isEscaped ? nil : character
    }
  }
}

extension RegularExpressionError {
  /// The message as a part of a sentence.
  var clause: String {
    let sentence = message.hasSuffix(".") ? message.dropLast() : message[...]
    return sentence.prefix(1).lowercased() + sentence.dropFirst()
  }
}
