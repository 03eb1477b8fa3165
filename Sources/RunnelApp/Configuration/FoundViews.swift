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
  /// How many fields of a record, or of a group in it, are looked at.
  static let fieldsMax = 24
  /// How many groups of fields in a record are looked at.
  static let groupsMax = 4

  private let session: DatabaseSession
  private let pageSize: Int
  private var found: [CollectionSample] = []
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
    if !samples.isEmpty, !path.isRoot, try samples.allSatisfy({ try isRecord($0, in: path) }) {
      found.append(try sample(of: path, beginning: samples.map(\.key)))
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
      return ViewInference.view(
        of: collection, named: isUnique ? name : path, pageSize: pageSize)
    }
  }

  /// True if a child has leaves among its first fields.
  private func isRecord(_ child: TreeRow, in path: Path) throws -> Bool {
    guard child.isBranch else { return false }
    return try fields(of: path.child(child.key)).contains {
      if case .leaf = $0.summary.kind { true } else { false }
    }
  }

  private func fields(of path: Path) throws -> [TreeRow] {
    let query = try Query(path).ordered(by: .key).limited(to: FoundViews.fieldsMax, from: .first)
    return try session.rows(query, detail: .shallow)
  }

  /// The first and the last records of a collection.
  private func sample(
    of path: Path, beginning first: [RunnelTree.Key]
  ) throws -> CollectionSample {
    let query = try Query(path).ordered(by: .key).limited(to: FoundViews.samplesMax, from: .last)
    let last = try session.rows(query, detail: .shallow).filter(\.isBranch).map(\.key)
    let keys = first + last.filter { !first.contains($0) }
    return CollectionSample(
      path: path, keys: keys, records: try keys.map { try record(at: path.child($0)) })
  }

  /// The leaves of a record, and those of the groups in it.
  private func record(at path: Path) throws -> RunnelTree.Node {
    var children: [Child] = []
    var groupCount = 0
    for row in try fields(of: path) {
      if case .leaf(let leaf) = row.summary.kind {
        children.append(Child(key: row.key, node: RunnelTree.Node(leaf)))
      } else if groupCount < FoundViews.groupsMax {
        groupCount += 1
        children.append(Child(key: row.key, node: try leaves(of: path.child(row.key))))
      }
    }
    return RunnelTree.Node(children: children.filter { !$0.node.isEmpty })
  }

  private func leaves(of path: Path) throws -> RunnelTree.Node {
    RunnelTree.Node(
      children: try fields(of: path).compactMap { row in
        guard case .leaf(let leaf) = row.summary.kind else { return nil }
        return Child(key: row.key, node: RunnelTree.Node(leaf))
      })
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
