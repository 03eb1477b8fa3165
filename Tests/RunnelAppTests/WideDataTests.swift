import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree
import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

/// Whatever stands in the data, the screen stays in its columns.
@Suite struct WideDataTests {
  static let texts = [
    String(repeating: "long ", count: 200), "漢字テスト renders in two columns each, for a long time",
    "👩‍👩‍👧‍👦 family, 🇩🇪 flag, ❤️ heart, 👍🏽 thumb, 1️⃣ keycap",
    "שלום עולם מימין לשמאל", "\u{202E}reversed\u{202C} \u{2066}isolated\u{2069}",
    "tab\there\r\nline\u{1B}[31mred\u{07}\u{85}\u{9B}2J",
    "e\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}x",
    "\u{0301}alone", "ไทย नमस्ते 한국어 ﷽", "", "\u{0}", "…·▸", "\u{FFFD}\u{E000}",
  ]

  private static var json: JSONValue {
    .object([
      JSONMember(
        "room",
        .object(
          texts.enumerated().map { index, text in
            JSONMember(
              "m\(10 + index)",
              Fixture.message(text, from: text, at: Fixture.now - Int64(index) * Fixture.hour))
          })),
      JSONMember(
        "user",
        .object(
          texts.enumerated().map { index, text in
            let user: JSONValue = .object([
              JSONMember("name", .string(text)), JSONMember("email", .string(text)),
              JSONMember("role", .string(text)), JSONMember("漢字\(index)", .string(text)),
            ])
            return JSONMember("漢字-\(index)-" + String(repeating: "k", count: index * 9), user)
          })),
    ])
  }

  private func expectToFit(_ app: AppDriver, _ place: String) {
    let size = app.state.size
    let lines = app.screen
    #expect(lines.count == size.rows)
    for line in lines {
      #expect(CellWidth.width(of: line) <= size.columns, "\(place): \(line)")
      #expect(
        line.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7F..<0xA0).contains($0.value) })
    }
  }

  @Test(
    arguments: [(80, 24), (120, 40), (50, 12), (49, 11), (40, 10), (20, 5), (19, 4), (1, 1)],
    [true, false])
  func everyLineFitsInEveryPlace(size: (columns: Int, rows: Int), isASCII: Bool) throws {
    let app = try AppDriver(
      Fixture.views(), json: Self.json, columns: size.columns, rows: size.rows,
      glyphs: isASCII ? .ascii : .unicode)
    for keys in [
      "", "gg", "C-d", "C-d", "3 zl", "9 zh", "a", "x 漢 字", "F1", "q", "Esc", "Enter", "e", "Esc",
      "a", "x", "Tab", "{ C-s", "Esc", "q", "d", "n", "g2", "G", "k k", "Enter", "j", "G", "d", "n",
      "q", "a", "Esc", "g3", "j l", "j l", "G", "C-u", "C-u", "zl", "?", "G", "q",
    ] {
      if !keys.isEmpty { app.press(keys) }
      expectToFit(app, keys)
    }
  }

  @Test func agesStandInOneColumnWhateverStandsBeforeThem() throws {
    let app = try AppDriver(Fixture.views(), json: Self.json, columns: 80, rows: 40)
    let lines = app.body.filter { $0.hasSuffix("h") || $0.hasSuffix("now") }
    #expect(lines.count == Self.texts.count)
    for line in lines { #expect(CellWidth.width(of: line) == 80, "\(line)") }
  }

  @Test func dataCannotSendControlSequences() throws {
    let app = try AppDriver(Fixture.views(), json: Self.json, columns: 120, rows: 40)
    let text = app.screen.joined()
    #expect(!text.unicodeScalars.contains("\u{1B}"))
    #expect(!text.unicodeScalars.contains("\u{202E}"))
    #expect(!text.unicodeScalars.contains("\u{2066}"))
  }
}
