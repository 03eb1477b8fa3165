/// The names of databases, and the files that belong to one.
package enum DatabaseNames {
  /// The name of a database whose file name is no valid name.
  static let fallback = "default"
  static let suffix = ".db"

  /// True for 1 to 63 small letters, digits and hyphens.
  package static func isValid(_ name: String) -> Bool {
    (1...63).contains(name.utf8.count)
      && name.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
          UInt8(ascii: "-"):
          true
        default: false
        }
      }
  }

  /// A path without the extension of its last part.
  static func stem(of file: String) -> String {
    let start = file.lastIndex(of: "/").map { file.index(after: $0) } ?? file.startIndex
    guard let dot = file[start...].lastIndex(of: "."), dot > start else { return file }
    return String(file[..<dot])
  }

  /// The name of the database in a file.
  static func name(of file: String) -> String {
    let stem = stem(of: file)
    let last = stem.split(separator: "/").last.map { $0.lowercased() } ?? ""
    return isValid(last) ? last : fallback
  }

  /// The file of the rules beside a database.
  static func rulesFile(beside database: String) -> String { stem(of: database) + ".rules.json" }
}
