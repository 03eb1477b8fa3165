import Foundation
import RunnelBase
import RunnelDemo
import RunnelStreams
import RunnelTree
import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

@Suite struct ResourceDefinitionFileTests {
  static let files = [
    BadFile("", line: 1, "The file is empty: it has a list `resources`."),
    BadFile("log: /x\n", line: 1, "A resources file has a list `resources`"),
    BadFile("resources: [\n", line: 2, "This is not YAML"),
    BadFile("resources: 5\n", line: 1, "`resources` is a list."),
    BadFile("colour: 1\n", line: 1, "`colour` is not known here. Known: log, resources."),
    BadFile("resources:\n  - path: /a/@\n", line: 2, "`name` is missing"),
    BadFile("resources:\n  - name: a\n", line: 2, "`path` is missing"),
    BadFile("resources:\n  - name: a\n    path: /a//@\n", line: 3, "piece 2"),
    BadFile("resources:\n  - name: a\n    paths: /a\n", line: 3, "`paths` is a list."),
    BadFile("resources:\n  - name: a\n    paths: [/a/@, /@]\n", line: 3, "places of /@ may be"),
    BadFile("log: /a\nresources:\n  - name: a\n    path: /a/@\n", line: 1, "action log"),
    BadFile(resource: "feilds: {}", line: 4, "`feilds` is not known here: did you mean `fields`?"),
    BadFile(resource: "fields:\n  x: text", line: 5, "The field `x` has a `kind`"),
    BadFile(resource: "fields:\n  x: { kind: string }", line: 5, "`kind` is one of text, integer"),
    BadFile(resource: "fields:\n  x: { required: true }", line: 5, "`kind` is missing"),
    BadFile(resource: "fields:\n  x: { kind: text, length: [3, 1] }", line: 5, "`length` is two"),
    BadFile(resource: "fields:\n  x: { kind: integer, range: [1] }", line: 5, "`range` is two"),
    BadFile(resource: "fields:\n  x: { kind: choice }", line: 5, "a list `choices`"),
    BadFile(resource: "fields:\n  a.b: { kind: text }", line: 5, "a.b"),
    BadFile(resource: "fields:\n  x: { kind: reference }", line: 5, "`to` is missing"),
    BadFile(resource: "fields:\n  x: { kind: reference, to: z }", line: 1, "refers to `z`"),
    BadFile(resource: "counters:\n  - { field: n }", line: 5, "`count` is missing"),
    BadFile(resource: "counters:\n  - { field: n, count: z }", line: 5, "no resource `z`"),
    BadFile(resource: "counters:\n  - { field: n, count: a }", line: 5, "tells which `a`"),
    BadFile(
      resource: "counters:\n  - { field: n, count: a, by: x, where: ( }", line: 5,
      "`where`, at character 2"),
    BadFile(resource: "copies:\n  - { from: a, by: x }", line: 5, "A copy has `fields`"),
    BadFile(resource: "destroy-with:\n  - { owner: z }", line: 5, "no resource `z`"),
    BadFile(resource: "needs:\n  - { owner: z }", line: 5, "no resource `z`"),
  ]

  @Test(arguments: files)
  func aMistakeIsReportedWithItsLine(file: BadFile) throws {
    let error = try #require(throws: ConfigurationError.self) {
      try ResourceDefinitionFile(yaml: file.yaml, name: "f.yaml")
    }
    #expect(error.line == file.line, "\(error)")
    #expect(error.message.contains(file.words), "\(error)")
  }

  @Test func everythingThatCanBeRegisteredIsRead() throws {
    let yaml = """
      log: /log
      resources:
        - name: message
          paths: [/message/$group/@, /user_message/$from/$group/@]
          parents: { group: room }
          only-fields: true
          fields:
            from: { kind: reference, to: user }
            text: { kind: text, length: [1, null], required: true }
            stars: { kind: integer, range: [0, 5], initial: 3 }
          copies:
            - { from: user, by: from, fields: { name: from_name } }
          destroy-with:
            - { owner: room }
          needs:
            - { owner: room }
        - name: user
          path: /user/@
          counters:
            - { field: stars_5, count: message, by: from, where: stars == 5 }
        - name: room
          path: /room/@
      """
    let registry = try ResourceDefinitionFile(yaml: yaml, name: "f").registry
    #expect(registry.definitions.map(\.name) == ["message", "user", "room"])
    let message = registry.definitions[0]
    #expect(
      message.patterns.map(\.description) == [
        "/message/$group/@", "/user_message/$from/$group/@",
      ])
    #expect(!message.schema.allowsOthers)
    #expect(
      message.schema.fields.map(\.kind) == [
        .reference("user"), .text(length: 1...Int.max), .integer(0...5),
      ])
    #expect(message.schema.fields.map(\.isRequired) == [false, true, false])
    #expect(message.schema.fields.map(\.initial) == [nil, nil, 3])
    #expect(registry.counters.map(\.field.text) == ["stars_5"])
    #expect(registry.copies.map(\.fields.first?.copy.text) == ["from_name"])
    #expect(registry.cascades.map(\.owner) == ["room"])
    #expect(registry.requirements == registry.cascades)
    #expect(registry.log?.description == "/log")
  }

  @Test func theDemoHasResourcesThatItsRecordsFit() throws {
    let name = "demo/demo.resources.yaml"
    let file = try #require(ResourceFiles.path(of: name))
    let yaml = try String(contentsOfFile: file, encoding: .utf8)
    let registry = try ResourceDefinitionFile(yaml: yaml, name: name).registry
    let tree = MemoryTree(try Node(json: Fixture.demo(messageCount: 200).json()))
    for definition in registry.definitions where definition.name != "like" {
      let path = try registry.collection(
        of: definition.name, in: ["group": ResourceObject("group", key: DemoData.mainGroupID)])
      for child in tree.root[path].children {
        #expect(definition.schema.errors(in: child.node) == [], "\(definition.name) \(child.key)")
      }
    }
    let report = try #require(try ResourceAudit(registry: registry, reader: tree).run())
    #expect(report.orphans.isEmpty)
    #expect(report.isInStep)
    #expect(tree.root[try Path("message_like/\(DemoData.mainGroupID)")].children.count > 10)
  }
}

extension BadFile {
  /// A resources file whose resource `a` at `/a/@` is as given from its fourth line on.
  fileprivate init(resource text: String, line: Int, _ words: String) {
    let lines = BadFile.indented(text)
    self.init("resources:\n  - name: a\n    path: /a/@\n\(lines)\n", line: line, words)
  }
}
