/// The places that pending writes change, so that the writes which concern a place are found at once.
///
/// Invariants:
/// - I1. There is a mark for each part of each pending write, at its place.
/// - I2. `hidden` has the ids of the writes that are not shown.
struct PendingPlaces: Sendable {
  /// A part of a write at its place.
  private struct Mark: Equatable, Sendable {
    var id: Int64
    /// The index of the part.
    var part: Int
    /// False if the part is a priority alone.
    var isNode: Bool
  }

  private var marks = PathTree<[Mark]>()
  /// The writes that are shown only when the origin has taken them.
  private(set) var hidden: Set<Int64> = []
  /// Grows with each change.
  var revision = 0
  /// How many writes the origin compares each place for.
  private var compared: [Path: Int] = [:]

  /// Notes a write.
  mutating func add(_ write: PendingWrite) {
    revision += 1
    if !write.isVisible { hidden.insert(write.id) }
    if let path = write.seen?.path { compared[path, default: 0] += 1 }
    for (index, part) in write.parts.enumerated() {
      let mark = Mark(id: write.id, part: index, isNode: part.isNode)
      if marks[part.path] == nil { marks[part.path] = [] }
      marks.update(at: part.path) { $0.append(mark) }
    }
  }

  /// Forgets a write, with the parts that it was noted with.
  mutating func remove(_ write: PendingWrite) {
    revision += 1
    hidden.remove(write.id)
    if let path = write.seen?.path, let count = compared[path] {
      compared[path] = count > 1 ? count - 1 : nil
    }
    for path in Set(write.parts.map(\.path)) {
      marks.update(at: path) { $0.removeAll { $0.id == write.id } }
      if marks[path]?.isEmpty == true { marks[path] = nil }
    }
  }

  /// True if the origin compares a place for a write.
  func isCompared(_ path: Path) -> Bool { compared[path] != nil }

  /// The ids of the writes that change something at a place, above it or below it, ascending.
  ///
  /// With `isCounted`, only the writes that it accepts; the last of these that replaces the whole
  /// place stands for all before it. O(n log n) in the parts found.
  func ids(around path: Path, where isCounted: ((Int64) -> Bool)? = nil) -> [Int64] {
    Set(parts(around: path, where: isCounted).map(\.id)).sorted()
  }

  /// The same as parts of writes, in the order of the writes and in that of their parts.
  func parts(
    around path: Path, where isCounted: ((Int64) -> Bool)? = nil
  ) -> [(id: Int64, index: Int)] {
    var found: [(id: Int64, index: Int)] = []
    var lastWhole = Int64.min
    for (depth, marks) in marks.values(atOrAbove: path) {
      for mark in marks where isCounted?(mark.id) ?? true {
        // What stands at the place itself is found below, too.
        if depth < path.keys.count { found.append((mark.id, mark.part)) }
        if mark.isNode, isCounted != nil { lastWhole = max(lastWhole, mark.id) }
      }
    }
    marks.forEach(atOrBelow: path) { marks in
      for mark in marks where mark.id >= lastWhole && isCounted?(mark.id) ?? true {
        found.append((mark.id, mark.part))
      }
    }
    return found.filter { $0.id >= lastWhole }.sorted { $0 < $1 }
  }

  /// True if a write that is shown changes something at a place or below it.
  func isWritten(atOrBelow path: Path) -> Bool { marks.contains(atOrBelow: path, where: isShown) }

  /// True if a write that is shown replaces the node at a place, or its priority.
  func isWritten(at path: Path) -> Bool { marks[path].map(isShown) ?? false }

  /// True if a write that is shown replaces all of a place.
  func isShadowed(_ path: Path) -> Bool {
    marks.values(atOrAbove: path).contains { isNodeShown($0.value) }
  }

  /// True if a write that is shown replaces a place or one above it, also if only a priority.
  func isWritten(atOrAbove path: Path) -> Bool {
    marks.values(atOrAbove: path).contains { isShown($0.value) }
  }

  /// The children of a place that writes change, as a whole or in part.
  func changedChildren(of path: Path) -> Set<Key> { marks.keys(below: path, where: isShown) }

  /// The children of a place that writes replace as a whole, or also those of which they replace a
  /// part.
  func writtenChildren(of path: Path, orInPart isPartCounted: Bool) -> Set<Key> {
    if isPartCounted { return marks.keys(below: path, where: isNodeShown) }
    return Set(marks.children(of: path).lazy.filter { isNodeShown($0.value) }.map(\.key))
  }

  private func isShown(_ marks: [Mark]) -> Bool {
    hidden.isEmpty ? !marks.isEmpty : marks.contains { !hidden.contains($0.id) }
  }

  private func isNodeShown(_ marks: [Mark]) -> Bool {
    marks.contains { $0.isNode && !hidden.contains($0.id) }
  }
}
