import Foundation
import Glibc
import RunnelBase
import RunnelTerminal
import RunnelWorkspace

/// The file of the session with one database, in the user's state folder.
///
/// It is replaced as a whole, by renaming, so that it is never half written; only one workspace at a time
/// merges what it keeps into it. No failure is fatal: a file that cannot be read is renamed and reported; a
/// failure to write is reported once.
struct SessionFile {
  /// The greatest size of a file in bytes; larger files are not read.
  ///
  /// Drafts may have 512 KiB in all, and six bytes of JSON for one of theirs.
  private static let bytesMax = 1 << 24
  private static let asideSuffix = ".broken"
  /// How often, and after how many microseconds, another workspace that writes is waited for.
  private static let (lockTries, lockMicroseconds) = (100, UInt32(10_000))

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

  /// The file that is locked while the session is written, and by each workspace that keeps it.
  var lockPath: String { path + ".lock" }

  /// Makes the folder; what prevents that is told when the session is written.
  func makeFolder() throws {
    let folder = path[..<(path.lastIndex(of: "/") ?? path.startIndex)]
    try FileManager.default.createDirectory(
      atPath: String(folder), withIntermediateDirectories: true,
      attributes: [.posixPermissions: 0o700])
  }

  /// Does something while no other workspace writes the session; the body is told whether that is sure.
  ///
  /// One that is stopped while it writes is not waited for longer than a second.
  func alone<Result>(_ body: (_ isSure: Bool) -> Result) -> Result {
    guard let lock = ByteLock(file: lockPath) else { return body(false) }
    for _ in 0..<SessionFile.lockTries {
      if lock.take(SessionClaim.writingByte) { return body(true) }
      // A file system without locks has nobody to wait for.
      if lock.isTakenElsewhere(SessionClaim.writingByte) == nil { break }
      usleep(SessionFile.lockMicroseconds)
    }
    return body(false)
  }

  /// Writes the session, with what other workspaces wrote since `base` was read or written and without the
  /// `taken` texts, which it has taken over from others; returns a message if it cannot be written.
  func write(
    _ session: SessionState, since base: SessionState? = nil, taken: [KeptTexts] = []
  ) -> String? {
    do { try makeFolder() } catch {
      return "the session cannot be kept in \(path): \(error.fileReason)"
    }
    return alone { isSure in
      let merged = stored.map {
        session.merged(with: $0, since: base ?? SessionState(), taken: taken)
      }
      return replace(with: merged ?? session, isAlone: isSure)
    }
  }

  /// Replaces the content of the file, knowing whether no other workspace writes now; returns a message if
  /// that fails.
  func replace(with session: SessionState, isAlone: Bool) -> String? {
    let temporary = path + (isAlone ? ".new" : ".\(getpid())")
    // Sessions contain searched texts, so only the user may read them.
    let bytes = Array((session.json.jsonText(pretty: true) + "\n").utf8)
    let descriptor = open(temporary, O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { return problem }
    var reason = SessionFile.write(bytes, to: descriptor) ? nil : problem
    close(descriptor)
    if reason == nil, rename(temporary, path) != 0 { reason = problem }
    if reason != nil { unlink(temporary) }
    return reason
  }

  private static func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return false }
      rest = rest.dropFirst(count)
    }
    return true
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
