import RunnelBase
import RunnelDatabase
import RunnelTerminal
import RunnelTree
import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

@Suite struct ViewFileTests {
  static let files = [
    BadFile("", line: 1, "The file is empty: it has a list `views`."),
    BadFile("- a\n", line: 1, "Names with values are expected here"),
    BadFile("me: zoe\n", line: 1, "A views file has a list `views`"),
    BadFile("me: zoe\nviews: 5\n", line: 2, "A views file has a list `views`"),
    BadFile("me: zoe\nviews: []\n", line: 2, "The list `views` is empty"),
    BadFile("me: [zoe]\nviews: []\n", line: 1, "A text is expected here."),
    BadFile(
      "me: zoe\ncolour:\n  red: 1\n", line: 2, "`colour` is not known here. Known: me, views."),
    BadFile("views: [\n", line: 2, "This is not YAML"),
    BadFile("views:\n\t- a\n", line: 2, "This is not YAML"),
    BadFile("views:\n  - name: \"A\n", line: 3, "This is not YAML"),
    BadFile("me: a\nme: b\n", line: 1, "`me` stands twice"),
    BadFile("views:\n  - 5\n", line: 2, "Names with values are expected here"),
    BadFile("views:\n  - path: /a\n    columns: []\n", line: 2, "`name` is missing"),
    BadFile("views:\n  - path: /a\n    name: \"\"\n", line: 3, "`name` is missing"),
    BadFile("views:\n  - name: A\n", line: 2, "A view has a `path`"),
    BadFile("views:\n  - name: A\n    path: /a\n", line: 2, "A view has a list `columns`"),
    BadFile(
      "views:\n  - name: A\n    path: /a\n    columns: []\n", line: 4, "describe one column or more"
    ),
    BadFile("views:\n  - name: A\n    path: /a\n    columns: x\n", line: 4, "`columns` is a list."),
    BadFile("views:\n  - name: A\n    path: a.b\n", line: 3, "a.b"),
    BadFile(view: "title: x", line: 4, "`title` is not known here."),
    BadFile(view: "nmae:\n  a: 1", line: 4, "`nmae` is not known here: did you mean `name`?"),
    BadFile(view: "order: a.b", line: 4, "a.b"),
    BadFile(view: "order: $kee", line: 4, "$kee"),
    BadFile(view: "order: []", line: 4, "at least one component"),
    BadFile(view: "order: [a, a]", line: 4, "twice"),
    BadFile(view: "order: [$key, a]", line: 4, "the last of an order"),
    BadFile(view: "order: [[a]]", line: 4, "A text is expected here."),
    BadFile(view: "order: { a: 1 }", line: 4, "A text is expected here."),
    BadFile(view: "where: a = 1", line: 4, "`where`, at character 3: equality is written `==`."),
    BadFile(view: "where: { a: 1 }", line: 4, "A text is expected here."),
    BadFile(view: "also:\n  - { where: ( }", line: 5, "`where`, at character 2"),
    BadFile(view: "anchor: middle", line: 4, "`anchor` is `first` or `last`, not `middle`."),
    BadFile(view: "page: 0", line: 4, "`page` is a whole number from 1 to 10000."),
    BadFile(view: "page: many", line: 4, "`page` is a whole number from 1 to 10000."),
    BadFile(view: "page: 1.5", line: 4, "`page` is a whole number from 1 to 10000."),
    BadFile(view: "keep: -1", line: 4, "`keep` is how many rows stay loaded, a whole number up to"),
    BadFile(view: "keep: [1]", line: 4, "A text is expected here."),
    BadFile(view: "keep: on", line: 4, "or `off` for all."),
    BadFile(view: "descending: 3", line: 4, "`descending` is true or false."),
    BadFile(view: "equal-to: [1]", line: 4, "`equal-to` is a text, a number or a boolean."),
    BadFile(view: "equal-to: null", line: 4, "`equal-to` is a text, a number or a boolean."),
    BadFile(view: "compose: a.b", line: 4, "a.b"),
    BadFile(view: "new: [x]", line: 4, "Names with values are expected here"),
    BadFile(view: "new:\n  x: 1\n  a.b: 1", line: 6, "a.b"),
    BadFile(view: "also: { order: x }", line: 4, "`also` is a list."),
    BadFile(view: "also:\n  - order: x\n    colour: red", line: 6, "`colour` is not known here."),
    BadFile(view: "sections: day", line: 4, "`sections` is a list."),
    BadFile(
      view: "sections:\n  - { by: x }", line: 5,
      "A section rule has `where` with `title`, or `field`, or `day`."),
    BadFile(view: "sections:\n  - where: { x: 1 }", line: 5, "`title` is missing"),
    BadFile(view: "sections:\n  - title: T\n    where: 5", line: 6, "Names with values"),
    BadFile(view: "sections:\n  - title: T\n    where:\n      a.b: 5", line: 7, "a.b"),
    BadFile(view: "sections:\n  - day: x\n    title: T", line: 6, "`title` is not known here."),
    BadFile(view: "sections:\n  - field: x\n    titles: [a]", line: 6, "Names with values"),
    BadFile(view: "sections:\n  - field: x\n    titles: { a: [b] }", line: 6, "A text is expected"),
    BadFile(column: "{ width: 3 }", "A column has a `field`."),
    BadFile(column: "x", "Names with values are expected here"),
    BadFile(column: "{ field: a.b }", "a.b"),
    BadFile(
      column: "{ field: x, format: fancy }",
      "`format` is one of plain, time, date, age, mark, count, number, change, not `fancy`."),
    BadFile(column: "{ field: x, width: wide }", "`width` is a whole number from 1 to 500."),
    BadFile(column: "{ field: x, width: 0 }", "`width` is a whole number from 1 to 500."),
    BadFile(column: "{ field: x, screen: -1 }", "`screen` is a whole number from 0 to 500."),
    BadFile(column: "{ field: x, muted: 2 }", "`muted` is true or false."),
    BadFile(column: "{ field: x, bold: true }", "`bold` is not known here."),
  ]

