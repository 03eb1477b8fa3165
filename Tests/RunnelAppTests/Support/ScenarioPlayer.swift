import Foundation
import RunnelBase
import RunnelDatabase
import RunnelTerminal
import RunnelTree
import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

/// Plays a scenario on the workspace, and notes which actions its keys ran.
final class ScenarioPlayer {
  let app: AppDriver
  private let file: ScenarioFile
  /// The actions that keys ran.
  private(set) var actions: Set<ActionID> = []

  /// How the workspace is opened where it is not as the file says.
  struct Variant {
    /// The size of the screen; nil for that of the file.
    var size: TerminalSize?
    /// Whether the signs are ASCII ones; nil for what the file says.
    var isASCII: Bool?
    /// What is made of each text in the database.
    var text: (String) -> String = { $0 }
  }

  /// Opens the workspace as the settings of the file say: `database`, `size`, `signs`, `readonly`.
  init(_ file: ScenarioFile, as variant: Variant = Variant()) throws {
    self.file = file
    let isGarden = file.setting("database") == "garden"
    let size = try variant.size ?? ScenarioPlayer.size(file.setting("size") ?? "80x24")
    let isASCII = variant.isASCII ?? (file.setting("signs") == "ascii")
    app = try AppDriver(
      isGarden ? Fixture.gardenViews() : Fixture.views(),
      resources: isGarden ? Fixture.gardenBook() : ResourceBook(),
      json: ScenarioPlayer.database(file.setting("database") ?? "small")
        .mappingTexts(variant.text),
      columns: size.columns, rows: size.rows, glyphs: isASCII ? .ascii : .unicode,
      isReadOnly: file.setting("readonly") != nil)
    // What was asked for to open the file is no effect of the keys.
    app.pump()
  }

  /// Reads a size, `COLUMNSxROWS`.
  private static func size(_ text: String) throws -> TerminalSize {
    let numbers = text.split(separator: "x").compactMap { Int($0) }
    try #require(numbers.count == 2, "a size is COLUMNSxROWS: \(text)")
    return TerminalSize(columns: numbers[0], rows: numbers[1])
  }

  /// `small`, `history N`, `garden` with its resources, or JSON.
  private static func database(_ text: String) throws -> JSONValue {
    if text == "small" { return Fixture.small }
    if text == "garden" { return Fixture.garden }
    if text.hasPrefix("history "), let count = Int(text.dropFirst("history ".count)) {
      return Fixture.history(count)
    }
    return try JSONValue(parsing: text)
  }

  func play() throws {
    for step in file.steps { try play(step) }
  }

