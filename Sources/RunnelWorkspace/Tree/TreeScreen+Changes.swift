import RunnelBase
import RunnelStreams
package import RunnelTree

// Changes of the tree's lines when the children of one node change: the cost is that of the change,
// regardless of the number of lines.

extension TreeScreen {
  /// Applies a change of the children of a node.
  ///
  /// O(t log n + e log n) in the t children of the change and the e expanded nodes; O(lines) if the
  /// children come for the first time or after a reload.
  ///
  /// - Returns: The places below that were expanded and no longer are, because they are gone or
  ///   have no children left.
  package mutating func take(_ change: TreeChange, of path: Path, height: Int) -> [Path] {
    let known = expanded[path]
    guard var children = change.children(after: known) else { return [] }
    children.keepNamed(of: known)
    let gone = expanded.keys.filter { place in
      guard let key = place.relative(to: path)?.keys.first else { return false }
      return children.child(key)?.isExpandable != true
    }.sorted()
    if let known, !change.update.isReload, known.phase == children.phase,
      let edit = edit(change, of: path, from: known, to: children, gone: gone)
    {
      take(edit, height: height)
      return gone
    }
    expanded[path] = children
    for place in gone { expanded[place] = nil }
    rebuild(height: height)
    return gone
  }

  /// Shows that the next children of a node are being fetched.
  mutating func beginFetching(_ path: Path, height: Int) {
    guard let children = expanded[path] else { return }
    _ = take(
      TreeChange(
        content: .rows(children.rows, came: []), update: BatchUpdate(), phase: children.phase,
        paging: .fetching, listing: children.listing), of: path, height: height)
  }

  /// The effect of a change of one node on the lines.
  private struct LineEdit {
    var list: ListEdit
    var removed: [String]
    var written: [Line]
  }

  private mutating func take(_ edit: LineEdit, height: Int) {
    for id in edit.removed { lines[id] = nil }
    for line in edit.written { lines[line.id] = line }
    let old = content
    guard let sections = edit.list.sections(after: old.sections) else {
      return rebuild(height: height)
    }
    content = ListContent(sections: sections)
    writeHeading()
    list.apply(edit.list.update, from: old, to: content, height: height)
    marks.subtract(edit.removed)
    if let start = rangeStart, !isMarkable(start) { rangeStart = nil }
  }

  /// Returns the effect of a change on the lines, and takes the children of the node; returns nil
  /// if all lines must be laid out again.
  private mutating func edit(
    _ change: TreeChange, of path: Path, from known: TreeChildren, to children: TreeChildren,
    gone: [Path]
  ) -> LineEdit? {
    let came = change.came
    let layout = TreeLines(expanded)
    guard change.update.movedRows.isEmpty, let base = layout.firstLine(of: path),
      let depth = path.isRoot ? 0 : lines[path.description].map({ $0.depth + 1 }),
      !change.update.insertedRows.contains(where: { inserted in
        came[inserted.row].map { expanded[path.appending($0.row.key)] != nil } ?? true
      })
    else { return nil }
    let before = layout.branches(of: path)
    var deleted = change.update.deletedRows.map { base + before.line(ofChild: $0.row) }
    for branch in before where gone.contains(branch.place) {
      let first = base + before.line(ofChild: branch.index) + 1
      deleted += first..<(first + branch.lineCount)
    }
    if known.hasTail, !children.hasTail {
      deleted.append(base + before.line(ofChild: known.rows.count))
    }
    deleted.sort()
    let removed = deleted.compactMap { content.row(at: ListIndexPath(section: 0, row: $0)) }
    expanded[path] = children
    for place in gone { expanded[place] = nil }

    let after = TreeLines(expanded).branches(of: path)
    var update = BatchUpdate()
    update.deletedRows = deleted.map { ListIndexPath(section: 0, row: $0) }
    var written = came.values.map { record in
      Line.node(path.appending(record.row.key), record.row, depth: depth)
    }
    var inserted = change.update.insertedRows.compactMap { place in
      came[place.row].map { record in
        (
          line: base + after.line(ofChild: place.row),
          id: path.appending(record.row.key).description
        )
      }
    }
    if let tail = tail(of: path, children, depth: depth) {
      written.append(tail)
      if !known.hasTail {
        inserted.append((base + after.line(ofChild: children.rows.count), tail.id))
      }
    }
    update.insertedRows = inserted.map { ListIndexPath(section: 0, row: $0.line) }
    return LineEdit(
      list: ListEdit(update, insertedRows: inserted.map { $0.id }), removed: removed,
      written: written)
  }

  /// Returns the line below the children of a node for those not loaded, or nil if there is none.
  func tail(of path: Path, _ children: TreeChildren, depth: Int) -> Line? {
    switch (children.phase, children.paging) {
    case (.failed(let failure), _): .failed(path, failure.message, depth: depth)
    case (_, .exhausted): nil
    case (_, let paging): .paging(path, paging, depth: depth)
    }
  }
}

// MARK: Where lines stand

/// The positions of the children of expanded nodes among the lines.
package struct TreeLines {
  /// An expanded child of a node.
  package struct Branch {
    package var index: Int
    package var place: Path
    /// The number of lines below the child's own line.
    var lineCount: Int
  }

  private let expanded: [Path: TreeChildren]
  private let places: [Path: [Path]]

  /// Creates the positions for the expanded nodes; O(expanded nodes).
  init(_ expanded: [Path: TreeChildren]) {
    self.expanded = expanded
    places = Dictionary(grouping: expanded.keys.filter { !$0.isRoot }) { $0.parent ?? .root }
  }

  /// Returns the expanded children of a node in their order; those without a line are left out.
  func branches(of path: Path) -> [Branch] {
    guard let children = expanded[path], let places = places[path] else { return [] }
    return places.compactMap { place in
      guard let key = place.lastKey, children.child(key) != nil else { return nil }
      return Branch(
        index: children.index(of: key), place: place, lineCount: lineCount(below: place))
    }.sorted { $0.index < $1.index }
  }

  /// Returns the number of lines below the line of an expanded node.
  private func lineCount(below path: Path) -> Int {
    guard let children = expanded[path] else { return 0 }
    return branches(of: path).reduce(children.rows.count + (children.hasTail ? 1 : 0)) {
      $0 + $1.lineCount
    }
  }

  /// Returns the line of the first child of an expanded node, or nil if the node itself is not
  /// shown.
  package func firstLine(of path: Path) -> Int? {
    guard let parent = path.parent, let key = path.lastKey else { return 0 }
    guard let children = expanded[parent], children.child(key) != nil,
      let start = firstLine(of: parent)
    else { return nil }
    return start + branches(of: parent).line(ofChild: children.index(of: key)) + 1
  }
}

extension [TreeLines.Branch] {
  /// Returns the line of a child, counted from the first child.
  package func line(ofChild index: Int) -> Int {
    reduce(index) { $1.index < index ? $0 + $1.lineCount : $0 }
  }
}

extension Path {
  /// Returns the path of a child.
  fileprivate func appending(_ key: RunnelTree.Key) -> Path { Path(unchecked: keys + [key]) }
}

extension TreeRow {
  /// Whether there are children to show.
  var isExpandable: Bool { if case .children = summary.kind { true } else { false } }
}
