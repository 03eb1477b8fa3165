import GRDB
import RunnelBase
import RunnelTree

/// Writes a stored subtree as JSON, row by row.
struct Exporter {
  private static let chunkBytes = 1 << 16

  private let store: StoreTransaction
  private let layout: JSONWriter.Layout
  private let write: ([UInt8]) throws -> Void

  init(
    store: StoreTransaction, layout: JSONWriter.Layout, write: @escaping ([UInt8]) throws -> Void
  ) {
    self.store = store
    self.layout = layout
    self.write = write
  }

  func exportNode(at path: Path) throws {
    var writer = JSONWriter(layout: layout)
    switch try store.location(of: path) {
    case .row(let stored): try export(stored, above: [], &writer)
    case .inside(let record, let rest):
      writer.writeValue(try RecordCoding.node(record)[rest].exportJSON)
    case .missing: writer.writeNull()
    }
    try write(writer.takeBytes())
  }

  private func export(
    _ stored: StoredRow, above: [Int64], _ writer: inout JSONWriter
  ) throws {
    switch stored {
    case .record(let bytes): writer.writeValue(try RecordCoding.node(bytes).exportJSON)
    case .split(let split):
      let path = try StoreTransaction.path(to: split, above)
      writer.beginObject()
      let cursor = try Row.fetchCursor(
        store.db, sql: "SELECT key, json, split FROM node WHERE parent = ? ORDER BY key",
        arguments: [split])
      while let row = try cursor.next() {
        writer.writeName(try row.key().text)
        try export(store.storedRow(row), above: path, &writer)
        if writer.bytes.count >= Exporter.chunkBytes { try write(writer.takeBytes()) }
      }
      if let priority = try store.splitHead(split).priority {
        writer.writeName(ReservedName.priority)
        writer.writeValue(priority.json)
      }
      writer.endObject()
    }
  }
}
