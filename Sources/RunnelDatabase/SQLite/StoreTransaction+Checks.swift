import Glibc
import GRDB
import RunnelTree

// What every read checks of the rows it meets: their checksums, their order, that they are as many as
// the node above says, and that what is missing was never there. FORMAT.md tells what that finds.

/// What a row of `node` holds, where SQLite has it: it is there until its statement goes on.
enum RowContent {
  case record(UnsafeBufferPointer<UInt8>)
  case split(Int64)

  /// The checksum of a row with this content.
  func checksum(_ parent: Int64, _ key: UnsafeRawBufferPointer) -> Int64 {
    switch self {
    case .record(let json):
      Checksum.record(UnsafeRawBufferPointer(json), parent: parent, key: key)
    case .split(let split): Checksum.name(split, parent: parent, key: key)
    }
  }
}

extension FastStatement {
  /// What a row holds whose columns are `json`, `split` and `checksum`, from `first` on.
  ///
  /// - Throws: `Damage` if it is not what was written there.
  func content(
    _ parent: Int64, _ key: UnsafeRawBufferPointer, from first: Int32
  ) throws -> RowContent {
    let content: RowContent
    if let split = try integer(first + 1, "split") {
      content = .split(split)
    } else {
      if isNull(first) { throw Damage("nothing is stored where something should be") }
      content = .record(rawBytes(first).assumingMemoryBound(to: UInt8.self))
    }
    // A row of an older file has none until it is next written.
    if let checksum = try integer(first + 2, "its checksum"),
      checksum != content.checksum(parent, key)
    {
      throw Damage.checksum
    }
    return content
  }
}

/// Checks that keys come in their order, in which SQLite stores them.
struct KeyOrder {
  private let isDescending: Bool
  private var last: [UInt8] = []

  init(isDescending: Bool = false) {
    self.isDescending = isDescending
    last.reserveCapacity(TreeLimits.keyBytesMax)
  }

  /// - Throws: `Damage` if the next key does not follow the one before.
  mutating func check(_ key: UnsafeRawBufferPointer) throws {
    if !last.isEmpty, last.withUnsafeBytes({ !isInOrder($0, key) }) {
      throw Damage("it is out of the order of keys")
    }
    last.removeAll(keepingCapacity: true)
    last.append(contentsOf: key)
  }

  private func isInOrder(_ last: UnsafeRawBufferPointer, _ key: UnsafeRawBufferPointer) -> Bool {
    guard let start = last.baseAddress, let next = key.baseAddress else { return false }
    let order = memcmp(start, next, min(last.count, key.count))
    let difference = order == 0 ? last.count - key.count : Int(order)
    return isDescending ? difference > 0 : difference < 0
  }
}

extension StoreTransaction {
  /// Calls `body` with every child of a split node in the order of keys; returns the node's priority.
  ///
  /// - Throws: `Damage` if the children are not those that the node says it has, and what `body`
  ///   throws.
  func forEachChild(
    of split: Int64, _ body: (_ key: Key, _ content: RowContent) throws -> Void
  ) throws -> Leaf? {
    var order = KeyOrder()
    var count = 0
    // One of its own: children that are split nodes are read meanwhile.
    let statement = try FastStatement(
      db, "SELECT key, json, split, checksum FROM node WHERE parent = ? ORDER BY key")
    try statement.forEach([.integer(split)]) { row in
      let key = row.rawBytes(0)
      try Damage.locating(.row(RowID(parent: split, key: Array(key)))) {
        try order.check(key)
        try body(row.key(0), row.content(split, key, from: 1))
      }
      count += 1
      return true
    }
    let head = try splitHead(split)
    if head.children != count { throw Damage.count(head.children, count, of: split) }
    return head.priority
  }

  /// Checks that so many children are all that a split node has.
  func checkIsAll(_ count: Int, of split: Int64) throws {
    let told = try splitHead(split).children
    if told != count { throw Damage.count(told, count, of: split) }
  }

