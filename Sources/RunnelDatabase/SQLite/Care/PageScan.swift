import Foundation
import GRDB
import Glibc

/// Reads the rows on the pages of a file one after the other, without the trees that lead to them.
///
/// A tree of SQLite whose root or branches are lost leads nowhere, though its rows stand on other pages.
/// The rows of a page belong to a table by their shape. Pages that the file lists as free are left out:
/// they hold rows that were deleted.
///
/// Source: SQLite, "Database File Format", sections 1.3, 1.5, 1.6 and 2.1.
struct PageScan {
  /// A row: the values of its columns, and for a table with row ids its id.
  struct Row {
    var id: Int64?
    var values: [DatabaseValue]
  }

  private static let usualPageSize = 4096
  /// The most bytes of a row; longer ones are not written by this program.
  private static let rowBytesMax = 1 << 30

  private let data: Data
  private let pageSize: Int
  /// The bytes of a page that SQLite uses.
  private let usableSize: Int
  private let pageCount: Int

  /// Opens a file; nil if it cannot be read.
  init?(file: String) {
    let url = URL(fileURLWithPath: file)
    guard let data = try? Data(contentsOf: url, options: .alwaysMapped), data.count > 100 else {
      return nil
    }
    self.data = data
    let stored = Int(data[16]) << 8 | Int(data[17])
    let said = stored == 1 ? 65_536 : stored
    // A damaged header may say anything.
    pageSize = said >= 512 && said.nonzeroBitCount == 1 ? said : PageScan.usualPageSize
    usableSize = pageSize - (data[20] <= 32 ? Int(data[20]) : 0)
    pageCount = data.count / pageSize
  }

  /// Calls `body` with each row of each page that is not free, until it returns false.
  ///
  /// O(n) in the file.
  func forEachRow(_ body: (Row) throws -> Bool) rethrows {
    let free = freePages
    for page in stride(from: 1, through: pageCount, by: 1) where !free.contains(page) {
      for row in rows(onPage: page) where try !body(row) { return }
    }
  }

  // MARK: Pages

  /// The pages in the list of free pages, as far as it can be followed.
  private var freePages: Set<Int> {
    var free: Set<Int> = []
    var trunk = number(at: 32, bytes: 4) ?? 0
    while trunk > 0, trunk <= pageCount, free.insert(trunk).inserted {
      let start = (trunk - 1) * pageSize
      let count = min(number(at: start + 4, bytes: 4) ?? 0, usableSize / 4 - 2)
      for index in 0..<max(count, 0) {
        free.insert(number(at: start + 8 + 4 * index, bytes: 4) ?? 0)
      }
      trunk = number(at: start, bytes: 4) ?? 0
    }
    return free
  }

  private func rows(onPage page: Int) -> [Row] {
    let start = (page - 1) * pageSize
    let head = start + (page == 1 ? 100 : 0)
    // The kinds of pages with rows: branches and leaves of tables without row ids, and leaves of others.
    guard let kind = number(at: head, bytes: 1), [0x02, 0x0A, 0x0D].contains(kind),
      let count = number(at: head + 3, bytes: 2)
    else { return [] }
    let pointers = head + (kind == 0x02 ? 12 : 8)
    guard pointers + 2 * count <= start + pageSize else { return [] }
    return (0..<count).compactMap { index in
      guard let offset = number(at: pointers + 2 * index, bytes: 2), offset > 0,
        offset < usableSize
      else { return nil }
      var place = start + offset
      if kind == 0x02 { place += 4 }
      guard let size = varint(&place), size > 0, size <= PageScan.rowBytesMax else { return nil }
      let id = kind == 0x0D ? varint(&place) : nil
      guard let payload = payload(size, at: place, isTable: kind == 0x0D) else { return nil }
      return PageScan.values(in: payload).map { Row(id: id.map(Int64.init), values: $0) }
    }
  }

