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
    var status = stat()
    guard lstat(path, &status) == 0 else { return false }
    // The seconds come first.
    let written = withUnsafeBytes(of: status.st_mtim) { $0.load(as: Int.self) }
    return time(nil) - written > secondsMax
  }
}
