/// A regular expression as it is written.
indirect enum PatternSyntax {
  /// One code unit of a set.
  case set(UnitSet)
  /// Expressions one after the other; may be empty.
  case sequence([PatternSyntax])
  /// One of several alternatives.
  case choice([PatternSyntax])
  /// A repetition; `most` is nil for no upper limit.
  case repeated(PatternSyntax, least: Int, most: Int?)
}

/// A mistake in a regular expression, at a code unit of its body.
package struct RegularExpressionError: Error {
  /// A sentence that says what is wrong, and what to do.
  package let message: String
  /// The number of the code unit, from 0.
  package let unit: Int

  package init(message: String, unit: Int) { (self.message, self.unit) = (message, unit) }
}

/// Reads the body of a regular expression.
///
/// A `(` always opens a group, and `*`, `+`, `?` and braces repeat what precedes them. At the start
/// of the expression or of a group, where nothing precedes, `| ) ? + } { *` are literal characters.
///
/// Source: rules language, section 8.
struct PatternParser {
  private let units: [UInt16]
  private let ignoresCase: Bool
  private var offset = 0
  private var depth = 0
  private var end: Int

  /// The result of parsing.
  struct Result {
    let syntax: PatternSyntax
    let isAnchoredAtStart: Bool
    let isAnchoredAtEnd: Bool
  }

  /// Reads the body of an expression.
  ///
  /// - Throws: `RegularExpressionError` with the place of the first mistake.
  static func parse(_ units: [UInt16], ignoresCase: Bool) throws(RegularExpressionError) -> Result {
    var parser = PatternParser(units: units, ignoresCase: ignoresCase)
    return try parser.whole()
  }

  private init(units: [UInt16], ignoresCase: Bool) {
    self.units = units
    self.ignoresCase = ignoresCase
    end = units.count
  }

  private static func unit(_ letter: Unicode.Scalar) -> UInt16 { UInt16(letter.value) }

  private func isAt(_ letter: Unicode.Scalar) -> Bool {
    offset < end && units[offset] == PatternParser.unit(letter)
  }

  private mutating func take(_ letter: Unicode.Scalar) -> Bool {
    guard isAt(letter) else { return false }
    offset += 1
    return true
  }

  private mutating func whole() throws(RegularExpressionError) -> Result {
    let isAnchoredAtStart = take("^")
    let isAnchoredAtEnd = endsWithAnchor
    if isAnchoredAtEnd { end -= 1 }
    if offset == end {
      // An empty expression with anchors matches by position only.
      return Result(
        syntax: .sequence([]), isAnchoredAtStart: isAnchoredAtStart,
        isAnchoredAtEnd: isAnchoredAtEnd)
    }
    let syntax = try alternatives()
    if offset < end { throw error("This ) closes no group: write \\) for the letter.") }
    return Result(
      syntax: syntax, isAnchoredAtStart: isAnchoredAtStart, isAnchoredAtEnd: isAnchoredAtEnd)
  }

  /// True if the last unit is a `$` that is not escaped by a backslash.
  private var endsWithAnchor: Bool {
    guard end > offset, units[end - 1] == PatternParser.unit("$") else { return false }
    let backslashes = units[offset..<(end - 1)].reversed().prefix { $0 == PatternParser.unit("\\") }
    return backslashes.count.isMultiple(of: 2)
  }

  /// Reads the alternatives in a group, or in the whole expression.
  private mutating func alternatives() throws(RegularExpressionError) -> PatternSyntax {
    depth += 1
    defer { depth -= 1 }
    if depth > RegularExpression.depthMax {
      throw error("Groups stand in each other too deep here: make the expression simpler.")
    }
    var branches = [try branch(isFirst: true)]
    while take("|") { branches.append(try branch(isFirst: false)) }
    return branches.count == 1 ? branches[0] : .choice(branches)
  }

  private mutating func branch(isFirst: Bool) throws(RegularExpressionError) -> PatternSyntax {
    var items: [PatternSyntax] = []
    while offset < end {
      let isLetter = isFirst && items.isEmpty && isMeta
      if !isLetter, isAt("|") || isAt(")") { break }
      let atom = isLetter ? literal() : try atom()
      items.append(try repetition(of: atom))
    }
    if items.isEmpty {
      throw error("Nothing stands here: each side of | matches something, and so does a group.")
    }
    return items.count == 1 ? items[0] : .sequence(items)
  }

  /// True if the next unit is literal only where nothing precedes it.
  private var isMeta: Bool {
    guard offset < end, let scalar = Unicode.Scalar(units[offset]) else { return false }
    return "|)?+}{*".unicodeScalars.contains(scalar)
  }

  private mutating func literal() -> PatternSyntax {
    defer { offset += 1 }
    return .set(set(UnitSet(units[offset])))
  }

