import RunnelBase
import Foundation
import RunnelStreams
import RunnelTerminal
import RunnelTree
import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

@Suite struct ConfigurationFileTests {
  private func read(_ yaml: String) -> ConfigurationFile {
    ConfigurationFile(yaml: yaml, name: "/home/zoe/.config/runnel/config.yaml")
  }

  @Test(arguments: ["", "# nothing", "\n\n", "null", "{}"])
  func emptyFileAsksForNothing(yaml: String) {
    let file = read(yaml)
    #expect(file.problems == [])
    #expect(file.settings.terminal == TerminalOptions())
    #expect(file.settings.keymap == Commands.keymap)
  }

  @Test func actionsThatEveryoneNeedsAreMissedWithoutKeys() {
    let texts = read(
      """
      keys:
        palette.open: []
        help.open: [F9]
        view.close: []
        app.quit: []
      """
    ).warnings.map(\.warningText)
    #expect(texts.count == 2, "\(texts)")
    #expect(texts.first?.contains("config.yaml:2") == true, "\(texts)")
    #expect(texts.first?.contains("commands cannot be typed") == true)
    #expect(texts.last?.contains("`C-c` twice leaves") == true)
    let help = read("keys: { help.open: [] }").warnings.map(\.message)
    #expect(help == ["`help.open` has no keys any more: `:` finds help by its name."])
    #expect(read("keys: { view.close: [] }").warnings.isEmpty, "`Q` leaves")
    #expect(read("keys: { record.delete: [] }").warnings.isEmpty)
  }

