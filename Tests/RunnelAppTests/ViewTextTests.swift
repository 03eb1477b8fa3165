import RunnelBase
import RunnelTerminal
import RunnelTree
import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

/// Views as text in a views file.
@Suite struct ViewTextTests {
  @Test func textOfViewsIsReadAsTheSameViews() throws {
    let views = try Fixture.views()
    let text = ViewText.file(views)
    #expect(try ViewFile(yaml: text, name: "test").views == views, "\(text)")
  }

  @Test func strangeNamesAreQuoted() throws {
    var view = try Fixture.views()[1]
    view.name = "no: \"1\" # x"
    view.columns = [
      ColumnDefinition(field: try FieldPath("true")), ColumnDefinition(field: try FieldPath("a b")),
      ColumnDefinition(field: try FieldPath("größe"), width: 4),
    ]
    #expect(try ViewFile(yaml: ViewText.file([view]), name: "test").views == [view])
  }

  @Test func newViewStandsAtTheEndOfTheList() throws {
    let entry = "  - name: A\n    path: /a\n    columns:\n      - { field: x }\n"
    let text = "# Mine\nviews:\n\(entry)\n  # the end\nme: zoe\n"
    let view = ViewDefinition(
      name: "B", source: SourceDefinition(path: try Path("b")),
      columns: [ColumnDefinition(field: try FieldPath("z"))])
    let new = try #require(ViewText.adding(view, to: text))
    let second = "  - name: B\n    path: /b\n    columns:\n      - { field: z }\n"
    #expect(new == "# Mine\nviews:\n\(entry)\(second)\n  # the end\nme: zoe\n")
    #expect(try ViewFile(yaml: new, name: "x").views.map(\.name) == ["A", "B"])
    let flat = "views:\n- name: A\n  path: /a\n  columns: [{ field: x }]\nme: zoe"
    let other = try #require(ViewText.adding(view, to: flat))
    #expect(try ViewFile(yaml: other, name: "x").views.map(\.name) == ["A", "B"])
    #expect(ViewText.adding(view, to: "me: zoe\n") == nil)
    #expect(ViewText.adding(view, to: "views: [{ name: A, path: /a }]\n") == nil)
  }

  /// Filters, and the conditions that say the same.
  @Test(arguments: [
    ("from:BO", #"from == "bo""#), ("from:bo|ana", #"from == "bo" or from == "ana""#),
    ("likes>3 -from:bo", #"likes > 3 and not from == "bo""#), ("has:likes", "exists likes"),
    ("closed:none", "missing closed"), ("text~Gate", #"text contains~ "Gate""#),
    ("text~^the", #"text begins~ "the""#), ("is:pinned", "pinned == true"),
    ("from:nobody", #"from == "nobody""#),
  ])
  func filterBecomesTheConditionOfASavedView(filter: String, condition: String) throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small)
    app.press("f")
    app.type(filter)
    app.press("Enter")
    let found = try FilterPredicate(FilterScreen.filter(app.state, filter), in: app.list)
    #expect(found.predicate.description == condition)
  }

  @Test(arguments: [
    ("gate", "a view keeps no words"), ("created>2d", "a view keeps no dates"),
    ("created:today", "a view keeps no dates"), ("is:new", "a view does not keep what is new"),
    ("text~a.b", "a view keeps no patterns"), ("from>bo", "a view compares fields with numbers"),
  ])
  func filterThatNoConditionSaysIsNamed(filter: String, reason: String) throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small)
    let error = #expect(throws: FilterError.self) {
      try FilterPredicate(FilterScreen.filter(app.state, "has:text " + filter), in: app.list)
    }
    #expect(error?.message.hasPrefix(reason) == true, "\(error?.message ?? "")")
    #expect(error?.message.hasSuffix(": \(filter)") == true)
  }

  private func saved(_ state: inout AppState, _ name: String) -> ViewSaving? {
    #expect(PaletteCommand.saveView.run(&state, name) == nil)
    guard case .saveView(let saving)? = state.effects.last else { return nil }
    return saving
  }

  @Test func viewIsSavedUnderANameWithItsFilter() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small)
    app.press("f")
    app.type("from:bo")
    app.press("Enter")
    var state = app.state
    state.files.viewsFile = "/tmp/x.views.yaml"
    let new = try #require(saved(&state, "Bo only"))
    #expect(new.isNew && new.view.name == "Bo only")
    #expect(new.view.source.filter?.description == #"from == "bo""#)
    #expect(new.all.map(\.name) == ["Chat", "People", "Bo only"])
    #expect(try ViewFile(yaml: ViewText.file(new.all), name: "x").views == new.all)
    // Without a name the view is its own, and the filter is left out.
    let own = try #require(saved(&state, ""))
    #expect(own.view.name == "Chat" && own.view.source.filter == nil)
    #expect(state.toast?.toast.text.contains("not its filter") == true)
  }

  @Test func viewOfAnotherNameIsReplacedOnlyAfterAQuestion() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small)
    var state = app.state
    state.files.viewsFile = "/tmp/x.views.yaml"
    let count = state.effects.count
    #expect(PaletteCommand.saveView.run(&state, "People") == nil)
    #expect(state.effects.count == count)
    guard case .question(let question)? = state.layers.last,
      case .saveView(let saving) = question.purpose
    else {
      Issue.record("nothing is asked")
      return
    }
    #expect(saving.view.name == "People" && saving.view.source.path.description == "/room")
  }

  @Test func savedViewTakesThePlaceOfItsEntryOnly() throws {
    let text = """
      # Mine
      me: zoe
      views:
        - name: Chat   # the talk
          path: /room
          columns:
            - { field: text }

        # People
        - name: "People"
          path: /user
          columns:
            - { field: name }
      """
    var view = try ViewFile(yaml: text, name: "test").views[0]
    view.columns = [ColumnDefinition(field: .key, width: 8)]
    let new = try #require(ViewText.replacing(view, in: text))
    #expect(
      new == """
        # Mine
        me: zoe
        views:
          - name: Chat
            path: /room
            columns:
              - { field: $key, width: 8 }

          # People
          - name: "People"
            path: /user
            columns:
              - { field: name }
        """)
    view.name = "Other"
    #expect(ViewText.replacing(view, in: text) == nil)
  }

  @Test func hiddenColumnsAreNotSaved() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small)
    app.press("g2 gg j | x Esc")
    let shown = app.list.shownDefinition
    #expect(shown.columns.map(\.field.text) == ["plot", "active", "email"])
  }
}
