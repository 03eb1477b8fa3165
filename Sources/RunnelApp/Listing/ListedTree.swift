import RunnelBase
import RunnelClient
import RunnelDatabase
import RunnelStreams
import RunnelTree
import RunnelWorkspace

/// The tree of a server as the workspace browses it: no level is loaded with what stands below it.
///
/// - The keys of an expanded node are asked for by HTTP, a page at a time. Until the server answers, or if
///   it cannot, the rows are those that the replica knows.
/// - What a key stands for is asked for when its line is in sight. A value in sight is followed over the
///   connection of the replica, so that it is live, and an edit knows what it replaces.
/// - A level of values in sight is followed too, and an empty level until something stands there. Other keys
///   are as of when they were read. They are read again when a write of this replica at the level is
///   answered, when the connection is back, and on request.
///
/// It belongs to the runtime's thread.
final class ListedTree {
  /// The kinds of questions under way.
  private enum Asked {
    case keys(Path)
    case more(Path)
    case glance(Path)
    case count(Path, total: Int)
    case seek(Path)
  }

  /// The most keys that are counted of a node.
  static let countMax = 100_000
  /// The time without a connection from which on all keys are read again.
  private static let shortMilliseconds: Int64 = 2000
  /// The number of keys of a page when keys are counted.
  static let countedPage = 10_000

  /// Takes the resulting actions.
  var report: (AppAction) -> Void = { _ in }
  /// Follows the value at a place, and stops following it.
  var listen: (Path) -> ListenerID = { _ in ListenerID(0) }
  /// Follows the first child of a place, as a node with that child.
  var listenToFirst: (Path) -> ListenerID = { _ in ListenerID(0) }
  var unlisten: (ListenerID) -> Void = { _ in }
  /// The present time in milliseconds since 1970.
  var now: () -> Int64 = { 0 }

  private let source: any LevelSource
  private let backend: any TreeBackend
  private var levels: [Path: ListedLevel] = [:]
  private var asked: [Int: Asked] = [:]
  /// The number of the last question to the server.
  private var lastQuestion = 0
  /// The requests to the replica under way.
  private var cached: [ListedRequestID: Path] = [:]
  private var nextRequest = ListedRequestID.first
  private var inSight: [Path] = []
  /// The followed values; true if a value was told.
  private var followed: [Path: (listener: ListenerID, isTold: Bool)] = [:]
  /// The followed levels: all that stands there are values in sight.
  private var followedLevels: [Path: ListenerID] = [:]
  /// The followed levels that were read as empty, with the first child that was told since.
  private var emptyLevels: [Path: (listener: ListenerID, first: Node?)] = [:]
  private var pending: [PendingWrite] = []
  private var link: OriginFacts?
  /// The time when the connection was lost last.
  private var lostAt: Int64 = 0

  init(_ source: any LevelSource, _ backend: any TreeBackend) {
    (self.source, self.backend) = (source, backend)
  }

  private var isDisconnected: Bool { link?.isDisconnected == true }

  // MARK: What the workspace asks for

  /// Shows the children of a node; those of an expanded node are read again.
  func expand(_ path: Path, pageSize: Int) {
    if let number = levels[path]?.question { cancel(number) }
    var level = ListedLevel(path, pageSize: pageSize)
    level.waiting = WaitingChildren(pending, at: path)
    if let known = levels[path] { level.keepOpened(of: known) }
    levels[path] = level
    if let (parent, key) = ListedTree.place(path) { levels[parent]?.open(key) }
    tell(path)
    readCache(path)
    if !isDisconnected { readKeys(path) }
  }

  /// Forgets the children of a node.
  func collapse(_ path: Path) {
    guard let level = levels.removeValue(forKey: path) else { return }
    if let number = level.question { cancel(number) }
    lookAround()
  }

  /// Reads the next page of keys.
  func fetchMore(of path: Path) {
    guard var level = levels[path], level.question == nil, level.hasMore else { return }
    level.question = ask(.more(path), path, .page(after: level.lastKey, limit: level.pageSize))
    levels[path] = level
    tell(path)
  }

  /// Keeps only the first children of a node.
  func keep(_ count: Int, of path: Path) {
    levels[path]?.keep(count)
    tell(path)
  }

  /// Sets the number of keys of the next pages.
  func resizePages(_ size: Int) {
    for path in levels.keys { levels[path]?.pageSize = size }
  }

  /// Looks up what stands at the places in sight.
  func look(at paths: [Path]) {
    inSight = paths
    lookAround()
  }

