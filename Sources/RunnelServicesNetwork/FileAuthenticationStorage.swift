import Glibc
import RunnelBase
public import RunnelServices
import Synchronization

/// Keeps tokens in a file that only its owner may read, so that a program stays signed in.
///
/// The file holds a JSON object with a token for each key. It is replaced as a whole. A file that
/// cannot be read has no tokens; if it cannot be written, the tokens last as long as the program.
public final class FileAuthenticationStorage: AuthenticationStorage {
  private static let bytesMax = 1 << 20

  private let file: String
  private let tokens: Mutex<[String: String]>

  /// Makes a storage in a file, which need not exist; its folder has to.
  public init(file: String) {
    self.file = file
    tokens = Mutex(FileAuthenticationStorage.read(file))
  }

  /// The token that is stored under a key; nil for none.
  public func token(_ key: String) -> String? { tokens.withLock { $0[key] } }

  /// Stores a token under a key; nil removes it.
  public func setToken(_ token: String?, _ key: String) {
    tokens.withLock { tokens in
      if tokens[key] == token { return }
      tokens[key] = token
      write(tokens)
    }
  }

  private static func read(_ file: String) -> [String: String] {
    let descriptor = open(file, O_RDONLY | O_CLOEXEC)
    if descriptor < 0 { return [:] }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 1 << 14)
    while bytes.count <= bytesMax {
      let count = Glibc.read(descriptor, &chunk, chunk.count)
      if count < 0, errno == EINTR { continue }
      if count <= 0 { break }
      bytes += chunk[..<count]
    }
    guard case .object(let members)? = try? JSONValue(parsing: bytes) else { return [:] }
    return Dictionary(
      members.compactMap { member in member.value.string.map { (member.name, $0) } }
    ) { $1 }
  }

  /// Writes a new file in the place of the old one.
  private func write(_ tokens: [String: String]) {
    let members = tokens.sorted { $0.key < $1.key }.map { JSONMember($0.key, .string($0.value)) }
    let text = Array((JSONValue.object(members).jsonText() + "\n").utf8)
    let temporary = "\(file).\(getpid()).new"
    let descriptor = open(temporary, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0o600)
    if descriptor < 0 { return }
    var rest = text[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      if count <= 0 { break }
      rest = rest.dropFirst(count)
    }
    let isWritten = rest.isEmpty && fchmod(descriptor, 0o600) == 0 && fsync(descriptor) == 0
    close(descriptor)
    if !isWritten || rename(temporary, file) != 0 { unlink(temporary) }
  }
}
