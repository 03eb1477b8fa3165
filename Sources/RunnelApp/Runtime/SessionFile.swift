import Foundation
import Glibc
import RunnelBase
import RunnelWorkspace

/// The file of the session with one database, in the user's state folder.
///
/// It is replaced as a whole, by renaming, so that it is never half written. No failure is fatal: a
/// file that cannot be read is renamed and reported; a failure to write is reported once.
struct SessionFile {
  /// The greatest size of a file in bytes; larger files are not read.
  ///
  /// Drafts may have 512 KiB in all, and six bytes of JSON for one of theirs.
  private static let bytesMax = 1 << 24
  private static let asideSuffix = ".broken"

  let path: String

  /// Makes the file for a database, identified by its full path, below a state folder.
  ///
  /// The file's name contains that of the database, for people, and a number that distinguishes
  /// databases of the same name.
  init(database: String, folder: String) {
    let resolved = SessionFile.resolved(database)
    let name = (resolved.split(separator: "/").last ?? "database").prefix(64)
    path = "\(folder)/sessions/\(name)-\(SessionFile.number(of: resolved)).json"
  }

  /// Reads the session; nil if there is none.
  ///
  /// - Returns: The session, and a message if the file could not be read.
  func read() -> (session: SessionState?, problem: String?) {
    guard access(path, F_OK) == 0 else { return (nil, nil) }
    guard let session = stored else {
      rename(path, path + SessionFile.asideSuffix)
      return (
        nil,
        "the last session could not be read and is put aside: \(path)\(SessionFile.asideSuffix)"
      )
    }
    return (session, nil)
  }

  /// The session that the file holds now; nil if there is none that can be read.
  private var stored: SessionState? {
    guard let size = fileSize, size <= SessionFile.bytesMax,
      let data = FileManager.default.contents(atPath: path),
      let json = try? JSONValue(parsing: [UInt8](data))
    else { return nil }
    return SessionState(json)
  }

  /// Writes the session, with what other workspaces wrote since `base` was read or written; returns a
  /// message if it cannot be written.
  func write(_ session: SessionState, since base: SessionState? = nil) -> String? {
    let session = stored.map { session.merged(with: $0, since: base ?? SessionState()) } ?? session
    let folder = path[..<(path.lastIndex(of: "/") ?? path.startIndex)]
    let temporary = path + ".\(getpid())"
    do {
      try FileManager.default.createDirectory(
        atPath: String(folder), withIntermediateDirectories: true,
        attributes: [.posixPermissions: 0o700])
      // Sessions contain searched texts, so only the user may read them.
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

  /// Returns the full path of a file without links; relative to the current folder if the file does
  /// not exist.
  private static func resolved(_ file: String) -> String {
    if let path = realpath(file, nil) {
      defer { free(path) }
      return String(cString: path)
    }
    return file.hasPrefix("/")
      ? file : FileManager.default.currentDirectoryPath + "/" + file
  }

  /// Returns sixteen digits for a path: the hash of Fowler, Noll and Vo.
  private static func number(of path: String) -> String {
    let hash = path.utf8.reduce(into: UInt64(0xcbf2_9ce4_8422_2325)) { hash, byte in
      hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3
    }
    let digits = String(hash, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }
}

/// Keeps the session of a workspace while it runs: it is written a second after a change, and
/// at the end.
struct SessionKeeper {
  /// The time in milliseconds between a key and the write of the session, so that many keys cause
  /// one write.
  static let delayMilliseconds: Int64 = 1000

  private let file: SessionFile
  private var written: SessionState?
  /// The session that is being written, or nil.
  private var writing: SessionState?
  /// The time when the session is to be written, in milliseconds since 1970; nil if nothing has
  /// happened since the last write.
  private(set) var due: Int64?

  init(_ file: SessionFile) { self.file = file }

  /// Returns the session of the last time, and a message if it could not be read.
  mutating func read() -> (session: SessionState?, problem: String?) {
    let found = file.read()
    written = found.session
    return found
  }

  /// Notes that the session may have changed.
  mutating func touch(now: Int64) {
    due = due ?? now + SessionKeeper.delayMilliseconds
  }

  /// Notes that text which the session keeps was stored, or was refused: the session is written at
  /// once, so that a program that is killed then does not offer stored text as a draft.
  mutating func hasten(now: Int64) { due = min(due ?? now, now) }

  /// The time when the owner is to call `begin`; nil while nothing has happened, and while a write is
  /// under way, whose end is reported.
  var deadline: Int64? { writing == nil ? due : nil }

  /// Returns the task that writes the session if it is time, or nil; its report must be given to
  /// `end`.
  ///
  /// Only one write runs at a time: while a slow disk writes, the next write waits.
  mutating func begin(_ session: @autoclosure () -> SessionState, now: Int64) -> FileTask? {
    guard writing == nil, let due, due <= now else { return nil }
    self.due = nil
    let session = session()
    guard session != written else { return nil }
    writing = session
    return .keep(session, since: written, file)
  }

  /// Ends a write of the session; one that failed is tried again after the next key.
  mutating func end(_ problem: String?) {
    if problem == nil { written = writing }
    writing = nil
  }

  /// Writes the session at the end of the program, if it differs from the last one written; returns a
  /// message if it cannot be written.
  mutating func writeLast(_ session: SessionState) -> String? {
    if session == written { return nil }
    let problem = file.write(session, since: written)
    if problem == nil { written = session }
    return problem
  }
}
