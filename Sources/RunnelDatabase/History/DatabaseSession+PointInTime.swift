import Glibc
import RunnelBase
package import RunnelTree

extension DatabaseSession {
  /// Writes the database, as it was at a time, to a new file.
  ///
  /// The file is a copy in which the writes since then are taken back, the newest first. The
  /// history must reach back that far, and must have kept the values that those writes replaced. A
  /// node that an import replaced is read from the undo file beside the database. O(n) in the
  /// database and in those writes.
  ///
  /// Limits: an import by a program that kept nothing of the old node has no entry, and stays. Writes that the
  /// history leaves out, such as the entries of who is here, are not taken back; a place where one was made
  /// after one of the history gets what stood there before that.
  ///
  /// - Parameters:
  ///   - file: the path of the new file, which must not exist.
  ///   - time: milliseconds since 1970. If the clock was set and times are out of order, the newest
  ///     write made by then is the last that stays.
  ///   - isWanted: called now and then; false stops the work, and leaves no file.
  /// - Returns: the places where writes were found that the history leaves out.
  /// - Throws: `DatabaseError` (`refused` if the history does not reach back, with the reason;
  ///   `diskFull`, `cancelled`, or the reason why the database cannot be read).
  @discardableResult
  package func saveCopy(
    to file: String, asOf time: Int64, isWanted: @escaping () -> Bool = { true }
  ) throws -> Set<Path> {
    var leftOut: Set<Path> = []
    try saveCopy(to: file, isWanted: isWanted)
    do {
      let copy = try DatabaseSession(file: file, environment: environment)
      do {
        leftOut = try copy.rewind(to: time, isWanted, undoFilesOf: self.file)
      } catch {
        // The first error matters; an error of closing is dropped.
        try? copy.close()
        throw error
      }
      try copy.close()
    } catch {
      for suffix in ["", "-wal", "-shm", "-notify"] { unlink(file + suffix) }
      // What is wrong with the copy is wrong with this file.
      if let error = error as? DatabaseError, error.remedy == .repair(file: file) {
        throw error.with(.repair(file: self.file))
      }
      throw error
    }
    return leftOut
  }

  private func rewind(
    to time: Int64, _ isWanted: @escaping () -> Bool, undoFilesOf original: String
  ) throws -> Set<Path> {
    var leftOut: Set<Path> = []
    let entries: [Int64]
    switch try store.read({ try $0.entries(after: time) }) {
    case .entries(let found): entries = found
    case .tooEarly(let start):
      let began =
        start.map { "its history begins at \(CivilTime.utcText($0))" } ?? "it has no history"
      throw DatabaseError(
        .refused,
        "What \(original) held at \(CivilTime.utcText(time)) is not known: \(began). "
          + "Take a backup of that time, or a later time.")
    case .replica:
      throw DatabaseError(
        .refused, "\(original) is the copy of another database: only its origin has a history.")
    }
    // Taking back writes adds entries, which must not push out entries that are still to be taken
    // back.
    try setHistoryLimit(.max / 2)
    for id in entries {
      if !isWanted() {
        throw DatabaseError(.cancelled, "\(file) was not written: the work was stopped.")
      }
      leftOut.formUnion(try takeBack(id, undoFilesOf: original, isWanted))
    }
    return leftOut
  }

  private func takeBack(
    _ id: Int64, undoFilesOf original: String, _ isWanted: @escaping () -> Bool
  ) throws -> [Path] {
    guard let entry = try store.read({ try $0.historyEntry(id) }) else { return [] }
    // A link stands for each undo file, so that the file itself stays.
    let suffixes = entry.parts.compactMap { $0.undoFile?.suffix }
    for suffix in suffixes { symlink(DatabaseSession.absolute(original) + suffix, file + suffix) }
    defer { for suffix in suffixes { unlink(file + suffix) } }
    do {
      _ = try undo(id) { _ in isWanted() }
      return []
    } catch let error as DatabaseError where error.code == .changed {
      return try takeBack(entry, though: error)
    }
  }

  /// Takes a write back at whose places others were made that the history leaves out: what stood there before
  /// is known.
  ///
  /// - Returns: the places that do not stand as the write left them.
  private func takeBack(_ entry: HistoryEntry, though error: DatabaseError) throws -> [Path] {
    guard entry.operation == nil, entry.parts.allSatisfy({ $0.before == nil }) else { throw error }
    var known = entry
    var changed: [Path] = []
    for (index, part) in entry.parts.enumerated() {
      guard let values = part.values,
        let present = try store.read({ try $0.historyValue(of: part) })
      else { throw error }
      if present == values.new { continue }
      known.parts[index].values?.new = present
      changed.append(part.path)
    }
    if changed.isEmpty { throw error }
    _ = try undo(plain: known)
    return changed
  }

  private static func absolute(_ path: String) -> String {
    guard !path.hasPrefix("/"), let folder = getcwd(nil, 0) else { return path }
    defer { free(folder) }
    return String(cString: folder) + "/" + path
  }
}
