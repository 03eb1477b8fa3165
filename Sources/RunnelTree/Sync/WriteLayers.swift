/// The parts of writes, in the order in which these were made, to be laid over the origin's nodes.
///
/// A part that a later one replaced as a whole is left out: many writes to one place cost no more than the
/// last of them.
struct WriteLayers: Sendable {
  private struct Layer: Sendable {
    var order: Int
    var part: Assignment
  }

  private var layers = PathTree<[Layer]>()
  private var count = 0

  /// Lays a part over all others.
  ///
  /// O(depth), and O(n) in the parts that it replaces.
  mutating func add(_ part: Assignment) {
    count += 1
    var under: [Layer] = []
    if part.isNode {
      for path in layers.paths(at: part.path) { layers[path] = nil }
    } else {
      under = (layers[part.path] ?? []).filter(\.part.isNode)
    }
    layers[part.path] = under + [Layer(order: count, part: part)]
  }

  /// The node that the parts leave at a place where `node` was before.
  ///
  /// O(n log n) in the parts at the place, above it and below it.
  func applied(to node: Node, at path: Path) -> Node {
    if !layers.hasValues(around: path) { return node }
    let above = path.keys.indices.map { Path(unchecked: Array(path.keys[..<$0])) }
    let found = (above + layers.paths(at: path)).flatMap { layers[$0] ?? [] }
    return found.sorted { $0.order < $1.order }.reduce(node) { below, layer in
      layer.part.projected(onto: below, at: path)
    }
  }
}

extension Assignment {
  /// The child that this puts directly below a place; nil if it does something else.
  func child(of path: Path) -> Child? {
    guard path.keys.count + 1 == self.path.keys.count, path.contains(self.path),
      case .node(let node) = target, !node.isEmpty, let key = self.path.keys.last
    else { return nil }
    return Child(key: key, node: node)
  }
}

extension Node {
  /// The node with children that are not empty, of which later ones replace earlier ones.
  func replacing(_ new: [Child]) -> Node {
    if new.isEmpty { return self }
    if let child = new.first, new.count == 1 {
      return replacing(Path(unchecked: [child.key]), with: child.node)
    }
    return Node(children: children + new, priority: priority)
  }
}
