import RunnelBase

extension Spelling {
  /// The end of a sentence about a word that is not known: what may be meant, or else all that is known
  /// if it is little.
  static func advice(for word: String, among known: [String]) -> String {
    if let nearest = nearest(to: word, among: known) { return ": did you mean `\(nearest)`?" }
    return known.count > 12 ? "." : ". Known: \(known.sorted().joined(separator: ", "))."
  }
}
