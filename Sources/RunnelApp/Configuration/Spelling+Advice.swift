import RunnelBase

extension Spelling {
  /// Returns the end of a sentence about an unknown word: the word probably meant, or all known
  /// words if they are few.
  static func advice(for word: String, among known: [String]) -> String {
    if let nearest = nearest(to: word, among: known) { return ": did you mean `\(nearest)`?" }
    return known.count > 12 ? "." : ". Known: \(known.sorted().joined(separator: ", "))."
  }
}
