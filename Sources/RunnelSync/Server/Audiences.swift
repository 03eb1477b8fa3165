package import RunnelTree

/// A write that was done: the places that it set, and its original form.
package struct CommittedWrite: Hashable, Sendable {
  /// The place that the write named.
  package var path: Path
  /// True if the write named several places below.
  package var isUpdate: Bool
  /// The values that the write set, with absolute paths; no place is above another.
  package var parts: [Assignment]

  init(path: Path, isUpdate: Bool, parts: [Assignment]) {
    (self.path, self.isUpdate, self.parts) = (path, isUpdate, parts)
  }

  /// Describes a write and the parts that it resulted in.
  package init(_ write: Write, _ parts: [Assignment]) {
    self.parts = parts
    switch write {
    case .set(let path, _): (self.path, isUpdate) = (path, false)
    case .update(let path, _): (self.path, isUpdate) = (path, true)
    case .copy(_, let target): (path, isUpdate) = (target, false)
    case .move: (path, isUpdate) = (.root, true)
    }
  }
}

/// Decides what each listener is told of a write, over all connections.
///
/// An *audience* is a query that has listeners. The change that a write makes to it is computed
/// once, and encoded once, for all its members.
///
/// The caller answers what a query shows at first (`ListenAnswer`), and passes every later write to
/// this type.
///
/// Source: wire protocol, section A5.1.
package struct Audiences: Sendable {
  /// A listen of one connection.
  package struct Member: Hashable, Sendable, Comparable {
    /// The number of the connection, which is never reused.
    package var connection: Int64
    /// The listen of the connection.
    package var listen: ListenNumber

    /// Makes a member.
    package init(connection: Int64, listen: ListenNumber) {
      self.connection = connection
      self.listen = listen
    }

    /// Orders by connection, then by listen.
    package static func < (left: Member, right: Member) -> Bool {
      (left.connection, left.listen) < (right.connection, right.listen)
    }
  }

  /// The change that a write made to one query, and its receivers.
  package struct Told: Hashable, Sendable {
    /// The change.
    package var change: AudienceChange
    /// The listeners, in the order in which they are told.
    package var members: [Member]
  }

  private struct Audience: Sendable {
    var query: Query
    var members: Set<Member> { didSet { ordered = nil } }
    /// The members in their order, once a write has asked for them.
    var ordered: [Member]?
  }

  private var audiences: [ListenerID: Audience] = [:]
  private var ids: [Query: ListenerID] = [:]
  private var joined: [Member: ListenerID] = [:]
  private var lastID = 0
  /// The audiences whose query shows all of a place.
  private var wholes = PathTree<ListenerID>()
  /// The windows of all other audiences.
  private var engine = TreeEngine()

  /// Makes audiences without a member.
  package init() {}

  /// The number of queries that have listeners.
  package var count: Int { audiences.count }

  /// The number of listens.
  package var memberCount: Int { joined.count }

  /// The query that a member listens to; nil if it has not joined.
  package func query(of member: Member) -> Query? {
    joined[member].flatMap { audiences[$0]?.query }
  }

  /// Adds a member that listens to a query from now on.
  ///
  /// Complexity: O(n) in the window for the first member of a query, O(1) for others.
  ///
  /// - Precondition: the member has not joined yet.
  /// - Throws: `TreeError` (`storage`) if the window cannot be read; then nothing has changed.
  package mutating func join(
    _ member: Member, _ query: Query, reader: some TreeReader
  ) throws(TreeError) {
    precondition(joined[member] == nil, "A listen joins once.")
    let query = query.loadsAllData ? Query(query.path) : query
    let id: ListenerID
    if let known = ids[query] { id = known } else { id = try makeAudience(query, reader) }
    audiences[id]?.members.insert(member)
    joined[member] = id
  }

  private mutating func makeAudience(
    _ query: Query, _ reader: some TreeReader
  ) throws(TreeError) -> ListenerID {
    let id = ListenerID(lastID + 1)
    if query.loadsAllData {
      wholes[query.path] = id
    } else {
      _ = try engine.listen(id, ListenRequest(query: query, events: .children), reader: reader)
    }
    lastID += 1
    ids[query] = id
    audiences[id] = Audience(query: query, members: [])
    return id
  }

  /// Removes a member whose listen ended; a member that had not joined is ignored.
  package mutating func leave(_ member: Member) {
    guard let id = joined.removeValue(forKey: member) else { return }
    audiences[id]?.members.remove(member)
    guard let audience = audiences[id], audience.members.isEmpty else { return }
    audiences[id] = nil
    ids[audience.query] = nil
    if audience.query.loadsAllData {
      wholes[audience.query.path] = nil
    } else {
      engine.unlisten(id)
    }
  }

  /// Takes a write that was done.
  ///
  /// Complexity: O(changes) in the windows that the write reaches; for audiences that show all of a
  /// place, O(n) in what the write replaced there.
  ///
  /// - Parameters:
  ///   - write: the write.
  ///   - before: the tree as it was just before.
  ///   - after: the tree as it is just after.
  /// - Returns: the changes and their receivers, audiences in the order of their places.
  /// - Throws: `TreeError` (`storage`) if the tree cannot be read; then nothing has changed here.
  package mutating func apply(
    _ write: CommittedWrite, before: some TreeReader, after: some TreeReader
  ) throws(TreeError) -> [Told] {
    var told: [(query: Query, told: Told)] = []
    for id in wholesConcerned(by: write.parts.map(\.path)) {
      guard let audience = audiences[id] else { continue }
      let changes = WholeChanges(write: write, path: audience.query.path)
      guard let change = try changes.change(before: before, after: after) else { continue }
      told.append((audience.query, Told(change: change, members: members(of: id))))
    }
    for (id, window) in try windowChanges(write.parts.map(\.path), after) {
      guard let audience = audiences[id] else { continue }
      let change = try window.change(of: audience.query.path, write, after: after)
      guard let change else { continue }
      told.append((audience.query, Told(change: change, members: members(of: id))))
    }
    return Audiences.inOrder(told)
  }

  /// Takes the places that another process wrote, whose previous contents are unknown.
  ///
  /// Listeners to one of the places are told its contents now, even if they are unchanged.
  ///
  /// - Parameters:
  ///   - paths: the places.
  ///   - after: the tree as it is.
  /// - Returns: the changes and their receivers, audiences in the order of their places.
  /// - Throws: `TreeError` (`storage`) if the tree cannot be read; then nothing has changed here.
  package mutating func apply(
    touched paths: [Path], after: some TreeReader
  ) throws(TreeError) -> [Told] {
    let all = Set(paths)
    let highest = all.filter { path in !all.contains { $0 != path && $0.contains(path) } }.sorted()
    var told: [(query: Query, told: Told)] = []
    for id in wholesConcerned(by: highest) {
      guard let audience = audiences[id] else { continue }
      let change = try Audiences.change(at: audience.query.path, highest, after)
      told.append((audience.query, Told(change: change, members: members(of: id))))
    }
    for (id, window) in try windowChanges(highest, after) {
      guard let audience = audiences[id] else { continue }
      let place = audience.query.path
      let write = CommittedWrite(
        path: place, isUpdate: true, parts: try Audiences.parts(below: place, highest, after))
      guard let change = try window.change(of: place, write, after: after) else { continue }
      told.append((audience.query, Told(change: change, members: members(of: id))))
    }
    return Audiences.inOrder(told)
  }

  /// True if an audience shows all of a place above, at or below one of these; only then `apply`
  /// reads the tree before the write.
  package func areShownWhole(_ paths: [Path]) -> Bool { !wholesConcerned(by: paths).isEmpty }

  /// The change for listeners to all of a place when there were writes at, above or below it.
  private static func change(
    at place: Path, _ paths: [Path], _ after: some TreeReader
  ) throws(TreeError) -> AudienceChange {
    if paths.contains(where: { $0.contains(place) }) {
      return .put(place, .node(try after.node(at: place)))
    }
    let parts = try parts(below: place, paths, after)
    if let part = parts.first, parts.count == 1 { return .put(part.path, part.target) }
    return .patch(
      place,
      parts.compactMap { part in
        part.path.relative(to: place).map { Assignment(path: $0, target: part.target) }
      })
  }

  /// The current nodes at those of the paths that are below a place.
  private static func parts(
    below place: Path, _ paths: [Path], _ after: some TreeReader
  ) throws(TreeError) -> [Assignment] {
    var parts: [Assignment] = []
    for path in paths where path != place && place.contains(path) {
      parts.append(Assignment(path: path, target: .node(try after.node(at: path))))
    }
    return parts
  }

  /// The members of an audience in their order: the same array until one joins or leaves.
  private mutating func members(of id: ListenerID) -> [Member] {
    guard let audience = audiences[id] else { return [] }
    if let ordered = audience.ordered { return ordered }
    let ordered = audience.members.sorted()
    audiences[id]?.ordered = ordered
    return ordered
  }

  private mutating func windowChanges(
    _ paths: [Path], _ after: some TreeReader
  ) throws(TreeError) -> [ListenerID: WindowChanges] {
    var changes: [ListenerID: WindowChanges] = [:]
    for delivery in try engine.apply(touched: paths, reader: after) {
      changes[delivery.listener, default: .init()].add(delivery.event)
    }
    return changes
  }

  private static func inOrder(_ told: [(query: Query, told: Told)]) -> [Told] {
    told.sorted {
      ($0.query.path, $0.told.members.first ?? Audiences.nobody)
        < ($1.query.path, $1.told.members.first ?? Audiences.nobody)
    }.map(\.told)
  }

  private static let nobody = Member(connection: .max, listen: ListenNumber(.max))

  /// Runs `body`; if it throws, all windows are restored to their previous state.
  ///
  /// A member that joined within `body` stays joined and must leave; a member that left stays away.
  ///
  /// - Throws: what `body` throws.
  package mutating func atomically<Result>(
    _ body: (inout Audiences) throws -> Result
  ) throws -> Result {
    var outer = TreeEngine()
    swap(&outer, &engine)
    defer { swap(&outer, &engine) }
    return try outer.atomically { inner in
      swap(&inner, &engine)
      defer { swap(&inner, &engine) }
      return try body(&self)
    }
  }

  /// The audiences that show all of a place at, above or below the written paths.
  private func wholesConcerned(by paths: [Path]) -> Set<ListenerID> {
    var found: Set<ListenerID> = []
    for path in paths {
      for depth in 0..<path.keys.count {
        let above = Path(unchecked: Array(path.keys[..<depth]))
        if let id = wholes[above] { found.insert(id) }
      }
      found.formUnion(wholes.paths(at: path).compactMap { wholes[$0] })
    }
    return found
  }
}

