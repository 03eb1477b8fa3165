import Glibc
import RunnelBase
import RunnelDatabase
import RunnelServicesTree

/// The file beside a replica with the writes that may have been done although no answer came.
struct SentFile: Sendable {
  private static let bytesMax = 64 << 20

  private let path: String

  init(database: String) { path = database + "-sent" }

  /// Reads the file; a missing or damaged one is empty.
  func read() -> SentWrites {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    if descriptor < 0 { return SentWrites() }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 65_536)
    while bytes.count < SentFile.bytesMax {
      let count = Glibc.read(descriptor, &piece, piece.count)
      if count <= 0 { break }
      bytes += piece.prefix(count)
    }
    // The file is replaced as a whole, so a damaged one is not ours.
    guard let json = try? JSONValue(parsing: bytes) else { return SentWrites() }
    return SentWrites(json: json)
  }

  /// Replaces the file; it is on disk afterwards.
  ///
  /// - Throws: `DatabaseError` if it cannot be written; then nothing may be sent.
  func write(_ sent: SentWrites) throws(DatabaseError) {
    let new = path + ".new"
    let descriptor = open(new, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    if descriptor < 0 { throw error() }
    var bytes = Array(sent.json.jsonText().utf8)[...]
    while !bytes.isEmpty {
      let count = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      if count <= 0 {
        close(descriptor)
        throw error()
      }
      bytes = bytes.dropFirst(count)
    }
    let isSynced = fdatasync(descriptor) == 0
    close(descriptor)
    if !isSynced || rename(new, path) != 0 { throw error() }
  }

  private func error() -> DatabaseError {
    let reason = String(cString: strerror(errno))
    return DatabaseError(.storage, "\(path) cannot be written, so nothing is sent: \(reason).")
  }
}
