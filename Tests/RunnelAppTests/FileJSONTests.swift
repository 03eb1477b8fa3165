import RunnelBase
import RunnelTree
import Testing

@testable import RunnelWorkspace

/// A file of JSON that was opened keeps to the byte what nobody changed, however the rest is changed.
@Suite struct FileJSONTests {
  /// Writes over a file what its tree becomes by changes; returns the new text.
  private func written(_ text: String, _ changes: [(String, JSONValue)]) throws -> String {
    var trial = JSONFileTrial(text)
    var tree = trial.tree
    for (path, json) in changes {
      tree = tree.replacing(try Path(path), with: JSONFileTrial.stored(json))
    }
    #expect(trial.take(tree) == nil)
    return trial.text
  }

  private static let pushed = "-OaBcDeFgHiJkLmNoPqR"

  @Test func recordPushedToANestedListIsItsLastElement() throws {
    let text =
      #"{"x":{"q":1},"n":[{"id":12345678901234567890.123,"z":null,"e":[]},{"id":2}]}"#
    #expect(
      try written(text, [("/n/\(Self.pushed)", ["id": 3])])
        == text.replacing(#"{"id":2}"#, with: #"{"id":2},{"id":3}"#))
    #expect(try written(#"{"n":[ ] }"#, [("/n/\(Self.pushed)", 1)]) == #"{"n":[1 ] }"#)
  }

  @Test func listThatGetsANameIsAnObjectOfTheSameValues() throws {
    #expect(
      try written(#"{"n":[1.50, {"z":[]} ,null]}"#, [("/n/b", true)])
        == #"{"n":{"0":1.50, "1":{"z":[]} ,"2":null,"b":true}}"#)
  }

  @Test func rowIsKnownByItsKeyWhenMostOfItChanged() throws {
    let text = #"[{"a":1},{"t":true},{"z":{},"big":12345678901234567890.5,"s":"x"}]"#
    #expect(
      try written(text, [("/1", .null), ("/2/new", 5), ("/2/s", 5)])
        == #"[{"a":1},{"z":{},"big":12345678901234567890.5,"s":5,"new":5}]"#)
  }

  @Test func rowKeepsItsKeyAfterOthersBeforeItWereWrittenAway() throws {
    var trial = JSONFileTrial(#"[{"a":1},{"b":1.50,"z":[]},{"c":2.50,"z":{}},{}]"#)
    var tree = trial.tree.replacing(try Path("/0"), with: .empty)
    #expect(trial.take(tree) == nil)
    tree = tree.replacing(try Path("/1/b"), with: JSONFileTrial.stored(7))
    tree = tree.replacing(try Path("/2/c"), with: JSONFileTrial.stored(8))
    #expect(trial.take(tree) == nil)
    #expect(trial.text == #"[{"b":7,"z":[]},{"c":8,"z":{}},{}]"#)
    tree = tree.replacing(try Path("/3/d"), with: JSONFileTrial.stored(9))
    #expect(trial.take(tree) == nil)
    #expect(trial.text == #"[{"b":7,"z":[]},{"c":8,"z":{}},{"d":9}]"#)
  }

  @Test func emptyElementsStayBehindOnesThatAreGone() throws {
    #expect(
      try written(#"{"n":[{"a":1},5,{}]}"#, [("/n/1", .null)]) == #"{"n":[{"a":1},null,{}]}"#)
  }

  @Test(arguments: [
    #"{"n":null,"A":null}"#, "null", " [ ]\n", "12345678901234567890.5\n", "\n{ }", "[[],null ]",
    #"{"a":1 , "a":2.50}"#, #"{"x":{".sv":"timestamp"} ,"b":1}"#,
    #"{"e":{"c$":1},"e":2,"x":2}"#,
  ])
  func fileThatNobodyChangedStaysAsItIs(text: String) throws {
    #expect(try written(text, []) == text)
  }

  @Test func blanksBeforeACommaStay() throws {
    #expect(
      try written("{\"a\":1 ,\n\"b\":2\n,\"c\":3 }", [("/c", 4)])
        == "{\"a\":1 ,\n\"b\":2\n,\"c\":4 }")
  }

  @Test func spellingsOfOneLetterAreTwoNames() throws {
    let text = "{\"\u{e9}\":1.0,\"e\u{301}\":2.0}"
    #expect(try written(text, [("/\u{e9}", 3)]) == "{\"\u{e9}\":3,\"e\u{301}\":2.0}")
  }

  @Test func randomFilesKeepWhatIsNotEdited() {
    for seed: UInt64 in 1...1200 {
      guard var trial = JSONFileTrial(seed: seed) else { continue }
      for _ in 0..<3 {
        guard let wrong = trial.turn() else { continue }
        Issue.record("seed \(seed): \(wrong)\n\(trial.log.joined(separator: "\n"))")
        return
      }
    }
  }

  // MARK: The keys of rows

  @Test func keysOfRowsAreReadBackFromTheirText() {
    let keys: [Key?] = ["0", "1", "2", "7", nil, "-Oab", "9", "10", "01", "=", "3-4", nil].map {
      text in
      text.map { Key(unchecked: $0) }
    }
    for keys in [
      .asRead, RowKeys([]), RowKeys([nil]), RowKeys(keys), RowKeys(Array(keys.prefix(4))),
    ] {
      #expect(RowKeys(text: keys.text) == keys, "\(keys.text)")
    }
    #expect(RowKeys(text: "5") == nil)
    #expect(RowKeys(text: "9-1") == nil)
    #expect(RowKeys.asRead.key(at: 12)?.text == "12")
  }

  // MARK: Names

  @Test(arguments: [
    (#"{"k.":1,"k%2E":2}"#, "the names \"k.\" and \"k%2E\" would be one key, k%2E"),
    (#"{"a":[{"":1,"%":2}]}"#, "the names \"\" and \"%\" in /a/0 would be one key, %"),
  ])
  func namesThatBecomeOneKeyAreTold(text: String, reason: String) throws {
    let clash = try #require(NameClash(in: JSONValue(parsing: text)))
    #expect(clash.reason == reason)
    #expect(clash.sentence.hasSuffix("give one of them another name in the file."))
  }

  @Test func otherNamesWithSignsAreNoClash() throws {
    #expect(NameClash(in: try JSONValue(parsing: #"{"k.":1,"k":{"k.":1},"k$":2,"k%2e":3}"#)) == nil)
  }

  @Test func recordWithNamesThatBecomeOneKeyIsRefused() throws {
    let plan = try ImportPlan("{\"k.\":1,\"k%2E\":2}\n{\"a\":1}\n", as: .jsonl)
    #expect(plan.rows.map(\.value) == [["a": 1]])
    #expect(plan.refused.map(\.reason).first?.contains("would be one key") == true)
  }
}
