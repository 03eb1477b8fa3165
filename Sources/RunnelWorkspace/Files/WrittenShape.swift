import RunnelBase
package import RunnelTree

/// How a file is written that exports replace: as it was, so that a file that was opened is saved back
/// with the same columns in the same order.
package struct WrittenShape: Hashable, Sendable {
  /// The number of bytes at the beginning of a file that tell its shape.
  package static let beginningBytes = 1 << 16

  /// The names of the columns of separated values, in their order; empty if they are not known.
  private(set) var names: [String] = []
  /// The sign between two cells.
  private(set) var separator: Unicode.Scalar = ","
  /// What ends a line of separated values.
  private(set) var lineEnd = "\r\n"
  /// Whether lines of JSON have the keys of the records.
  private(set) var hasKeys = true
  /// Whether JSON is a list of the records, without their keys.
  private(set) var isList = false

  /// The shape of a file that replaces none.
  package init() {}

  /// Reads the shape of a file from its beginning.
  package init(ofBeginning text: String, as format: ExportFormat) {
    switch format {
    case .csv: readHeader(text)
    case .jsonl:
      let line = text.prefix { !$0.isNewline }
      hasKeys = (try? JSONValue(parsing: String(line)))?[ExportWriter.keyName] != nil
    case .json: isList = text.first { !$0.isWhitespace } == "["
    case .markdown: break
    }
  }

  private mutating func readHeader(_ text: String) {
    guard let table = try? CellTable(text, isHeadOnly: true), let first = table.lines.first else {
      return
    }
    let names = first.cells.map(CellCoding.text)
    guard Set(names).count == names.count, !names.contains("") else { return }
    (self.names, separator) = (names, table.separator)
    if text.first(where: \.isNewline) == "\n" { lineEnd = "\n" }
  }

  /// Returns the columns of separated values: those of the file first, then the others.
  ///
  /// A file without a column of keys gets none. If the file has nothing in common with the records, its
  /// columns are not kept.
  package mutating func columns(for fields: [FieldPath]) -> [FieldPath] {
    let known = Set(fields)
    let named = names.map { name in
      let field = (try? FieldPath(name)).flatMap { known.contains($0) ? $0 : nil }
      return field ?? .path(Path(unchecked: [WritableKey.key(of: name)]))
    }
    guard named.contains(where: { $0 != .key && known.contains($0) }) else {
      names = []
      return fields
    }
    let kept = Set(named)
    return named + fields.filter { $0 != .key && !kept.contains($0) }
  }
}

/// Keys for names that may hold signs that no key may have.
package enum WritableKey {
  private static let forbidden = Set(".#$/[]".unicodeScalars)

  /// Returns a name as a key: forbidden signs are written as in addresses, `a.example` as
  /// `a%2Eexample`.
  package static func key(of name: String) -> RunnelTree.Key {
    if name.isEmpty { return RunnelTree.Key(unchecked: "%") }
    var key = ""
    for scalar in name.unicodeScalars {
      if forbidden.contains(scalar) || scalar.value < 0x20 || scalar.value == 0x7F {
        let digits = String(scalar.value, radix: 16, uppercase: true)
        key += "%" + (digits.count == 1 ? "0" : "") + digits
      } else {
        key.unicodeScalars.append(scalar)
      }
    }
    return RunnelTree.Key(unchecked: key)
  }

  /// Returns the name that a key was made of; any other key as it is.
  package static func name(of key: String) -> String {
    guard key.contains("%") else { return key }
    var name = ""
    var rest = key[...]
    while let mark = rest.firstIndex(of: "%") {
      name += rest[..<mark]
      let digits = rest[mark...].dropFirst().prefix(2)
      if digits.count == 2, let value = UInt8(digits, radix: 16),
        forbidden.contains(Unicode.Scalar(value))
      {
        name.unicodeScalars.append(Unicode.Scalar(value))
        rest = rest[digits.endIndex...]
      } else {
        name += "%"
        rest = rest[mark...].dropFirst()
      }
    }
    return name + rest
  }
}
