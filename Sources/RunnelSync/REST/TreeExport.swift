package import RunnelBase
package import RunnelTree

/// A tree whose small parts can be read as wholes, so that an export need not walk through them.
package protocol TreeExportSource: TreeReader {
  /// The subtree at a place if it is known to be small; nil if it is large or its size is unknown.
  ///
  /// - Throws: `TreeError` (`storage`) if it cannot be read.
  func smallNode(at path: Path) throws(TreeError) -> Node?

  /// How the children of a place are read.
  var exportReading: ExportReading { get }
}

extension TreeExportSource {
  /// The children are walked through, because their sizes are unknown.
  package var exportReading: ExportReading { .walking }

  /// Returns nil: the size is unknown.
  package func smallNode(at path: Path) throws(TreeError) -> Node? { nil }
}

extension MemoryTree: TreeExportSource {}

/// The JSON of a query's result, piece by piece, of any size.
///
/// Memory holds one page of rows for each level, which is bounded in bytes, and the piece. A window
/// with bounds or a limit is read at once.
///
/// Source: tree semantics, section 3; wire protocol, section C4.
package struct TreeExport: Sendable {
  /// The form in which each node is written.
  package enum Form: Hashable, Sendable {
    /// Values, with arrays in place of objects whose keys are mostly indexes.
    case plain
    /// Values with priorities, and no arrays.
    case export
    /// The keys of the place, each with `true`; a value that is no object is written itself.
    case shallow
  }

  /// A node whose children are being written.
  private struct Level: Sendable {
    let path: Path
    var pages: ExportPages
    var rows: ArraySlice<TreeRow> = []
    /// The index of the next element; nil if the node is not written as an array.
    var nextIndex: Int64?
    var priority: Leaf?
  }

  /// The query whose result is written.
  package let query: Query
  private let form: Form
  private var writer: JSONWriter
  private var levels: [Level] = []
  private var hasBegun = false

  /// Makes an export; the first call of `next` returns its first piece.
  package init(_ query: Query, form: Form, layout: JSONWriter.Layout = .compact) {
    (self.query, self.form) = (query, form)
    writer = JSONWriter(layout: layout)
  }

  /// Writes the next piece; nil after the last.
  ///
  /// A piece may exceed `bytesMax` by one small part.
  ///
  /// - Parameters:
  ///   - source: the tree; the same state for all pieces.
  ///   - bytesMax: the approximate length of a piece, in bytes.
  /// - Returns: the piece in UTF-8.
  /// - Throws: `TreeError` (`storage`) if the tree cannot be read; the export cannot go on then.
  package mutating func next(
    from source: some TreeExportSource, bytesMax: Int = 65_536
  ) throws(TreeError) -> [UInt8]? {
    if !hasBegun {
      hasBegun = true
      try begin(source)
    }
    while !levels.isEmpty, writer.bytes.count < bytesMax { try writeNext(source) }
    return writer.bytes.isEmpty ? nil : writer.takeBytes()
  }

  private mutating func begin(_ source: some TreeExportSource) throws(TreeError) {
    if !query.loadsAllData || query.index != .priority && form != .shallow {
      return writeWindow(try rows(source))
    }
    try write(query.path, try source.summary(at: query.path), source)
  }

  private func rows(_ source: some TreeExportSource) throws(TreeError) -> [TreeRow] {
    try source.rows(
      of: query.path, in: RowSlice(query), detail: form == .shallow ? .shallow : .full)
  }

  /// Writes the rows of a window in their order.
  private mutating func writeWindow(_ rows: [TreeRow]) {
    if rows.isEmpty { return writer.writeNull() }
    if form == .plain {
      let node = Node(
        children: rows.compactMap { row in row.node.map { Child(key: row.key, node: $0) } })
      if case .array(let elements) = node.json(coercingArrays: true) {
        return writer.writeValue(.array(elements))
      }
    }
    writer.beginObject()
    for row in rows {
      writer.writeName(row.key.text)
      switch form {
      case .shallow: writer.writeBool(true)
      case .plain: writer.writeValue(row.node?.json(coercingArrays: true) ?? .null)
      case .export: (row.node ?? .empty).writeExport(to: &writer)
      }
    }
    writer.endObject()
  }
}

// MARK: Walking

extension TreeExport {
  /// Writes a node, or begins to write its children.
  private mutating func write(
    _ path: Path, _ summary: NodeSummary, _ source: some TreeExportSource
  ) throws(TreeError) {
    switch summary.kind {
    case .empty: writer.writeNull()
    case .leaf(let leaf): write(Node(leaf, priority: summary.priority))
    case .children:
      if form != .shallow, let node = try source.smallNode(at: path) { return write(node) }
      try enter(path, summary.priority, source)
    }
  }

  private mutating func write(_ node: Node) {
    switch form {
    case .plain: writer.writeValue(node.json(coercingArrays: true))
    case .export: node.writeExport(to: &writer)
    case .shallow: writer.writeValue(node.json)
    }
  }

  private mutating func enter(
    _ path: Path, _ priority: Leaf?, _ source: some TreeExportSource
  ) throws(TreeError) {
    var reading = source.exportReading
    if form == .shallow { reading.detail = .shallow }
    var level = Level(path: path, pages: ExportPages(path, reading))
    level.priority = form == .export ? priority : nil
    if form == .plain, try isArray(path, source) { level.nextIndex = 0 }
    if level.nextIndex == nil { writer.beginObject() } else { writer.beginArray() }
    levels.append(level)
  }

  /// True if the children form an array; the check ends at the first key that is no index.
  private func isArray(
    _ path: Path, _ source: some TreeExportSource
  ) throws(TreeError) -> Bool {
    var pages = ExportPages(path, source.exportReading)
    var count: Int64 = 0
    var last: Int64 = -1
    while let rows = try pages.next(from: source) {
      for row in rows {
        guard let index = row.key.integer, index >= 0, row.key.text == String(index) else {
          return false
        }
        last = Int64(index)
        count += 1
      }
    }
    return count > 0 && last < 2 * count
  }

  /// Writes the next child of the innermost level, or its end.
  private mutating func writeNext(_ source: some TreeExportSource) throws(TreeError) {
    let top = levels.count - 1
    if levels[top].rows.isEmpty {
      guard let rows = try levels[top].pages.next(from: source) else { return leave() }
      levels[top].rows = rows[...]
    }
    guard let row = levels[top].rows.popFirst() else { return }
    writeName(of: row, at: top)
    if form == .shallow { return writer.writeBool(true) }
    guard levels[top].pages.reading.detail == .stored else {
      return try write(try levels[top].path.child(row.key), row.summary, source)
    }
    // What a stored row holds came with it; asking for each again would be a question per child.
    if let node = row.node { return write(node) }
    try enter(try levels[top].path.child(row.key), row.summary.priority, source)
  }

  private mutating func writeName(of row: TreeRow, at level: Int) {
    guard let next = levels[level].nextIndex else { return writer.writeName(row.key.text) }
    let index = row.key.integer.map { Int64($0) } ?? next
    for _ in next..<max(next, index) { writer.writeNull() }
    levels[level].nextIndex = index + 1
  }

  private mutating func leave() {
    guard let level = levels.popLast() else { return }
    if level.nextIndex != nil { return writer.endArray() }
    if let priority = level.priority {
      writer.writeName(WireName.priority)
      writer.writeValue(priority.json)
    }
    writer.endObject()
  }
}
