import Testing

@testable import RunnelTerminal

@Suite struct KeyStrokeTests {
  static let keys: [KeyCode] =
    KeyCode.names.map(\.key) + [.backTab] + (1...KeyCode.functionMax).map { .function($0) }
    + (0x21...0x7E).compactMap { Unicode.Scalar($0).map { .character(Character($0)) } }
    + [.character("é"), .character("漢"), .character("ß")]

  @Test func everyStrokeIsReadBackFromItsNotation() {
    for key in Self.keys {
      for bits in 0..<8 {
        let stroke = KeyStroke(
          key, control: bits & 1 != 0, meta: bits & 2 != 0, shift: bits & 4 != 0)
        #expect(KeyStroke(notation: stroke.description) == stroke, "\(stroke)")
      }
    }
  }

  @Test func differentStrokesHaveDifferentNotations() {
    let strokes = Set(
      Self.keys.flatMap { key in
        (0..<8).map {
          KeyStroke(key, control: $0 & 1 != 0, meta: $0 & 2 != 0, shift: $0 & 4 != 0)
        }
      })
    #expect(Set(strokes.map(\.description)).count == strokes.count)
  }

  @Test(arguments: [
    "j", "G", "C-x", "M-<", "M->", "Enter", "S-Tab", "Space", "C-Space", "PgDn", "F12", "C-_", "-",
    "C--", "M-Backspace", "S-Left", "C-M-S-Up", "C-]", "\\", "'",
  ])
  func notationOfTheManualIsCanonical(notation: String) throws {
    #expect(try #require(KeyStroke(notation: notation)).description == notation)
  }

  @Test(arguments: [
    "", " ", "C-", "M-", "C-C-x", "S-a", "gg", "Entr", "F0", "F64", "F01", "C-gg", "\t", "Escape",
  ])
  func otherTextIsNoNotation(notation: String) {
    #expect(KeyStroke(notation: notation) == nil)
  }

  @Test func letterWithControlIsLowercase() {
    #expect(KeyStroke(notation: "C-X") == KeyStroke(notation: "C-x"))
    #expect(KeyStroke(.character("A"), meta: true).description == "M-A")
  }

  @Test func shiftAndTabAreOneKey() {
    #expect(KeyStroke(.tab, shift: true) == KeyStroke(.backTab))
  }

  @Test(arguments: [
    ("gg", ["g", "g"]), ("g m", ["g", "m"]), ("]]", ["]", "]"]), ("C-x C-e", ["C-x", "C-e"]),
    ("g1", ["g", "1"]), ("Up", ["Up"]), ("F1", ["F1"]), ("C-x ?", ["C-x", "?"]),
    ("zt", ["z", "t"]), ("C -", ["C", "-"]), ("c-", ["c", "-"]),
  ])
  func sequencesAreReadStrokeByStroke(notation: String, strokes: [String]) throws {
    #expect(try #require(KeyStroke.sequence(notation)).map(\.description) == strokes)
  }

  @Test(arguments: ["", "  ", "ggg", "C-xy", "Entr", "g Entr", "C-", "M-", "S-", "g C-"])
  func otherTextIsNoSequence(notation: String) {
    #expect(KeyStroke.sequence(notation) == nil)
  }
}
