import RunnelBase
import RunnelTree
import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

@Suite struct CellCodingTests {
  @Test(arguments: [
    ("=1+1", "'=1+1"), ("+a", "'+a"), ("-a", "'-a"), ("@a", "'@a"), ("\t=1", "'\t=1"),
    ("\r=1", "'\r=1"), ("\n=1", "'\n=1"), ("'=1", "''=1"), ("-", "'-"), ("-1-1", "'-1-1"),
    ("-inf", "'-inf"), ("＝1", "'＝1"), ("＋a", "'＋a"), ("－1", "'－1"), ("＠a", "'＠a"),
    ("=\u{301}1", "'=\u{301}1"),
    ("-5", "-5"), ("+1.5e3", "+1.5e3"), ("'-5", "'-5"), ("'a", "'a"), ("a=1", "a=1"), ("", ""),
  ])
  func formulasAreTexts(text: String, cell: String) {
    #expect(CellCoding.cell(of: text).utf8.elementsEqual(cell.utf8))
  }

  @Test func controlsAreEscapesOfJSON() {
    #expect(
      CellCoding.cell(of: "a\u{1B}[31m\u{9B}\u{202E}\u{7F}") == #""a\u001b[31m\u009b\u202e\u007f""#)
    #expect(CellCoding.cell(of: #""a\u001b""#) == #""\"a\\u001b\"""#)
    #expect(CellCoding.cell(of: #""a""#) == #""a""#)
    #expect(CellCoding.cell(of: "two\r\nlines\t") == "two\r\nlines\t")
  }

  @Test func everyTextComesBack() {
    let pieces = [
      "", "'", "=", "-", "5", "\"", "\\", "\\u001b", "\u{1B}", "\u{85}", "\n", "\t", "a",
    ]
    var texts: Set<String> = [""]
    for _ in 0..<3 {
      for text in texts { for piece in pieces { texts.insert(text + piece) } }
    }
    for text in texts {
      let cell = CellCoding.cell(of: text)
      #expect(CellCoding.text(of: cell).utf8.elementsEqual(text.utf8), "\(text.debugDescription)")
      #expect(!"=@\t\r\n".unicodeScalars.contains(cell.unicodeScalars.first ?? "a"))
    }
  }

  @Test func exportedRecordsAreImportedAsTheyWere() throws {
    let record: JSONValue = [
      "=name": "=cmd|' /C calc'!A0", "esc": "\u{1B}]0;x\u{7}", "n": -5, "nested": ["a": "\u{9B}b"],
    ]
    let node = try RunnelTree.Node(json: record)
    var writer = ExportWriter(.csv, columns: ExportWriter.columns(of: [node]))
    let bytes = writer.begin() + writer.bytes(of: try Key("-k\u{85}"), node) + writer.end()
    let text = String(decoding: bytes, as: UTF8.self)
    #expect(
      !text.unicodeScalars.contains {
        ControlCharacters.contains($0) && !"\r\n".unicodeScalars.contains($0)
      })
    let plan = try ImportPlan(text, as: .csv)
    #expect(plan.rows.map(\.key) == ["-k\u{85}"])
    #expect(plan.rows.map(\.value) == [record])
  }

  @Test func tablesOfMarkdownShowControls() {
    #expect(ExportWriter.markdownCell("a\u{1B}[2J\u{9B}\u{202E}") == #"a\\u001b\[2J\\u009b\\u202e"#)
  }
}
