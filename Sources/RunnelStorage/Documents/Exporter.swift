package import RunnelBase
package import RunnelTree

/// Writes a stored subtree as JSON, row by row.
package struct Exporter {
  private static let chunkBytes = 1 << 16

  private let tree: StoredTree
  private let layout: JSONWriter.Layout
  private let write: ([UInt8]) throws -> Void

  package init(
    tree: StoredTree, layout: JSONWriter.Layout, write: @escaping ([UInt8]) throws -> Void
  ) {
    self.tree = tree
    self.layout = layout
    self.write = write
  }

  package func exportNode(at path: Path) throws {
    var writer = JSONWriter(layout: layout)
    try Damage.locating(.words(path.description)) {
      switch try tree.location(of: path) {
      case .row(.record(let bytes)): try RecordCoding.node(bytes).writeExport(to: &writer)
      case .row(.split(let split)): try export(split, above: [], &writer)
      case .inside(let record, let rest):
        try RecordCoding.node(record)[rest].writeExport(to: &writer)
      case .missing: writer.writeNull()
      }
    }
    try write(writer.takeBytes())
  }

  private func export(_ split: Int64, above: [Int64], _ writer: inout JSONWriter) throws {
    let path = try StoredTree.path(to: split, above)
    writer.beginObject()
    let priority = try tree.forEachChild(of: split) { key, content in
      writer.writeName(key.text)
      switch content {
      case .record(let json): try RecordCoding.node(json).writeExport(to: &writer)
      case .split(let below): try export(below, above: path, &writer)
      }
      if writer.bytes.count >= Exporter.chunkBytes { try write(writer.takeBytes()) }
    }
    if let priority {
      writer.writeName(ReservedName.priority)
      writer.writeValue(priority.json)
    }
    writer.endObject()
  }
}
