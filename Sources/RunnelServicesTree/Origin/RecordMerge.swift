import RunnelServices
import RunnelTree

/// Joins a change that was made here with what others have made of the same record meanwhile.
///
/// A field that only one side has changed is as that side left it, also within objects. Arrays are not
/// joined. The fields that can be a record's version count as changed by nobody, unless they were written
/// themselves.
///
/// Source: services protocol, section 11.5.
struct RecordMerge {
  /// A field that both sides have changed to different values.
  struct Conflict: Error {
    /// The place of the field in the node.
    var field: Path
    /// What stands there now.
    var theirs: Node
  }

  private var change: NodeChange
  private let theirs: Node

  /// Makes a merge of a change with what stands at its place now.
  init(_ change: NodeChange, onto theirs: Node) {
    (self.change, self.theirs) = (change, theirs)
    if !change.path.isRoot || change.before.isEmpty || theirs.isEmpty { return }
    for key in RecordMerge.versionKeys {
      let place = Path(unchecked: [key])
      if self.change.after[key] == self.change.before[key], !self.change.after.isEmpty {
        self.change.after = self.change.after.replacing(place, with: theirs[key])
      }
      self.change.before = self.change.before.replacing(place, with: theirs[key])
    }
  }

  private static let versionKeys = ServiceOrigin.versionFields.map { Key(unchecked: $0) }

  /// Returns what both sides leave.
  ///
  /// - Throws: `Conflict` for the first field that both have changed.
  func merged() throws(Conflict) -> Node {
    try RecordMerge.merged(change.before, change.after, theirs, at: [])
  }

  private static func merged(
    _ base: Node, _ mine: Node, _ theirs: Node, at keys: [Key]
  ) throws(Conflict) -> Node {
    if mine == base || mine == theirs { return theirs }
    if theirs == base { return mine }
    guard base.isObject, mine.isObject, theirs.isObject else {
      throw Conflict(field: Path(unchecked: keys), theirs: theirs)
    }
    var children: [Child] = []
    let names = Set(mine.children.map(\.key)).union(theirs.children.map(\.key))
    for key in names.sorted() {
      let node = try merged(base[key], mine[key], theirs[key], at: keys + [key])
      children.append(Child(key: key, node: node))
    }
    return Node(children: children)
  }

  /// True if two nodes at a place in a record say the same, whatever their versions.
  static func isSame(_ left: Node, _ right: Node, at place: Path) -> Bool {
    if left == right { return true }
    if !place.isRoot || left.isEmpty || right.isEmpty { return false }
    return versionKeys.reduce(left) { $0.replacing(Path(unchecked: [$1]), with: right[$1]) }
      == right
  }
}

extension Node {
  /// True if the node has fields of its own, which can be joined with those of another: it is no array.
  fileprivate var isObject: Bool {
    if case .children = content { self[Key(unchecked: "~")].isEmpty } else { false }
  }
}
