import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree

// The cursor stays on its row when a list is read in another order or in other sections, also if the row is
// far from the first rows there.

extension ListScreen {
  /// Notes the record under the cursor, to which the cursor goes in the new order.
  mutating func keepCursorRecord() {
    goal.keep(cursorRecord)
  }

  /// Reads the rows around the noted record, if it is not among the first ones of the new order; where that
  /// cannot be done, says where the cursor went.
  static func goToKeptRecord(_ state: inout AppState, inView view: Int) {
    let screen = state.tabs.lists[view]
    guard let record = screen.goal.keptRecord, screen.reach.phase == .loaded else { return }
    state.tabs.lists[view].goal.forgetRecord()
    if screen.hasRow(record.id) { return }
    // The search for the filter may still find it.
    if screen.filtering.filter != nil { return }
    let source = screen.definition.source
    guard !screen.reach.isExhausted, screen.reach.waitingCount == nil, let node = record.row.node
    else {
      let first = screen.isLiveAtBottom ? "last" : "first"
      return state.say(
        .info, "\(record.row.key) is not among the rows here: the cursor went to the \(first) one")
    }
    let value = source.order.value(of: Child(key: record.row.key, node: node))
    Jump.start(
      &state, .record(record.row.key, value, isNamed: false), inView: view,
      count: max(source.page, (screen.reach.loadedCount + 1) / 2))
  }
}
