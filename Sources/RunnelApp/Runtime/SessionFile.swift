import Foundation
import Glibc
import RunnelBase
import RunnelWorkspace

/// The file in which the session with one database is kept, in the user's state folder.
///
/// It is replaced as a whole, by renaming, so that it is never half written. Nothing about it is fatal:
/// what cannot be read is put aside and said, what cannot be written is said once.
struct SessionFile {
  /// Larger ones are not read: nobody was in so many places.
  private static let bytesMax = 1 << 20
  private static let asideSuffix = ".broken"

  let path: String

  /// The file for a database, by its whole path, below a state folder.
  ///
  /// Its name has that of the database, for people, and a number that tells files of one name apart.
  init(database: String, folder: String) {
    let resolved = SessionFile.resolved(database)
    let name = (resolved.split(separator: "/").last ?? "database").prefix(64)
    path = "\(folder)/sessions/\(name)-\(SessionFile.number(of: resolved)).json"
  }

  /// Reads the session; nil if there is none.
  ///
  /// - Returns: the session, and what is to be said if the file could not be read.
  func read() -> (session: SessionState?, problem: String?) {
    guard access(path, F_OK) == 0 else { return (nil, nil) }
    guard let size = fileSize, size <= SessionFile.bytesMax,
      let data = FileManager.default.contents(atPath: path),
      let json = try? JSONValue(parsing: [UInt8](data)), let session = SessionState(json)
    else {
      rename(path, path + SessionFile.asideSuffix)
      return (
        nil,
        "the last session could not be read and is put aside: \(path)\(SessionFile.asideSuffix)"
      )
    }
    return (session, nil)
  }

  /// Writes the session; returns what is to be said if it cannot be written.
  func write(_ session: SessionState) -> String? {
    let folder = path[..<(path.lastIndex(of: "/") ?? path.startIndex)]
    let temporary = path + ".\(getpid())"
    do {
      try FileManager.default.createDirectory(
        atPath: String(folder), withIntermediateDirectories: true,
        attributes: [.posixPermissions: 0o700])
      // It says what was looked for: only the user may read it.
      let bytes = Array((session.json.jsonText(pretty: true) + "\n").utf8)
      let descriptor = open(temporary, O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0o600)
      guard descriptor >= 0 else { return problem }
      let count = Glibc.write(descriptor, bytes, bytes.count)
      close(descriptor)
      guard count == bytes.count, rename(temporary, path) == 0 else {
        let reason = problem
        unlink(temporary)
        return reason
      }
      return nil
    } catch {
      return "the session cannot be kept in \(path): \(error.fileReason)"
    }
  }

  private var problem: String {
    "the session cannot be kept in \(path): \(String(cString: strerror(errno)))"
  }

  private var fileSize: Int? {
    var status = stat()
    return stat(path, &status) == 0 ? Int(status.st_size) : nil
  }

  /// The whole path of a file, without links; of one that is not there, from this folder on.
  private static func resolved(_ file: String) -> String {
    if let path = realpath(file, nil) {
      defer { free(path) }
      return String(cString: path)
    }
    return file.hasPrefix("/")
      ? file : FileManager.default.currentDirectoryPath + "/" + file
  }

  /// Sixteen digits of a path: the hash of Fowler, Noll and Vo.
  private static func number(of path: String) -> String {
    let hash = path.utf8.reduce(into: UInt64(0xcbf2_9ce4_8422_2325)) { hash, byte in
      hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3
    }
    let digits = String(hash, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }
}

/// Keeps the session of a workspace while it runs: some seconds after it changed, and at its end.
struct SessionKeeper {
  /// How long after a key the session is written, so that many keys are one write.
  static let delayMilliseconds: Int64 = 5000

  private let file: SessionFile
  private var written: SessionState?
  /// The session that is being written.
  private var writing: SessionState?
  /// When it is to be written; nil if nothing happened since.
  private(set) var due: Int64?
  private var hasFailed = false

  init(_ file: SessionFile) { self.file = file }

  /// The session of the last time, and what is to be said if it could not be read.
  mutating func read() -> (session: SessionState?, problem: String?) {
    let found = file.read()
    written = found.session
    return found
  }

  /// Something happened that may have changed the session.
  mutating func touch(now: Int64) {
    due = due ?? now + SessionKeeper.delayMilliseconds
  }

  /// The task that writes the session if its time has come; its report is given to `end`.
  ///
  /// One is written at a time: while a slow disk takes one, the next one waits.
  mutating func begin(_ session: @autoclosure () -> SessionState, now: Int64) -> FileTask? {
    guard writing == nil, let due, due <= now else { return nil }
    self.due = nil
    let session = session()
    guard session != written, !hasFailed else { return nil }
    writing = session
    return .keep(session, file)
  }

  /// The session was written, or could not be; returns what is to be said, once.
  mutating func end(_ problem: String?) -> String? {
    defer { writing = nil }
    if problem == nil { written = writing }
    hasFailed = problem != nil
    return problem
  }

  /// Writes the session at once, at the end, if it is another one than was written last.
  mutating func writeLast(_ session: SessionState) {
    // Nobody is left to hear that it could not be written.
    if session != written, !hasFailed { _ = file.write(session) }
  }
}