  /// Counts the keys of a node, up to a bound.
  func count(_ path: Path) { count(path, after: nil, total: 0) }

  private func count(_ path: Path, after key: Key?, total: Int) {
    _ = ask(
      .count(path, total: total), path, .page(after: key, limit: ListedTree.countedPage))
  }

  /// Looks up a child beyond the loaded keys of its parent, and shows it beside them if it is there.
  func seek(_ path: Path) {
    if isDisconnected {
      return refuse(path, "without a connection, it is not known what stands at \(path)")
    }
    _ = ask(.seek(path), path, .glance)
  }

  // MARK: What the tree and the server tell

  /// Takes the answers of the server.
  func takeAnswers() {
    for (number, answer) in source.takeAnswers() {
      guard let asked = asked.removeValue(forKey: number) else { continue }
      switch (asked, answer) {
      case (.keys(let path), .level(let told)): take(told, of: path, number)
      case (.more(let path), .level(let told)): take(more: told, of: path, number)
      case (.count(let path, let total), .level(let told)): take(counted: told, of: path, total)
      case (.glance(let path), .glance(let told)): take(told, at: path)
      case (.seek(let path), .glance(let told)): take(sought: told, at: path)
      case (_, .failed(let failure)): fail(asked, failure, number)
      default: break
      }
    }
  }

  /// Takes the answer of the replica; nothing is known of a level that it could not read.
  func take(_ answer: Answer, to id: ListedRequestID) {
    guard let path = cached.removeValue(forKey: id), case .records(let rows) = answer,
      var level = levels[path], level.time == nil
    else { return }
    level.take(cached: rows)
    if isDisconnected {
      level.phase = .failed(ListedTree.unreachable(nil, isKnown: !rows.isEmpty))
    } else if !rows.isEmpty, level.phase == .loading {
      level.phase = .cached
    }
    levels[path] = level
    tell(path)
  }

  /// Takes a followed value.
  func take(_ node: Node, at path: Path) {
    if let known = emptyLevels[path] {
      // What the replica knows may be old or not sent yet: the same child has the keys read once.
      emptyLevels[path]?.first = node.isEmpty ? nil : node
      if !node.isEmpty, node != known.first { readKeys(path) }
      return
    }
    if followedLevels[path] != nil, let level = levels[path] {
      // The replica may know a part only, so the keys are asked for.
      let isSame =
        node.children.count == level.count && node.children.allSatisfy { level.has($0.key) }
      if !isSame { readKeys(path) }
      return
    }
    guard let known = followed[path], let (parent, key) = ListedTree.place(path) else { return }
    if node.isEmpty {
      // The replica does not know it yet, or it is gone.
      if known.isTold { readKeys(parent) }
      return
    }
    followed[path]?.isTold = true
    switch NodeSummary(node).kind {
    case .leaf(let leaf): set(.value(leaf), at: key, of: parent)
    case .children(let count):
      unfollow(at: path)
      set(.node(.node(keyCount: count, isAll: true)), at: key, of: parent)
    case .empty: break
    }
  }

  /// Takes the failure of following a value.
  func fail(_ message: String, at path: Path) {
    if emptyLevels.removeValue(forKey: path) != nil { return }
    if followedLevels.removeValue(forKey: path) != nil { return }
    guard followed.removeValue(forKey: path) != nil, let (parent, key) = ListedTree.place(path)
    else {
      return
    }
    set(.node(.failed(message)), at: key, of: parent)
  }

  /// Takes the writes that the server has not confirmed; where one was answered, the keys are read again.
  func take(pending writes: [PendingWrite]) {
    pending = writes
    for path in levels.keys.sorted() {
      guard var level = levels[path] else { continue }
      let before = level.waiting
      level.waiting = WaitingChildren(writes, at: path)
      guard level.waiting != before else { continue }
      let isAnswered = !before.writes.isSubset(of: level.waiting.writes)
      // What was written stays in sight until the server's keys have it.
      if isAnswered, level.time != nil { level.written = before }
      if isAnswered, case .failed = level.phase { level.keepWritten(before) }
      levels[path] = level
      tell(path)
      if isAnswered { readKeys(path) }
    }
  }

  /// Takes the state of the link; when the connection is back, all is read again.
  func take(_ facts: OriginFacts?) {
    let wasCached = link?.isCached ?? false
    link = facts
    guard let facts else { return }
    if facts.isCached {
      if !wasCached { lostAt = now() }
      return
    }
    guard wasCached else { return }
    // A connection that is made while the first keys are read changes nothing for these.
    let isShort = now() - lostAt < ListedTree.shortMilliseconds
    for path in levels.keys.sorted() {
      if isShort, levels[path]?.phase == .loaded || levels[path]?.question != nil { continue }
      readKeys(path)
    }
  }

