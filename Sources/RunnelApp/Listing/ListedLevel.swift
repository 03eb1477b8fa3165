import RunnelBase
import RunnelStreams
import RunnelTree
import RunnelWorkspace

/// A child of a node that a server listed: a value, or what is known of another node.
enum ListedChild: Hashable {
  case value(Leaf)
  case node(TreeListing.Fact)

  /// The row of the child.
  func row(_ key: Key) -> TreeRow {
    let kind: NodeSummary.Kind =
      switch self {
      case .value(let leaf): .leaf(leaf)
      case .node(.node(let count, _)): .children(count: count)
      case .node: .children(count: 0)
      }
    return TreeRow(
      key: key, value: .null, content: .summary(NodeSummary(kind: kind, priority: nil)))
  }
}

/// The children of an expanded node that a server listed.
struct ListedLevel {
  typealias Fact = TreeListing.Fact

  let path: Path
  /// The number of keys of a page.
  var pageSize: Int
  /// The keys that the server told, or else those that the replica knows, in their order.
  private(set) var keys: [Key] = []
  /// The children that are known.
  private(set) var children: [Key: ListedChild] = [:]
  /// The children whose content the server told since their keys were read last.
  var glanced: Set<Key> = []
  /// The children that were opened: they are shown as long as the keys here are not known, for they may be
  /// read although these cannot.
  private var opened: Set<Key> = []
  /// Children beyond the keys that are loaded: each was looked up by itself.
  private var named: Set<Key> = []
  /// Why a child that was looked up is not shown, until that is told.
  private var sought: [Key: String] = [:]
  /// Whether the server has more keys.
  var hasMore = false
  var phase = LoadState.loading
  /// The time when the server told the keys; nil if it did not.
  var time: Int64?
  /// The number of the question for keys that is under way; nil for none.
  var question: Int?
  /// Why the next page could not be read; nil if it can be.
  var failure: StreamFailure?
  /// What waits to be written here.
  var waiting = WaitingChildren()
  /// What was written here and is not among the server's keys yet.
  var written = WaitingChildren()

  private var shown: [(key: Key, child: ListedChild)] = []
  private var isShown = false

  init(_ path: Path, pageSize: Int) { (self.path, self.pageSize) = (path, pageSize) }

  /// The last key that the server told.
  var lastKey: Key? { time == nil ? nil : keys.last }

  /// The number of keys that the server told.
  var count: Int { keys.count }

  /// Whether the server told that nothing stands here.
  var isEmpty: Bool { phase == .loaded && time != nil && !hasMore && keys.isEmpty }

  /// Whether the server told keys, as far as it was asked.
  var holdsKeys: Bool { phase == .loaded && time != nil && !keys.isEmpty }

  /// Whether all that stands here are values that are known.
  var holdsOnlyValues: Bool {
    guard phase == .loaded, time != nil, !hasMore, !keys.isEmpty else { return false }
    return keys.allSatisfy { if case .value = self[$0] { true } else { false } }
  }

  /// Whether a node with children stands here.
  var holdsNodes: Bool {
    children.values.contains { if case .node(.node) = $0 { true } else { false } }
  }

  /// Returns whether the server told a key.
  ///
  /// O(log n).
  func has(_ key: Key) -> Bool {
    if named.contains(key) { return true }
    let index = keys.lowerBound { $0 < key }
    return index < keys.count && keys[index] == key
  }

  /// Takes the keys that the server has; what was known of those that stay is kept.
  mutating func take(_ keys: [Key], hasMore: Bool, at now: Int64) {
    if time == nil { children = [:] }
    self.keys = keys
    let present = Set(keys).union(named)
    children = children.filter { present.contains($0.key) }
    (self.hasMore, time, phase, failure) = (hasMore, now, .loaded, nil)
    (glanced, written) = ([], WaitingChildren())
    opened.formIntersection(present)
    pruneNamed()
  }

  /// Takes the keys of the next page.
  mutating func append(_ page: [Key], hasMore: Bool) {
    keys += page
    (self.hasMore, failure) = (hasMore, nil)
    pruneNamed()
  }

  /// Shows a child beyond the keys that are loaded, which was looked up.
  mutating func name(_ key: Key) {
    named.insert(key)
    pruneNamed()
  }

  /// Forgets the children that were looked up and are among the loaded keys now, or would be.
  private mutating func pruneNamed() {
    guard hasMore, let last = keys.last else { return named = [] }
    for key in named where key <= last { named.remove(key) }
  }

  /// Tells with the next change why a child that was looked up is not shown.
  mutating func refuse(_ key: Key, _ reason: String) { sought[key] = reason }

  /// Takes the rows that the replica knows; of nodes they may be a part.
  mutating func take(cached rows: [TreeRow]) {
    keys = rows.map(\.key)
    children = [:]
    for row in rows {
      switch row.summary.kind {
      case .leaf(let leaf): children[row.key] = .value(leaf)
      case .children(let count): children[row.key] = .node(.node(keyCount: count, isAll: false))
      case .empty: break
      }
    }
  }

