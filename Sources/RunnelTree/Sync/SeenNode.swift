import RunnelBase

/// What a writer has read: the origin does the write only if it holds that when it comes to the write.
///
/// The node is what was read here: the origin's, after the earlier pending writes. So these do not
/// count as changes by others.
package struct SeenNode: Hashable, Sendable {
  /// The place; the write changes nothing outside of it.
  package var path: Path
  /// The node that the origin has to hold there.
  package var node: Node
  /// The places in it of which only an estimate was known: earlier pending writes have the origin
  /// compute them.
  package var estimates: [Path]

  /// Makes what was read.
  package init(_ path: Path, _ node: Node, estimates: [Path] = []) {
    self.path = path
    self.node = node
    self.estimates = estimates
  }

  /// The node with the origin's values in place of estimates.
  func settled(by current: Node) -> Node {
    estimates.reduce(node) { node, place in
      guard let below = place.relative(to: path) else { return node }
      return node.replacing(below, with: current[below])
    }
  }

  /// The value of the whole place after a write, with server values as they were requested.
  fileprivate func json(after write: Write) -> JSONValue {
    var changed = DeferredNode(node)
    switch write {
    case .set(path, let json): return json
    case .set(let place, let json):
      changed = change(changed, at: place) { _ in DeferredNode(accepted: json) }
    case .update(let place, let members):
      // As a write does: children first, then removals, then priorities.
      let priorities = members.filter { $0.pieces.last == ReservedName.priority }
      let nodes = members.filter { $0.pieces.last != ReservedName.priority }
      for member in nodes.filter({ $0.value != .null }) + nodes.filter({ $0.value == .null }) {
        changed = change(changed, at: place.below(member.pieces[...])) { _ in
          DeferredNode(accepted: member.value)
        }
      }
      for member in priorities {
        changed = change(changed, at: place.below(member.pieces.dropLast())) {
          $0.with(priority: member.value)
        }
      }
    case .copy, .move: preconditionFailure("A copy is pending as what it results in.")
    }
    return changed.json
  }

  private func change(
    _ node: DeferredNode, at place: Path, _ change: (DeferredNode) -> DeferredNode
  ) -> DeferredNode {
    node.changing(place.keys.dropFirst(path.keys.count), change)
  }
}

extension PendingWrite {
  /// The command that asks the origin for the write.
  var command: OriginCommand {
    guard let seen else {
      let hashes = expectedHashes
      return hashes.isEmpty ? .write(id: id, write) : .writeIf(id: id, write, hashes: hashes)
    }
    return .compareAndSet(
      id: id, seen.path, seen.json(after: write), hash: seen.node.contentHash)
  }

  /// What the origin has to hold at the compared places, as far as that is known.
  private var expectedHashes: [PlaceHash] {
    if compared.isEmpty { return [] }
    return zip(parts, bases).compactMap { part, base in
      guard let base, compared.contains(part.path) else { return nil }
      return PlaceHash(part.path, base.contentHash)
    }
  }

  /// The node that the write leaves at the place that it was made upon; nil if the origin computes a
  /// part of it.
  var outcome: Node? {
    guard let seen, !write.hasServerValues else { return nil }
    return parts.reduce(seen.node) { $1.projected(onto: $0, at: seen.path) }
  }
}

extension JSONMember {
  /// The pieces of the path that the name of an update's member is.
  fileprivate var pieces: [String] { Path.pieces(of: name) }
}

extension Path {
  fileprivate func below(_ pieces: ArraySlice<String>) -> Path {
    Path(unchecked: keys + pieces.map { Key(unchecked: $0) })
  }
}
