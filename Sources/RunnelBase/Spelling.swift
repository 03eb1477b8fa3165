/// Finds the known word that an unknown word was probably meant to be.
package enum Spelling {
  /// The longest word that is considered, in characters.
  private static let wordMax = 40

  /// The known word nearest to an unknown one, at most two letters off; nil if none is near.
  ///
  /// O(n) in the letters of all words.
  package static func nearest(to word: String, among known: some Sequence<String>) -> String? {
    let limit = max(1, min(2, word.count / 3))
    if word.count > Spelling.wordMax { return nil }
    var best: (word: String, distance: Int)?
    for candidate in known where abs(candidate.count - word.count) <= limit {
      let distance = distance(Array(word.lowercased()), Array(candidate.lowercased()))
      if distance <= limit, distance < best?.distance ?? .max { best = (candidate, distance) }
    }
    return best?.word
  }

  /// The number of letters that are inserted, deleted, changed or swapped with the next.
  private static func distance(_ one: [Character], _ other: [Character]) -> Int {
    var before: [Int] = []
    var last = Array(0...other.count)
    for (row, letter) in one.enumerated() {
      var next = [row + 1]
      for (column, candidate) in other.enumerated() {
        var least = min(
          last[column] + (letter == candidate ? 0 : 1), last[column + 1] + 1, next[column] + 1)
        if row > 0, column > 0, letter == other[column - 1], candidate == one[row - 1] {
          least = min(least, before[column - 1] + 1)
        }
        next.append(least)
      }
      (before, last) = (last, next)
    }
    return last[other.count]
  }
}
