import RunnelBase
import RunnelTree
import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

/// Columns for wider screens, which a user wants on a narrow one.
@Suite struct ChosenColumnTests {
  private let app: AppDriver

  init() throws {
    let view = try ViewFile(
      yaml: """
        views:
          - name: club
            path: /club
            columns:
              - { field: $key, width: 4 }
              - { field: town, width: 30 }
              - { field: street, width: 30, screen: 70 }
              - { field: mail, width: 20, screen: 100 }
              - { field: born, width: 10, screen: 120 }
        """, name: "test.views.yaml"
    ).views
    app = try AppDriver(
      view,
      json: [
        "club": [
          "a": ["town": "Ulm", "street": "Kirchweg", "mail": "a@x.de", "born": "1942-04-05"]
        ]
      ])
  }

  private func choose(_ field: String) {
    app.press("z w")
    app.type(field)
    app.press("Enter Esc")
  }

  @Test func columnThatIsChosenIsShownAndOthersGiveWay() {
    #expect(app.line(of: "Kirchweg") != nil && app.line(of: "1942-04-05") == nil)
    app.press("z w")
    #expect(app.screen.contains { $0.contains("[ ] born") && $0.contains("from 120 columns") })
    app.press("Esc")
    choose("born")
    #expect(app.line(of: "1942-04-05") != nil, "\(app.body)")
    #expect(app.list.shownDefinition.columns.last?.minimumScreen == 0, "it is saved so")
    choose("born")
    #expect(app.line(of: "1942-04-05") == nil, "\(app.body)")
  }

  @Test func columnsForWiderScreensTakeTheRoomOfHiddenOnes() {
    choose("town")
    #expect(app.line(of: "a@x.de") != nil, "\(app.body)")
    choose("street")
    #expect(app.line(of: "1942-04-05") != nil, "\(app.body)")
  }

  @Test func viewThatIsSavedUnderANameLeavesTheOthersAsTheyWere() throws {
    var state = app.state
    state.files.viewsFile = "club.views.yaml"
    Sorting.sort(&state, by: ListOrder(.child(try Path("town"))), inView: 0)
    #expect(state.tabs.lists[0].definition.source.order != .key)
    #expect(ViewSaving.start(&state, named: "Towns") == nil)
    let saved = state.effects.compactMap { effect -> ViewSaving? in
      if case .saveView(let saving) = effect { saving } else { nil }
    }
    #expect(saved.first?.all.map(\.name) == ["club", "Towns"])
    #expect(saved.first?.all.map { $0.source.order == .key } == [true, false])
  }
}