/// The change that a write makes for listeners to all of a place.
private struct WholeChanges {
  let write: CommittedWrite
  let path: Path

  func change(
    before: some TreeReader, after: some TreeReader
  ) throws(TreeError) -> AudienceChange? {
    let replacing = write.parts.contains { part in
      if case .node = part.target { part.path.contains(path) } else { false }
    }
    if replacing {
      let node = try after.node(at: path)
      return try before.node(at: path) == node ? nil : .put(path, .node(node))
    }
    var changed: [Assignment] = []
    for part in write.parts where path.contains(part.path) {
      if try isChanged(part, before: before, after: after) { changed.append(part) }
    }
    if let part = changed.first, changed.count == 1, !write.isUpdate {
      return .put(part.path, part.target)
    }
    if changed.isEmpty { return nil }
    return patch(changed)
  }

  /// The parts, relative to the place that the write named or to the place that is listened to.
  private func patch(_ parts: [Assignment]) -> AudienceChange {
    let base = path.contains(write.path) ? write.path : path
    // The priority of the place that the write named is a part of the patch.
    return .patch(
      base,
      parts.compactMap { part in
        part.path.relative(to: base).map { Assignment(path: $0, target: part.target) }
      })
  }

  private func isChanged(
    _ part: Assignment, before: some TreeReader, after: some TreeReader
  ) throws(TreeError) -> Bool {
    switch part.target {
    case .node(let node): return try before.node(at: part.path) != node
    // An empty node takes no priority.
    case .priority:
      return try before.summary(at: part.path).priority != after.summary(at: part.path).priority
    }
  }
}

