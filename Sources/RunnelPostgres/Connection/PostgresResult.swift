import CPostgres

/// The rows that a statement gave: in libpq's memory, or those of a model.
///
/// Isolation: used by the thread of the connection.
package final class PostgresResult {
  private enum Rows {
    case received(OpaquePointer, UnsafePointer<runnel_pq>)
    /// The places of the values in `memory`, and nil for NULL.
    case made([[Range<Int>?]], memory: UnsafeMutableRawBufferPointer, changedCount: Int)
  }

  private let rows: Rows
  /// The number of rows.
  package let count: Int

  init(_ result: OpaquePointer, _ pq: UnsafePointer<runnel_pq>) {
    rows = .received(result, pq)
    count = Int(pq.pointee.PQntuples(result))
  }

  /// Makes the result of a statement that a model carried out.
  package init(rows values: [[PostgresValue]], changedCount: Int = 0) {
    var bytes: [UInt8] = []
    let places = values.map { row in
      row.map { value -> Range<Int>? in
        guard let encoded = value.encoded else { return nil }
        bytes += encoded
        return bytes.count - encoded.count..<bytes.count
      }
    }
    let memory = UnsafeMutableRawBufferPointer.allocate(
      byteCount: max(bytes.count, 1), alignment: 1)
    memory.copyBytes(from: bytes)
    rows = .made(places, memory: memory, changedCount: changedCount)
    count = values.count
  }

  deinit {
    switch rows {
    case .received(let result, let pq): pq.pointee.PQclear(result)
    case .made(_, let memory, _): memory.deallocate()
    }
  }

  /// The number of rows that the statement changed.
  package var changedCount: Int {
    switch rows {
    case .received(let result, let pq):
      pq.pointee.PQcmdTuples(result).flatMap { Int(String(cString: $0)) } ?? 0
    case .made(_, _, let count): count
    }
  }

  /// True if a value is NULL.
  package func isNull(_ row: Int, _ column: Int) -> Bool {
    switch rows {
    case .received(let result, let pq):
      pq.pointee.PQgetisnull(result, Int32(row), Int32(column)) == 1
    case .made(let places, _, _): places[row][column] == nil
    }
  }

  /// The bytes of a value, valid as long as the result; empty for NULL.
  package func rawBytes(_ row: Int, _ column: Int) -> UnsafeRawBufferPointer {
    guard case .received(let result, let pq) = rows else { return madeBytes(row, column) }
    guard let start = pq.pointee.PQgetvalue(result, Int32(row), Int32(column)) else {
      return UnsafeRawBufferPointer(start: nil, count: 0)
    }
    let count = pq.pointee.PQgetlength(result, Int32(row), Int32(column))
    return UnsafeRawBufferPointer(start: UnsafeRawPointer(start), count: Int(count))
  }

  private func madeBytes(_ row: Int, _ column: Int) -> UnsafeRawBufferPointer {
    guard case .made(let places, let memory, _) = rows, let place = places[row][column] else {
      return UnsafeRawBufferPointer(start: nil, count: 0)
    }
    return UnsafeRawBufferPointer(rebasing: memory[place])
  }

  /// The bytes of a value; nil for NULL.
  package func bytes(_ row: Int, _ column: Int) -> [UInt8]? {
    isNull(row, column) ? nil : Array(rawBytes(row, column))
  }

  /// The text of a value; nil for NULL.
  package func text(_ row: Int, _ column: Int) -> String? {
    isNull(row, column) ? nil : String(decoding: rawBytes(row, column), as: UTF8.self)
  }

  /// The integer in a value of 1, 2, 4 or 8 bytes, a truth value included; nil for NULL.
  ///
  /// - Throws: `PostgresError` if the value has another size.
  package func integer(_ row: Int, _ column: Int) throws(PostgresError) -> Int64? {
    if isNull(row, column) { return nil }
    let bytes = rawBytes(row, column)
    switch bytes.count {
    case 1: return Int64(bytes[0])
    case 2: return Int64(Int16(bigEndian: bytes.loadUnaligned(as: Int16.self)))
    case 4: return Int64(Int32(bigEndian: bytes.loadUnaligned(as: Int32.self)))
    case 8: return Int64(bigEndian: bytes.loadUnaligned(as: Int64.self))
    default:
      throw PostgresError(
        .unsuitable, "The store's tables are not those of this program: a number is none.")
    }
  }
}
