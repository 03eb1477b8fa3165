import RunnelBase

/// A list of texts that applies the updates of an adapter by their index paths.
///
/// It applies an update as the list view of a UI toolkit does, and shows how to connect one: remove
/// rows and sections at their old index paths, insert new ones at their new index paths, and redraw
/// the reloaded ones. In tests it takes the place of a view.
///
/// Isolation: one thread, as the adapter.
public final class TextTable {
  /// The texts of the rows that are shown, section by section.
  public private(set) var rows: [[String]] = []
  /// How often the whole list was read.
  public private(set) var reloadCount = 0

  /// Makes an empty list.
  public init() {}

  /// Applies an update.
  ///
  /// O(n) in the rows.
  ///
  /// - Parameters:
  ///   - update: the update, which starts from the state after the previous update.
  ///   - text: makes the text of a row; called for rows that are new or reloaded.
  public func apply<Item>(_ update: ListUpdate<Item>, text: (AdapterRow<Item>) -> String) {
    let batch = update.update
    guard !batch.isReload else {
      reloadCount += 1
      rows = update.sections.map { section in
        (0..<section.count).map { text(section[$0]) }
      }
      return
    }
    let kept = keptRows(batch)
    let places = sectionOrigins(batch, count: update.sections.count)
    var placed: [ListIndexPath: String?] = [:]
    for move in batch.movedRows {
      let isReloaded = batch.reloadedRows.contains(move.from)
      let old = rows[move.from.section][move.from.row]
      placed.updateValue(isReloaded ? nil : old, forKey: move.to)
    }
    for path in batch.insertedRows { placed.updateValue(nil, forKey: path) }
    rows = update.sections.indices.map { index in
      let section = update.sections[index]
      var staying = (places[index].map { kept[$0] } ?? [])[...]
      return (0..<section.count).map { row in
        let shown = placed[ListIndexPath(section: index, row: row)] ?? staying.popFirst() ?? nil
        return shown ?? text(section[row])
      }
    }
  }

  /// Returns the texts of each old section's rows that stay; nil for a row to be redrawn.
  private func keptRows(_ batch: BatchUpdate) -> [[String?]] {
    let gone = Set(batch.deletedRows + batch.movedRows.map(\.from))
    let reloaded = Set(batch.reloadedRows)
    return rows.enumerated().map { section, texts in
      texts.indices.filter { !gone.contains(ListIndexPath(section: section, row: $0)) }
        .map { reloaded.contains(ListIndexPath(section: section, row: $0)) ? nil : texts[$0] }
    }
  }

  /// Returns the old index of each new section; nil for an inserted one.
  private func sectionOrigins(_ batch: BatchUpdate, count: Int) -> [Int?] {
    let leaving = Set(batch.deletedSections + batch.movedSections.map(\.from))
    var staying = rows.indices.filter { !leaving.contains($0) }[...]
    return (0..<count).map { index in
      if batch.insertedSections.contains(index) { return nil }
      return batch.movedSections.first { $0.to == index }?.from ?? staying.popFirst()
    }
  }
}
