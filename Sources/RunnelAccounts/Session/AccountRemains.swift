import Glibc

/// The temporary files of sessions, which may hold tokens.
///
/// A file is written beside its place, under its name and the id of the process, and then takes its place. A
/// process that is killed in between leaves it.
enum AccountRemains {
  /// After this time, in seconds, a temporary file is one of a process that is gone, whoever has its id now.
  private static let secondsMax = 3600
  /// After this time, in seconds, nobody asks any more why a session was ended.
  private static let endedSecondsMax = 365 * 86_400

  /// The name of the temporary file for a file.
  static func temporary(for path: String) -> String { "\(path).\(getpid())" }

  /// Removes the temporary files of processes that are gone from a folder, and old ends of sessions.
  ///
  /// What cannot be removed now is removed another time.
  static func remove(in folder: String) {
    guard let directory = opendir(folder) else { return }
    defer { closedir(directory) }
    while let entry = readdir(directory) {
      let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      let path = "\(folder)/\(name)"
      if name.hasSuffix(".ended"), isOld(path, endedSecondsMax) { unlink(path) }
      guard let point = name.lastIndex(of: "."), let process = pid_t(name[point...].dropFirst()),
        process > 0
      else { continue }
      if isGone(process) || isOld(path, secondsMax) { unlink(path) }
    }
  }

  private static func isGone(_ process: pid_t) -> Bool { kill(process, 0) != 0 && errno == ESRCH }

  private static func isOld(_ path: String, _ secondsMax: Int) -> Bool {
    guard let written = written(path) else { return false }
    return time(nil) - Int(written / 1000) > secondsMax
  }

  /// The time when a file was written, in milliseconds since 1970; nil if there is none.
  static func written(_ path: String) -> Int64? {
    var status = stat()
    guard lstat(path, &status) == 0 else { return nil }
    return withUnsafeBytes(of: status.st_mtim) { time in
      // The seconds come first, then the nanoseconds.
      let nanoseconds = time.load(fromByteOffset: MemoryLayout<Int>.size, as: Int.self)
      return Int64(time.load(as: Int.self)) * 1000 + Int64(nanoseconds) / 1_000_000
    }
  }
}
