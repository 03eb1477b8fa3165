package import RunnelBase
package import RunnelStreams
import RunnelTerminal
package import RunnelTree

/// The raw tree as the user sees it: nodes are expanded one by one, and children are loaded in
/// pages.
package struct TreeScreen: Equatable, Sendable {
  /// A line of the tree.
  package enum Line: Hashable, Sendable {
    /// A node, at a number of levels below the root.
    case node(Path, TreeRow, depth: Int)
    /// The fetch-more row for children that are not loaded.
    case paging(Path, FetchState, depth: Int)
    /// Children that could not be read.
    case failed(Path, String, depth: Int)

    /// The id of the row.
    package var id: String {
      switch self {
      case .node(let path, _, _): path.description
      case .paging(let path, _, _): "more:\(path)"
      case .failed(let path, _, _): "failed:\(path)"
      }
    }
  }

  /// The id of the only section, whose header is the root.
  package static let section = "/"

  /// Whether the root was requested.
  var isOpen = false
  /// The loaded children of the expanded nodes.
  package var expanded: [Path: TreeChildren] = [:]
  /// The nodes of which some children are about to be unloaded.
  var unloading: Set<Path> = []
  var lines: [String: Line] = [:]
  package var content = ListContent()
  /// The heading of the section.
  var headings: [String: ListHeading] = [:]
  package var list = ListState()
  package var marks: Set<String> = []
  package var rangeStart: String?
  /// The place that the cursor goes to once it is loaded, or nil.
  var wanted: Wanted?
  /// What of the tree as it was left is still to be restored; nil for nothing.
  var kept: KeptTree?
  /// The lines of records that have got another key, which comes with a later change.
  var rowMoves = RowMoves()
  /// The nodes in sight that a server listed.
  var inSight: [Path] = []
  /// The value under the cursor, for the detail pane.
  package var preview = TreePreview()

  /// The line under the cursor, or nil on the header.
  package var cursorLine: Line? {
    guard case .row(let id)? = list.cursor else { return nil }
    return lines[id]
  }
}

extension TreeScreen {
  /// Lays out the expanded nodes as lines again.
  ///
  /// O(lines): all loaded lines of the expanded nodes.
  mutating func rebuild(height: Int) {
    var ids: [String] = []
    lines = [:]
    append(.root, depth: 0, to: &ids)
    let root = expanded[.root]
    let isFirst = content.sections.isEmpty
    let new = ListContent(sections: [
      ListSection(
        id: TreeScreen.section, rows: ids,
        emptyText: root?.phase == .loading
          ? "loading" : "the database is empty")
    ])
    writeHeading()
    let cursor = list.cursor
    list.apply(changeOf: &content, to: new, height: height)
    followMovedLines(from: cursor, height: height)
    forgetGoneMarks()
    if isFirst { list.moveToFirst(in: content, height: height) }
  }

  /// Updates the header with the number of the root's children.
  mutating func writeHeading() {
    let root = expanded[.root]
    let count = root?.rows.count ?? 0
    let hasMore = root.map { $0.paging != .exhausted } ?? false
    headings = [
      TreeScreen.section: ListHeading(
        title: StyledLine("/", .sectionHeader),
        detail: StyledLine(
          isUnreadable(.root)
            ? root?.listing == nil ? "" : "cached"
            : count == 1 && !hasMore ? "1 key" : "\(count)\(hasMore ? "+" : "") keys", .muted))
    ]
  }

  /// Removes the marks of nodes that are no longer shown.
  private mutating func forgetGoneMarks() {
    if !marks.isEmpty { marks = marks.filter(isMarkable) }
    if let start = rangeStart, !isMarkable(start) { rangeStart = nil }
  }

  private mutating func append(_ path: Path, depth: Int, to ids: inout [String]) {
    guard let children = expanded[path] else { return }
    for record in children.rows {
      let place = Path(unchecked: path.keys + [record.row.key])
      add(.node(place, record.row, depth: depth), to: &ids)
      append(place, depth: depth + 1, to: &ids)
    }
    if let tail = tail(of: path, children, depth: depth) { add(tail, to: &ids) }
  }

  private mutating func add(_ line: Line, to ids: inout [String]) {
    lines[line.id] = line
    ids.append(line.id)
  }

  /// Returns the id of the line below an expanded node's line if it is for its children, or nil if
  /// there is none.
  package func firstLine(below path: Path) -> String? {
    guard let place = content.indexPath(ofRow: path.description),
      let next = content.row(at: ListIndexPath(section: place.section, row: place.row + 1)),
      let line = lines[next], line.depth > (lines[path.description]?.depth ?? 0)
    else { return nil }
    return next
  }

  /// Collapses a node: drops its children and all below; returns the places that were expanded.
  package mutating func collapse(_ path: Path) -> [Path] {
    let gone = expanded.keys.filter { path.contains($0) }.sorted()
    for place in gone { expanded[place] = nil }
    return gone
  }
}
