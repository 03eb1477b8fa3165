import Glibc
import RunnelDatabase
import RunnelWorkspace

/// The data file of which the open database was made, as it is when an export is to replace it.
struct OpenedDataFile {
  /// The full path of the file.
  private let path: String
  /// What the file holds; nil if it cannot be read.
  let mark: FileMark?
  /// Whether others wrote to it after it was read; false if that is not known.
  let isOfOthers: Bool

  /// Looks at the file and at the note on it in the database.
  ///
  /// O(n) in the file.
  init(_ file: String) {
    path = ExportRunner.expanded(file)
    mark = FileMark(of: path)
    let note = OpenedDataFile.note(in: path + FileState.databaseSuffix)
    isOfOthers = mark.flatMap { mark in note.map { $0.isOfOthers(mark) } } ?? false
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

  private static func note(in database: String) -> DataFileNote? {
    guard exists(database),
      let session = try? DatabaseSession(file: database, isReadOnly: true, environment: .system)
    else { return nil }
    // It was only read.
    defer { try? session.close() }
    return try? session.dataFileNote()
  }

  private static func exists(_ file: String) -> Bool { access(file, F_OK) == 0 }
}
