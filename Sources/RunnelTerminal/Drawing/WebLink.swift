/// Finds web links in texts.
package enum WebLink {
  private static let schemes = ["https://", "http://"]
  private static let ends: Set<Character> = ["<", ">", "\"", "'", "`", "|", "\\", "{", "}"]
  private static let punctuation: Set<Character> = [".", ",", ";", ":", "!", "?", ")", "]"]

  /// Returns the first link in a text, without the punctuation after it, or nil if there is none.
  package static func first(in text: String) -> String? { all(in: text, atMost: 1).first }

  /// Returns the links in a text, without the punctuation after them.
  ///
  /// O(n).
  package static func all(in text: String, atMost count: Int = .max) -> [String] {
    // Most texts have no link, which their bytes show at less cost than their characters.
    guard hasMark(text) else { return [] }
    var links: [String] = []
    var rest = text[...]
    while let start = schemes.compactMap({ rest.firstRange(of: $0)?.lowerBound }).min() {
      var link = rest[start...].prefix { !$0.isWhitespace && !ends.contains($0) }
      while let last = link.last, punctuation.contains(last), !isClosing(last, in: link) {
        link = link.dropLast()
      }
      if !schemes.contains(where: { link.count <= $0.count && $0.hasPrefix(link) }) {
        links.append(String(link))
        if links.count == count { break }
        rest = rest[link.endIndex...]
      } else {
        rest = rest[rest.index(after: start)...]
      }
    }
    return links
  }

  /// Returns whether a text has the signs behind the scheme of a link.
  private static func hasMark(_ text: String) -> Bool {
    var found = 0
    for byte in text.utf8 {
      if byte == UInt8(ascii: ":") {
        found = 1
      } else if found > 0, byte == UInt8(ascii: "/") {
        if found == 2 { return true }
        found += 1
      } else {
        found = 0
      }
    }
    return false
  }

  /// Returns whether a bracket closes one within the link.
  private static func isClosing(_ character: Character, in link: Substring) -> Bool {
    switch character {
    case ")": link.count { $0 == "(" } >= link.count { $0 == ")" }
    case "]": link.count { $0 == "[" } >= link.count { $0 == "]" }
    default: false
    }
  }
}

extension StyledLine {
  /// Returns the line with the role `link` for those of some links that are whole in it: the links
  /// of the text of which it shows a part.
  package func marking(links: [String]) -> StyledLine {
    guard !links.isEmpty else { return self }
    var line = StyledLine()
    for run in runs {
      guard run.role == .text, run.text.contains("://") else {
        line.append(run.text, run.role)
        continue
      }
      var rest = run.text[...]
      while let (place, link) = WebLink.next(of: links, in: rest) {
        line.append(String(rest[..<place.lowerBound]))
        line.append(link, .link)
        rest = rest[place.upperBound...]
      }
      line.append(String(rest))
    }
    return StyledLine(line.runs.filter { !$0.text.isEmpty })
  }
}

extension WebLink {
  /// Returns the first place of one of some links; of several at one place, the longest.
  fileprivate static func next(
    of links: [String], in text: Substring
  ) -> (place: Range<Substring.Index>, link: String)? {
    links.compactMap { link in text.firstRange(of: link).map { (place: $0, link: link) } }
      .min { first, second in
        first.place.lowerBound == second.place.lowerBound
          ? first.link.count > second.link.count
          : first.place.lowerBound < second.place.lowerBound
      }
  }
}
