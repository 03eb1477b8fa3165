public import RunnelBase
import RunnelTree

extension RulesExplanation {
  /// The verdict and its reason in one line: `denied: no .read on the way to /users/ana holds`.
  public var headline: String {
    switch verdict {
    case .allowed: return "allowed"
    case .tooCostly:
      return "denied: the rules took more steps than a decision may, so that nothing was decided"
    case .denied: break
    }
    if let refusal {
      let isAsked = rules.contains { $0.rule.kind == refusal.kind }
      return isAsked
        ? "denied: no \(refusal.kind.rawValue) on the way to \(refusal.path) holds"
        : "denied: no \(refusal.kind.rawValue) is on the way to \(refusal.path), so nobody may"
    }
    guard let last = rules.last else { return "denied" }
    return
      "denied: \(last.rule.kind.rawValue) of \(last.rule.pattern) does not hold at \(last.path)"
  }

  /// The whole explanation for people, in lines.
  ///
  /// `file` is the name of the rules file.
  public func text(file: String) -> String {
    var lines = [headline]
    for entry in rules { lines += entry.lines(file: file) }
    if omittedCount > 0 { lines.append("and \(omittedCount) more rules that hold") }
    return lines.joined(separator: "\n")
  }

  /// The explanation as JSON, for programs and logs.
  public var json: JSONValue {
    var members = [
      JSONMember("allowed", .bool(verdict.isAllowed)), JSONMember("reason", .string(headline)),
      JSONMember("rules", .array(rules.map(\.json))),
    ]
    if omittedCount > 0 {
      members.append(JSONMember("omitted", .number(JSONNumber(Int64(omittedCount)))))
    }
    return .object(members)
  }
}

extension RulesExplanation.Entry {
  fileprivate func lines(file: String) -> [String] {
    let place = path.description == rule.pattern ? "" : " at \(path)"
    let head = "  \(rule.kind.rawValue) of \(rule.pattern)\(place) (\(file):\(rule.line)) \(words)"
    let width = min(parts.map(\.text.count).max() ?? 0, 40)
    return [head]
      + parts.map { part in
        let pad = String(repeating: " ", count: max(0, width - part.text.count))
        return "    \(part.text)\(pad)  \(part.isCondition ? "is" : "=") \(part.value)"
      }
  }

  /// The outcome of the rule, as the end of a sentence.
  fileprivate var words: String {
    switch outcome {
    case .holds: "holds"
    case .fails: "does not hold"
    case .error(let reason, let text): "does not hold, for it has an error: \(reason.words(text))"
    }
  }

  fileprivate var json: JSONValue {
    [
      "rule": .string(rule.kind.rawValue), "of": .string(rule.pattern),
      "at": .string(path.description), "line": .number(JSONNumber(Int64(rule.line))),
      "column": .number(JSONNumber(Int64(rule.column))), "outcome": .string(words),
      "parts": .array(
        parts.map { ["text": .string($0.text), "value": .string($0.value)] as JSONValue }),
    ]
  }
}

extension RuleErrorReason {
  /// The reason, for people.
  fileprivate func words(_ text: String) -> String {
    switch self {
    case .wrongKind: "a value in `\(text)` is not of the kind that is needed there"
    case .noParent: "`\(text)` asks for the parent of the root"
    case .tooLong: "`\(text)` is longer than any text that is stored"
    }
  }
}
