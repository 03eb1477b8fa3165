import RunnelStorage

/// The rows of a namespace that were read or written, and those that are known not to be there.
struct KnownRows {
  private static let countMax = 20_000
  private static let byteCountMax = 16 << 20

  /// The rows by parent and key; nil for one that is not there.
  private var rows: [Int64: [[UInt8]: StoredRow?]] = [:]
  private var count = 0
  private var byteCount = 0

  /// What is known of a row: the row, that there is none (`.some(nil)`), or nothing.
  subscript(id: RowID) -> StoredRow?? { rows[id.parent]?[id.key] }

  mutating func note(_ row: StoredRow?, in id: RowID) {
    if count >= KnownRows.countMax || byteCount >= KnownRows.byteCountMax { self = KnownRows() }
    count += 1
    if case .record(let bytes)? = row { byteCount += bytes.count }
    rows[id.parent, default: [:]][id.key] = .some(row)
  }

  /// Forgets the children of a split node that is deleted; their number is never used again.
  mutating func forget(_ split: Int64) { rows[split] = nil }
}