  @Test(arguments: files) func mistakeIsReportedWithFileLineAndExpectation(file: BadFile) throws {
    let error = try #require(throws: ConfigurationError.self) {
      _ = try ViewFile(yaml: file.yaml, name: "my.views.yaml")
    }
    #expect(error.file == "my.views.yaml")
    #expect(error.line == file.line, "\(error)")
    #expect(error.message.contains(file.words), "\(error)")
    #expect("\(error)" == "my.views.yaml:\(file.line): \(error.message)")
    #expect(!error.message.contains("\n"))
  }

  @Test func everyNameIsRead() throws {
    let yaml = """
      me: zoe
      views:
        - name: Everything
          path: /a/b
          order: x/y
          anchor: last
          descending: true
          page: 7
          equal-to: 3
          also:
            - { path: /c, order: $value, anchor: first }
            - { order: $priority }
          sections:
            - { title: First, where: { $key: k, n: 1, deep/er: text } }
            - { field: role, titles: { b: B, a: A } }
            - { day: at }
          columns:
            - { field: $key, width: 9, muted: true, screen: 60 }
            - { field: $value, format: date, color: true }
          compose: text
          new: { who: $me, at: { .sv: timestamp }, list: [1, two], none: null }
      """
    let file = try ViewFile(yaml: yaml, name: "x")
    let view = try #require(file.views.first)
    #expect(file.me == "zoe")
    #expect(view.source.order == .child(try Path("x/y")))
    #expect(view.source.isDescending && view.source.anchor == .last && view.source.page == 7)
    #expect(view.source.equalTo == .leaf(.number(JSONNumber(3))))
    #expect(view.also.map(\.order) == [.value, .priority])
    #expect(view.also.map(\.path) == [try Path("/c"), try Path("/a/b")])
    #expect(view.sections.count == 3)
    #expect(
      view.sections[0]
        == .match(
          title: "First",
          [.key: "k", .path(try Path("n")): 1, .path(try Path("deep/er")): "text"]))
    guard case .field(_, let titles) = view.sections[1] else { return }
    #expect(titles.map(\.title) == ["B", "A"])
    #expect(view.columns.map(\.field) == [.key, .value])
    #expect(view.columns[0].width == 9 && view.columns[0].minimumScreen == 60)
    #expect(view.columns[1].format == .date)
    #expect(view.columns.map(\.isColored) == [false, true])
    #expect(view.template.map(\.isComputed) == [true, true, false, false])
    #expect(view.indexes.count == 2)
  }

  @Test func valuesWithinObjectsOfNewRecordsAreFields() throws {
    let yaml = """
      views:
        - name: A
          path: /a
          columns: [{ field: x }]
          new: { owner: { name: $me, at: { .sv: timestamp } }, tags: {}, list: [1, 2] }
      """
    let view = try #require(ViewFile(yaml: yaml, name: "a.views.yaml").views.first)
    #expect(view.template.map(\.path.text) == ["owner/name", "owner/at", "tags", "list"])
    #expect(view.template.map(\.isComputed).prefix(2) == [true, true])
    #expect(
      view.record(filledWith: [], me: "zoe")["owner"]
        == ["name": "zoe", "at": [".sv": "timestamp"]])
  }

  @Test func anOrderMayBeAListAndRowsMayBeTested() throws {
    let yaml = """
      views:
        - name: A
          path: /a
          order: [created:desc, likes]
          where: author == "ana" and not hidden
          columns: [{ field: $key }]
          also:
            - { order: "created:desc,$key:desc" }
            - { order: $key:desc, where: exists pinned }
            - { order: "pinned:desc,$key", equal-to: true }
      """
    let view = try #require(try ViewFile(yaml: yaml, name: "x").views.first)
    #expect(view.source.order.description == "created:desc,likes")
    #expect(try view.source.filter == ChildPredicate(parsing: #"author == "ana" and not hidden"#))
    #expect(
      view.also.map(\.order.description) == ["created:desc,$key:desc", "$key:desc", "pinned:desc"])
    #expect(try view.also[1].filter == ChildPredicate(parsing: "exists pinned"))
    let request = try view.source.request()
    #expect(request.query.filter == view.source.filter)
    #expect(
      view.indexes.map(\.order.description) == ["created:desc,likes", "created", "pinned:desc"])
  }

  @Test func aViewSaysHowManyRowsItKeeps() throws {
    func keep(_ line: String) throws -> Int? {
      let text = "views:\n  - { name: A, path: /a, columns: [{ field: $key }]\(line) }\n"
      let file = try ViewFile(yaml: text, name: "v")
      #expect(try ViewFile(yaml: file.json.jsonText(), name: "v") == file)
      return file.views[0].source.keep
    }
    #expect(try keep("") == 2000)
    #expect(try keep(", keep: 500") == 500)
    #expect(try keep(", keep: off") == nil)
    #expect(try keep(", keep: 0") == nil)
  }

  @Test func demoViewsAreRead() throws {
    let file = try Fixture.demoViews()
    #expect(file.me == "zoe")
    #expect(file.views.map(\.name) == ["Messages", "Roster", "Groups", "Talk"])
  }

  @Test func allMistakesAreToldWithTheirLines() throws {
    let yaml = """
      views:
        - name: A
          path: /a
          colums: [{ field: x }]
          order: a.b
          sections:
            - day: a.b
        - name: B
          path: /b
          columns:
            - { field: x, width: wide }
            - { width: 3 }
      """
    let error = try #require(throws: ConfigurationError.self) {
      _ = try ViewFile(yaml: yaml, name: "v.yaml")
    }
    #expect(([error] + error.others).map(\.line) == [4, 5, 7, 11, 12])
    #expect(error.description.split(separator: "\n").allSatisfy { $0.hasPrefix("v.yaml:") })
  }
}

extension BadFile {
  /// A view whose third line on is as given; columns come on its last line.
  fileprivate init(view text: String, line: Int, _ words: String) {
    let lines = BadFile.indented(text)
    self.init(
      "views:\n  - name: A\n    path: /a\n\(lines)\n    columns: [{ field: x }]\n", line: line,
      words)
  }

  /// A view whose only column is as given, on line 5.
  fileprivate init(column: String, _ words: String) {
    self.init(
      "views:\n  - name: A\n    path: /a\n    columns:\n      - \(column)\n", line: 5, words)
  }
}
