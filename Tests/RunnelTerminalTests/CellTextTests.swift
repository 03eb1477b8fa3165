import Testing

@testable import RunnelTerminal

@Suite struct CellTextTests {
  private func texts(_ text: String, glyphs: Glyphs = .unicode) -> [String] {
    CellText.sanitize(text, glyphs: glyphs).map(\.text)
  }

  @Test(arguments: ["A", "é", "e\u{301}", "א", "ا", "│", "Ж"])
  func narrowCharactersStay(text: String) {
    #expect(CellText.sanitize(text) == [CellCluster(text: text, width: 1)])
  }

  @Test(arguments: ["漢", "か", "한", "🚀", "👍", "Ａ"])
  func wideCharactersStay(text: String) {
    #expect(CellText.sanitize(text) == [CellCluster(text: text, width: 2)])
  }

  @Test func flagBecomesItsLetters() {
    #expect(texts("🇫🇮") == ["F", "I"])
    #expect(CellWidth.width(of: "🇫🇮") == 2)
    #expect(texts("\u{1F1EB}") == ["F"])
  }

  @Test func joinedEmojiBecomesItsFirst() {
    #expect(texts("👨‍👩‍👧‍👦x") == ["👨", "x"])
    #expect(texts("🏳️‍🌈") == ["🏳"])
    #expect(texts("❤️‍🔥") == ["❤"])
    #expect(texts("🏴\u{E0067}\u{E0062}\u{E007F}") == ["🏴"])
  }

  @Test func skinToneFallsOffUnlessAlone() {
    #expect(texts("👍🏽") == ["👍"])
    #expect(CellText.sanitize("🏽") == [CellCluster(text: "🏽", width: 2)])
  }

  @Test func variationSelectorAndKeycapFallOff() {
    #expect(CellText.sanitize("❤️") == [CellCluster(text: "❤", width: 1)])
    #expect(CellText.sanitize("1️⃣") == [CellCluster(text: "1", width: 1)])
  }

  @Test func spacingSignsAreDrawnScalarByScalar() {
    #expect(texts("कि") == ["क", "\u{93F}"])
    #expect(texts("क्\u{200D}ष") == ["क्", "ष"])
  }

  @Test func hangulLettersAreComposed() {
    #expect(texts("\u{1112}\u{1161}\u{11AB}") == ["한"])
    #expect(texts("\u{1112}\u{1161}") == ["하"])
  }

  @Test func controlCharactersBecomePictures() {
    #expect(texts("a\tb\nc\r\nd\re") == ["a", "⇥", "b", "⏎", "c", "⏎", "d", "⏎", "e"])
    #expect(texts("\u{0}\u{7}\u{7F}\u{9B}") == ["␀", "␇", "␡", "·"])
    #expect(texts("\u{0}\u{7F}\u{9B}\t\n", glyphs: .ascii) == ["?", "?", "?", ">", "$"])
    #expect(texts("\u{2028}") == ["⏎"])
  }

  @Test func escapeIsAPicture() {
    #expect(texts("\u{1B}[31mred") == ["␛", "[", "3", "1", "m", "r", "e", "d"])
  }

  @Test(arguments: [
    0x202A, 0x202B, 0x202C, 0x202D, 0x202E, 0x2066, 0x2067, 0x2068, 0x2069, 0x200E, 0x200F, 0x200B,
    0x200D, 0xFEFF, 0xAD, 0x061C,
  ])
  func formatCharactersVanish(value: UInt32) throws {
    let scalar = try #require(Unicode.Scalar(value))
    #expect(texts("a\(scalar)b") == ["a", "b"])
    #expect(texts(String(scalar)) == [])
  }

  @Test func marksAreLimitedAndNeedABase() {
    let zalgo = "e" + String(repeating: "\u{301}", count: 30)
    #expect(texts(zalgo).map(\.unicodeScalars.count) == [1 + CellText.marksMax])
    #expect(texts("\u{301}") == ["◌\u{301}"])
    #expect(CellWidth.width(of: "\u{301}") == 1)
  }

  @Test func unassignedScalarsAreReplaced() {
    #expect(texts("\u{378}") == ["\u{FFFD}"])
  }

  /// Kinds of scalar that clusters are made of.
  private static let kinds = [
    "a", "漢", "א", "\u{301}", "\u{FE0F}", "\u{200D}", "👩", "🏽", "🇫", "\u{93F}", "\u{1100}",
    "\u{1161}", "\t", "\u{1B}", "\u{202E}", "\u{378}", "1", "\u{20E3}",
  ]

  @Test func everyThreeKindsOfScalarAreCellsOfAKnownWidth() throws {
    for first in Self.kinds {
      for second in Self.kinds {
        for third in Self.kinds {
          try expectSoundCells(first + second + third)
        }
      }
    }
  }

  private func expectSoundCells(_ text: String) throws {
    for cell in CellText.sanitize(text) {
      let base = try #require(cell.text.unicodeScalars.first)
      let marks = cell.text.unicodeScalars.dropFirst()
      let isSound =
        CellWidth.width(of: base) == cell.width && (1...2).contains(cell.width)
        && base.properties.generalCategory != .control && base.properties.generalCategory != .format
        && marks.allSatisfy { CellWidth.width(of: $0) == 0 } && marks.count <= CellText.marksMax
      #expect(isSound, "\(text.unicodeScalars.map { String($0.value, radix: 16) })")
    }
  }

  @Test func widthTableIsSortedAndDisjoint() {
    for table in [CellWidthTable.wide, CellWidthTable.zero] {
      #expect(table.count.isMultiple(of: 2))
      for index in stride(from: 2, to: table.count, by: 2) {
        #expect(table[index - 1] < table[index])
      }
    }
  }

  @Test func everyCellHoldsWhatItSays() throws {
    for value in UInt32(0)...0x1FFFF {
      guard let scalar = Unicode.Scalar(value) else { continue }
      for cell in CellText.sanitize(String(scalar)) {
        let base = try #require(cell.text.unicodeScalars.first)
        let marks = cell.text.unicodeScalars.dropFirst()
        #expect(base.value >= 0x20 && !(0x7F..<0xA0).contains(base.value))
        #expect(CellWidth.width(of: base) == cell.width)
        #expect(marks.allSatisfy { CellWidth.width(of: $0) == 0 })
      }
    }
  }
}
