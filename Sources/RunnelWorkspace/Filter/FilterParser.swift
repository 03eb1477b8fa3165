import RunnelBase
import RunnelTree

/// Parses the text of a filter bar.
package struct FilterParser {
  /// The mark between a field and its value.
  enum Mark: String, CaseIterable {
    // The longer marks come first, because `>=` also begins with `>`.
    case lessOrEqual = "<="
    case greaterOrEqual = ">="
    case less = "<"
    case greater = ">"
    case matches = "~"
    case isOne = ":"
    case equals = "="

    /// Whether whole values stand behind it.
    var isOfValues: Bool { self == .isOne || self == .equals }
  }

  private let characters: [Character]
  private let moments: MomentReader
  private var position = 0

  package init(_ text: String, moments: MomentReader) {
    characters = Array(text)
    self.moments = moments
  }

  /// Parses the whole text.
  ///
  /// - Throws: `FilterError` for the first invalid term.
  package mutating func filter() throws(FilterError) -> Filter {
    var terms: [Filter.Term] = []
    skipBlanks()
    while position < characters.count {
      terms.append(try term())
      skipBlanks()
    }
    return Filter(text: String(characters), terms: terms)
  }

  private mutating func term() throws(FilterError) -> Filter.Term {
    let start = position
    let isNegated = take("-")
    let test = try test(from: start)
    return Filter.Term(isNegated: isNegated, test: test, range: start..<position)
  }

  private mutating func test(from start: Int) throws(FilterError) -> Filter.Test {
    let isQuoted = peek == "\""
    let name = isQuoted ? try quoted() : word(until: { Self.marks.contains($0) })
    if isQuoted, name.isEmpty {
      throw error(from: start, "nothing is looked for between these quotes")
    }
    guard let mark = takeMark() else {
      if name.isEmpty { throw error(from: start, "a word, or field:value, is missing here") }
      return .shows(name)
    }
    if name.isEmpty {
      let sign = mark.rawValue
      throw error(
        from: start, "the field before \(sign) is missing (without blanks: size\(sign)20)")
    }
    switch name {
    case _ where isQuoted:
      return try test(of: field(name, from: start), named: name, mark, from: start)
    case "is": return try condition(from: start, mark)
    case "has": return .has(try field(try value(from: start, of: name, mark), from: start))
    default: return try test(of: field(name, from: start), named: name, mark, from: start)
    }
  }

  private mutating func test(
    of field: FieldPath, named name: String, _ mark: Mark, from start: Int
  ) throws(FilterError) -> Filter.Test {
    let first = try value(from: start, of: name, mark, mayBeEmpty: mark.isOfValues)
    switch mark {
    case .matches:
      do {
        _ = try FilterPattern.expression(first)
      } catch {
        throw self.error(from: start, "\(first) is not a regular expression: \(error.clause)")
      }
      return .matches(field, first)
    case .isOne, .equals:
      var values = [try day(first, from: start)]
      while take("|") {
        let next = try value(from: start, of: name, mark, mayBeEmpty: true)
        values.append(try day(next, from: start))
      }
      return .isOne(field, of: values)
    case .less: return .compares(field, .less, try compared(first, from: start))
    case .lessOrEqual: return .compares(field, .lessOrEqual, try compared(first, from: start))
    case .greater: return .compares(field, .greater, try compared(first, from: start))
    case .greaterOrEqual:
      return .compares(field, .greaterOrEqual, try compared(first, from: start))
    }
  }

  /// Returns what a text stands for; a day that a month does not have is an error.
  private func day(_ text: String, from start: Int) throws(FilterError) -> FilterValue {
    let word = text.prefix { $0 != "T" && $0 != " " }
    if let day = WrittenDay(word), day.isSlip {
      throw error(from: start, "there is no day \(word)")
    }
    return moments.value(text)
  }

  /// Returns what a text stands for that a field is compared with.
  private func compared(_ text: String, from start: Int) throws(FilterError) -> FilterValue {
    if WrittenDay.isAmbiguous(text) {
      throw error(
        from: start, "\(text) is no date here: year first, 2026-08-24, or day first, 24.8.2026")
    }
    return try day(text, from: start)
  }

  private mutating func condition(
    from start: Int, _ mark: Mark
  ) throws(FilterError) -> Filter.Test {
    let name = try value(from: start, of: "is", mark)
    switch name {
    case "new": return .state(.new)
    case "marked": return .state(.marked)
    case "mine": return .state(.mine)
    default:
      guard case .path(let path) = try field(name, from: start) else {
        throw error(from: start, "is: takes new, marked, mine, or a field that is true or false")
      }
      return .state(.field(path))
    }
  }

  private func field(_ name: String, from start: Int) throws(FilterError) -> FieldPath {
    do {
      return try FieldPath(name)
    } catch {
      // A name that was no key as it was is stored as in addresses.
      if let field = FieldPath(named: name) { return field }
      throw self.error(from: start, "\(name) is no field: \(error)")
    }
  }

  // MARK: Words

  private static let marks = Set("<>~:=")

  private var peek: Character? { position < characters.count ? characters[position] : nil }

  private mutating func skipBlanks() {
    while let next = peek, next.isWhitespace { position += 1 }
  }

  private mutating func take(_ character: Character) -> Bool {
    guard peek == character else { return false }
    position += 1
    return true
  }

  private mutating func takeMark() -> Mark? {
    for mark in Mark.allCases where characters[position...].starts(with: mark.rawValue) {
      position += mark.rawValue.count
      return mark
    }
    return nil
  }

  private mutating func word(until ends: (Character) -> Bool) -> String {
    let start = position
    while let next = peek, !next.isWhitespace, !ends(next) { position += 1 }
    return String(characters[start..<position])
  }

  /// Reads a value; the empty text is one only in quotes, and only where it may be.
  private mutating func value(
    from start: Int, of name: String, _ mark: Mark, mayBeEmpty: Bool = false
  ) throws(FilterError) -> String {
    let isQuoted = peek == "\""
    // In a regular expression, `|` is a part of the pattern.
    let text = isQuoted ? try quoted() : word { $0 == "|" && mark != .matches }
    if text.isEmpty, !(isQuoted && mayBeEmpty) {
      throw error(from: start, "a value is missing after \(name)\(mark.rawValue)")
    }
    return text
  }

  private mutating func quoted() throws(FilterError) -> String {
    let start = position
    position += 1
    var text = ""
    while let next = peek {
      position += 1
      if next == "\"" { return text }
      if next == "\\", let escaped = peek, escaped == "\"" || escaped == "\\" {
        position += 1
        text.append(escaped)
      } else {
        text.append(next)
      }
    }
    throw error(from: start, "the closing quote is missing")
  }

  private func error(from start: Int, _ message: String) -> FilterError {
    FilterError(range: start..<max(position, start), message: message)
  }
}
