import RunnelBase
import RunnelDatabase
import RunnelTree

/// Views for a database without a views file: one for every collection that is found in it.
///
/// A *collection* is a node whose first children are records: nodes with a leaf among their children.
/// Few nodes are looked at, and of each few children, so that it takes a moment in any database.
struct FoundViews {
  /// How many levels below the root are searched.
  static let depthMax = 4
  /// How many views are made.
  static let viewsMax = 8
  /// How many nodes are looked at.
  static let nodesMax = 64
  /// How many children of a node are looked at.
  static let samplesMax = 5
  /// How many columns a view gets.
  static let columnsMax = 4

  private let session: DatabaseSession
  private var views: [ViewDefinition] = []
  private var visited = 0

  private init(_ session: DatabaseSession) { self.session = session }

  /// The views of a database, in tree order.
  ///
  /// - Throws: `DatabaseError` if it cannot be read.
  static func find(in session: DatabaseSession) throws -> [ViewDefinition] {
    var finder = FoundViews(session)
    try finder.visit(.root, depth: 0)
    return finder.views
  }

  private mutating func visit(_ path: Path, depth: Int) throws {
    guard depth < FoundViews.depthMax, views.count < FoundViews.viewsMax,
      visited < FoundViews.nodesMax
    else { return }
    visited += 1
    let query = try Query(path).ordered(by: .key).limited(to: FoundViews.samplesMax, from: .first)
    let samples = try session.rows(query, detail: .shallow)
    var records: [RunnelTree.Node] = []
    for sample in samples {
      guard case .children = sample.summary.kind else { return }
      if let record = try leaves(of: path.child(sample.key)) { records.append(record) }
    }
    if !records.isEmpty, records.count == samples.count, !path.isRoot {
      views.append(view(of: path, records))
      return
    }
    for sample in samples { try visit(path.child(sample.key), depth: depth + 1) }
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

  private func view(of path: Path, _ records: [RunnelTree.Node]) -> ViewDefinition {
    var names: [RunnelTree.Key] = []
    for child in records.flatMap(\.children) where !names.contains(child.key) {
      names.append(child.key)
    }
    var columns = [ColumnDefinition(field: .key, width: 20, minimumScreen: 60, isMuted: true)]
    columns += names.prefix(FoundViews.columnsMax).map { name in
      ColumnDefinition(field: .path(Path(unchecked: [name])))
    }
    return ViewDefinition(
      name: path.lastKey?.text ?? "/", source: SourceDefinition(path: path), columns: columns)
  }
}
