import RunnelBase
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
    let shown = app.state.tabs.front.shownDefinition
    #expect(shown.columns.map(\.field.text) == ["plot", "active", "email"])
  }
}