/// The change that the events of one write make to a window.
private struct WindowChanges {
  private var entered: [Assignment] = []
  private var changed: [Child] = []
  private var left: [Assignment] = []

  mutating func add(_ event: TreeEvent) {
    switch event {
    case .childAdded(let row, _):
      entered.append(
        Assignment(path: Path(unchecked: [row.key]), target: .node(row.node ?? .empty)))
    case .childChanged(let row, _): changed.append(Child(key: row.key, node: row.node ?? .empty))
    case .childRemoved(let row):
      left.append(Assignment(path: Path(unchecked: [row.key]), target: .node(.empty)))
    case .childMoved, .value, .page, .pending, .answered: break
    }
  }

  func change(
    of path: Path, _ write: CommittedWrite, after: some TreeReader
  ) throws(TreeError) -> AudienceChange? {
    if !left.isEmpty, entered.isEmpty, changed.isEmpty, try !hasChildren(path, after) {
      return .put(path, .node(.empty))
    }
    // Entering children come first, so that a window is never too small.
    let parts = entered + changed.flatMap { part(of: $0, at: path, write) } + left
    guard let first = parts.first else { return nil }
    if parts.count > 1 { return .patch(path, parts) }
    return .put(Path(unchecked: path.keys + first.path.keys), first.target)
  }

  private func hasChildren(_ path: Path, _ reader: some TreeReader) throws(TreeError) -> Bool {
    if case .children = try reader.summary(at: path).kind { true } else { false }
  }

  /// The parts for a child that stays in the window: what was written below it.
  private func part(of child: Child, at path: Path, _ write: CommittedWrite) -> [Assignment] {
    let place = Path(unchecked: path.keys + [child.key])
    var parts: [Assignment] = []
    for part in write.parts where place.contains(part.path) {
      guard let below = part.path.relative(to: path) else { continue }
      parts.append(Assignment(path: below, target: part.target))
    }
    if parts.isEmpty || parts.contains(where: { $0.path.keys.count == 1 && $0.putsNode }) {
      return [Assignment(path: Path(unchecked: [child.key]), target: .node(child.node))]
    }
    return parts
  }
}

extension Assignment {
  fileprivate var putsNode: Bool { if case .node = target { true } else { false } }
}
