import RunnelBase
import RunnelTree

/// How a file is written that exports replace: as it was, so that a file that was opened is saved back
/// with the same columns in the same order.
package struct WrittenShape: Hashable, Sendable {
  /// The number of bytes at the beginning of a file that tell its shape.
  package static let beginningBytes = 1 << 16

  /// The headings of separated values as they stand in the file; empty if they are not known.
  private(set) var headings: [String] = []
  /// What the columns below the headings are called.
  private var names: [String] = []
  /// Whether the file begins with a byte order mark.
  private(set) var hasMark = false
  /// The sign between two cells.
  private(set) var separator: Unicode.Scalar = ","
  /// What ends a line of separated values.
  private(set) var lineEnd = "\r\n"
  /// What ends a line of JSON.
  private(set) var jsonLineEnd = "\n"
  /// Whether lines of JSON have the keys of the records.
  private(set) var hasKeys = true
  /// Whether the file is known to be of lines of JSON with keys.
  private var hasLineKeys = false
  /// Whether JSON is a list of the records, without their keys.
  private(set) var isList = false
  /// The name of the first member of JSON that is an object.
  private var firstName: String?
  /// Whether names that are no keys are written as a data file has them, `Art.`, not as `Art%2E`.
  package var hasNames = false
  /// Whether all records have their columns in the file, as those that were read from it do.
  package var isOwn = false
  /// How the values of the file stand in it; nothing is known of those of a file that was not looked at.
  package var values = WrittenValues()
  /// How values that a tree does not hold stand in the records.
  package var coding = ValueCoding.tree

  /// The shape of a file that replaces none.
  package init() {}

  /// Reads the shape of a file from its beginning.
  package init(ofBeginning text: String, as format: ExportFormat) {
    hasMark = text.unicodeScalars.first == "\u{FEFF}"
    let text = hasMark ? String(String.UnicodeScalarView(text.unicodeScalars.dropFirst())) : text
    switch format {
    case .csv: readHeader(text)
    case .jsonl:
      let line = text.prefix { !$0.isNewline }
      hasKeys = (try? JSONValue(parsing: String(line)))?[ExportWriter.keyName] != nil
      hasLineKeys = hasKeys
      if text.first(where: \.isNewline) == "\r\n" { jsonLineEnd = "\r\n" }
    case .json:
      isList = text.first { !$0.isWhitespace } == "["
      firstName = WrittenShape.firstName(of: text)
    case .markdown: break
    }
  }

  private mutating func readHeader(_ text: String) {
    guard let table = try? CellTable(text, isHeadOnly: true), let first = table.lines.first else {
      return
    }
    let header = TableHeader(first.cells)
    (headings, names, separator) = (header.headings, header.names, table.separator)
    if let end = text.first(where: { $0 == "\n" || $0 == "\r" || $0 == "\r\n" }) {
      lineEnd = String(end)
    }
  }

  /// The name of the first member of a JSON object of which the beginning is given.
  private static func firstName(of text: String) -> String? {
    var text = text
    return text.withUTF8 { bytes in
      var scanner = JSONScanner(bytes)
      guard (try? scanner.peekKind()) == .object, (try? scanner.enterObject()) != nil else {
        return nil
      }
      return try? scanner.nextMember()
    }
  }

  /// The columns of separated values in the order of the file; empty if they are not known.
  package var columns: [FieldPath] {
    names.map { .path(Path(unchecked: [WritableKey.key(of: $0)])) }
  }

  /// Returns the columns of separated values: those of the file first, then the others.
  ///
  /// A file without a column of keys gets none. If the file has nothing in common with the records, its
  /// columns are not kept.
  package mutating func columns(for fields: [FieldPath]) -> [FieldPath] {
    let known = Set(fields)
    let named = names.map { name -> FieldPath in
      let own = FieldPath.path(Path(unchecked: [WritableKey.key(of: name)]))
      guard let field = try? FieldPath(name), known.contains(field) else { return own }
      // A slash in a name of the file is no step into a field.
      if isOwn, case .path = field { return own }
      return field
    }
    let isKept = isOwn && !names.isEmpty
    guard isKept || named.contains(where: { $0 != .key && known.contains($0) }) else {
      (headings, names) = ([], [])
      values.forgetCells()
      return fields
    }
    // The beginning of the file may end within its first line.
    if let width = values.table?.width, width != names.count { values.forgetCells() }
    let kept = Set(named)
    return named + fields.filter { $0 != .key && !kept.contains($0) }
  }

  /// Returns the headings of columns that `columns(for:)` returned; no two are the same, unless the file
  /// has them so.
  func titles(of columns: [FieldPath]) -> [String] {
    var taken = Set(headings)
    return columns.enumerated().map { index, column in
      if index < headings.count { return headings[index] }
      let name = hasNames ? column.fileName : column.name
      return taken.insert(name).inserted ? name : column.name
    }
  }

  // MARK: What is not kept

  /// Returns what the file does not keep when all that it holds is written to it, each in words.
  ///
  /// With `isLookedAt`, the values of the file are known.
  package func losses(_ format: ExportFormat, isLookedAt: Bool = true) -> [String] {
    let fields =
      "it is too large to look: fields stand in the order of their names; null, [] and {} are left out; "
      + "lists become objects, {\"0\": …}; numbers of more than 15 digits are rounded"
    switch format {
    case .csv: return cellLosses(isLookedAt)
    case .jsonl: return isLookedAt ? [rowsWords] : [rowsWords, fields]
    case .json: return isLookedAt ? [] : ["each record is one line; \(rowsWords)", fields]
    case .markdown: return []
    }
  }

  /// The words on the order of the rows: that of their keys, which number the rows of a file without keys.
  private var rowsWords: String {
    let hasKeys = names.contains(ExportWriter.keyName) || firstName != nil || hasLineKeys
    return hasKeys
      ? "rows stand in the order of their keys" : "rows keep the file's order, new ones last"
  }

  private func cellLosses(_ isLookedAt: Bool) -> [String] {
    var losses: [String] = []
    if headings.isEmpty { losses.append("its first line is not known: it gets another one") }
    losses.append(isLookedAt ? rowsWords : "quotes are set anew; \(rowsWords)")
    if !isLookedAt {
      losses.append("it is too large to look: +32 becomes '+32, and 9.50 becomes 9.5")
    }
    return losses
  }
}

extension FieldPath {
  /// The name of the field as a data file has it.
  fileprivate var fileName: String {
    guard case .path(let path) = self else { return name }
    let names = path.keys.map { WritableKey.fileName(of: $0.text) }
    // A slash within the name of a part would be read as a step.
    if names.count > 1, names.contains(where: { $0.contains("/") }) { return name }
    return names.joined(separator: "/")
  }
}
