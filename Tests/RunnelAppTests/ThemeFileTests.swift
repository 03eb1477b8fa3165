import Foundation
import RunnelTerminal
import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

@Suite struct ThemeFileTests {
  private static let path = "/home/zoe/.config/runnel/themes/dusk.yaml"

  private static let sample = """
    base: dark
    roles:
      title: "#ff8700"
      section.header: title
      section.sticky: { foreground: 208, attributes: [bold, underline] }
      row.cursor: { background: 17, attributes: [] }
      row.marked: { foreground: bright-yellow, attributes: bold }
      row.changed: { background: "#5f5f00" }
      error: { foreground: white, background: "#870000" }
      text.strong: { foreground: default, attributes: [italic] }
    """

  private func read(_ yaml: String) -> ThemeFile { ThemeFile(yaml: yaml, file: Self.path) }

  private func table(_ yaml: String, depth: ColorDepth) -> [String: String] {
    var options = TerminalOptions(theme: .custom("dusk"))
    options.customThemes = [read(yaml).theme]
    let lines = RoleTable(options, depth: depth).text.split(separator: "\n")
    return Dictionary(
      uniqueKeysWithValues: lines.map { line in
        let parts = line.split(separator: "\t", maxSplits: 1)
        return (String(parts[0]), parts[1].replacingOccurrences(of: "\t", with: " "))
      })
  }

  @Test func nameIsThatOfTheFile() {
    let file = read(Self.sample)
    #expect(file.problems == [])
    #expect(file.theme.name == "dusk")
    #expect(file.theme.base == .dark)
  }

  @Test(arguments: ["", "# nothing", "base: auto", "roles: {}", "null"])
  func fileThatSaysNothingIsTheStandardTheme(yaml: String) {
    let file = read(yaml)
    #expect(file.problems == [])
    #expect(file.theme.base == nil)
    #expect(file.theme.roles.isEmpty)
  }

  /// What the sample looks like in so many colors: text, behind it, attributes.
  static let looks: [(role: String, extended: String, sixteen: String, none: String)] = [
    ("title", "208 default bold", "3 default bold", "default default bold"),
    ("section.header", "208 default bold", "3 default bold", "default default bold"),
    (
      "section.sticky", "208 default bold underline", "3 default bold underline",
      "default default bold underline"
    ),
    ("row.cursor", "default 17 ", "7 4 ", "default default reverse"),
    ("row.marked", "11 default bold", "3 default bold", "default default bold"),
    ("row.changed", "231 58 ", "0 3 ", "default default bold"),
    ("error", "7 88 ", "7 1 bold", "default default reverse"),
    (
      "text.strong", "default default italic", "default default italic",
      "default default bold italic"
    ),
    // These are the base's.
    ("link", "75 default ", "4 default ", "default default underline"),
    ("text.muted", "246 default ", "default default dim", "default default "),
  ]

  @Test func rolesBecomeStylesByTheColorsOfTheTerminal() {
    let (extended, sixteen, none) = (
      table(Self.sample, depth: .extended), table(Self.sample, depth: .sixteen),
      table(Self.sample, depth: .none)
    )
    for look in Self.looks {
      #expect(extended[look.role] == look.extended, "\(look.role)")
      #expect(sixteen[look.role] == look.sixteen, "\(look.role)")
      #expect(none[look.role] == look.none, "\(look.role)")
    }
    #expect(extended.count == ThemeRole.allCases.count)
  }

  static let mistakes = [
    BadFile("bse: dark", line: 1, "did you mean `base`?"),
    BadFile("base: drak", line: 1, "did you mean `dark`?"),
    BadFile("base: dusk", line: 1, "`base` is one of auto, dark"),
    BadFile("\nroles: 7", line: 2, "Names with values"),
    BadFile("roles:\n  titel: red", line: 2, "There is no role `titel`: did you mean `title`?"),
    BadFile("roles:\n  moon: red", line: 2, "`runnel config roles` lists all"),
    BadFile("roles:\n  title: rde", line: 2, "did you mean `red`?"),
    BadFile("roles:\n  title: sction.header", line: 2, "did you mean `section.header`?"),
    BadFile("roles:\n  title: 256", line: 2, "neither a color nor a role. Colors are 0 to 255"),
    BadFile("roles:\n  title: \"#ff87\"", line: 2, "neither a color nor a role"),
    BadFile("roles:\n  title: #ff8700", line: 2, "stands in quotes, since # begins a comment"),
    BadFile("roles:\n  title:\n    foreground: #ff8700", line: 3, "stands in quotes"),
    BadFile("roles:\n  title: [red]", line: 2, "A text is expected"),
    BadFile("roles:\n  title:\n    background: blu", line: 3, "did you mean `blue`?"),
    BadFile("roles:\n  title: { color: red }", line: 2, "Known: attributes, background"),
    BadFile("roles:\n  title:\n    attributes: [bold, blink]", line: 3, "is a list of bold, dim"),
    BadFile("roles:\n  title:\n    attributes: itlaic", line: 3, "did you mean `italic`?"),
    BadFile("roles:\n  link: link", line: 2, "`link` is like `link`: one of them"),
    BadFile(
      "roles:\n  ok: red\n  link: title\n  title: link", line: 3, "which is like `link`: one of"),
    BadFile("roles:\n  title: red\n  title: blue", line: 2, "stands twice"),
    BadFile("base: dark\n  x: [", line: 2, "This is not YAML"),
  ]

