/// A regular expression that is ready to search texts, in time linear in the text.
///
/// The syntax is that of security rules, which filters use too. The expression is a table of states and
/// classes of units (a deterministic automaton), made when the expression is read. If the table would be too large, the sets of states are followed while the
/// text is read: at most `RegularExpression.statesMax` states for each unit. Neither way goes back
/// in the text, so no text makes it slow.
package final class RegularExpression: Sendable {
  /// The most states: one for each character that is matched, with repetitions written out.
  package static let statesMax = 2000
  /// The most groups in each other, and repetitions of one thing.
  package static let depthMax = 100

  private let program: PatternProgram
  private let table: PatternTable?

  /// The cost of searching 64 units, in steps of a decision.
  package let costFactor: Int

  /// Reads the body of an expression, in UTF-16 code units.
  ///
  /// `budget` is the remaining work on tables, for all expressions of a file of rules.
  ///
  /// - Throws: `RegularExpressionError` that says what is wrong, and where.
  package init(
    _ units: [UInt16], ignoresCase: Bool, budget: inout Int
  ) throws(RegularExpressionError) {
    let parsed = try PatternParser.parse(units, ignoresCase: ignoresCase)
    guard let program = PatternProgram(parsed) else {
      throw RegularExpressionError(
        message: "The regular expression is too large with its repetitions written out: "
          + "\(RegularExpression.statesMax) states are allowed. Test the length with .length.",
        unit: 0)
    }
    self.program = program
    table = PatternTable(program, budget: &budget)
    costFactor = table == nil ? max(program.states.count, 1) : 1
  }

  /// True if the expression matches somewhere in a text.
  ///
  /// O(n) in the text's UTF-16 code units.
  package func matches(_ text: String) -> Bool {
    var text = text
    return text.withUTF8 { bytes in
      // The bytes of an ASCII text are its units.
      if bytes.allSatisfy({ $0 < 0x80 }) { return matches(bytes) }
      return matches(String(decoding: bytes, as: UTF8.self).utf16)
    }
  }

  private func matches<Units: Sequence>(_ units: Units) -> Bool
  where Units.Element: FixedWidthInteger {
    if let table { return table.matches(units) }
    return followed(units)
  }

  /// Searches with the states themselves; the result is the same as with the table.
  func followed<Units: Sequence>(_ units: Units) -> Bool
  where Units.Element: FixedWidthInteger {
    let first = program.closure(of: [program.start])
    var current = first
    if !program.isAnchoredAtEnd, current.first == 0 { return true }
    for unit in units {
      let unit = UInt16(truncatingIfNeeded: unit)
      var next: [Int] = []
      for place in current {
        if case .take(let set, let target) = program.states[place],
          program.sets[set].contains(unit)
        {
          next.append(target)
        }
      }
      if !program.isAnchoredAtStart { next.append(program.start) }
      current = program.closure(of: next)
      // The accepting state is state 0.
      if !program.isAnchoredAtEnd, current.first == 0 { return true }
      if current.isEmpty { return false }
    }
    return current.first == 0
  }
}

/// The states of an expression as a table: for each set of states and class of units the next set.
struct PatternTable: Sendable {
  private static let statesMax = 1000

  /// The class of each unit of ASCII.
  private var asciiClasses: [UInt16] = []
  /// The units at which a new class begins, and the class that begins there.
  private var starts: [UInt16] = []
  private var classes: [UInt16] = []
  private var classCount = 0
  /// The next state of each state and class.
  private var next: [UInt16] = []
  private var accepts: [Bool] = []
  private let isAnchoredAtEnd: Bool
  private var dead: Int?

  /// Makes the table; nil if it would be too large or exceeds the budget.
  init?(_ program: PatternProgram, budget: inout Int) {
    isAnchoredAtEnd = program.isAnchoredAtEnd
    guard let signatures = makeClasses(program.sets, &budget) else { return nil }
    guard makeStates(program, signatures, &budget) else { return nil }
  }

  /// Divides the units into classes that no set distinguishes; returns for each class the sets that
  /// contain it.
  private mutating func makeClasses(_ sets: [UnitSet], _ budget: inout Int) -> [[Bool]]? {
    var edges: Set<UInt16> = [0]
    for set in sets {
      for range in set.ranges {
        edges.insert(range.lowerBound)
        if range.upperBound < .max { edges.insert(range.upperBound + 1) }
      }
    }
    budget -= edges.count * (sets.count + 1)
    if budget < 0 { return nil }
    var numbers: [[Bool]: UInt16] = [:]
    var signatures: [[Bool]] = []
    for edge in edges.sorted() {
      let signature = sets.map { $0.contains(edge) }
      let number = numbers[signature] ?? UInt16(signatures.count)
      if numbers[signature] == nil {
        numbers[signature] = number
        signatures.append(signature)
      }
      starts.append(edge)
      classes.append(number)
    }
    classCount = signatures.count
    asciiClasses = (0..<128).map { slowClass(of: $0) }
    return signatures
  }

  private mutating func makeStates(
    _ program: PatternProgram, _ signatures: [[Bool]], _ budget: inout Int
  ) -> Bool {
    var sets = [program.closure(of: [program.start])]
    var numbers = [sets[0]: 0]
    var index = 0
    while index < sets.count {
      let places = sets[index]
      accepts.append(places.first == 0)
      if places.isEmpty { dead = index }
      for signature in signatures {
        budget -= places.count + program.states.count / 8 + 4
        if budget < 0 { return false }
        var targets: [Int] = []
        for place in places {
          if case .take(let set, let target) = program.states[place], signature[set] {
            targets.append(target)
          }
        }
        if !program.isAnchoredAtStart { targets.append(program.start) }
        // Once the expression has matched, nothing more is needed.
        let reached =
          !isAnchoredAtEnd && places.first == 0 ? places : program.closure(of: targets)
        if numbers[reached] == nil {
          if sets.count == PatternTable.statesMax { return false }
          numbers[reached] = sets.count
          sets.append(reached)
        }
        next.append(UInt16(numbers[reached] ?? 0))
      }
      index += 1
    }
    return true
  }

  private func slowClass(of unit: UInt16) -> UInt16 {
    classes[starts.lowerBound { $0 <= unit } - 1]
  }

  /// True if the expression matches somewhere in a sequence of units.
  func matches<Units: Sequence>(_ units: Units) -> Bool
  where Units.Element: FixedWidthInteger {
    var state = 0
    for unit in units {
      if !isAnchoredAtEnd, accepts[state] { return true }
      let unit = UInt16(truncatingIfNeeded: unit)
      let unitClass = unit < 128 ? asciiClasses[Int(unit)] : slowClass(of: unit)
      state = Int(next[state * classCount + Int(unitClass)])
      if state == dead { return false }
    }
    return accepts[state]
  }
}
