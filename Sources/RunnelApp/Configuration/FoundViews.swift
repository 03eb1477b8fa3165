import RunnelBase
import RunnelDatabase
import RunnelTerminal
import RunnelTree
import RunnelWorkspace

/// Makes views for a database without a views file: one for each collection that is found.
///
/// A *collection* is a node whose first children are all records, which are nodes with a leaf among
/// their children. Nodes near the root are searched first. Only a few nodes are searched, and a few
/// children of each, so that it takes a moment in any database.
///
/// Where a node has more than a few collections under it, as the visits of each patient, it is one list of them:
/// a row of it opens a view with a parameter, which stands for all of them. That holds for the root too, if it
/// has more collections than there are tabs for, and their records are of one kind.
///
/// Where most branches of the root are records, the data are *settings*: the short lists in them are parts of
/// a setting, and get no views.
struct FoundViews {
  /// The number of levels below the root that are searched.
  static let depthMax = 4
  /// The greatest number of views.
  static let viewsMax = 8
  /// The greatest number of nodes that are searched.
  static let nodesMax = 64
  /// The number of children of a node that decide whether it is a collection.
  static let samplesMax = 5
  /// The number of children of another node that are searched in turn.
  static let branchesMax = 32
  /// The number of fields of a record, or of a group in it, that are read.
  static let fieldsMax = 24
  /// The number of groups of fields in a record that are read.
  static let groupsMax = 4

  /// The greatest number of collections of one node that get a view each.
  static let listsMax = 5

  /// The name of the list of all collections at the root.
  static let rootName = "all"

  private let session: DatabaseSession
  /// How values that a tree does not hold stand in the database.
  private let coding: ValueCoding
  private let pageSize: Int
  private var found: [CollectionSample] = []
  /// The nodes with many collections under them, each with a sample of the records in these.
  private var groups: [(path: Path, keys: [RunnelTree.Key], sample: CollectionSample)] = []
  /// The nodes still to be searched, those near the root first.
  private var queue: [Path] = [.root]
  private var isSettings = false

  private init(_ session: DatabaseSession, pageSize: Int) throws {
    self.session = session
    coding = try session.originName()?.hasPrefix("feathers+") == true ? .services : .tree
    self.pageSize = pageSize
  }

  /// Returns the views of a database, in tree order, with a page size.
  ///
  /// - Throws: `DatabaseError` if the database cannot be read.
  static func find(
    in session: DatabaseSession, pageSize: Int = Settings().pageSize
  ) throws -> [ViewDefinition] {
    var finder = try FoundViews(session, pageSize: pageSize)
    var visited = 0
    while visited < min(finder.queue.count, nodesMax), finder.viewCount < viewsMax {
      try finder.visit(finder.queue[visited])
      visited += 1
    }
    return try finder.views() + finder.groupedViews()
  }

  /// The number of views with a tab.
  private var viewCount: Int { found.count + groups.count }

  private mutating func visit(_ path: Path) throws {
    let query = try Query(path).ordered(by: .key).limited(to: FoundViews.branchesMax, from: .first)
    let children = try session.rows(query, detail: .shallow)
    let samples = children.prefix(FoundViews.samplesMax)
    if !samples.isEmpty, !path.isRoot, try samples.allSatisfy({ try isRecord($0, in: path) }) {
      let isPart = isSettings && path.keys.count > 1 && children.count < FoundViews.branchesMax
      if !isPart { found.append(try sample(of: path, beginning: samples.map(\.key))) }
      return
    }
    if path.isRoot { isSettings = try holdsSettings(children) }
    if try isGroup(children, at: path) { return try noteGroup(children, at: path) }
    guard path.keys.count + 1 < FoundViews.depthMax else { return }
    // Data stored by the keys of records, such as the likes of each message, is not searched.
    for child in children where child.isBranch && !child.key.isGenerated {
      queue.append(try path.child(child.key))
    }
  }

  /// Returns whether most branches of the root, and at least two, are records.
  private func holdsSettings(_ children: [TreeRow]) throws -> Bool {
    let branches = children.filter(\.isBranch)
    let count = try branches.count { try isRecord($0, in: .root) }
    return count >= 2 && count * 2 > branches.count
  }

  /// Returns whether all first children of a node are collections, and more than get a view each.
  private func isGroup(_ children: [TreeRow], at path: Path) throws -> Bool {
    let most = path.isRoot ? FoundViews.viewsMax : FoundViews.listsMax
    let least = isSettings ? FoundViews.branchesMax : most + 1
    guard children.count >= least, path.keys.count + 1 < FoundViews.depthMax else { return false }
    if path.isRoot, try !haveOneKind(children) { return false }
    return try children.prefix(FoundViews.samplesMax).allSatisfy { child in
      guard child.isBranch, !child.key.isGenerated else { return false }
      let place = try path.child(child.key)
      let records = try fields(of: place).prefix(FoundViews.samplesMax)
      return try !records.isEmpty && records.allSatisfy { try isRecord($0, in: place) }
    }
  }

