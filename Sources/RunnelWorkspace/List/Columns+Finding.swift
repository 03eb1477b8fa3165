import RunnelBase
import RunnelStreams
import RunnelTree

// Finding the columns of a list of which nothing was known when its view was made.

extension Columns {
  /// The number of records that columns are found from.
  private static let foundFromCount = 50

  /// Finds the columns of a list whose view was made without a record, as soon as it has some.
  static func findAwaited(_ state: inout AppState, inView view: Int) {
    let screen = state.tabs.lists[view]
    guard screen.definition.awaitsColumns else { return }
    let records = screen.someRecords(foundFromCount).filter {
      !screen.isTransient($0) && $0.row.node != nil
    }
    guard !records.isEmpty else { return }
    let source = screen.definition.source
    let sample = CollectionSample(
      path: source.path, keys: records.map(\.row.key),
      records: records.compactMap(\.row.node).map(state.database.coding.sampled))
    let found = ViewInference.view(
      of: sample, named: screen.definition.name, pageSize: source.page)
    state.tabs.lists[view].definition.columns = found.columns
    state.tabs.lists[view].definition.awaitsColumns = false
    state.tabs.lists[view].look.forgetHidden()
  }
}