  /// Checks that there is no tree where its row is missing.
  ///
  /// - Throws: `Damage` if rows are stored that can only belong below it.
  func checkIsEmpty() throws {
    if isMending { return }
    // Of a replica they may belong to the other tree; and what is imported is built before its place.
    let others = [RowID.root, .server, .detached].filter { $0 != root }
    if try others.contains(where: { if case .split? = try row($0) { true } else { false } }) {
      return
    }
    let count = try statement("SELECT count(*) FROM (SELECT 1 FROM node WHERE parent > 0 LIMIT 1)")
      .first { try $0.integer(0, "a count") ?? 0 }
    if count != 0 {
      throw Damage("the row of the whole tree is missing, and others are there", at: .words("/"))
    }
  }

  /// How many siblings are counted, at most, where a row is not found.
  private static let countedSiblingsMax = 128

  /// Checks the rows between which one was not found, and that no row is missing of few.
  ///
  /// A row whose key or parent was changed still stands where it stood, so it is one of these.
  ///
  /// - Throws: `Damage` if one of them is not what was written.
  func checkNeighbors(of id: RowID) throws {
    let told = try splitHead(id.parent).children
    if told <= StoreTransaction.countedSiblingsMax {
      let found = try statement("SELECT count(*) FROM node WHERE parent = ?")
        .first(.integer(id.parent)) { try $0.integer(0, "a count") ?? 0 }
      if let found, Int(found) != told { throw Damage.count(told, Int(found), of: id.parent) }
    }
    let after: StaticString = """
      SELECT parent, key, json, split, checksum FROM node
      WHERE (parent, key) > (?, ?) ORDER BY parent, key LIMIT 1
      """
    let before: StaticString = """
      SELECT parent, key, json, split, checksum FROM node
      WHERE (parent, key) < (?, ?) ORDER BY parent DESC, key DESC LIMIT 1
      """
    for sql in [after, before] {
      _ = try statement(sql).first(.integer(id.parent), .bytes(id.key)) { row in
        let key = row.rawBytes(1)
        let parent = try row.integer(0, "the parent of a row") ?? 0
        try Damage.locating(.row(RowID(parent: parent, key: Array(key)))) {
          _ = try row.content(parent, key, from: 2)
        }
      }
    }
  }
}

// MARK: Places

extension Damage {
  static var checksum: Damage { Damage("its checksum does not match what is stored") }

  static func count(_ told: Int, _ found: Int, of split: Int64) -> Damage {
    Damage("it says that it has \(told) children, and \(found) are stored", at: .split(split))
  }
}

extension StoreTransaction {
  /// Damage with its place in words.
  ///
  /// O(n) in the rows for each level above it: no index leads upwards.
  func inWords(_ damage: Damage) -> Damage {
    var told = damage
    switch damage.place {
    case .row(let row):
      let above = words(forSplit: row.parent)
      if let key = OrderedBytes.key(from: row.key) {
        told.place = .words((above == "/" ? "" : above) + "/" + key.text)
      } else {
        told.place = .words(row.parent == 0 ? "/" : "a child of " + above)
      }
    case .split(let split): told.place = .words(words(forSplit: split))
    case .words, nil: break
    }
    return told
  }

  /// The place of a split node in words.
  private func words(forSplit split: Int64) -> String {
    var keys: [Key] = []
    var next = split
    for _ in 0...TreeLimits.depthMax {
      if next == 0 { return Path(unchecked: keys.reversed()).description }
      // Where the way up is damaged too, the node has no name but its number.
      guard let name = try? name(ofSplit: next) else { break }
      if let key = OrderedBytes.key(from: name.key) { keys.append(key) }
      next = name.parent
    }
    return "split node \(split)"
  }

  private func name(ofSplit split: Int64) throws -> RowID? {
    try FastStatement(db, "SELECT parent, key FROM node WHERE split = ? LIMIT 1")
      .first(.integer(split)) { row in
        RowID(parent: try row.integer(0, "a parent") ?? -1, key: row.bytes(1) ?? [])
      }
  }
}