  // MARK: Reading

  private func readCache(_ path: Path) {
    guard let query = try? Query(path).ordered(by: .key),
      let first = try? query.limited(to: levels[path]?.pageSize ?? 1, from: .first)
    else { return }
    let id = nextRequest
    nextRequest = id.next
    cached[id] = path
    backend.submit(.level(DatabaseAsker.tree(id).number, first))
  }

  /// Reads as many keys as are shown, or a page.
  private func readKeys(_ path: Path) {
    guard var level = levels[path], !isDisconnected else { return }
    if let number = level.question { cancel(number) }
    let limit = max(level.pageSize, level.time == nil ? 0 : level.count)
    level.question = ask(.keys(path), path, .page(after: nil, limit: limit))
    levels[path] = level
  }

  private func ask(_ asking: Asked, _ path: Path, _ kind: LevelQuestion.Kind) -> Int {
    lastQuestion += 1
    asked[lastQuestion] = asking
    source.ask(LevelQuestion(number: lastQuestion, path: path, kind: kind))
    return lastQuestion
  }

  private func cancel(_ number: Int) {
    asked[number] = nil
    source.cancel(number)
  }

  private func take(_ told: OriginLevel, of path: Path, _ number: Int) {
    guard var level = levels[path], level.question == number else { return }
    level.question = nil
    if level.time == nil {
      // What was followed by the replica's word is looked up: what it told is forgotten with its keys.
      for place in followed.keys where place.parent == path { unfollow(at: place) }
    }
    switch told {
    case .empty: level.take([], hasMore: false, at: now())
    case .keys(let keys, let hasMore): level.take(keys, hasMore: hasMore, at: now())
    case .value(let json):
      level.take([], hasMore: false, at: now())
      levels[path] = level
      // It is a value, or has become one: its line closes.
      if let (parent, key) = ListedTree.place(path), let leaf = Leaf(json) {
        set(.value(leaf), at: key, of: parent)
      }
      guard levels[path] != nil else { return lookAround() }
    }
    levels[path] = level
    tell(path)
    lookAround()
  }

  private func take(more told: OriginLevel, of path: Path, _ number: Int) {
    guard var level = levels[path], level.question == number else { return }
    level.question = nil
    if case .keys(let keys, let hasMore) = told {
      level.append(keys, hasMore: hasMore)
    } else {
      level.hasMore = false
    }
    levels[path] = level
    tell(path)
    lookAround()
  }

  private func take(counted told: OriginLevel, of path: Path, _ total: Int) {
    guard let (parent, key) = ListedTree.place(path) else { return }
    switch told {
    case .empty: set(.node(.node(keyCount: total, isAll: true)), at: key, of: parent)
    case .value(let json): if let leaf = Leaf(json) { set(.value(leaf), at: key, of: parent) }
    case .keys(let keys, let hasMore):
      let sum = total + keys.count
      if hasMore, sum < ListedTree.countMax, levels[parent] != nil {
        return count(path, after: keys.last, total: sum)
      }
      set(.node(.node(keyCount: sum, isAll: !hasMore)), at: key, of: parent)
      levels[parent]?.glanced.insert(key)
    }
  }

  private func take(_ told: OriginGlance, at path: Path) {
    guard let (parent, key) = ListedTree.place(path) else { return }
    levels[parent]?.glanced.insert(key)
    switch told {
    case .empty: set(.node(.failed("it is gone")), at: key, of: parent)
    case .value(let json):
      // A long text comes over the connection.
      if let leaf = json.flatMap({ Leaf($0) }) {
        set(.value(leaf), at: key, of: parent)
      } else {
        follow(at: path)
      }
      lookAround()
    case .keys(let count, let isAll):
      // What was counted on request is kept if it is more.
      if case .node(.node(let known, _))? = levels[parent]?[key], !isAll, known > count { return }
      set(.node(.node(keyCount: count, isAll: isAll)), at: key, of: parent)
    }
  }

  private func take(sought told: OriginGlance, at path: Path) {
    guard let (parent, key) = ListedTree.place(path), levels[parent] != nil else { return }
    if case .empty = told { return refuse(path, "there is nothing at \(path)") }
    levels[parent]?.name(key)
    take(told, at: path)
    tell(parent)
  }

