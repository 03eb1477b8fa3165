import RunnelBase

/// The state of a part of a list: its layout in the list, and the changes since.
struct ListPartState<Item: StreamItem> {
  /// The step from one layout of the part to the next.
  struct Step {
    var before: PartLayout<Item>
    var after: PartLayout<Item>
    /// The prefix of the ids of the part's items in the list.
    var idPrefix: String
    /// The changes of the rows; nil if they are unknown, so that everything must be read again.
    var net: NetChange?
    /// True if these are the first rows.
    var isFirstLoad: Bool
  }

  /// The state of the stream that is not shown yet.
  private struct Waiting {
    var net: NetChange?
    /// The sections; nil until the first rows have come.
    var sections: [StreamSection<Item>]?
    var loadState: LoadState
  }

  let part: ListPart<Item>
  /// The layout that the list shows.
  private(set) var layout = PartLayout<Item>()
  /// The rows that the list shows; nil until the first rows have come.
  private(set) var content: [StreamSection<Item>]?
  private var loadState = LoadState.idle
  private var waiting: Waiting?

  init(_ part: ListPart<Item>) { self.part = part }

  /// The number of rows with changes that wait to be shown.
  ///
  /// O(those rows).
  var waitingRowCount: Int { waiting?.net?.changedRowCount ?? 0 }

  /// True if the list shows something of the part.
  var isShown: Bool { content != nil || !layout.sections.isEmpty }

  /// Takes a change of the stream.
  @specialized(where Item == Record)
  mutating func note(_ change: StreamChange<Item>) {
    let before = waiting.map(\.sections) ?? content
    let isLoaded = before != nil || change.loadState.showsRows
    var net: NetChange?
    if isLoaded {
      var change = change
      if before == nil || change.changes.batch.isReload {
        change.changes = SectionedDiff.changes(from: before ?? [], to: change.sections)
      }
      net = NetChange(change, from: before ?? [])
      if let waiting, waiting.sections != nil {
        net = net.flatMap { waiting.net?.followed(by: $0) }
      }
    }
    waiting = Waiting(
      net: net, sections: isLoaded ? change.sections : nil, loadState: change.loadState)
  }

  /// Notes that placeholders or labels may have changed.
  @specialized(where Item == Record)
  mutating func noteRefresh() {
    if waiting != nil { return }
    let net = content.flatMap { content in
      NetChange(
        StreamChange(sections: content, changes: ChangeSet(), loadState: loadState), from: content)
    }
    waiting = Waiting(net: net, sections: content, loadState: loadState)
  }

  /// Shows the waiting state; returns nil if there is none.
  mutating func advance() -> Step? {
    guard let next = waiting else { return nil }
    waiting = nil
    let before = layout
    let isFirstLoad = content == nil && next.sections != nil
    (content, loadState) = (next.sections, next.loadState)
    layout = PartLayout(part, content: content, loadState: loadState)
    let net = content == nil ? NetChange.nothing : next.net
    return Step(
      before: before, after: layout, idPrefix: part.idPrefix, net: net, isFirstLoad: isFirstLoad)
  }

  /// Resets the part to the state before the first rows.
  mutating func reset() { self = ListPartState(part) }
}

extension ListPartState.Step {
  /// The changes, in the coordinates of the part; nil if they are unknown.
  ///
  /// O(sections + t log t) in the rows that were touched.
  func changes() -> ChangeSet? {
    guard let net else { return nil }
    var changed = net.changed { old, new in
      before.sections[old.section].content.items[old.row]
        == after.sections[new.section].content.items[new.row]
    }
    if !idPrefix.isEmpty { changed = Set(changed.map { idPrefix + $0 }) }
    let said = Dictionary(
      before.placeholders.map { ($0.row.id, $0.row) }, uniquingKeysWith: { first, _ in first })
    for placed in after.placeholders {
      if let old = said[placed.row.id], old != placed.row { changed.insert(placed.row.id) }
    }
    var changes = SectionedDiff.changes(
      from: before.side(touched: net.old.touched, idPrefix: idPrefix),
      to: after.side(touched: net.new.touched, idPrefix: idPrefix), changed: changed)
    if changes.batch.isReload { return nil }
    changes.arrivedIDs = Set(net.arrived.map { idPrefix + $0 }).intersection(changes.insertedIDs)
    changes.batch.reloadedSections = reloadedSections(net)
    return changes
  }

  /// The old indices of the sections that stayed and whose header or footer changed.
  private func reloadedSections(_ net: NetChange) -> [Int] {
    let labels = Dictionary(
      after.sections.map { ($0.id, $0.labels) }, uniquingKeysWith: { first, _ in first })
    return before.sections.indices.filter { index in
      let section = before.sections[index]
      guard let new = labels[section.id] else { return false }
      return new != section.labels || net.reloadedSections.contains(section.content.id)
    }
  }
}
