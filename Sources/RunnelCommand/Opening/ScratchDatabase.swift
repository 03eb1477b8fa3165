import Glibc

/// A database in a folder of its own for temporary files, which is removed at the end.
struct ScratchDatabase {
  private let folder: String
  let file: String

  /// Makes the folder, which only the user may open.
  ///
  /// - Throws: `Failure` if it cannot be made.
  init(named name: String) throws {
    let parent = getenv("TMPDIR").map { String(cString: $0) } ?? ""
    let template = (parent.isEmpty ? "/tmp" : parent) + "/runnel-XXXXXX"
    var bytes = template.utf8CString.map { $0 }
    guard mkdtemp(&bytes) != nil else {
      throw Failure.system(
        "A temporary folder cannot be made in \(parent.isEmpty ? "/tmp" : parent)")
    }
    folder = String(decoding: bytes.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    file = folder + "/" + name
  }

  /// Removes the database with its files, and the folder if nothing else was put there.
  func remove() {
    for suffix in ["", "-wal", "-shm", "-journal", "-notify"] { unlink(file + suffix) }
    rmdir(folder)
  }
}
