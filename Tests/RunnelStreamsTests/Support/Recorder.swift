import RunnelBase
import RunnelStreams
import Testing

/// An observer that holds every change against the contract of streams.
///
/// It keeps the list that a view would show which follows the changes, and notes each change that
/// does not lead to the state told with it.
final class Recorder<Item: StreamItem> {
  private(set) var changes: [StreamChange<Item>] = []
  private(set) var mistakes: [String] = []
  /// Called in the middle of each change.
  var onChange: ((StreamChange<Item>) -> Void)?

  private let stream: any SectionedStream<Item>
  private var token: StreamToken?
  private var shown: [StreamSection<Item>]?
  private var isTelling = false

  init(_ stream: any SectionedStream<Item>) {
    self.stream = stream
    token = stream.observe { [unowned self] in take($0) }
  }

  /// The changes after the first state.
  var later: ArraySlice<StreamChange<Item>> { changes.dropFirst() }

  /// The batch of the last change.
  var lastBatch: BatchUpdate? { changes.last?.changes.batch }

  func cancel() {
    if let token { stream.cancel(token) }
    token = nil
  }

  /// The keys of the list as the view shows it.
  var sectionIDs: [SectionIDs] { Self.sectionIDs(shown ?? []) }

  private func take(_ change: StreamChange<Item>) {
    if token == nil && shown != nil { mistakes.append("C4: told after it was cancelled") }
    if isTelling { mistakes.append("C3: told while it is told") }
    isTelling = true
    check(change)
    shown = change.sections
    changes.append(change)
    onChange?(change)
    isTelling = false
  }

  private func check(_ change: StreamChange<Item>) {
    if stream.sections != change.sections { mistakes.append("C3: the stream has another state") }
    guard let shown else {
      if !change.changes.batch.isReload { mistakes.append("C1: the first state is no reload") }
      return
    }
    if change.changes.batch.isReload { return }
    let (old, new) = (Self.sectionIDs(shown), Self.sectionIDs(change.sections))
    if let mistake = change.changes.batch.mistake(from: old, to: new) { mistakes.append(mistake) }
    checkKeys(change, shown)
  }

  private func checkKeys(_ change: StreamChange<Item>, _ shown: [StreamSection<Item>]) {
    let changes = change.changes
    let before = Dictionary(uniqueKeysWithValues: shown.flatMap(\.items).map { ($0.id, $0) })
    let items = change.sections.flatMap(\.items)
    let after = Dictionary(uniqueKeysWithValues: items.map { ($0.id, $0) })
    let removed = shown.flatMap(\.items).map(\.id).filter { after[$0] == nil }
    if changes.removedIDs != removed { mistakes.append("removed: \(changes.removedIDs)") }
    let inserted = items.map(\.id).filter { before[$0] == nil }
    if changes.insertedIDs != inserted { mistakes.append("inserted: \(changes.insertedIDs)") }
    let touched = Set(change.touched.map(\.id))
    if touched != Set(inserted).union(changes.updatedIDs) {
      mistakes.append("touched: \(touched)")
    }
    let updated = items.filter { item in before[item.id].map { $0 != item } ?? false }.map(\.id)
    if !Set(updated).isSubset(of: changes.updatedIDs) { mistakes.append("updated: \(updated)") }
    if !changes.arrivedIDs.isSubset(of: inserted) { mistakes.append("arrived: none of the new") }
    let reloaded = changes.batch.reloadedRows.map { shown[$0.section].items[$0.row].id }
    if reloaded != changes.updatedIDs { mistakes.append("reloaded: \(reloaded)") }
  }

  private static func sectionIDs(_ sections: [StreamSection<Item>]) -> [SectionIDs] {
    sections.map { SectionIDs(id: $0.id, rowIDs: $0.items.map(\.id)) }
  }
}
