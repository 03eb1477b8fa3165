import Foundation
import RunnelBase
import RunnelDatabase
import RunnelTerminal
import RunnelTree
import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

/// Views whose path has `$me`, and views that cannot be shown.
@Suite struct UserPathTests {
  private static let text = """
    views:
      - name: Inbox
        path: /inbox/$me
        also: [{ path: /pinned/$me }]
        columns: [{ field: text }]
      - name: Threads
        path: /threads/$me/$inbox
        from: Inbox
        columns: [{ field: text }]
    """
  private static func views() throws -> [ViewDefinition] {
    try ViewFile(yaml: text, name: "test").views
  }

  private func app() throws -> AppDriver {
    let me = try AppDriver(Fixture.views(), json: Fixture.small).state.database.me
    let json: JSONValue = [
      "inbox": .object([
        JSONMember(me, ["a": ["text": "for me"]]), JSONMember("other", ["b": ["text": "secret"]]),
      ]),
      "threads": .object([JSONMember(me, ["a": ["c": ["text": "an answer"]]])]),
    ]
    return try AppDriver(Self.views(), json: json)
  }

  @Test func userStandsInThePathOfAView() throws {
    let app = try app()
    let me = app.state.database.me
    #expect(app.state.tabs.names == ["Inbox", "Tree"])
    #expect(app.list.definition.source.path == (try Path("/inbox/\(me)")))
    #expect(app.list.definition.also.map(\.path) == [try Path("/pinned/\(me)")])
    #expect(app.cursorLine.contains("for me"))
    #expect(app.line(of: "secret") == nil)
    app.press("Enter")
    #expect(app.list.definition.source.path == (try Path("/threads/\(me)/a")))
    #expect(app.cursorLine.contains("an answer"))
  }

  @Test func savedViewKeepsTheNameThatStandsForTheUser() throws {
    let app = try app()
    let shown = ViewText.file([app.list.shownDefinition])
    #expect(shown.contains("path: /inbox/$me\n"))
    #expect(shown.contains("path: /pinned/$me"))
    let text = Self.text.replacing("/inbox/", with: "/inbox2/")
    app.take(.redefined(file: "test.views.yaml", problem: nil, views: SavedViews(text: text)))
    #expect(app.list.definition.source.path == (try Path("/inbox2/\(app.state.database.me)")))
  }

  @Test func userWhoIsNoKeyIsAMistakeOfTheView() throws {
    let views = try Self.views()
    #expect(views.allSatisfy { $0.userProblem("zoe") == nil })
    #expect(
      views[0].userProblem("zoe.b")
        == "`$me` in a path of the view `Inbox` is `zoe.b`, which no key is like: set `me` to another "
        + "name.")
    #expect(try Fixture.views().allSatisfy { $0.userProblem("zoe.b") == nil })
  }

  @Test func logOfResourcesHasOneTabWhichIsTheLast() throws {
    let folder = NSTemporaryDirectory() + "runnel-log-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    // A folder that stays behind is in nobody's way.
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let resources = folder + "/x.resources.yaml"
    try "log: /action\nresources:\n  - { name: group, path: /group/@ }\n"
      .write(toFile: resources, atomically: true, encoding: .utf8)
    let session = try DatabaseSession(
      file: folder + "/x.db", isReadOnly: false,
      environment: DatabaseEnvironment(now: { 0 }, random: SeededRandom(seed: 1)))
    _ = try session.write(
      .set(
        .root,
        [
          "action": [
            "a": ["kind": "create", "from": "zoe"], "b": ["kind": "update", "from": "bo"],
          ],
          "group": ["g": ["name": "Garden", "size": 3], "h": ["name": "House", "size": 4]],
        ]))
    try session.close()
    var options = ApplicationOptions(database: folder + "/x.db")
    options.resources = resources
    let paths = try Workspace(options).views.map(\.source.path)
    #expect(paths == [Fixture.path("/group"), Fixture.path("/action")])
  }

  // MARK: Views that are left out

  private func open(_ text: String, view: String) throws -> Workspace {
    let folder = NSTemporaryDirectory() + "runnel-views-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let file = folder + "/x.views.yaml"
    try text.write(toFile: file, atomically: true, encoding: .utf8)
    var options = ApplicationOptions(database: folder + "/x.db")
    options.views = file
    options.view = view
    return try Workspace(options, isStrict: false)
  }

  private static let good = "  - { name: Good, path: /a, columns: [{ field: x }] }\n"

  @Test(arguments: [
    ("  - { name: Bad, path: /b, columns: [{ field: x, width: wide }] }\n", "`width` is a whole"),
    ("  - { name: Bad, path: /b/$c, columns: [{ field: x }] }\n", "`from` names the view"),
  ])
  func viewThatIsNamedButLeftOutTellsItsMistake(entry: String, words: String) throws {
    let text = "views:\n\(Self.good)\(entry)"
    let error = try #require(throws: ConfigurationError.self) { try open(text, view: "bad") }
    #expect(error.message.contains(words), "\(error)")
    #expect(error.line == 3)
    let other = try #require(throws: ConfigurationError.self) { try open(text, view: "none") }
    #expect(other.message == "There is no view `none`. The views are: Good, Tree.")
    #expect(try open(text, view: "good").problem?.contains(words) == true)
  }

  @Test func viewWhoseUserIsNoKeyIsLeftOut() throws {
    let text =
      "me: zoe.b\nviews:\n\(Self.good)  - { name: Mine, path: /m/$me, columns: [{ field: x }] }\n"
    let error = try #require(throws: ConfigurationError.self) { try open(text, view: "Mine") }
    #expect(error.message.hasPrefix("`$me` in a path of the view `Mine` is `zoe.b`"))
    #expect(try open(text, view: "Good").views.map(\.name) == ["Good"])
  }
}
