import RunnelTree

/// The new records that wait for the server of a service, whoever wrote them, with what was changed of them since.
struct WaitingRecords: Equatable {
  /// The most writes that are looked at: the last ones.
  static let writesMax = 500

  private var nodes: [Path: Node] = [:]

  /// Makes them of the writes that the replica has not got answered, the oldest first.
  ///
  /// O(n) in the parts of the last writes.
  init(_ writes: [PendingWrite] = []) {
    for write in writes.suffix(WaitingRecords.writesMax) where write.isVisible {
      for (index, part) in write.parts.enumerated() {
        guard case .node(let node) = part.target, part.path.keys.count >= 2 else { continue }
        let record = Path(unchecked: Array(part.path.keys.prefix(2)))
        let below = Path(unchecked: Array(part.path.keys.dropFirst(2)))
        if let known = nodes[record] {
          nodes[record] = known.replacing(below, with: node)
        } else if below.isRoot, write.makesRecord(index) {
          nodes[record] = node
        }
      }
    }
    nodes = nodes.filter { !$0.value.isEmpty }
  }

  /// The records of a collection, by their keys.
  func children(of path: Path) -> [Child] {
    nodes.filter { $0.key.parent == path }
      .compactMap { place, node in place.lastKey.map { Child(key: $0, node: node) } }
      .sorted { $0.key < $1.key }
  }
}

extension PendingWrite {
  /// Whether nothing is known to have stood at the place of a part.
  fileprivate func makesRecord(_ index: Int) -> Bool {
    bases.indices.contains(index) ? bases[index]?.isEmpty ?? true : true
  }
}