  /// The bytes of a row, with those on further pages; nil if some are missing.
  private func payload(_ size: Int, at place: Int, isTable: Bool) -> [UInt8]? {
    let most = isTable ? usableSize - 35 : (usableSize - 12) * 64 / 255 - 23
    if size <= most { return bytes(size, at: place) }
    let least = (usableSize - 12) * 32 / 255 - 23
    let wanted = least + (size - least) % (usableSize - 4)
    let local = wanted <= most ? wanted : least
    guard var result = bytes(local, at: place),
      var next = number(at: place + local, bytes: 4)
    else { return nil }
    var pages = 0
    while result.count < size {
      pages += 1
      guard next > 1, next <= pageCount, pages <= pageCount else { return nil }
      let start = (next - 1) * pageSize
      guard let more = bytes(min(usableSize - 4, size - result.count), at: start + 4) else {
        return nil
      }
      result += more
      next = number(at: start, bytes: 4) ?? 0
    }
    return result
  }

  private func bytes(_ count: Int, at place: Int) -> [UInt8]? {
    place >= 0 && count >= 0 && place + count <= data.count
      ? [UInt8](data[place..<place + count]) : nil
  }

  private func number(at place: Int, bytes count: Int) -> Int? {
    guard place >= 0, place + count <= data.count else { return nil }
    return data[place..<place + count].reduce(0) { $0 << 8 | Int($1) }
  }

  private func varint(_ place: inout Int) -> Int? {
    guard place < data.count else { return nil }
    let end = min(place + 9, data.count)
    var rest = data[place..<end]
    let before = rest.count
    let value = PageScan.varint(&rest)
    place += before - rest.count
    return value
  }

  // MARK: Rows

  /// Takes a number of one to nine bytes; nil if it has no end, or is no sensible length.
  private static func varint<Bytes: RangeReplaceableCollection>(_ bytes: inout Bytes) -> Int?
  where Bytes.Element == UInt8, Bytes == Bytes.SubSequence {
    var value: UInt64 = 0
    for index in 0..<9 {
      guard let byte = bytes.popFirst() else { return nil }
      if index == 8 {
        value = value << 8 | UInt64(byte)
        break
      }
      value = value << 7 | UInt64(byte & 0x7F)
      if byte < 0x80 { break }
    }
    return Int(truncatingIfNeeded: value)
  }

  /// The values of a record; nil if it is not one.
  private static func values(in payload: [UInt8]) -> [DatabaseValue]? {
    var head = payload[...]
    guard let headSize = varint(&head), headSize > 0, headSize <= payload.count else { return nil }
    var body = payload[headSize...]
    head = payload[(payload.count - head.count)..<max(headSize, payload.count - head.count)]
    var values: [DatabaseValue] = []
    while !head.isEmpty {
      guard let kind = varint(&head), let value = value(ofKind: kind, &body) else { return nil }
      values.append(value)
    }
    return body.isEmpty ? values : nil
  }

  private static func value(ofKind kind: Int, _ body: inout ArraySlice<UInt8>) -> DatabaseValue? {
    let sizes = [0, 1, 2, 3, 4, 6, 8, 8, 0, 0]
    let size = kind >= 12 ? (kind - 12) / 2 : sizes.indices.contains(kind) ? sizes[kind] : -1
    guard size >= 0, size <= body.count else { return nil }
    let bytes = body.prefix(size)
    body = body.dropFirst(size)
    switch kind {
    case 0: return .null
    case 1...6:
      let sign: Int64 = bytes.first.map { $0 >= 0x80 ? -1 : 0 } ?? 0
      return bytes.reduce(sign) { $0 << 8 | Int64($1) }.databaseValue
    case 7:
      return Double(bitPattern: bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }).databaseValue
    case 8: return 0.databaseValue
    case 9: return 1.databaseValue
    case _ where kind.isMultiple(of: 2): return Data(bytes).databaseValue
    default: return String(validating: bytes, as: UTF8.self)?.databaseValue
    }
  }
}
