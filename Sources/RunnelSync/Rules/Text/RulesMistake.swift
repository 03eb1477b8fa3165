/// A mistake in a rules file, at one place.
public struct RulesMistake: Hashable, Sendable {
  /// The line of the place, from 1.
  public var line: Int
  /// The column of the place, in Unicode scalars from 1.
  public var column: Int
  /// The message: what is wrong and what to do, in a sentence or two.
  public var message: String
  /// The line as it is shown; if it is long, the part around the place.
  public var excerpt: String
  /// The text under the line: spaces, and a caret below the place.
  public var caret: String

  init(_ message: String, at offset: Int, in source: RulesSource) {
    (line, column) = source.position(of: offset)
    (excerpt, caret) = source.excerpt(at: offset)
    self.message = message
  }

  /// The mistake in the format of editors and compilers: file, line, column and message, then the
  /// line and the caret.
  public func text(file: String) -> String {
    "\(file):\(line):\(column): \(message)\n  \(excerpt)\n  \(caret)"
  }
}

/// The error of a rules file that cannot be loaded, with all its mistakes.
public struct RulesError: Error, Hashable, Sendable {
  /// The mistakes in the order of their places: at least one, at most `RulesLimits.mistakesMax`.
  public var mistakes: [RulesMistake]
  /// True if there were more mistakes than these.
  public var hasMore: Bool

  init(_ mistakes: [RulesMistake]) {
    precondition(!mistakes.isEmpty, "A file without a mistake can be loaded.")
    let sorted = mistakes.sorted { ($0.line, $0.column) < ($1.line, $1.column) }
    self.mistakes = Array(sorted.prefix(RulesLimits.mistakesMax))
    hasMore = sorted.count > RulesLimits.mistakesMax
  }

  /// The mistakes for people, each with its file, line, column, the line itself and a caret.
  public func text(file: String) -> String {
    let more = hasMore ? ["\(file): there are more mistakes: mend these first."] : []
    return (mistakes.map { $0.text(file: file) } + more).joined(separator: "\n")
  }

  /// The mistakes as clients of the protocol get them: `LINE: message`, one per line.
  ///
  /// Source: rules language, section 10.
  public var wireText: String {
    mistakes.map { "\($0.line): \($0.message)\n" }.joined()
  }
}

extension RulesError: CustomStringConvertible {
  /// The mistakes for people; the file is called `rules.json`.
  public var description: String { text(file: "rules.json") }
}

/// The mistakes of a file, collected while it is read.
struct MistakeList {
  let source: RulesSource
  private(set) var mistakes: [RulesMistake] = []

  init(_ source: RulesSource) { self.source = source }

  /// True if there are already more mistakes than are reported.
  var isFull: Bool { mistakes.count > RulesLimits.mistakesMax }

  mutating func add(_ message: String, at offset: Int) {
    if isFull { return }
    mistakes.append(RulesMistake(message, at: offset, in: source))
  }
}
