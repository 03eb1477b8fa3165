import GRDB
import RunnelStorage
import RunnelTree

/// The split nodes of a file, with the row that names each of them and its place.
///
/// Memory is proportional to the number of split nodes.
struct SplitMap {
  private struct Split {
    /// The number of children according to its own row; nil if that is unreadable.
    var told: Int64?
    /// The first row that names it.
    var name: RowID?
    /// The number of rows of `node` that name it as their parent.
    var found: Int64 = 0
  }

  /// The place of a split node.
  enum Place {
    case known([Key])
    /// The node is not reachable from the root, or its path cannot be read; that is reported
    /// elsewhere.
    case unreachable
    /// The node contains itself, or is too deep.
    case tangled(String)
  }

  private var splits: [Int64: Split] = [:]

  /// The ids of all split nodes, ascending.
  var ids: [Int64] { splits.keys.sorted() }

  func contains(_ split: Int64) -> Bool { splits[split] != nil }

  mutating func add(_ split: Int64, told: Int64?) { splits[split] = Split(told: told) }

  /// Notes that a row names a split node; returns false if there is no such node, or if another row
  /// names it too.
  mutating func name(_ split: Int64, by row: RowID) -> Bool {
    guard splits[split] != nil, splits[split]?.name == nil else { return false }
    splits[split]?.name = row
    return true
  }

  mutating func noteChildren(_ count: Int64, of split: Int64) { splits[split]?.found += count }

  func told(_ split: Int64) -> Int64? { splits[split]?.told }
  func found(_ split: Int64) -> Int64 { splits[split]?.found ?? 0 }
  func isNamed(_ split: Int64) -> Bool { splits[split]?.name != nil }

  /// The place of a split node.
  ///
  /// O(depth).
  func place(of split: Int64) -> Place {
    var keys: [Key] = []
    var next = split
    // A path with so many steps that has not reached the root never will, or is too deep.
    for _ in 0...TreeLimits.depthMax {
      guard let name = splits[next]?.name else { return .unreachable }
      if name.parent == 0 { return .known(keys.reversed()) }
      guard let key = OrderedBytes.key(from: name.key) else { return .unreachable }
      keys.append(key)
      next = name.parent
      if next == split { return .tangled("it is stored within itself") }
    }
    return .tangled("it is stored within itself, or deeper than a tree can be")
  }

  /// True if a split node contains itself, or lies in a node that does.
  ///
  /// O(depth).
  func isCircular(_ split: Int64) -> Bool {
    var seen: Set<Int64> = []
    var next = split
    while let name = splits[next]?.name, name.parent != 0 {
      if !seen.insert(next).inserted { return true }
      next = name.parent
    }
    return false
  }

  /// True if a split node belongs to the origin's tree, not to the shown tree.
  ///
  /// O(depth).
  func isServer(_ split: Int64) -> Bool {
    var next = split
    for _ in 0...TreeLimits.depthMax {
      guard let name = splits[next]?.name else { return false }
      if name.parent == 0 { return name.key == RowID.server.key }
      next = name.parent
    }
    return false
  }

  /// The place of a split node in words.
  func words(for split: Int64) -> String {
    if case .known(let keys) = place(of: split) { return Path(unchecked: keys).description }
    return "split node \(split)"
  }
}
