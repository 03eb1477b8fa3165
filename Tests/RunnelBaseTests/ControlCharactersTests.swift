import RunnelBase
import Testing

@Suite struct ControlCharactersTests {
  /// All that a terminal might obey, each once.
  private static let controls: [Unicode.Scalar] = (0...0xFFFF).compactMap(Unicode.Scalar.init)
    .filter(isObeyed)

  private static func isObeyed(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator: true
    default: scalar.properties.isBidiControl || scalar == "\u{FEFF}"
    }
  }

  @Test func theyAreTheControlsTheDirectionsAndTheLineEnds() {
    #expect(Self.controls.count == 65 + 12 + 3)
    for value in 0...UInt32(0xFFFF) {
      guard let scalar = Unicode.Scalar(value) else { continue }
      #expect(ControlCharacters.contains(scalar) == Self.controls.contains(scalar))
    }
  }

  @Test func eachIsWrittenOutAsInJSON() throws {
    for scalar in Self.controls {
      let text = "a\(Character(scalar))b"
      let line = ControlCharacters.escapedLine(text)
      #expect(line.hasPrefix("a\\u") && line.utf8.count == 8)
      #expect(!line.unicodeScalars.contains(where: ControlCharacters.contains))
      #expect(try JSONValue(parsing: "\"\(line)\"") == .string(text))
    }
  }

  @Test func textKeepsItsLinesAndTabs() {
    #expect(ControlCharacters.escaped("a\tb\nc") == "a\tb\nc")
    #expect(ControlCharacters.escaped("a\r\n\u{1B}[31mé\u{9B}") == "a\\u000d\n\\u001b[31mé\\u009b")
    #expect(ControlCharacters.areIn("a\u{202E}"))
    #expect(!ControlCharacters.areIn("a\tb\né"))
  }

  @Test func whatLooksLikeTheirFirstBytesStays() {
    for text in ["é", "Â£", "ب", "…→", "\u{FEFC}", "😀"] {
      #expect(ControlCharacters.escaped(Array(text.utf8)) == Array(text.utf8))
      #expect(ControlCharacters.escaped(text) == text)
    }
  }

  @Test func jsonStaysTheSame() throws {
    let text = String(String.UnicodeScalarView(Self.controls)) + "é\\\"✓"
    for layout in [JSONWriter.Layout.compact, .pretty] {
      var writer = JSONWriter(layout: layout)
      writer.writeValue([text: .array([.string(text), 1])])
      let escaped = ControlCharacters.escaped(writer.bytes)
      let read = String(decoding: escaped, as: UTF8.self)
      #expect(try JSONValue(parsing: read) == [text: .array([.string(text), 1])])
      #expect(!ControlCharacters.areIn(read))
    }
  }

  @Test func returnStaysBeforeALineFeedOnly() {
    let bytes = ControlCharacters.escaped(Array("a\r\nb\rc\r".utf8))
    #expect(String(decoding: bytes, as: UTF8.self) == "a\r\nb\\u000dc\\u000d")
  }
}
