import Synchronization

/// A section of a list: a header line and the rows under it.
public struct ListSection: Hashable, Sendable {
  /// The identity of the section; unique among the sections of the list.
  public var id: String
  /// The ids of the rows, in order; unique in the whole list, not only in this section.
  public var rows: ListRows
  /// The line shown if there are no rows; nil shows nothing.
  public var emptyText: String?

  /// Makes a section of rows in an array.
  public init(id: String, rows: [String], emptyText: String? = nil) {
    self.init(id: id, rows: ListRows(rows), emptyText: emptyText)
  }

  /// Makes a section.
  public init(id: String, rows: ListRows, emptyText: String? = nil) {
    self.id = id
    self.rows = rows
    self.emptyText = emptyText
  }
}

/// An item of a list: a line on which the cursor can stand.
///
/// An item has an identity, not an index, so that it can be followed through batches.
public enum ListItem: Hashable, Sendable {
  /// The header line of the section with this id.
  case header(String)
  /// The row with this id.
  case row(String)
}

/// The content of a list: its sections and the ids of their rows.
///
/// A value that is cheap to copy and to make: its rows may be read from a source that keeps them.
/// The first call that needs the index of the rows builds it, and all copies share it. `ListState`
/// follows its items without the index, so a list that is only scrolled and updated by batches
/// never pays for it.
public struct ListContent: Sendable {
  /// The sections, in order.
  public let sections: [ListSection]
  /// The place of the divider, a line that belongs to no row: before the row at this path, or after
  /// the last row of the section.
  ///
  /// Nil if there is none; content without rows has none.
  ///
  /// The cursor passes over the divider, as over the text of a section without rows.
  public let divider: ListIndexPath?

  private let index: ContentIndex

  /// Makes content of sections.
  ///
  /// The ids of sections, and the ids of rows in the whole list, must be unique; of two equal ids
  /// only the first can be found again.
  public init(sections: [ListSection] = [], divider: ListIndexPath? = nil) {
    self.init(sections, divider, ContentIndex())
  }

  private init(_ sections: [ListSection], _ divider: ListIndexPath?, _ index: ContentIndex) {
    self.sections = sections
    self.divider = divider
    self.index = index
  }

  /// The same rows with the divider elsewhere, or without one.
  ///
  /// O(1).
  public func divided(at divider: ListIndexPath?) -> ListContent {
    ListContent(sections, divider, index)
  }

  /// The number of rows in all sections.
  ///
  /// O(sections).
  public var rowCount: Int { sections.reduce(0) { $0 + $1.rows.count } }

  /// The path of the row, or nil if there is no such row.
  ///
  /// O(1), after the first call on this content, which is O(rows).
  public func indexPath(ofRow id: String) -> ListIndexPath? {
    index.path(of: id, in: sections)
  }

  /// The path of the row, or nil if there is no such row; the search begins near a hint.
  ///
  /// O(distance) within the section of the hint; elsewhere the cost of `indexPath(ofRow:)`.
  public func indexPath(ofRow id: String, near hint: ListIndexPath) -> ListIndexPath? {
    guard sections.indices.contains(hint.section) else { return indexPath(ofRow: id) }
    let rows = sections[hint.section].rows
    let start = min(max(hint.row, 0), rows.count)
    for distance in 0...max(start, rows.count - start) {
      for row in [start + distance, start - distance]
      where rows.indices.contains(row) && rows[row] == id {
        return ListIndexPath(section: hint.section, row: row)
      }
    }
    return indexPath(ofRow: id)
  }

  /// The place of the section among the sections, or nil if there is no such section.
  ///
  /// O(sections).
  public func index(ofSection id: String) -> Int? {
    sections.firstIndex { $0.id == id }
  }

  /// The id of the row at a path, or nil if there is no such row.
  ///
  /// It costs as much as reading one of `ListSection.rows`.
  public func row(at path: ListIndexPath) -> String? {
    guard sections.indices.contains(path.section) else { return nil }
    let rows = sections[path.section].rows
    return rows.indices.contains(path.row) ? rows[path.row] : nil
  }

  /// The numbers of the lines with some sections folded.
  ///
  /// O(sections), O(1) if the folds are those of the last call.
  func numbers(folded: Set<String>) -> ListLayout.Numbers {
    index.numbers(of: sections, folded: folded, divider: divider)
  }

  /// Whether a call has paid for the index of the rows; for tests.
  package var isIndexBuilt: Bool { index.isBuilt }
}

extension ListContent: Hashable {
  /// Whether both have the same sections and the same divider; no cost if they share the sections.
  public static func == (left: ListContent, right: ListContent) -> Bool {
    left.divider == right.divider && left.sections == right.sections
  }

  /// Hashes the sections and the divider.
  ///
  /// O(rows).
  public func hash(into hasher: inout Hasher) {
    hasher.combine(sections)
    hasher.combine(divider)
  }
}

/// The cached facts about one content: the paths of its rows, and the numbers of its lines; each is
/// computed on first use.
///
/// A class so that copies of the content share the work; the content is constant, so the order in
/// which threads ask cannot change an answer.
private final class ContentIndex: Sendable {
  private let paths = Mutex<[String: ListIndexPath]?>(nil)
  private let layout = Mutex<Layout?>(nil)

  /// The numbers of lines, with the other inputs from which they were computed.
  private struct Layout {
    var folded: Set<String>
    var divider: ListIndexPath?
    var numbers: ListLayout.Numbers
  }

  var isBuilt: Bool { paths.withLock { $0 != nil } }

  func path(of id: String, in sections: [ListSection]) -> ListIndexPath? {
    paths.withLock { paths in
      if let paths { return paths[id] }
      let built = Self.build(sections)
      paths = built
      return built[id]
    }
  }

  func numbers(
    of sections: [ListSection], folded: Set<String>, divider: ListIndexPath?
  ) -> ListLayout.Numbers {
    layout.withLock { layout in
      if let layout, layout.divider == divider, layout.folded == folded { return layout.numbers }
      let numbers = ListLayout.Numbers(sections, folded: folded, divider: divider)
      layout = Layout(folded: folded, divider: divider, numbers: numbers)
      return numbers
    }
  }

  private static func build(_ sections: [ListSection]) -> [String: ListIndexPath] {
    var paths: [String: ListIndexPath] = [:]
    paths.reserveCapacity(sections.reduce(0) { $0 + $1.rows.count })
    for (section, content) in sections.enumerated() {
      for (row, id) in content.rows.enumerated() where paths[id] == nil {
        paths[id] = ListIndexPath(section: section, row: row)
      }
    }
    return paths
  }
}