  @Test func settingsAreTakenOver() {
    let file = read(
      """
      theme: light-color-blind
      colors: 16
      signs: ascii
      mouse: off
      time: 12h
      page: 20
      me: Ana
      views: default.views.yaml
      """)
    #expect(file.problems == [])
    #expect(
      file.settings.terminal
        == TerminalOptions(
          colorDepth: .sixteen, theme: .named(.lightColorBlind), signs: .ascii, usesMouse: false))
    #expect(file.settings.clock == .hours12)
    #expect(file.settings.pageSize == 20)
    #expect(file.settings.me == "Ana")
    #expect(file.settings.views == "/home/zoe/.config/runnel/default.views.yaml")
  }

  @Test func templateChangesOnlyColorsWhenItIsTakenLiterally() {
    let active = ConfigurationFile.template.split(separator: "\n").compactMap { line in
      line.hasPrefix("#  ") || (line.hasPrefix("#") && !line.hasPrefix("# "))
        ? String(line.dropFirst()) : nil
    }
    let file = read(active.joined(separator: "\n"))
    #expect(file.problems == [])
    var terminal = file.settings.terminal
    #expect(!terminal.roles.isEmpty)
    terminal.roles = RoleChanges()
    #expect(terminal == TerminalOptions())
    #expect(file.settings.pageSize == Settings().pageSize)
    #expect(file.settings.keymap.keys(for: .rowDown, in: [.list]) == ["j", "Down", "C-n"])
    let names = active.filter { !$0.hasPrefix(" ") }.compactMap { $0.split(separator: ":").first }
    #expect(names.map { String($0) } == ConfigurationFile.names)
    #expect(read(ConfigurationFile.template).problems == [])
  }

  @Test func keysAreGivenEverywhereAndInOneContext() {
    let keymap = read(
      """
      keys:
        row.down: [x, Down]
        record.delete: []
        page.down: C-f
        collection: { record.add: [d] }
      """
    ).settings.keymap
    #expect(keymap.keys(for: .rowDown, in: [.list]) == ["x", "Down"])
    #expect(keymap.keys(for: .recordDelete, in: [.collection, .list]) == [])
    #expect(keymap.keys(for: .pageDown, in: [.list]) == ["C-f"])
    #expect(keymap.keys(for: .recordAdd, in: [.collection]) == ["d"])
    #expect(keymap.keys(for: .recordAdd, in: [.tree]) == ["a"])
  }

  static let mistakes = [
    BadFile("me: zoe\nthem: dark", line: 2, "did you mean `theme`?"),
    BadFile("theme: drak", line: 1, "did you mean `dark`?"),
    BadFile("theme: 7", line: 1, "`theme` is one of auto, dark"),
    BadFile("\nmouse: maybe", line: 2, "`mouse` is on or off"),
    BadFile("colors: 8", line: 1, "none, 16, 256"),
    BadFile("page: 0", line: 1, "from 1 to 10000"),
    BadFile("page: many", line: 1, "a whole number"),
    BadFile("me:", line: 1, "`me` is missing"),
    BadFile("theme: [dark]", line: 1, "A text is expected"),
    BadFile("keys:\n  row.dwn: [x]", line: 2, "did you mean `row.down`?"),
    BadFile("keys:\n  fly: [x]", line: 2, "`runnel config keys` lists all"),
    BadFile("keys:\n  row.down: [j, Hyper-x]", line: 2, "`Hyper-x` names no key"),
    BadFile("keys:\n  row.down: [j]\n  row.up: [C-]", line: 3, "`C-` names no key"),
    BadFile("keys:\n  row.down: {a: b}", line: 2, "Keys are a list"),
    BadFile("keys:\n  help:\n    record.add: [x]", line: 3, "no action of `help`"),
    BadFile("keys:\n  parts: { record.add: [A] }", line: 2, "no place with keys of its own"),
    BadFile("keys: [j]", line: 1, "Names with values"),
    BadFile("keys:\n  row.down: [x]\n  row.up: [x]", line: 3, "bound twice in list"),
    BadFile("keys:\n  list:\n    row.up: [g]", line: 3, "cannot be typed in list"),
    BadFile("theme: dark\n  x: [", line: 2, "This is not YAML"),
    BadFile("theme: dark\ntheme: light", line: 1, "stands twice"),
  ]

  @Test(arguments: mistakes) func mistakeIsToldWithItsLine(file: BadFile) throws {
    let problems = read(file.yaml).problems
    let problem = try #require(problems.first { $0.message.contains(file.words) }, "\(problems)")
    #expect(problem.line == file.line)
    #expect(problem.description.hasPrefix("/home/zoe/.config/runnel/config.yaml:\(file.line): "))
  }

  @Test func mistakesLeaveTheRestInForce() {
    let file = read("theme: drak\npage: 9\nkeys: { fly: [x], row.down: [y] }\nmouse: no!")
    #expect(file.problems.map(\.line) == [1, 3, 4])
    #expect(file.settings.pageSize == 9)
    #expect(file.settings.keymap.keys(for: .rowDown, in: [.list]) == ["y"])
    #expect(file.summary()?.contains("(and 2 more)") == true)
  }

  @Test func standardKeymapTellsNoCollision() {
    #expect(read("keys: { row.down: [j] }").problems == [])
  }

  @Test func fileThatIsNotThereAsksForNothingAndAFolderIsAMistake() {
    #expect(ConfigurationFile(file: "/nonexistent/config.yaml").problems == [])
    #expect(ConfigurationFile(file: "/tmp").problems.count == 1)
  }

  @Test(arguments: [
    (["XDG_CONFIG_HOME": "/x", "HOME": "/h"], "/x/runnel/config.yaml"),
    (["XDG_CONFIG_HOME": "x", "HOME": "/h"], "/h/.config/runnel/config.yaml"),
    (["XDG_CONFIG_HOME": "", "HOME": "/h"], "/h/.config/runnel/config.yaml"), ([:], nil),
  ])
  func pathFollowsXDG(environment: [String: String], path: String?) {
    #expect(ConfigurationFile.path(environment: environment) == path)
  }

  @Test func commandLineGoesBeforeTheFile() {
    var wishes = TerminalWishes()
    let options = TerminalOptions(
      colorDepth: .sixteen, theme: .named(.light), signs: .ascii, usesMouse: false)
    #expect(wishes.applied(to: options) == options)
    wishes.theme = .automatic
    wishes.usesMouse = true
    #expect(
      wishes.applied(to: options)
        == TerminalOptions(colorDepth: .sixteen, theme: .automatic, signs: .ascii, usesMouse: true))
  }

  @Test(arguments: [
    ("them", "theme"), ("tehme", "theme"), ("THEME", "theme"), ("colour", "color"), ("x", nil),
    ("completely", nil), ("themes", "theme"),
  ])
  func nearestWordIsALetterOrTwoOff(word: String, nearest: String?) {
    #expect(Spelling.nearest(to: word, among: ["theme", "color", "mouse"]) == nearest)
  }
}

/// What the workspace does with its configuration.
@Suite struct SettingsTests {
  private func configured(_ yaml: String) throws -> AppDriver {
    let app = try AppDriver(Fixture.views(), json: Fixture.small)
    let file = ConfigurationFile(yaml: yaml, name: "c.yaml")
    app.configure(file.settings, problem: file.summary())
    return app
  }