  private func play(_ step: ScenarioFile.Step) throws {
    switch step.word {
    case "database", "size", "signs", "readonly": break
    case "press": try press(step.rest)
    case "type": app.type(step.rest)
    case "paste":
      app.send(.paste(step.rest))
      app.pump()
    case "themes":
      // The user's theme files, by name.
      let files = step.rest.split(separator: " ").map { ThemeFile(yaml: "", file: "\($0).yaml") }
      let file = ConfigurationFile(yaml: "", name: "config.yaml", themes: files)
      app.configure(file.settings, problem: nil)
    case "accounts":
      // What is known of the accounts at the server, as a recorded session has it.
      let facts = try #require(AccountFacts(JSONValue(parsing: step.rest)), "\(file.name)")
      app.take(.accounts(facts))
    case "devices":
      // What is known of the user's devices, as a recorded session has it.
      let facts = try #require(DeviceFacts(JSONValue(parsing: step.rest)), "\(file.name)")
      app.take(.devices(facts))
    case "focus": app.send(.focus(step.rest == "in"))
    case "wait": app.wait(milliseconds: try #require(Int64(step.rest)))
    case "resize":
      let size = try ScenarioPlayer.size(step.rest)
      app.resize(columns: size.columns, rows: size.rows)
    case "set":
      let (path, json) = try pathAndJSON(step.rest)
      try app.set(path, json)
    case "unseen":
      let (path, json) = try pathAndJSON(step.rest)
      try app.elsewhereUnseen { _ = try $0.write(.set(Path(path), json)) }
    case "remove": try app.remove(step.rest)
    case "editor":
      // The editor replaces a text by another.
      let parts = step.rest.components(separatedBy: " => ")
      try #require(parts.count == 2, "\(file.name): editor OLD => NEW")
      app.editor = { ($0.replacingOccurrences(of: parts[0], with: parts[1]), 0) }
    case "refuse":
      app.backend.refusal =
        step.rest.isEmpty ? nil : DatabaseError(.refused, step.rest)
    default: try check(step)
    }
  }

  private func check(_ step: ScenarioFile.Step) throws {
    let place = "\(file.name):\(step.line)"
    switch step.word {
    case "see": see(step.rest, place)
    case "cursor":
      #expect(app.cursorLine.contains(step.rest), "\(place): \(app.cursorLine)")
    case "toast": #expect(app.toast.contains(step.rest), "\(place): \(app.toast)")
    case "title": #expect(app.screen[0].contains(step.rest), "\(place): \(app.screen[0])")
    case "status": #expect(app.status.contains(step.rest), "\(place): \(app.status)")
    case "top":
      #expect(app.body.first?.contains(step.rest) == true, "\(place): \(app.body[0])")
    case "stored":
      let (path, json) = try pathAndJSON(step.rest)
      let stored = try app.stored(path)
      #expect(stored == json, "\(place): \(stored.jsonText())")
    case "effect":
      #expect(
        app.screenEffects.contains { "\($0)" == step.rest }, "\(place): \(app.screenEffects)")
    case "copied":
      let lines = app.clipboard.replacingOccurrences(of: "\n", with: "|")
      #expect(lines == step.rest, "\(place): \(lines)")
    case "leaves": #expect(app.state.session.isLeaving, "\(place)")
    case "stays": #expect(!app.state.session.isLeaving, "\(place)")
    default: Issue.record("\(place): there is no step called \(step.word)")
    }
  }

  /// `see TEXT` and `see no TEXT`.
  private func see(_ text: String, _ place: String) {
    let isThere: (String) -> Bool = { text in self.app.screen.contains { $0.contains(text) } }
    let screen = app.screen.joined(separator: "\n")
    if text.hasPrefix("no ") {
      #expect(!isThere(String(text.dropFirst(3))), "\(place):\n\(screen)")
    } else {
      #expect(isThere(text), "\(place):\n\(screen)")
    }
  }

  private func pathAndJSON(_ text: String) throws -> (String, JSONValue) {
    let parts = text.split(separator: " ", maxSplits: 1).map(String.init)
    try #require(parts.count == 2, "\(file.name): a path and JSON are needed: \(text)")
    return (parts[0], try JSONValue(parsing: parts[1]))
  }

  private func press(_ keys: String) throws {
    let strokes = try #require(KeyStroke.sequence(keys), "\(file.name): \(keys)")
    for stroke in strokes {
      var matcher = app.state.input.matcher
      let match = matcher.feed(
        stroke, keymap: app.state.settings.keymap, contexts: app.state.contexts)
      if app.state.input.awaited == nil, case .action(let action, _) = match {
        actions.insert(action)
      }
      app.send(.key(stroke))
      app.pump()
    }
  }
}

extension JSONValue {
  /// The value with each text in it mapped; names stay.
  fileprivate func mappingTexts(_ transform: (String) -> String) -> JSONValue {
    switch self {
    case .string(let text): .string(transform(text))
    case .object(let members):
      .object(members.map { JSONMember($0.name, $0.value.mappingTexts(transform)) })
    case .array(let elements): .array(elements.map { $0.mappingTexts(transform) })
    case .null, .bool, .number: self
    }
  }
}
