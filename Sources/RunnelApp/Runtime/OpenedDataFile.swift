import Foundation
import Glibc
import RunnelDatabase
import RunnelTree
import RunnelWorkspace

/// The data file of which the open database was made, as it is when an export is to replace it.
struct OpenedDataFile {
  /// The full path of the file.
  private let path: String
  /// What the file holds; nil if it cannot be read.
  let mark: FileMark?
  /// Whether others wrote to it after it was read; false if that is not known.
  let isOfOthers: Bool

  /// The place in the tree of what the file holds.
  let place: Path

  /// Looks at the file, and at what is known of it in the database.
  ///
  /// O(n) in the file. A database that is elsewhere is known by a place that it shows.
  init(_ file: String, showing shown: Path) {
    path = ExportRunner.expanded(file)
    mark = FileMark(of: path)
    let session = OpenedDataFile.session(path + FileState.databaseSuffix)
    // It was only read.
    defer { try? session?.close() }
    let note = (try? session?.dataFileNote()) ?? nil
    isOfOthers = mark.flatMap { mark in note.map { $0.isOfOthers(mark) } } ?? false
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

  /// Notes in the database what was written to the file: others did not change it.
  func note(_ written: FileMark) {
    let database = path + FileState.databaseSuffix
    // Without the note, it is asked at the next start whether the file is read again: nothing is lost.
    guard OpenedDataFile.exists(database),
      let session = try? DatabaseSession(file: database, environment: .system)
    else { return }
    try? session.keep(DataFileNote(known: written))
    try? session.close()
  }

  /// The database in a file, to be read; nil if there is none.
  private static func session(_ database: String) -> DatabaseSession? {
    guard exists(database) else { return nil }
    return try? DatabaseSession(file: database, isReadOnly: true, environment: .system)
  }

  private static func exists(_ file: String) -> Bool { access(file, F_OK) == 0 }
}