  /// Returns whether the first records of all collections at the root have a field in common.
  private func haveOneKind(_ children: [TreeRow]) throws -> Bool {
    var common: Set<RunnelTree.Key>?
    for child in children {
      guard child.isBranch, let first = try fields(of: Path(unchecked: [child.key])).first else {
        return false
      }
      let names = try leaves(of: Path(unchecked: [child.key, first.key])).children.map(\.key)
      common = common?.intersection(names) ?? Set(names)
      if common?.isEmpty == true { return false }
    }
    return true
  }

  /// Notes a node with many collections, with records of the first and the last of these.
  private mutating func noteGroup(_ children: [TreeRow], at path: Path) throws {
    let query = try Query(path).ordered(by: .key).limited(to: FoundViews.samplesMax, from: .last)
    let last = try session.rows(query, detail: .shallow).filter(\.isBranch).map(\.key)
    let first = children.prefix(FoundViews.samplesMax).map(\.key)
    let keys = first + last.filter { !first.contains($0) }
    var sample = CollectionSample(path: path, keys: [], records: [])
    for key in keys {
      let part = try self.sample(of: path.child(key), beginning: [])
      sample.keys += part.keys
      sample.records += part.records
    }
    groups.append((path, keys, sample))
  }

  /// Returns two views for each node with many collections: the list of these, and the list that a row of it
  /// opens.
  private func groupedViews() throws -> [ViewDefinition] {
    try groups.sorted { $0.path < $1.path }.flatMap { group in
      let name = group.path.isRoot ? FoundViews.rootName : name(of: group.path)
      var source = SourceDefinition(path: group.path)
      source.page = pageSize
      let width = group.keys.map { CellWidth.width(of: $0.text) }.max() ?? 0
      let list = ViewDefinition(
        name: name, source: source,
        columns: [
          ColumnDefinition(field: .key, width: min(max(width, 8), 40)),
          ColumnDefinition(field: .value, format: .count, width: 8),
        ])
      // The key of a row is often that of a record elsewhere.
      let owner = try found.first { collection in
        try group.keys.allSatisfy {
          try session.summary(at: collection.path.child($0)).kind != .empty
        }
      }
      let parameter = "$" + (owner?.path.lastKey?.text ?? "key")
      var sample = group.sample
      sample.path = Path(unchecked: group.path.keys + [RunnelTree.Key(unchecked: parameter)])
      var view = ViewInference.view(of: sample, named: "\(name)/\(parameter)", pageSize: pageSize)
      view.from = name
      return [list, view]
    }
  }

  /// The name of the view of a place: what its key was made of, or its path if others have the same key.
  private func name(of place: Path) -> String {
    let places = found.map(\.path) + groups.map(\.path)
    let isUnique = places.count { $0.lastKey == place.lastKey } == 1
    guard let last = place.lastKey else { return "/" }
    return isUnique ? WritableKey.name(of: last.text) : String(place.shownPath.dropFirst())
  }

  /// Returns the views of the found collections; collections with the same name are named by their
  /// paths.
  private func views() -> [ViewDefinition] {
    found.sorted { $0.path < $1.path }.map {
      ViewInference.view(of: $0, named: name(of: $0.path), pageSize: pageSize)
    }
  }

  /// Returns whether a child has leaves among its first fields.
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

  /// Returns a sample of a collection: its first and last records.
  private func sample(
    of path: Path, beginning first: [RunnelTree.Key]
  ) throws -> CollectionSample {
    let query = try Query(path).ordered(by: .key).limited(to: FoundViews.samplesMax, from: .last)
    let last = try session.rows(query, detail: .shallow).filter(\.isBranch).map(\.key)
    let keys = first + last.filter { !first.contains($0) }
    return CollectionSample(
      path: path, keys: keys, records: try keys.map { try record(at: path.child($0)) })
  }

  /// Returns the leaves of a record, and those of the groups in it.
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
    return coding.sampled(RunnelTree.Node(children: children.filter { !$0.node.isEmpty }))
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
  /// Whether the key looks generated: it has 20 characters and begins with `-`.
  fileprivate var isGenerated: Bool { text.utf8.count == 20 && text.hasPrefix("-") }
}

extension TreeRow {
  /// Whether the node has children.
  fileprivate var isBranch: Bool {
    if case .children = summary.kind { true } else { false }
  }
}
