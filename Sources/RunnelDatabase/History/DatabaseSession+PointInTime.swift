import Glibc
import RunnelBase
package import RunnelTree

/// A write to take back whose values the history did not keep, because they are too large.
private struct LostValues: Error {
  var id: Int64
  var at: Int64
  var place: Path
}

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
  ///   - place: the place that is of interest. If the history did not keep what a write replaced elsewhere, only
  ///     what is at or below this place is of that time.
  ///   - isWanted: called now and then; false stops the work, and leaves no file.
  /// - Returns: the places where writes were found that the history leaves out.
  /// - Throws: `DatabaseError` (`refused` if the history does not reach back, with the reason;
  ///   `diskFull`, `cancelled`, or the reason why the database cannot be read).
  @discardableResult
  package func saveCopy(
    to file: String, asOf time: Int64, of place: Path = .root,
    isWanted: @escaping () -> Bool = { true }
  ) throws -> Set<Path> {
    do {
      return try saveCopy(to: file, asOf: time, only: nil, isWanted)
    } catch is LostValues where !place.isRoot {
      return try telling(time, place) {
        try saveCopy(to: file, asOf: time, only: place, isWanted)
      }
    } catch let lost as LostValues {
      return try telling(time, place) { throw lost }
    }
  }

  /// Says which time is known instead, if the values of a write are lost.
  private func telling<Result>(
    _ time: Int64, _ place: Path, _ body: () throws -> Result
  ) throws
    -> Result
  {
    do {
      return try body()
    } catch let lost as LostValues {
      let known = CivilTime.utcText(lost.at)
      throw DatabaseError(
        .refused,
        "What \(place.isRoot ? file : "\(place)") held at \(CivilTime.utcText(time)) is not known: write "
          + "\(lost.id), at \(known), replaced a value at \(lost.place) that was too large to keep. The earliest "
          + "time that can be told is \(known); take a backup for an earlier one.")
    }
  }

  private func saveCopy(
    to file: String, asOf time: Int64, only place: Path?, _ isWanted: @escaping () -> Bool
  ) throws -> Set<Path> {
    var leftOut: Set<Path> = []
    try saveCopy(to: file, isWanted: isWanted)
    do {
      let copy = try DatabaseSession(file: file, environment: environment)
      do {
        leftOut = try copy.rewind(to: time, only: place, isWanted, undoFilesOf: self.file)
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
    to time: Int64, only place: Path?, _ isWanted: @escaping () -> Bool,
    undoFilesOf original: String
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
      leftOut.formUnion(try takeBack(id, only: place, undoFilesOf: original, isWanted))
    }
    return leftOut
  }

  private func takeBack(
    _ id: Int64, only place: Path?, undoFilesOf original: String, _ isWanted: @escaping () -> Bool
  ) throws -> [Path] {
    guard var entry = try store.read({ try $0.historyEntry(id) }) else { return [] }
    if let place {
      entry.parts = entry.parts.compactMap { $0.part(for: place) }
      if entry.parts.isEmpty { return [] }
    }
    if let lost = entry.parts.first(where: { $0.values == nil && $0.before == nil }) {
      throw LostValues(id: id, at: entry.at, place: lost.path)
    }
    // A link stands for each undo file, so that the file itself stays.
    let suffixes = entry.parts.compactMap { $0.undoFile?.suffix }
    for suffix in suffixes { symlink(DatabaseSession.absolute(original) + suffix, file + suffix) }
    defer { for suffix in suffixes { unlink(file + suffix) } }
    do {
      let isPlain = entry.operation == nil && entry.parts.allSatisfy { $0.before == nil }
      if place != nil, isPlain {
        _ = try undo(plain: entry)
      } else {
        _ = try undo(id) { _ in isWanted() }
      }
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

extension HistoryEntry.Part {
  /// What the part says of a place and of what is below it; nil if nothing.
  fileprivate func part(for place: Path) -> HistoryEntry.Part? {
    if place.contains(path) { return self }
    guard path.contains(place), !isPriority else { return nil }
    guard before == nil, let values, let rest = place.relative(to: path) else { return self }
    let (old, new) = (values.old.value(at: rest), values.new.value(at: rest))
    return old == new ? nil : HistoryEntry.Part(path: place, values: Values(old: old, new: new))
  }
}

extension JSONValue {
  /// The value at a place below, in the export format; null for none.
  fileprivate func value(at path: Path) -> JSONValue {
    var value = self
    for key in path.keys {
      // Keys that are numbers in order are an array.
      let index = Int(key.text).flatMap { String($0) == key.text ? $0 : nil }
      guard let next = index.map({ value[$0] }) ?? value[key.text] else { return .null }
      value = next
    }
    return value
  }
}
