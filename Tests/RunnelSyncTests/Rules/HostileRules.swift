import RunnelBase
import RunnelSync
import RunnelTree

/// What must hold for whatever comes in as a rules file: nothing crashes, mistakes have a place in the
/// text, and what is loaded decides, explains and counts in the same way.
///
/// The function gives nil, or says what does not hold. The test suite calls it, and so does a driver in
/// `Tests/Fuzzing`.
enum HostileRules {
  /// What does not hold for a text that may be a rules file.
  static func violation(inRules bytes: [UInt8]) -> String? {
    do throws(RulesError) {
      return violation(in: try RulesEngine(parsing: bytes))
    } catch {
      return violation(in: error, of: bytes)
    }
  }

  private static func violation(in error: RulesError, of bytes: [UInt8]) -> String? {
    let lineCount = bytes.count { $0 == UInt8(ascii: "\n") } + 1
    if error.mistakes.isEmpty { return "refused, but there is no mistake" }
    for mistake in error.mistakes {
      guard (1...lineCount).contains(mistake.line), mistake.column >= 1 else {
        return "\(mistake) is in no line of \(lineCount)"
      }
      if mistake.message.isEmpty { return "a mistake says nothing" }
      if mistake.excerpt.contains("\n") { return "an excerpt has two lines" }
      if mistake.caret.unicodeScalars.count > mistake.excerpt.unicodeScalars.count + 1 {
        return "a caret stands beyond its line"
      }
    }
    return nil
  }

  private static func violation(in engine: RulesEngine) -> String? {
    do throws(RulesError) {
      let again = try RulesEngine(json: engine.json)
      if again.rules.map(\.pattern) != engine.rules.map(\.pattern) {
        return "other rules when loaded again from JSON"
      }
    } catch {
      return "loaded, but not from its JSON: \(error)"
    }
    let before = MemoryTree((try? Node(json: ["a": ["b": ["c": 1]], "x": "ab"])) ?? .empty)
    let written: JSONValue = ["ab": "abc", "x": ["ab": 1], "a": ["b": ["c": "d"]]]
    guard let parts = try? Write.set(.root, written).assignments(now: 5, reader: before) else {
      return "the write is none"
    }
    for operation in [RulesOperation.write(parts), .read(.root), .read(Query(.root))] {
      if let violation = violation(in: engine, operation, before) { return violation }
    }
    return nil
  }

  private static func violation(
    in engine: RulesEngine, _ operation: RulesOperation, _ before: MemoryTree
  ) -> String? {
    let auth: JSONValue = ["uid": "a", "token": ["level": 2, "list": [1, "b"]]]
    var coverage = RulesCoverage(of: engine)
    guard let verdict = try? engine.decide(operation, as: auth, now: 5, before: before),
      let explained = try? engine.explain(operation, as: auth, now: 5, before: before),
      let counted = try? coverage.decide(operation, as: auth, now: 5, before: before)
    else { return "the tree in memory was not read" }
    if explained.verdict != verdict { return "explained as \(explained.verdict), not \(verdict)" }
    if counted != verdict { return "counted as \(counted), not \(verdict)" }
    if explained.text(file: "r").isEmpty { return "the explanation is empty" }
    return coverage.gaps.contains { $0.text(file: "r").isEmpty } ? "a gap says nothing" : nil
  }
}
