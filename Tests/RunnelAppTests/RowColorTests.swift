import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree
import Testing

@testable import RunnelWorkspace

/// Columns whose values have colors.
@Suite struct RowColorTests {
  private func roles(
    of json: JSONValue, isTransient: Bool = false
  ) throws -> [String: StyleRole] {
    let columns = [
      ColumnDefinition(field: .path(try Path("who")), width: 8, isColored: true),
      ColumnDefinition(field: .path(try Path("text"))),
    ]
    let definition = ViewDefinition(
      name: "A", source: SourceDefinition(path: .root), columns: columns)
    let rows = RowText(
      definition: definition, now: 0, local: .utc, glyphs: .unicode, screenWidth: 80,
      listWidth: 80, timeStyle: .age)
    let child = Child(key: try Key("k"), node: try Node(json: json))
    let record = Record(
      path: try Path("k"), row: TreeRow(child, index: .key, detail: .full))
    var state = RowText.State()
    state.isTransient = isTransient
    var roles: [String: StyleRole] = [:]
    for run in rows.line(for: record, state: state, width: 80).runs { roles[run.text] = run.role }
    return roles
  }

  @Test func valueOfAColoredColumnHasItsColor() throws {
    let roles = try roles(of: ["who": "ana", "text": "ana"])
    #expect(roles["ana"] == .color(ofValue: "ana"))
    #expect(roles.filter { $0.key.hasPrefix("ana ") }.allSatisfy { $0.value == .text })
  }

  @Test func rowThatIsNotStoredLooksLikeThat() throws {
    #expect(try roles(of: ["who": "ana"], isTransient: true)["ana"] == .transient)
  }

  @Test func missingValueHasNoColor() throws {
    let colors = Set(try roles(of: ["text": "x"]).values)
    #expect(colors.isSubset(of: [.text]))
  }
}