  @Test func keysHintsAndHelpFollowTheConfiguration() throws {
    let app = try configured("keys: { row.up: [X], record.delete: [], help.open: [F1] }")
    app.press("X")
    #expect(app.cursorLine.contains("Good morning"))
    app.press("d k")
    #expect(app.state.layers.isEmpty)
    #expect(app.cursorLine.contains("Good morning"))
    let hints = app.screen[app.state.layout.hints.row]
    #expect(!hints.contains("delete"))
    #expect(hints.hasSuffix("F1 help"))
    app.resize(columns: 80, rows: 100)
    app.press("F1")
    #expect(app.screen.contains { $0.contains("X ") && $0.contains("[row.up]") })
    #expect(app.screen.contains { $0.contains("[record.delete]") }, "only its keys are gone")
  }

  @Test func keyForAllListsMovesInTheLastActionsToo() throws {
    let app = try configured("keys: { list: { row.down: [n, j] } }")
    app.press("C-x d g g")
    let before = app.cursorLine
    app.press("n")
    #expect(!app.toast.contains("looked for"), "\(app.toast)")
    #expect(app.cursorLine != before)
  }

  @Test func actionWithoutAKeyIsFoundByItsName() throws {
    let app = try configured("keys: { record.delete: [] }")
    app.press("g2 gg j :")
    app.type("record.delete")
    app.press("Enter")
    #expect(app.screen.contains { $0.contains("Delete") }, "\(app.screen)")
    app.press("Esc x")
    guard case .menu(let screen)? = app.state.layers.last else {
      Issue.record("no menu")
      return
    }
    #expect(screen.menu.shown.contains { $0.deed?.action == .recordDelete && $0.keys.isEmpty })
  }

  @Test func questionTellsTheKeysThatAnswerIt() throws {
    let app = try configured("keys: { dialog.yes: [Y] }")
    app.press("d")
    #expect(app.screen.contains { $0.contains("Y delete") })
    app.wait(milliseconds: 1000)
    app.press("y")
    #expect(!app.state.layers.isEmpty)
    app.press("Y")
    #expect(app.state.layers.isEmpty)
  }

