import RunnelBase
import RunnelTree
import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

/// A list whose view was made before there was a record.
@Suite struct AwaitedColumnsTests {
  @Test func columnsAreFoundWhenTheFirstRecordsCome() throws {
    let sample = CollectionSample(path: try Path("note"), keys: [], records: [])
    let view = ViewInference.view(of: sample, named: "note", pageSize: 50)
    let app = try AppDriver([view], json: .null)
    #expect(app.list.definition.columns.map(\.field) == [.key])
    try app.set("/note/a", ["text": "for members"])
    #expect(app.line(of: "for members") != nil)
    // Later ones change no column.
    try app.set("/note/b", ["text": "more", "other": "field"])
    #expect(app.line(of: "other") == nil)
  }
}
