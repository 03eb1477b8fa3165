import Foundation
import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

/// A file that comes to more than a person writes is refused before anything is made of it.
@Suite struct YAMLMeasureTests {
  /// Levels of lists, each of which names the one before so many times.
  private func bomb(levels: Int, of count: Int) -> String {
    var lines = ["a0: &a0 [" + Array(repeating: "x", count: count).joined(separator: ", ") + "]"]
    for level in 1..<levels {
      let aliases = Array(repeating: "*a\(level - 1)", count: count).joined(separator: ", ")
      lines.append("a\(level): &a\(level) [\(aliases)]")
    }
    return lines.map { "      \($0)" }.joined(separator: "\n")
  }

  private func failure(_ yaml: String) -> ConfigurationError? {
    do {
      try YAMLMeasure.check(yaml, file: "test.yaml")
      return nil
    } catch {
      return error as? ConfigurationError
    }
  }

  @Test(arguments: [(10, 10), (30, 2), (6, 150)])
  func aliasesThatExplodeAreRefusedWithTheirLine(levels: Int, count: Int) throws {
    let yaml = """
      views:
        - name: Bomb
          path: /room
          new:
      \(bomb(levels: levels, of: count))
      """
    let error = #expect(throws: ConfigurationError.self) {
      try ViewFile(yaml: yaml, name: "v.yaml")
    }
    #expect(error?.file == "v.yaml")
    #expect(try #require(error?.line) > 4)
    #expect(error?.message.contains("Here the file has more than") == true)
  }

  @Test func initialValueOfAFieldIsBoundToo() {
    let yaml = """
      resources:
        note:
          path: /note/@
          fields:
            text:
              initial:
      \(bomb(levels: 10, of: 10).replacing("      a", with: "            a"))
      """
    #expect(throws: ConfigurationError.self) { try ResourceBook(yaml: yaml, name: "r.yaml") }
  }

  @Test func anAliasAsANameExplodesNothing() {
    let yaml = "list: &a [x, y]\nnames:\n  ? *a\n  : 1\n"
    #expect(failure(yaml)?.line == 3)
    #expect(failure("names: {? [x, y] : 1}")?.message.contains("A name is expected") == true)
    #expect(failure("word: &w x\nnames: {*w : 1}") == nil)
  }

  @Test(arguments: [0, 1])
  func limitsAreExact(excess: Int) {
    let isOver = excess > 0
    let depth = YAMLMeasure.depthMax + excess
    let deep = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
    #expect((failure(deep) != nil) == isOver)
    // The list itself is a value, too.
    let wide = "[" + String(repeating: "x,", count: YAMLMeasure.nodesMax - 1 + excess) + "]"
    #expect((failure(wide) != nil) == isOver)
    let aliases = String(repeating: ", *x", count: YAMLMeasure.aliasesMax + excess)
    #expect((failure("[&x y\(aliases)]") != nil) == isOver)
    let long = "#" + String(repeating: "x", count: YAMLMeasure.bytesMax - 1 + excess)
    #expect((failure(long) != nil) == isOver)
  }

  @Test func depthCountsWhatAliasesStandFor() {
    let half = YAMLMeasure.depthMax / 2
    let inner = String(repeating: "[", count: half) + String(repeating: "]", count: half)
    func nested(_ levels: Int) -> String {
      "- &a \(inner)\n- " + String(repeating: "[", count: levels) + "*a"
        + String(repeating: "]", count: levels)
    }
    #expect(failure(nested(half - 1)) == nil)
    #expect(failure(nested(half))?.line == 2)
  }

  @Test func whatIsNoYAMLIsLeftToItsReader() {
    for text in ["", "a: [", "*unknown", "&a [*a]", "\u{0}", "a: b: c", "--- x\n--- y"] {
      #expect(failure(text) == nil, "\(text)")
    }
  }

  @Test func aFileThatIsTooLargeIsNotReadToItsEnd() throws {
    let file = NSTemporaryDirectory() + "runnel-large-\(UUID().uuidString).yaml"
    defer { unlink(file) }
    try Data(repeating: UInt8(ascii: " "), count: 5 << 20).write(to: URL(fileURLWithPath: file))
    let error = #expect(throws: ConfigurationError.self) { try UserFile.text(of: file) }
    #expect(error?.message.contains("4096 KiB") == true)
  }
}
