/// The steps after an editor has ended, by which no typed text is lost.
///
/// ```
///   open --> editor --+-- failed, text as before ---------> nothing
///    ^                +-- failed, text changed -----------> kept in the file
///    |                +-- text as in the beginning -------> nothing
///    |                +-- acceptable ---------------------> accepted
///    |                +-- as refused before --------------> kept in the file
///    +--- refused ----+-- with the reason over the text
/// ```
package struct EditRound: Hashable, Sendable {
  /// The next step.
  package enum Step: Hashable, Sendable {
    /// Nothing was changed.
    case unchanged
    /// The text was changed to this one, which is acceptable.
    case accepted(String)
    /// The editor is to be opened again, with this text in the file.
    case again(String)
    /// The text stays in the file, for this reason.
    case kept(String)
  }

  /// The beginning of lines that describe the mistake; such lines at the top do not belong to the
  /// text.
  package static let mark = "#! "

  /// A text that was refused, and the reason.
  package struct Refused: Hashable, Sendable {
    /// The text.
    package var text: String
    /// The reason, in lines.
    package var reason: String

    /// Makes a refused text.
    package init(_ text: String, reason: String) {
      self.text = text
      self.reason = reason
    }
  }

  private let original: String
  /// The text that was refused last.
  private var refused: Refused?

  /// Begins with a text, or with one that was accepted before and then refused elsewhere.
  package init(_ original: String, refused: Refused? = nil) {
    self.original = original
    self.refused = refused
  }

  /// The content of the file at first.
  package var firstContent: String { refused.map(Self.content) ?? original }

  /// A refused text with the reason above it.
  private static func content(_ refused: Refused) -> String {
    let lines = refused.reason.split(separator: "\n", omittingEmptySubsequences: false)
    return lines.map { mark + $0 + "\n" }.joined() + refused.text
  }

  /// Takes the content of the file after the editor has ended.
  ///
  /// - Parameters:
  ///   - content: the whole file.
  ///   - status: the editor's exit status.
  ///   - problem: returns the mistake in a text; nil for an acceptable text.
  /// - Returns: the next step.
  package mutating func finish(
    _ content: String, status: Int32, problem: (String) -> String?
  ) -> Step {
    let text = Self.withoutMarks(content)
    let isAsBefore = text == (refused?.text ?? original)
    if status != 0 {
      let isUntouched = refused == nil && isAsBefore
      return isUntouched ? .unchanged : .kept("the editor ended with status \(status)")
    }
    if text == original { return .unchanged }
    if let refused, isAsBefore { return .kept(refused.reason) }
    guard let problem = problem(text) else { return .accepted(text) }
    let refused = Refused(text, reason: problem)
    self.refused = refused
    return .again(Self.content(refused))
  }

  /// Returns the text without the lines that describe the mistake.
  static func withoutMarks(_ content: String) -> String {
    var rest = content[...]
    while rest.hasPrefix(mark), let end = rest.firstIndex(where: \.isNewline) {
      rest = rest[rest.index(after: end)...]
    }
    return String(rest)
  }
}