  private func refuse(_ path: Path, _ reason: String) {
    guard let (parent, key) = ListedTree.place(path) else { return }
    levels[parent]?.refuse(key, reason)
    // The second time, the reason is told no more.
    for _ in 1...2 { tell(parent) }
  }

  private func fail(_ asked: Asked, _ failure: OriginReadFailure, _ number: Int) {
    switch asked {
    case .keys(let path):
      guard var level = levels[path], level.question == number else { return }
      level.question = nil
      switch failure.cause {
      case .forbidden:
        level.clear()
        level.phase = .failed(
          StreamFailure("\(failure.message.withoutFullStop): no rule lets you list \(path)"))
      case .unreachable where level.count > 0:
        level.phase = .failed(ListedTree.unreachable(failure, isKnown: true))
      case .unreachable, .tooLarge, .refused: level.phase = .failed(StreamFailure(failure.message))
      }
      levels[path] = level
      tell(path)
    case .more(let path):
      guard var level = levels[path], level.question == number else { return }
      (level.question, level.failure) = (nil, StreamFailure(failure.message))
      levels[path] = level
      tell(path)
    case .glance(let path):
      guard let (parent, key) = ListedTree.place(path) else { return }
      levels[parent]?.glanced.insert(key)
      // What is known stays if the server only did not answer.
      if failure.cause != .unreachable { set(.node(.failed(failure.message)), at: key, of: parent) }
    case .count: report(.trouble(failure.message))
    case .seek(let path): refuse(path, "\(path) cannot be read: \(failure.message)")
    }
  }

  private static func unreachable(_ failure: OriginReadFailure?, isKnown: Bool) -> StreamFailure {
    let reason = failure.map(\.message) ?? "There is no connection."
    return StreamFailure(
      isKnown
        ? "\(reason) Only what was read before is shown."
        : "\(reason) What stands here is not known.")
  }

  // MARK: What is in sight

  /// Asks what stands at the places in sight, follows the values there, and no others.
  private func lookAround() {
    let wanted = Set(inSight)
    for (number, asking) in asked {
      if case .glance(let path) = asking, !wanted.contains(path) { cancel(number) }
    }
    for path in followed.keys where !wanted.contains(path) || !isListed(path) { unfollow(at: path) }
    var glancing: Set<Path> = []
    for case .glance(let path) in asked.values { glancing.insert(path) }
    for path in inSight where isListed(path) {
      guard let (parent, key) = ListedTree.place(path), let level = levels[parent] else { continue }
      if case .value = level[key] {
        follow(at: path)
      } else if level.time != nil, level.has(key), levels[path] == nil,
        !level.glanced.contains(key),
        !glancing.contains(path), followed[path] == nil, !isDisconnected
      {
        _ = ask(.glance(path), path, .glance)
      }
    }
    followLevels()
  }

  /// Follows the levels that hold values in sight only, so that what others add and remove there shows at
  /// once: that loads no more than the values.
  private func followLevels() {
    for (path, listener) in followedLevels where levels[path]?.holdsNodes ?? true {
      followedLevels[path] = nil
      unlisten(listener)
    }
    for (path, level) in levels where followedLevels[path] == nil && level.holdsOnlyValues {
      followedLevels[path] = listen(path)
    }
    for (path, known) in emptyLevels where levels[path]?.holdsKeys ?? true {
      emptyLevels[path] = nil
      unlisten(known.listener)
    }
    for (path, level) in levels where emptyLevels[path] == nil && level.isEmpty {
      emptyLevels[path] = (listenToFirst(path), nil)
    }
  }

  private func isListed(_ path: Path) -> Bool {
    guard let parent = path.parent else { return false }
    return levels[parent] != nil
  }

  private func follow(at path: Path) {
    guard followed[path] == nil else { return }
    followed[path] = (listen(path), false)
  }

  private func unfollow(at path: Path) {
    if let known = followed.removeValue(forKey: path) { unlisten(known.listener) }
  }

  // MARK: Telling

  private func set(_ child: ListedChild, at key: Key, of parent: Path) {
    guard var level = levels[parent], level[key] != child else { return }
    level[key] = child
    levels[parent] = level
    tell(parent)
  }

  private func tell(_ path: Path) {
    guard var level = levels[path] else { return }
    let change = level.change()
    levels[path] = level
    report(.tree(path, change))
  }

  /// The parent of a place, and the key there; nil for the root.
  private static func place(_ path: Path) -> (parent: Path, key: Key)? {
    guard let parent = path.parent, let key = path.lastKey else { return nil }
    return (parent, key)
  }
}
