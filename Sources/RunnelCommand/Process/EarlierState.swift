import Glibc
import RunnelDatabase
import RunnelTree

/// A copy of a database as it was at an earlier time, in a folder of its own while it is used.
enum EarlierState {
  /// Calls `body` with the copy, in which what is at or below `place` is of that time.
  ///
  /// - Throws: `DatabaseError` if the history does not reach back to the time,
  ///   `Interruption.Stopped` if a signal arrived, and the errors of `body`.
  static func with<Result>(
    _ session: DatabaseSession, at time: Int64, of place: Path,
    _ body: (DatabaseSession) throws -> Result
  ) throws -> Result {
    let interruption = try Interruption()
    let folder = try temporaryFolder()
    defer { remove(folder) }
    let file = folder + "/earlier.db"
    var line = ProgressLine("Taking back what was written since")
    var signal: Int32?
    var leftOut: Set<Path> = []
    defer { line.clear() }
    do {
      leftOut = try session.saveCopy(to: file, asOf: time, of: place) {
        line.report("copying")
        signal = signal ?? interruption.pending()
        return signal == nil
      }
    } catch let error as DatabaseError {
      guard error.code == .cancelled, let signal else { throw error }
      throw Interruption.Stopped(signal: signal)
    }
    line.clear()
    if let notice = notice(leftOut) { StandardError.say(notice) }
    let copy = try DatabaseSession(file: file, isReadOnly: true, environment: .system)
    // An error of closing does not keep the copy from being removed.
    defer { try? copy.close() }
    return try interruption.whileSignalsEnd { try body(copy) }
  }

  /// The most places that are named.
  private static let namedMax = 3

  /// Says where the state may not be the earlier one.
  private static func notice(_ leftOut: Set<Path>) -> String? {
    if leftOut.isEmpty { return nil }
    let named = leftOut.sorted().prefix(namedMax).map(\.description).joined(separator: ", ")
    let rest = leftOut.count - min(leftOut.count, namedMax)
    let more = rest > 0 ? " and \(rest) other places" : ""
    return
      "At \(named)\(more) were writes that the history leaves out: what is printed there may be of another "
      + "time."
  }

  private static func temporaryFolder() throws -> String {
    let base = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
    var name = Array((base + "/runnel-XXXXXX").utf8CString)
    guard mkdtemp(&name) != nil else { throw Failure.system("\(base) cannot be used") }
    return String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  private static func remove(_ folder: String) {
    for suffix in ["", "-wal", "-shm", "-notify"] { unlink(folder + "/earlier.db" + suffix) }
    rmdir(folder)
  }
}
