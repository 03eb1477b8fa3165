import RunnelBase
import RunnelSync
import RunnelTree

/// The words of the log for what rules deny: places and users, no values.
enum DenialText {
  /// The most characters of a place or a user in a line.
  private static let shownMax = 300

  /// Who asked.
  static func user(_ caller: Caller) -> String {
    if caller.isAdministrator { return "an administrator" }
    return caller.auth["uid"]?.string.map { "user \(shown($0))" } ?? "somebody who is not signed in"
  }

  /// Why it is denied, with the line of the rules.
  static func reason(_ why: RulesExplanation) -> String {
    let start = "denied: "
    let headline = why.headline
    let reason = headline.hasPrefix(start) ? String(headline.dropFirst(start.count)) : headline
    let line = why.refusal == nil ? why.rules.last.map { " (line \($0.rule.line))" } ?? "" : ""
    return shown(reason, countMax: 3 * shownMax) + line
  }

  /// What was asked for.
  static func operation(_ operation: RulesOperation) -> String {
    switch operation {
    case .read(let path, _): "read \(place(path))"
    case .write(let parts): "write \(places(parts.map(\.path)))"
    }
  }

  /// The first of some places, and the number of the others.
  static func places(_ paths: [Path]) -> String {
    place(paths.first ?? .root) + (paths.count > 1 ? " and \(paths.count - 1) more places" : "")
  }

  private static func place(_ path: Path) -> String { shown(path.description) }

  /// A text of a bounded length.
  static func shown(_ text: String, countMax: Int = shownMax) -> String {
    text.utf8.count <= countMax ? text : String(text.prefix(countMax)) + "..."
  }
}

/// The number of lines that a log takes in a second.
struct LineRate: Sendable {
  /// The most lines in a second; what they leave out is counted elsewhere, or is more of the same.
  static let linesPerSecond = 10

  /// The second of the last line, since 1970, and the number of its lines.
  private var second: Int64 = 0
  private var lineCount = 0

  /// True if one more line is taken in a second.
  mutating func takesLine(second: Int64) -> Bool {
    if self.second != second { (self.second, lineCount) = (second, 0) }
    lineCount += 1
    return lineCount <= LineRate.linesPerSecond
  }
}
