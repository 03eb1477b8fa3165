import RunnelBase
import RunnelTree

/// A data file of separated values as it stands: rows that nobody changed are written back with all their
/// signs, and so are the cells of other rows that nobody changed.
struct FileTable: Hashable, Sendable {
  /// A line with a record.
  private struct Row: Hashable {
    let text: Substring
    let cells: [String]
    /// The empty lines before it.
    let gap: String
    let end: String
  }

  /// What a record has in the file.
  struct Written {
    /// Its line, if nothing of it was changed.
    var line: Substring?
    /// Its cells as they stand; nil for those that were changed.
    var cells: [Substring?]
    /// The number of its row; nil if it has none.
    var place: Int?
    /// The empty lines before its line.
    var gap = ""
    /// What ends its line: empty at the end of some files, and nil if it has no line.
    var end: String?
  }

  /// The first line as it stands, with the empty lines before it.
  let header: String
  /// What ends the first line.
  let headerEnd: String
  /// The empty lines after the last row.
  private(set) var tail = ""
  /// What the columns hold; there is one for each name in the first line.
  private let kinds: [ColumnKind]
  private let separator: Unicode.Scalar
  /// The column of the keys; nil if there is none.
  private let keyColumn: Int?
  private var rows: [Row] = []
  /// The rows by the keys of their records.
  private var places: [Key: Int] = [:]
  /// The rows by their values, where it is not known which records they are.
  private var placesByValue: [[Node]: Int] = [:]

  /// The number of columns.
  var width: Int { kinds.count }
  /// Whether the file has a column of keys.
  var hasKeys: Bool { keyColumn != nil }

  /// The number of rows.
  var count: Int { rows.count }

  /// Makes a table of the lines of a file that has such columns; lines that hold no record are left out, but
  /// those of empty cells stand between the others.
  init(_ table: CellTable, header: CellTable.Line, names: [String], kinds: [ColumnKind]) {
    (self.header, headerEnd) = (String(header.gap + header.text), header.end)
    (self.kinds, separator) = (kinds, table.separator)
    keyColumn = names.firstIndex(of: ExportWriter.keyName)
    var gap = ""
    for line in table.lines.dropFirst() {
      gap += line.gap
      let row = Row(text: line.text, cells: line.cells, gap: gap, end: line.end)
      if isRecord(row) {
        rows.append(row)
        gap = ""
      } else if row.cells.allSatisfy(\.isEmpty) {
        gap += line.text + line.end
      }
    }
    tail = gap + table.tail
    for (place, row) in rows.enumerated() {
      let name = keyColumn.flatMap { $0 < row.cells.count ? row.cells[$0] : nil } ?? ""
      places[name.isEmpty ? Key(unchecked: String(place)) : FileTable.key(of: name)] = place
    }
  }

  /// Takes the keys of the records in a file without keys, by their places; nil if they are not known.
  mutating func take(_ keys: RowKeys?) {
    if hasKeys { return }
    guard let keys else {
      placesByValue = Dictionary(
        rows.enumerated().map { place, row in (kinds.indices.map { node(row, $0) ?? .empty }, place)
        },
        uniquingKeysWith: { first, _ in first })
      return
    }
    places = Dictionary(
      rows.indices.compactMap { place in keys.key(at: place).map { ($0, place) } },
      uniquingKeysWith: { $1 })
  }

  /// Returns what a record, of which the values in the columns are given, has in the file.
  func written(_ key: Key, _ nodes: [Node]) -> Written {
    let place = places[key]
    let isSame = place.map { isKept(rows[$0], key, nodes) } ?? []
    if let place, isSame.allSatisfy(\.self) { return written(place, isSame) }
    if let other = placesByValue[nodes] {
      return written(other, isKept(rows[other], key, nodes))
    }
    return place.map { written($0, isSame) } ?? Written(cells: kinds.map { _ in nil })
  }

  private func written(_ place: Int, _ isKept: [Bool]) -> Written {
    let row = rows[place]
    let texts = CellTable.texts(in: row.text, separator: separator)
    return Written(
      line: isKept.allSatisfy(\.self) ? row.text : nil,
      cells: isKept.enumerated().map { index, isKept in
        isKept ? (index < texts.count ? texts[index] : "") : nil
      }, place: place, gap: row.gap, end: row.end)
  }

  /// Whether the cells of a row are read as the values of a record.
  private func isKept(_ row: Row, _ key: Key, _ nodes: [Node]) -> [Bool] {
    kinds.indices.map { index in
      if index == keyColumn {
        return index < row.cells.count && FileTable.key(of: row.cells[index]) == key
      }
      return index < nodes.count && node(row, index) == nodes[index]
    }
  }

  /// What a cell of a row is in the tree; nil if it cannot be there.
  private func node(_ row: Row, _ index: Int) -> Node? {
    guard index != keyColumn, index < row.cells.count, !row.cells[index].isEmpty else {
      return .empty
    }
    return WrittenValues.node(kinds[index].value(row.cells[index]))
  }

  /// Whether a line is read as a record.
  private func isRecord(_ row: Row) -> Bool {
    guard row.cells.count <= width else { return false }
    var hasCells = false
    for (index, cell) in row.cells.enumerated() where index != keyColumn && !cell.isEmpty {
      hasCells = true
      guard cell.contains("{") else { continue }
      if NameClash(in: kinds[index].value(cell)) != nil { return false }
    }
    return hasCells
  }

  private static func key(of cell: String) -> Key {
    WritableKey.key(of: CellCoding.text(of: cell))
  }
}
