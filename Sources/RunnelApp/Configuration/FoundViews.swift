import RunnelBase
import RunnelDatabase
import RunnelTerminal
import RunnelTree
import RunnelWorkspace

/// Views for a database without a views file: one for every collection that is found in it.
///
/// A *collection* is a node whose first children are all records: nodes with a leaf among their
/// children. Nodes near the root are looked at first, few in all, and of each few children, so that
/// it takes a moment in any database.
struct FoundViews {
  /// How many levels below the root are searched.
  static let depthMax = 4
  /// How many views are made.
  static let viewsMax = 8
  /// How many nodes are looked at.
  static let nodesMax = 64
  /// How many children of a node decide whether it is a collection.
  static let samplesMax = 5
  /// How many children of a node that is none are looked at in turn.
  static let branchesMax = 32
  /// How many columns a view gets.
  static let columnsMax = 4

  /// A collection that was found, with its first records.
  private struct Collection {
    var path: Path
    var keys: [RunnelTree.Key]
    var records: [RunnelTree.Node]
  }

  private let session: DatabaseSession
  private let pageSize: Int
  private var found: [Collection] = []
  /// The nodes that are still to be looked at, those near the root first.
  private var queue: [Path] = [.root]

  private init(_ session: DatabaseSession, pageSize: Int) {
    self.session = session
    self.pageSize = pageSize
  }

  /// The views of a database, in tree order, with so many rows on a page.
  ///
  /// - Throws: `DatabaseError` if it cannot be read.
  static func find(
    in session: DatabaseSession, pageSize: Int = Settings().pageSize
  ) throws -> [ViewDefinition] {
    var finder = FoundViews(session, pageSize: pageSize)
    var visited = 0
    while visited < min(finder.queue.count, nodesMax), finder.found.count < viewsMax {
      try finder.visit(finder.queue[visited])
      visited += 1
    }
    return finder.views()
  }

  private mutating func visit(_ path: Path) throws {
    let query = try Query(path).ordered(by: .key).limited(to: FoundViews.branchesMax, from: .first)
    let children = try session.rows(query, detail: .shallow)
    let samples = children.prefix(FoundViews.samplesMax)
    let records = try samples.compactMap { try record($0, in: path) }
    if !records.isEmpty, records.count == samples.count, !path.isRoot {
      found.append(Collection(path: path, keys: samples.map(\.key), records: records))
      return
    }
    guard path.keys.count + 1 < FoundViews.depthMax else { return }
    // What is kept by the keys of records, as the likes of each message, is no place to look at alone.
    for child in children where child.isBranch && !child.key.isGenerated {
      queue.append(try path.child(child.key))
    }
  }

  /// The views of what was found; two collections with one name are called by their paths.
  private func views() -> [ViewDefinition] {
    let names = found.map { $0.path.lastKey?.text ?? "/" }
    return zip(names, found).sorted { $0.1.path < $1.1.path }.map { name, collection in
      let isUnique = names.count { $0 == name } == 1
      let path = String(collection.path.description.dropFirst())
      return view(of: collection, named: isUnique ? name : path)
    }
  }

  /// The leaves of a child, if it is a record.
  private func record(_ child: TreeRow, in path: Path) throws -> RunnelTree.Node? {
    child.isBranch ? try leaves(of: path.child(child.key)) : nil
  }

  /// The leaves among the first children of a node; nil if there is none.
  private func leaves(of path: Path) throws -> RunnelTree.Node? {
    let query = try Query(path).ordered(by: .key).limited(to: 20, from: .first)
    var children: [Child] = []
    for row in try session.rows(query, detail: .shallow) {
      guard case .leaf(let leaf) = row.summary.kind else { continue }
      children.append(Child(key: row.key, node: RunnelTree.Node(leaf)))
    }
    return children.isEmpty ? nil : RunnelTree.Node(children: children)
  }

  private func view(of collection: Collection, named name: String) -> ViewDefinition {
    var names: [RunnelTree.Key] = []
    for child in collection.records.flatMap(\.children) where !names.contains(child.key) {
      names.append(child.key)
    }
    let columns =
      [keyColumn(of: collection)]
      + names.prefix(FoundViews.columnsMax).map { column(of: $0, in: collection) }
    var source = SourceDefinition(path: collection.path)
    source.page = pageSize
    return ViewDefinition(name: name, source: source, columns: columns)
  }

  /// The column of the keys, as wide as those that were seen.
  ///
  /// A long key is left out on narrow screens if a text tells the records apart.
  private func keyColumn(of collection: Collection) -> ColumnDefinition {
    let widest = collection.keys.map { CellWidth.width(of: $0.text) }.max() ?? 0
    let isLong = widest > 12 || collection.keys.contains(where: \.isGenerated)
    let hasTexts = collection.records.contains { record in
      record.children.contains { if case .string? = $0.node.leaf { true } else { false } }
    }
    return ColumnDefinition(
      field: .key, width: min(max(widest, 4), 20), minimumScreen: isLong && hasTexts ? 60 : 0,
      isMuted: true)
  }

  /// The column of a field: as wide as the values need that were seen, unless some are texts.
  private func column(of name: RunnelTree.Key, in collection: Collection) -> ColumnDefinition {
    var column = ColumnDefinition(field: .path(Path(unchecked: [name])))
    let leaves = collection.records.compactMap { $0[name].leaf }
    let hasTexts = leaves.contains { if case .string = $0 { true } else { false } }
    if hasTexts { return column }
    let widths = leaves.map { CellWidth.width(of: FieldKind.text(of: $0.json)) }
    // Other rows may have numbers with a digit more.
    column.width = min(max((widths.max() ?? 0) + 1, 5), 20)
    let areTimes = leaves.allSatisfy { leaf in
      guard case .number(let number) = leaf, let time = number.integer else { return false }
      return TreeText.moments.contains(time)
    }
    if areTimes { (column.format, column.width) = (.date, 10) }
    return column
  }
}

extension RunnelTree.Key {
  /// True if it looks like a key that was made for a record: 20 characters after the time.
  fileprivate var isGenerated: Bool { text.utf8.count == 20 && text.hasPrefix("-") }
}

extension TreeRow {
  /// True if it has children.
  fileprivate var isBranch: Bool {
    if case .children = summary.kind { true } else { false }
  }
}
