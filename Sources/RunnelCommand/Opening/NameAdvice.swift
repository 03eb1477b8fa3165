import RunnelBase
import RunnelDatabase
import RunnelTree

/// Advice after the refusal of data whose names hold signs that no key may have, such as `rent/yr`.
struct NameAdvice {
  /// The advice in a sentence, with a blank before it.
  let sentence: String

  /// Makes the advice for an error; nil if the error is another one.
  ///
  /// - Parameters:
  ///   - error: the error of a write.
  ///   - file: the file with the data; nil for standard input.
  init?(for error: any Error, file: String? = nil) {
    guard let error = error as? DatabaseError, error.code == .refused,
      error.message.contains(NameAdvice.mark)
    else { return nil }
    let name = file.map(ControlCharacters.escapedLine) ?? "FILE"
    let opens = file == nil ? "opens a file with such names" : "opens it"
    sentence =
      " `runnel \(name)` \(opens) as a database of its own, in which these signs are written as in "
      + "addresses: . as %2E and / as %2F."
  }

  /// How such signs are written, in a sentence with a blank before it; nil if the error is another one.
  static func signs(for error: TreeError) -> String? {
    guard error.code == .invalidKey, error.message.contains(mark) else { return nil }
    return " Write these signs as in addresses: / as %2F and . as %2E, so a/b as a%2Fb."
  }

  /// The words of the tree for such a name.
  private static let mark = "are not allowed in a key"
}