  /// Notes that a child was opened.
  mutating func open(_ key: Key) { opened.insert(key) }

  /// Keeps what was opened here if the keys could not be read before, and are asked for again; and what was
  /// looked up.
  mutating func keepOpened(of known: ListedLevel) {
    named = known.named
    if case .failed = known.phase { opened = known.opened }
  }

  /// Keeps what was written here, now that it waits no more: if the keys cannot be read, nothing else tells it.
  mutating func keepWritten(_ written: WaitingChildren) { opened.formUnion(written.keys) }

  /// Keeps the first keys only.
  mutating func keep(_ count: Int) {
    guard keys.count > count else { return }
    for key in keys[count...] { children[key] = nil }
    keys.removeSubrange(count...)
    hasMore = true
  }

  /// Forgets all keys, because they may not be read; those that were shown without a connection stay.
  mutating func clear() {
    if case .failed = phase { opened.formUnion(keys) }
    (keys, children, hasMore, named) = ([], [:], false, [])
  }

  subscript(key: Key) -> ListedChild {
    get { children[key] ?? .node(.unknown) }
    set { children[key] = newValue }
  }

  /// The children with what waits to be written, in their order.
  private var present: [(key: Key, child: ListedChild)] {
    let extra = phase == .loaded ? named : opened
    if waiting.isEmpty, written.isEmpty, extra.isEmpty { return keys.map { ($0, self[$0]) } }
    var present: [Key: ListedChild] = [:]
    for key in extra.union(keys) { present[key] = self[key] }
    for part in [written, waiting] { part.apply(to: &present) }
    return present.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }

  /// Returns the change of the shown children since the last call.
  mutating func change() -> TreeChange {
    let present = present
    let isSame =
      isShown && present.count == shown.count && zip(present, shown).allSatisfy { $0.key == $1.key }
    var update = BatchUpdate.reload
    var came: [Int] = []
    if isSame {
      came = present.indices.filter { present[$0].child != shown[$0].child }
      update = BatchUpdate()
      update.reloadedRows = came.map { ListIndexPath(section: 0, row: $0) }
    }
    (shown, isShown) = (present, true)
    var facts: [Key: Fact] = [:]
    for (key, reason) in sought { facts[key] = .failed(reason) }
    sought = [:]
    for (key, child) in present { if case .node(let fact) = child { facts[key] = fact } }
    let rows = present.map { key, child in
      Record(path: Path(unchecked: path.keys + [key]), row: child.row(key))
    }
    return TreeChange(
      content: .rows(Rows(rows), came: came), update: update, phase: phase, paging: paging,
      listing: TreeListing(facts: facts, time: time))
  }

  private var paging: FetchState {
    guard phase == .loaded, hasMore else { return .exhausted }
    if question != nil { return .fetching }
    return failure.map { .failed($0) } ?? .more
  }
}

/// What writes that the server has not confirmed make of the children of a node.
struct WaitingChildren: Hashable {
  /// The children that are written, or removed if nil.
  private var children: [Key: ListedChild?] = [:]
  /// Whether all other children are removed.
  private var replacesAll = false
  /// The ids of the writes.
  private(set) var writes: Set<Int64> = []

  var isEmpty: Bool { children.isEmpty && !replacesAll }

  /// The keys at which something stands by the writes.
  var keys: [Key] { children.filter { $0.value != nil }.map(\.key) }

  /// Makes that of a node.
  init(_ pending: [PendingWrite] = [], at path: Path = .root) {
    for write in pending where write.isVisible {
      for part in write.parts {
        guard case .node(let node) = part.target else { continue }
        if part.path.contains(path) {
          take(all: node[path.relative(to: part.path) ?? .root], of: write.id)
        } else if let below = part.path.relative(to: path), let key = below.keys.first {
          take(node, at: key, isDeeper: below.keys.count > 1, of: write.id)
        }
      }
    }
  }

  private mutating func take(all node: Node, of write: Int64) {
    (children, replacesAll) = ([:], true)
    writes.insert(write)
    for child in node.children { children[child.key] = .some(WaitingChildren.child(child.node)) }
  }

  private mutating func take(_ node: Node, at key: Key, isDeeper: Bool, of write: Int64) {
    writes.insert(write)
    if !isDeeper {
      children[key] = .some(node.isEmpty ? nil : WaitingChildren.child(node))
    } else if !node.isEmpty, children[key] == nil || children[key] == .some(nil) {
      children[key] = .some(.node(.unknown))
    }
  }

  private static func child(_ node: Node) -> ListedChild {
    switch NodeSummary(node).kind {
    case .leaf(let leaf): .value(leaf)
    case .children(let count): .node(.node(keyCount: count, isAll: true))
    case .empty: .node(.unknown)
    }
  }

  /// Applies the writes to known children.
  func apply(to present: inout [Key: ListedChild]) {
    if replacesAll { present = [:] }
    for (key, child) in children {
      // What is known of a node stays: only something below it is written.
      if child == .node(.unknown), case .node? = present[key] { continue }
      present[key] = child
    }
  }
}
