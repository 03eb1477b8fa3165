import RunnelBase
import RunnelTerminal

/// Formats an explanation of rules: the reason first, then rule by rule with the values that it read.
struct WhyText {
  private let json: JSONValue
  private let local: LocalTime

  /// Makes the text of an explanation as `runnel rules explain --json` prints it, with `source`, `user`,
  /// `time` and `unread` beside it.
  init(_ json: JSONValue, _ local: LocalTime) { (self.json, self.local) = (json, local) }

  var lines: [StyledLine] {
    var lines = [headline, StyledLine()]
    for rule in json["rules"]?.array ?? [] { lines += text(of: rule) }
    if let count = json["omitted"]?.int {
      lines.append(StyledLine("and \(count) rules that hold", .muted))
    }
    for place in json["unread"]?.array ?? [] {
      lines.append(
        StyledLine("\(place.string ?? "") cannot be read here, and was taken as empty", .warn))
    }
    lines += [StyledLine(), StyledLine(origin, .muted)]
    return lines
  }

  private var headline: StyledLine {
    if json["allowed"] == true {
      return StyledLine(
        "By the rules and the data as they are now, it is allowed: try it again", .ok)
    }
    return StyledLine(json["reason"]?.string ?? "denied", .error)
  }

  private func text(of rule: JSONValue) -> [StyledLine] {
    let pattern = rule["of"]?.string ?? ""
    let place = rule["at"]?.string ?? ""
    let outcome = rule["outcome"]?.string ?? ""
    var head = StyledLine("\(rule["rule"]?.string ?? "") of \(pattern)", .strong)
    if place != pattern { head.append(" at \(place)") }
    if let line = rule["line"]?.int { head.append("  line \(line)", .muted) }
    head.append("  \(outcome)", outcome == "holds" ? .ok : .error)
    let parts = rule["parts"]?.array ?? []
    return [head]
      + parts.map { part in
        var line = StyledLine("    \(part["text"]?.string ?? "")  ", .muted)
        line.append("= ", .muted)
        line.append(part["value"]?.string ?? "")
        return line
      }
  }

  private var origin: String {
    let source = json["source"]?.string ?? "the rules of the server"
    let user = json["user"]?.string.map { "user \($0)" } ?? "somebody who is not signed in"
    let time = json["time"]?.int.map { " at \(local.timeText(Int64($0)))" } ?? ""
    return "By \(source) and the data\(time), as \(user)."
  }
}
