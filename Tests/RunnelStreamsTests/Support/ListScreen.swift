import RunnelBase
import RunnelStreams

/// A list of a screen's height that follows a stream and that a user moves in.
final class ListScreen {
  private(set) var content = ListContent()
  var state = ListState()
  let height: Int
  private var adapter: IndexPathAdapter<TestRow>?

  init(_ part: ListPart<TestRow>, height: Int) {
    self.height = height
    let adapter = IndexPathAdapter([part]) { [unowned self] in take($0) }
    self.adapter = adapter
    adapter.start()
  }

  private func take(_ update: ListUpdate<TestRow>) {
    let new = update.content()
    state.apply(
      update.update, from: content, to: new, height: height, newRows: update.arrived)
    content = new
    state.checkInvariants(in: content, height: height)
  }

  func go(to key: String) { state.moveTo(.row(key), in: content, height: height) }

  /// The rows in sight.
  var rows: [String] {
    state.lines(in: content, height: height).compactMap { line in
      if case .row(let id) = line.kind { id } else { nil }
    }
  }
}
