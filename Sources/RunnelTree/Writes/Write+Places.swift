// Copies and moves of subtrees.

extension Write {
  /// The assignments that replace the node at `target` by the node at `source`.
  static func copy(
    from source: Path, to target: Path, _ reader: some TreeReader
  ) throws(TreeError) -> [Assignment] {
    if source.isInfo {
      throw TreeError(
        .invalidPath,
        "The state of the connection cannot be copied: read it, and write what it says.",
        path: source.description)
    }
    let node = try reader.node(at: source)
    if node.isEmpty {
      throw TreeError(
        .notFound, "Nothing stands there: name a place that holds something.",
        path: source.description)
    }
    try node.checkLimits(at: target)
    return [Assignment(path: target, target: .node(node))]
  }

  /// The assignments that replace the node at `target` by the node at `source`, which they remove
  /// there.
  ///
  /// The node is added before it is removed, so that a parent of both never loses all its children,
  /// and with them its priority.
  static func move(
    from source: Path, to target: Path, _ reader: some TreeReader
  ) throws(TreeError) -> [Assignment] {
    if source.contains(target) {
      throw TreeError(
        .conflictingPaths,
        target == source
          ? "The node is there already: name another place to move it to."
          : "A node cannot be moved into itself, and \(target) is below it: name another place.",
        path: source.description)
    }
    let assignments = try copy(from: source, to: target, reader)
    // The copy at the target, which is above the source, replaces the source.
    if target.contains(source) { return assignments }
    return assignments + [Assignment(path: source, target: .node(.empty))]
  }
}

extension Node {
  /// Checks that no part of the node would be too deep, or have too long a path, at its new place.
  ///
  /// - Throws: `TreeError` (`invalidPath`) that names the first such place.
  func checkLimits(at path: Path) throws(TreeError) {
    do throws(TreeError) {
      try checkLimits(at: NodePlace(path))
    } catch {
      throw error.below(path)
    }
  }

  private func checkLimits(at place: NodePlace) throws(TreeError) {
    for child in children {
      do throws(TreeError) {
        try child.node.checkLimits(at: place.child(child.key))
      } catch {
        throw error.below(child.key)
      }
    }
  }
}
