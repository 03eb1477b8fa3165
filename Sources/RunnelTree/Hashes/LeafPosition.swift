/// The place of a leaf in the order in which leaves are cut into ranges.
///
/// The priority of a node with children counts as a leaf of its own, as if it were a child called
/// `.priority`; that of a leaf belongs to the leaf.
///
/// Source: tree semantics, sections 16.2 and 16.3.
public struct LeafPosition: Hashable, Sendable {
  /// The place of the leaf, or of the node whose priority it is.
  public let path: Path
  /// True if it is the priority of a node with children.
  public let isPriority: Bool

  /// Makes a position.
  public init(_ path: Path, isPriority: Bool = false) {
    self.path = path
    self.isPriority = isPriority
  }

  /// Reads the text form: keys joined by `/`, of which the last may be `.priority`.
  ///
  /// - Throws: `TreeError` (`invalidKey` or `invalidPath`) that names the refused part.
  public init(_ text: String) throws(TreeError) {
    try Path.checkLength(of: text)
    let pieces = Path.pieces(of: text)
    isPriority = pieces.last == ReservedName.priority
    path = isPriority ? try Path(pieces.dropLast().joined(separator: "/")) : try Path(text)
  }

  /// Makes a position from keys of which the last may be that of a priority.
  init(keys: [Key]) {
    isPriority = keys.last == Key.priority
    path = Path(unchecked: isPriority ? Array(keys.dropLast()) : keys)
  }

  /// The keys down to the position, with one for the priority.
  var keys: [Key] { isPriority ? path.keys + [.priority] : path.keys }
}

extension Key {
  /// The key that stands for a priority among the children; a tree does not accept it as a key.
  static let priority = Key(unchecked: ReservedName.priority)
}

extension LeafPosition: Comparable {
  /// Orders by key after key, a place before those below it.
  public static func < (left: LeafPosition, right: LeafPosition) -> Bool {
    left.keys.lexicographicallyPrecedes(right.keys)
  }
}

extension LeafPosition: CustomStringConvertible {
  /// The text form, without a leading `/`; the root is `/`.
  public var description: String {
    keys.isEmpty ? "/" : keys.map(\.text).joined(separator: "/")
  }
}

/// A leaf with its place.
struct PlacedLeaf {
  /// The keys down to it; the last one may be that of a priority.
  var keys: [Key]
  /// Its value; for the priority of a node with children, that priority.
  var value: Leaf
  /// Its own priority.
  var priority: Leaf?
}

extension Node {
  /// Calls `body` for each leaf, in the order of their positions.
  func forEachLeaf(_ body: (PlacedLeaf) -> Void) {
    var keys: [Key] = []
    forEachLeaf(below: &keys, body)
  }

  private func forEachLeaf(below keys: inout [Key], _ body: (PlacedLeaf) -> Void) {
    switch content {
    case .empty: break
    case .leaf(let leaf): body(PlacedLeaf(keys: keys, value: leaf, priority: priority))
    case .children(let children):
      var priority = priority
      for child in children {
        if let value = priority, Key.priority < child.key {
          body(PlacedLeaf(keys: keys + [.priority], value: value))
          priority = nil
        }
        keys.append(child.key)
        child.node.forEachLeaf(below: &keys, body)
        keys.removeLast()
      }
      if let priority { body(PlacedLeaf(keys: keys + [.priority], value: priority)) }
    }
  }
}