  @Test(arguments: mistakes) func mistakeIsToldWithItsLine(file: BadFile) throws {
    let problems = read(file.yaml).problems
    let problem = try #require(problems.first { $0.message.contains(file.words) }, "\(problems)")
    #expect(problem.line == file.line)
    #expect(problem.description.hasPrefix("\(Self.path):\(file.line): "))
  }

  @Test func mistakesLeaveTheRestInForce() {
    let file = read("base: drak\nroles:\n  titel: red\n  ok: 10\n  link: warn\n  warn: link\n")
    #expect(file.problems.map(\.line) == [1, 3, 5, 6])
    #expect(file.theme.roles[.cell(.ok)] == .changed(StyleChange(foreground: .number(10))))
    #expect(file.theme.roles[.cell(.link)] == nil)
  }

  @Test func hardToReadColorsAreWarningsWithTheirLines() throws {
    let file = read(
      "base: dark\nroles:\n  title: 120\n  error: 52\n  row.cursor: { background: 250 }\n")
    #expect(file.problems == [])
    #expect(file.warnings.map(\.line) == [4, 5])
    let warning = try #require(file.warnings.first)
    #expect(warning.message.hasPrefix("`error` is hard to read: its contrast is 1."))
    #expect(warning.message.contains("and 5.6 at least in `dark`"))
    #expect(warning.warningText.hasPrefix("\(Self.path):4: warning: "))
    #expect(read(Self.sample).warnings == [])
    #expect(read("roles: { title: 229 }").warnings.count == 1)
  }
}

/// Themes in the configuration, and in the workspace.
@Suite struct ThemeSettingsTests {
  private func configuration(_ yaml: String, themes: [String: String] = [:]) -> ConfigurationFile {
    let files = themes.sorted { $0.key < $1.key }
      .map { ThemeFile(yaml: $0.value, file: "/c/themes/\($0.key).yaml") }
    return ConfigurationFile(yaml: yaml, name: "/c/config.yaml", themes: files)
  }

  @Test func themeOfAFileIsNamedLikeOthers() {
    let file = configuration("theme: dusk", themes: ["dusk": "base: light"])
    #expect(file.problems == [])
    #expect(file.settings.terminal.theme == .custom("dusk"))
    #expect(file.settings.terminal.baseTheme == .light)
    let missing = configuration("theme: dusl", themes: ["dusk": "base: light"])
    #expect(missing.problems.first?.message.hasSuffix("did you mean `dusk`?") == true)
    #expect(missing.settings.terminal.theme == .automatic)
  }

  @Test func rolesOfTheConfigurationHoldInItsTheme() {
    let file = configuration("roles:\n  title: 120\n  titel: 3\ntheme: light\n")
    #expect(file.problems.map(\.line) == [3])
    let theme = file.settings.terminal.theme(on: .dark, depth: .extended)
    #expect(theme.style(for: .title) == Style(120, .bold))
    #expect(file.warnings.map(\.line) == [2])
  }

  @Test func problemsAreSaidOfTheThemeThatIsUsed() throws {
    let file = configuration("theme: good", themes: ["good": "base: dark", "bad": "bse: x"])
    #expect(file.summary() == nil)
    #expect(try #require(file.summary(.custom("bad"))).hasPrefix("/c/themes/bad.yaml:1: "))
  }

  @Test func themesAreReadBesideTheConfiguration() throws {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("runnel-themes-\(UUID().uuidString)")
    let themes = folder.appendingPathComponent("themes")
    try FileManager.default.createDirectory(at: themes, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    for (name, text) in [
      ("b.yaml", "base: dark"), ("a.yaml", "base: light"), ("dark.yaml", ""), (".a.yaml.swp", "x"),
      ("notes.txt", "x"), ("long.yaml", String(repeating: "#", count: ThemeFile.bytesMax + 1)),
    ] {
      try text.write(
        to: themes.appendingPathComponent(name), atomically: true, encoding: .utf8)
    }
    let file = ConfigurationFile(file: folder.appendingPathComponent("config.yaml").path)
    #expect(file.themeNames == ["a", "b", "long"])
    #expect(file.problems == [])
    let problems = file.themes.flatMap(\.problems).map(\.message)
    #expect(problems.contains { $0.hasPrefix("`dark` is a theme of the program") })
    #expect(problems.contains { $0.hasPrefix("The file has more than 64 KiB") })
    #expect(problems.count == 2)
  }

  @Test func savedThemeIsOfferedAndSaid() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small)
    app.configure(configuration("", themes: ["dusk": ""]).settings, problem: nil)
    #expect(app.toast == "the themes were read again")
    app.press(":")
    app.type("theme du")
    #expect(app.screen.contains { $0.contains("dusk") && $0.contains("yours") })
    app.press("Enter")
    #expect(app.state.settings.theme == .custom("dusk"))
    app.configure(configuration("page: 9", themes: ["dusk": ""]).settings, problem: nil)
    #expect(app.toast == "the configuration was read again")
    #expect(app.state.settings.theme == .custom("dusk"))
  }

  @Test func recordedSessionKnowsTheThemes() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small, isRecording: true)
    app.configure(configuration("", themes: ["dusk": "", "dawn": ""]).settings, problem: nil)
    app.press(":")
    app.type("theme dus")
    app.press("Enter")
    let replay = try SessionReplay(parsing: app.recording, file: "session")
    #expect(replay.state.settings.themes == ["dawn", "dusk"])
    #expect(replay.state.settings.theme == .custom("dusk"))
  }
}
