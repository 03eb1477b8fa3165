import Foundation
import Glibc
import RunnelDatabase
import RunnelTree
import RunnelWorkspace

/// The data file of which the open database was made, as it is when an export is to replace it.
struct OpenedDataFile {
  /// The full path of the file.
  private let path: String
  /// The database that was made of the file.
  private let database: String
  /// What the file holds; nil if it cannot be read.
  let mark: FileMark?
  /// Whether others wrote to it after it was read; false if that is not known.
  let isOfOthers: Bool

  /// The place in the tree of what the file holds.
  let place: Path
  /// The keys of the rows in the file, if it is a list, by their places; nil if they are not known.
  let keys: RowKeys?

  /// Looks at the file, and at what is known of it in the open database, or in the one beside it if the open
  /// one knows nothing.
  ///
  /// O(n) in the file. A database without a file is known by a place that it shows.
  init(_ file: String, database: String?, showing shown: Path) {
    path = ExportRunner.expanded(file)
    mark = FileMark(of: path)
    let beside = path + FileState.databaseSuffix
    var session = database.flatMap { OpenedDataFile.session($0) }
    var note = (try? session?.dataFileNote()) ?? nil
    if note == nil, database == nil || OpenedDataFile.exists(beside) {
      try? session?.close()
      session = OpenedDataFile.session(beside)
      note = (try? session?.dataFileNote()) ?? nil
      self.database = beside
    } else {
      self.database = database ?? beside
    }
    // It was only read.
    defer { try? session?.close() }
    isOfOthers = mark.flatMap { mark in note.map { $0.isOfOthers(mark) } } ?? false
    keys = mark != nil && mark == note?.known ? note?.rows.flatMap { RowKeys(text: $0) } : nil
    let isThere = { (place: Path) in
      // What cannot be read is as if there were nothing; the question names the place.
      session.map { (try? $0.summary(at: place).kind) ?? .empty != .empty }
        ?? shown.keys.starts(with: place.keys)
    }
    // A file that cannot be read holds nothing.
    let document =
      (try? Data(contentsOf: URL(fileURLWithPath: path), options: .alwaysMapped)) ?? Data()
    place = document.withUnsafeBytes {
      OpenedFile.place(ofFile: file, $0.bindMemory(to: UInt8.self), isThere: isThere)
    }
  }

  /// Whether the file holds something else by now.
  var isChangedSince: Bool { FileMark(of: path) != mark }

  /// Notes in the database what was written to the file, and which rows: others did not change it.
  func note(_ written: FileMark, _ keys: RowKeys?) {
    // Without the note, it is asked at the next start whether the file is read again: nothing is lost.
    guard OpenedDataFile.exists(database),
      let session = try? DatabaseSession(file: database, environment: .system)
    else { return }
    try? session.keep(DataFileNote(known: written, rows: keys?.text))
    try? session.close()
  }

  /// The database in a file, to be read; nil if there is none.
  private static func session(_ database: String) -> DatabaseSession? {
    guard exists(database) else { return nil }
    return try? DatabaseSession(file: database, isReadOnly: true, environment: .system)
  }

  private static func exists(_ file: String) -> Bool { access(file, F_OK) == 0 }
}
