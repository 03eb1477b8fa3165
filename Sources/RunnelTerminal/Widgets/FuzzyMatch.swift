/// The score of typed letters in a text that contains them in order, possibly with other letters
/// between.
///
/// Letters score more at the start of a word and next to the one before. Letters of the text that
/// are skipped, before the first match and between matches, reduce the score a little. Of all ways
/// to match, the best one counts. A pattern in lower case matches either case.
package struct FuzzyMatch: Hashable, Sendable {
  /// The score: more is better.
  package let score: Int
  /// The indices of the characters that match, in order.
  package let positions: [Int]

  /// The greatest number of characters of a text that are searched.
  package static let textMax = 512

  private static let hit = 16
  private static let wordStart = 12
  private static let neighbour = 16
  private static let gap = -1

  /// A pattern that is prepared once for many texts.
  struct Pattern {
    /// The letters without blanks; nil if there are more than any text is searched for.
    fileprivate let letters: [Character]?
    fileprivate let isExact: Bool

    /// O(1) in the length of a pattern that is too long.
    init(_ text: String) {
      var letters: [Character] = []
      var isExact = false
      for letter in text where letter != " " {
        if letters.count == FuzzyMatch.textMax {
          (self.letters, self.isExact) = (nil, false)
          return
        }
        letters.append(letter)
        isExact = isExact || letter.isUppercase
      }
      (self.letters, self.isExact) = (letters, isExact)
    }
  }

  /// Matches a pattern with a text; nil if the text does not contain it.
  ///
  /// Blanks in the pattern are ignored. An empty pattern matches everything, with a score of 0.
  /// O(pattern × text).
  package init?(_ pattern: String, in text: String) { self.init(Pattern(pattern), in: text) }

  /// Matches a prepared pattern with a text; nil if the text does not contain it.
  ///
  /// O(text) if the text does not contain the letters of the pattern in order.
  init?(_ pattern: Pattern, in text: String) {
    guard let wanted = pattern.letters else { return nil }
    let shown = Array(text.prefix(Self.textMax))
    guard wanted.count <= shown.count else { return nil }
    let candidates = pattern.isExact ? shown : shown.map { Self.lowercased($0) }
    var next = wanted.startIndex
    for letter in candidates where next < wanted.endIndex && letter == wanted[next] { next += 1 }
    guard next == wanted.endIndex,
      let best = Self.best(wanted, candidates, Self.bonuses(shown))
    else { return nil }
    (score, positions) = best
  }

  private static func lowercased(_ character: Character) -> Character {
    let lower = character.lowercased()
    return lower.count == 1 ? lower.first ?? character : character
  }

  /// The bonus of each character for beginning a word.
  private static func bonuses(_ text: [Character]) -> [Int] {
    text.indices.map { index in
      guard index > 0 else { return wordStart }
      let (before, here) = (text[index - 1], text[index])
      let isStart =
        !(before.isLetter || before.isNumber) || (here.isUppercase && before.isLowercase)
      return isStart ? wordStart : 0
    }
  }

  /// Row by row over the pattern: the best score of each prefix that ends at each character.
  private static func best(
    _ pattern: [Character], _ text: [Character], _ bonuses: [Int]
  ) -> (Int, [Int])? {
    guard !pattern.isEmpty else { return (0, []) }
    guard pattern.count <= text.count else { return nil }
    var scores: [Int?] = []
    var origins: [[Int]] = []
    for (row, letter) in pattern.enumerated() {
      var next = [Int?](repeating: nil, count: text.count)
      var origin = [Int](repeating: -1, count: text.count)
      // The best earlier match; each step away from it is a gap.
      var far: (score: Int, place: Int)?
      for place in text.indices {
        if row > 0, place >= 2, let score = scores[place - 2], score > far?.score ?? .min {
          far = (score, place - 2)
        }
        far?.score += gap
        guard text[place] == letter else { continue }
        let own = hit + bonuses[place]
        if row == 0 {
          next[place] = own + gap * min(place, 8)
        } else {
          let near = place > 0 ? scores[place - 1].map { $0 + neighbour } : nil
          guard let before = [near, far?.score].compactMap(\.self).max() else { continue }
          next[place] = before + own
          origin[place] = before == near ? place - 1 : far?.place ?? -1
        }
      }
      scores = next
      origins.append(origin)
    }
    let ends = scores.enumerated().compactMap { end in end.element.map { (end.offset, $0) } }
    guard let end = ends.max(by: { $0.1 < $1.1 || ($0.1 == $1.1 && $0.0 > $1.0) }) else {
      return nil
    }
    var positions = [end.0]
    for origin in origins.dropFirst().reversed() { positions.append(origin[positions.last ?? 0]) }
    return (end.1, positions.reversed())
  }
}
