import Foundation
import RunnelBase
import RunnelDatabase
import RunnelTerminal
import RunnelTree
import Testing

@testable import RunnelApp

/// Plays a scenario on the workspace, and notes which actions its keys ran.
final class ScenarioPlayer {
  private let file: ScenarioFile
  private let app: AppDriver
  /// The actions that keys ran.
  private(set) var actions: Set<ActionID> = []

  /// Opens the workspace as the settings of the file say: `database`, `size`, `signs`, `readonly`.
  init(_ file: ScenarioFile) throws {
    self.file = file
    let isGarden = file.setting("database") == "garden"
    let size = (file.setting("size") ?? "80x24").split(separator: "x").compactMap { Int($0) }
    try #require(size.count == 2, "\(file.name): a size is COLUMNSxROWS")
    app = try AppDriver(
      isGarden ? Fixture.gardenViews() : Fixture.views(),
      resources: isGarden ? Fixture.gardenBook() : ResourceBook(),
      json: ScenarioPlayer.database(file.setting("database") ?? "small"),
      columns: size[0], rows: size[1],
      glyphs: file.setting("signs") == "ascii" ? .ascii : .unicode,
      isReadOnly: file.setting("readonly") != nil)
    // What was asked for to open the file is no effect of the keys.
    app.pump()
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
    case "wait": app.wait(milliseconds: try #require(Int64(step.rest)))
    case "resize":
      let size = step.rest.split(separator: "x").compactMap { Int($0) }
      app.resize(columns: size[0], rows: size[1])
    case "set":
      let (path, json) = try pathAndJSON(step.rest)
      try app.set(path, json)
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
    case "leaves": #expect(app.state.isLeaving, "\(place)")
    case "stays": #expect(!app.state.isLeaving, "\(place)")
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
      var matcher = app.state.matcher
      let match = matcher.feed(stroke, keymap: app.state.keymap, contexts: app.state.contexts)
      if case .action(let action, _) = match { actions.insert(action) }
      app.send(.key(stroke))
      app.pump()
    }
  }
}