  private func set(_ set: UnitSet) -> UnitSet { ignoresCase ? set.caseClosed : set }

  private mutating func atom() throws(RegularExpressionError) -> PatternSyntax {
    switch Unicode.Scalar(units[offset]) {
    case "(":
      let start = offset
      offset += 1
      let inner = try alternatives()
      if !take(")") { throw error("This group is not closed: ) is missing.", at: start) }
      return inner
    case "[": return .set(try brackets())
    case ".":
      offset += 1
      return .set(.dot)
    case "\\": return .set(set(try escape()))
    case "^":
      throw error("^ stands only as the first letter of the expression; write \\^ for the letter.")
    case "$":
      throw error("$ stands only as the last letter of the expression; write \\$ for the letter.")
    case "*", "+", "?", "{":
      throw error("There is nothing to repeat here: write a backslash before the letter.")
    default: return literal()
    }
  }

  /// Reads a backslash and what follows.
  private mutating func escape() throws(RegularExpressionError) -> UnitSet {
    let start = offset
    offset += 2
    guard start + 1 < end else {
      throw error("A backslash stands before the letter that it is about.", at: start)
    }
    switch Unicode.Scalar(units[start + 1]) {
    case "d": return .digits
    case "D": return UnitSet.digits.inverted
    case "w": return .letters
    case "W": return UnitSet.letters.inverted
    case "s": return .space
    case "S": return UnitSet.space.inverted
    default: return UnitSet(units[start + 1])
    }
  }

  // MARK: Sets

  private mutating func brackets() throws(RegularExpressionError) -> UnitSet {
    let start = offset
    offset += 1
    let isInverted = take("^")
    var ranges: [ClosedRange<UInt16>] = []
    while offset < end, !isAt("]") {
      let first = try member()
      let place = offset
      guard isAt("-"), offset + 1 < end, units[offset + 1] != PatternParser.unit("]"),
        let low = first.single
      else {
        ranges += first.ranges
        continue
      }
      offset += 1
      let last = try member()
      guard let high = last.single else {
        ranges += first.ranges + [PatternParser.unit("-")...PatternParser.unit("-")] + last.ranges
        continue
      }
      if low > high {
        throw error("This range ends before it begins: turn it round, or write \\-.", at: place)
      }
      ranges.append(low...high)
    }
    if !take("]") { throw error("This set is not closed: ] is missing.", at: start) }
    if ranges.isEmpty { throw error("A set has at least one letter.", at: start) }
    let members = set(UnitSet(ranges))
    return isInverted ? members.inverted : members
  }

  private mutating func member() throws(RegularExpressionError) -> UnitSet {
    if isAt("\\") { return try escape() }
    defer { offset += 1 }
    return UnitSet(units[offset])
  }

  // MARK: Repetitions

  private mutating func repetition(
    of atom: PatternSyntax
  ) throws(RegularExpressionError) -> PatternSyntax {
    var result = atom
    var count = 0
    while true {
      if take("*") {
        result = .repeated(result, least: 0, most: nil)
      } else if take("+") {
        result = .repeated(result, least: 1, most: nil)
      } else if take("?") {
        result = .repeated(result, least: 0, most: 1)
      } else if isAt("{") {
        result = try braces(of: result)
      } else {
        return result
      }
      count += 1
      if count > RegularExpression.depthMax {
        throw error("There are too many repetitions of one thing: remove some.")
      }
    }
  }

  private mutating func braces(
    of atom: PatternSyntax
  ) throws(RegularExpressionError) -> PatternSyntax {
    let start = offset
    offset += 1
    let least = number()
    var most = least
    if take(",") { most = isAt("}") ? nil : number() }
    let hasEnd = most != nil || units[offset - 1] == PatternParser.unit(",")
    guard let least, hasEnd, take("}") else {
      throw error(
        "A repetition is {2}, {2,} or {2,5}: write \\{ for the letter.", at: start)
    }
    if let most, most < least {
      throw error("The greater number stands last: {\(most),\(least)}.", at: start)
    }
    return .repeated(atom, least: least, most: most)
  }

  /// Reads a number; one that exceeds the limit is capped just above it.
  private mutating func number() -> Int? {
    let start = offset
    var value = 0
    while offset < end, let digit = Unicode.Scalar(units[offset]), ("0"..."9").contains(digit) {
      value = min(value * 10 + Int(digit.value) - 0x30, RegularExpression.statesMax + 1)
      offset += 1
    }
    return offset == start ? nil : value
  }

  private func error(_ message: String, at place: Int? = nil) -> RegularExpressionError {
    RegularExpressionError(message: message, unit: place ?? offset)
  }
}

extension UnitSet {
  /// The only unit of the set; nil if there is not exactly one.
  fileprivate var single: UInt16? {
    guard ranges.count == 1, let range = ranges.first, range.count == 1 else { return nil }
    return range.lowerBound
  }
}
