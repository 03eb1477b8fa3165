import RunnelBase
import RunnelDatabase
import RunnelStreams
import RunnelTree
import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

/// What a list is told of its first page, which the server of a replica sends after the list has opened.
@Suite struct FirstPageTests {
  /// A tree that only notes what it is asked.
  private final class SilentSource: TreeSource {
    private(set) var listeners: [ListenerID] = []

    func listen(_ request: ListenRequest) -> ListenerID {
      listeners.append(ListenerID(listeners.count + 1))
      return listeners[listeners.count - 1]
    }

    func unlisten(_ listener: ListenerID) {}
    func extend(_ listener: ListenerID, by count: Int) {}
  }

  private func rows(_ keys: Range<Int>) throws -> [TreeEvent] {
    try keys.map { number in
      let child = Child(key: try Key("\(number)"), node: try Node(json: ["n": 1]))
      return .childAdded(TreeRow(child, index: .key, detail: .full), previous: nil)
    }
  }

  /// The rows, and the answer that says whether there are more, may come one after the other.
  ///
  /// The list once stayed `loading` then.
  @Test func aPageWhoseAnswerComesAfterItsRowsIsLoaded() throws {
    let source = SilentSource()
    let definition = ViewDefinition(
      name: "list", source: SourceDefinition(path: try Path("/list"), page: 3), columns: [])
    let streams = try ViewStreams(definition, source: source, local: .utc, countsRows: false)
    var told: [(phase: LoadState, rows: Int)] = []
    streams.start({ told.append(($0.phase, $0.loadedCount)) })
    let listener = try #require(source.listeners.first)
    streams.receive([.page(hasMore: true)], from: listener)
    streams.receive(try rows(100..<103), from: listener)
    #expect(told.last?.phase == .loading && told.last?.rows == 3)
    streams.receive([.answered, .page(hasMore: true)], from: listener)
    #expect(told.last?.phase == .loaded && told.last?.rows == 3)
    let count = told.count
    streams.receive([.answered], from: listener)
    #expect(told.count == count)
  }
}
