import RunnelBase

/// How far a part of a list is: what the list shows of it, and what came since.
struct ListPartState<Item: KeyedItem> {
  /// From one layout of the part to the next.
  struct Step {
    var before: PartLayout<Item>
    var after: PartLayout<Item>
    /// What stands before the keys of the part's items in the list.
    var keyPrefix: String
    /// What happened to the rows; nil if that is not known, and all is to be read anew.
    var net: NetChange?
    /// True if these are the first rows.
    var isFirstLoad: Bool
  }

  /// What came from the stream and is not shown.
  private struct Waiting {
    var net: NetChange?
    /// Nil until the first rows are there.
    var sections: [StreamSection<Item>]?
    var loadState: LoadState
  }

  let part: ListPart<Item>
  /// What the list shows of it.
  private(set) var layout = PartLayout<Item>()
  /// The rows as the list shows them; nil until the first ones are there.
  private(set) var content: [StreamSection<Item>]?
  private var loadState = LoadState.idle
  private var waiting: Waiting?

  init(_ part: ListPart<Item>) { self.part = part }

  /// How many touched rows wait to be shown.
  var waitingRowCount: Int { waiting?.net?.rowCount ?? 0 }

  /// True if the list has something to show of it.
  var isShown: Bool { content != nil || !layout.sections.isEmpty }

  /// Takes over what the stream told.
  @specialized(where Item == Record)
  mutating func note(_ change: StreamChange<Item>) {
    let before = waiting.map(\.sections) ?? content
    let isLoaded = before != nil || change.loadState == .loaded
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

  /// Notes that what is beside the rows may have changed.
  @specialized(where Item == Record)
  mutating func noteRefresh() {
    if waiting != nil { return }
    let net = content.flatMap { content in
      NetChange(
        StreamChange(sections: content, changes: ChangeSet(), loadState: loadState), from: content)
    }
    waiting = Waiting(net: net, sections: content, loadState: loadState)
  }

  /// Shows what waits; nil if nothing does.
  mutating func advance() -> Step? {
    guard let next = waiting else { return nil }
    waiting = nil
    let before = layout
    let isFirstLoad = content == nil && next.sections != nil
    (content, loadState) = (next.sections, next.loadState)
    layout = PartLayout(part, content: content, loadState: loadState)
    let net = content == nil ? NetChange.nothing : next.net
    return Step(
      before: before, after: layout, keyPrefix: part.keyPrefix, net: net, isFirstLoad: isFirstLoad)
  }

  /// Shows nothing, and knows of nothing.
  mutating func reset() { self = ListPartState(part) }
}

extension ListPartState.Step {
  /// What happened, in the coordinates of the part; nil if that is not known.
  ///
  /// O(sections + t log t) in the rows that were touched.
  func changes() -> ChangeSet? {
    guard let net else { return nil }
    var changed = net.changed { old, new in
      before.sections[old.section].content.items[old.row]
        == after.sections[new.section].content.items[new.row]
    }
    if !keyPrefix.isEmpty { changed = Set(changed.map { keyPrefix + $0 }) }
    let said = Dictionary(
      before.placeholders.map { ($0.row.key, $0.row) }, uniquingKeysWith: { first, _ in first })
    for placed in after.placeholders {
      if let old = said[placed.row.key], old != placed.row { changed.insert(placed.row.key) }
    }
    var changes = SectionedDiff.changes(
      from: before.side(touched: net.old.touched, keyPrefix: keyPrefix),
      to: after.side(touched: net.new.touched, keyPrefix: keyPrefix), changed: changed)
    if changes.batch.isReload { return nil }
    changes.arrivedKeys = Set(net.arrived.map { keyPrefix + $0 }).intersection(changes.insertedKeys)
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