  @Test func clockFollowsTheConfiguration() throws {
    let app = try configured("time: 12h")
    let time = #/ \d{1,2}:\d\d[ap] /#
    #expect(app.body.contains { $0.contains(time) })
    #expect(LocalTime.utc.timeText(0) == "00:00")
    var local = LocalTime.utc
    local.clock = .hours12
    let hour: Int64 = 3_600_000
    #expect(
      [0, 1, 11, 12, 13, 23].map { local.timeText($0 * hour) }
        == ["12:00a", "1:00a", "11:00a", "12:00p", "1:00p", "11:00p"])
  }

  @Test func nextPageIsAsLargeAsTheConfigurationSays() throws {
    var views = try Fixture.views()
    views[0].source.hasOwnPage = false
    let app = try AppDriver(views, copying: Fixture.historyFile.get())
    let first = app.list.reach.loadedCount
    app.configure(ConfigurationFile(yaml: "page: 7", name: "c.yaml").settings, problem: nil)
    app.press("g g")
    #expect(app.screen.contains { $0.contains("fetches 7") })
    app.press("g m")
    #expect(app.list.reach.loadedCount == first + 7)
    app.press("g m")
    #expect(app.list.reach.loadedCount == first + 14)
    app.configure(ConfigurationFile(yaml: "page: 30", name: "c.yaml").settings, problem: nil)
    app.press("g m")
    #expect(app.list.reach.loadedCount == first + 44)
  }

  @Test func pagesOfTheTreeFollowTheConfigurationToo() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.history(120))
    app.press("g 3 g g j l")
    let path = try Path("/room")
    let before = try #require(app.state.tabs.tree.expanded[path])
    app.configure(ConfigurationFile(yaml: "page: 9", name: "c.yaml").settings, problem: nil)
    #expect(app.state.tabs.tree.expanded[path]?.paging == .more)
    app.press("g m")
    #expect(app.state.tabs.tree.expanded[path]?.rows.count == before.rows.count + 9)
  }

  @Test func viewThatSaysHowLargeItsPagesAreKeepsThem() throws {
    let app = try AppDriver(Fixture.views(), copying: Fixture.historyFile.get())
    #expect(app.list.definition.source.hasOwnPage)
    app.configure(ConfigurationFile(yaml: "page: 7", name: "c.yaml").settings, problem: nil)
    #expect(app.list.definition.source.page == 50)
    #expect(app.list.reach.paging == .more)
  }

  @Test func whatWaitsForTheNextStartIsSaid() throws {
    let app = try configured("me: ana\nviews: v.yaml\npage: 7")
    #expect(app.toast == "the configuration was read again; from the next start on: me, views")
    app.configure(ConfigurationFile(yaml: "page: 8", name: "c.yaml").settings, problem: nil)
    #expect(app.toast == "the configuration was read again")
  }

  @Test func monitorTellsFilesWhoseTextChanged() throws {
    let folder = try TestFolder()
    try folder.write("views:\n  - { name: A, path: /a, columns: [{ field: b }] }\n", to: "v.yaml")
    let monitor = DefinitionMonitor([
      .views(folder.file("v.yaml")), .resources(folder.file("r.yaml")),
      .views(folder.file("none/v.yaml")),
    ])
    #expect(monitor.fileDescriptors.count == 2)
    #expect(monitor.changes().isEmpty)
    try folder.write("views:\n  - { name: A, path: /a, columns: [{ field: b }] }\n", to: "v.yaml")
    #expect(monitor.changes().isEmpty)
    try folder.write("views:\n  - { nme: A }\n", to: "v.yaml")
    try folder.write("resources: []\n", to: "r.yaml")
    let changes = monitor.changes()
    #expect(changes.map(\.file) == [folder.file("v.yaml"), folder.file("r.yaml")])
    #expect(changes.map(\.views) == [nil, nil], "a file with a mistake has no views")
    #expect(changes.first?.problem?.contains("v.yaml:2: ") == true)
    #expect(monitor.changes().isEmpty)
  }

  @Test func removedConfigurationGivesTheDefaults() throws {
    let folder = try TestFolder()
    for removes in [true, false] {
      try folder.write("page: 7\n", to: "config.yaml")
      let monitor = ConfigurationMonitor(file: folder.file("config.yaml"))
      #expect(monitor.read().settings.pageSize == 7)
      if removes {
        try FileManager.default.removeItem(atPath: folder.file("config.yaml"))
      } else {
        try FileManager.default.moveItem(
          atPath: folder.file("config.yaml"), toPath: folder.file("old.yaml"))
      }
      #expect(monitor.hasChanged(hasNews: true, now: 0))
      let file = monitor.read()
      #expect(
        file.settings.pageSize == ConfigurationFile().settings.pageSize && file.problems.isEmpty)
      #expect(!monitor.hasChanged(hasNews: true, now: 0))
    }
  }

  @Test func folderThatTakesThePlaceOfOneIsWatched() throws {
    let folder = try TestFolder()
    let (place, files) = (folder.file("c"), FileManager.default)
    func replace(_ text: String) throws {
      if files.fileExists(atPath: place) { try files.removeItem(atPath: place) }
      try files.createDirectory(atPath: place + "/themes", withIntermediateDirectories: true)
      try folder.write(text, to: "c/v.yaml")
      try folder.write("roles: {}\n", to: "c/themes/own.yaml")
    }
    try replace("views: []\n")
    let definitions = DefinitionMonitor([.views(place + "/v.yaml")])
    let configuration = ConfigurationMonitor(file: place + "/v.yaml")
    _ = configuration.read()
    try replace("views: [1]\n")
    #expect(definitions.changes().map(\.file) == [place + "/v.yaml"])
    #expect(configuration.hasChanged(hasNews: true, now: 0))
    _ = configuration.read()
    // And those of now are heard.
    try folder.write("views: [2]\n", to: "c/v.yaml")
    #expect(definitions.changes().map(\.file) == [place + "/v.yaml"])
    #expect(configuration.hasChanged(hasNews: true, now: 0))
    _ = configuration.read()
    try folder.write("roles: { text: \"#ffffff\" }\n", to: "c/themes/own.yaml")
    #expect(configuration.hasChanged(hasNews: true, now: 0))
    #expect(!configuration.hasChanged(hasNews: true, now: 0))
  }

  @Test func mistakeIsSaidAndTheProgramGoesOn() throws {
    let app = try configured("theme: drak")
    #expect(app.toast.hasPrefix("c.yaml:1: "))
    app.press("k")
    #expect(!app.cursorLine.isEmpty)
  }
}
