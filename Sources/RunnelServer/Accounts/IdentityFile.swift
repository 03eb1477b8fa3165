import Glibc
import RunnelBase
import RunnelDatabase
import RunnelTree

/// The file of the accounts: a database of its own, which only its owner may read, and which is
/// never served.
///
/// It remembers no history, which would keep old passwords' hashes and deleted accounts. What is deleted
/// is overwritten in the file, and after an account was removed, the log is emptied.
///
/// Isolation: synchronous, and used by one thread at a time.
final class IdentityFile: IdentityStorage {
  private static let revocationsListener = ListenerID(1)
  private static let keysListener = ListenerID(2)

  private let session: DatabaseSession
  private let file: String
  private var news = AccountStore.News()

  /// Opens a file; an absent or empty one becomes an accounts file.
  ///
  /// - Throws: `ServerError` if the file is of another kind, or is served; `DatabaseError` if it cannot
  ///   be opened.
  init(_ file: String, environment: DatabaseEnvironment) throws {
    self.file = file
    // The clients of the other server would see the accounts.
    if ServingSession.isServed(file: file) { throw IdentityFile.isServed(file) }
    try IdentityFile.protect(file)
    session = try DatabaseSession(file: file, environment: environment)
    do {
      try session.overwriteDeleted()
      try prepare()
    } catch {
      // The first error matters; an error of closing is dropped.
      try? session.close()
      throw error
    }
  }

  /// Makes the file if there is none, and lets only its owner read it.
  private static func protect(_ file: String) throws(ServerError) {
    let descriptor = open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    if descriptor < 0 { throw .system("\(file) cannot be opened") }
    defer { Glibc.close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw .system("\(file) cannot be read") }
    if status.st_mode & S_IFMT == S_IFREG, status.st_mode & 0o077 != 0,
      fchmod(descriptor, status.st_mode & 0o700) != 0
    {
      throw .system("\(file) cannot be made private")
    }
    for suffix in ["-wal", "-shm"] { chmod(file + suffix, 0o600) }
  }

  private static func isServed(_ file: String) -> ServerError {
    ServerError(
      "\(file) is served to clients, who would see the accounts: name another file, which will be made.",
      isUsage: true)
  }

  private func prepare() throws {
    let isEmpty = try session.read { try $0.summary(at: .root).kind == .empty }
    if isEmpty {
      try session.setHistoryLimit(0)
      _ = try session.write(AccountStore.markWrite())
      // A server that began meanwhile has not seen the mark.
      if ServingSession.isServed(file: file) {
        _ = try session.write(.set(.root, .null))
        throw IdentityFile.isServed(file)
      }
    } else if try session.read({ try !AccountStore.isAccountsFile($0) }) {
      throw ServerError(
        "\(file) is a database without accounts: name another file, which will be made.",
        isUsage: true)
    }
    try session.declareIndexes(AccountPlaces.indexes())
    for (listener, place) in [
      (IdentityFile.revocationsListener, AccountPlaces.revocations),
      (IdentityFile.keysListener, AccountPlaces.keys),
    ] {
      note(
        try session.listen(
          listener, ListenRequest(query: Query(AccountPlaces.path(place)), events: .children)))
    }
  }

  private func note(_ deliveries: [Delivery]) {
    for delivery in deliveries {
      if delivery.listener == IdentityFile.keysListener {
        news.hasNewKeys = true
        continue
      }
      switch delivery.event {
      case .childAdded(let row, _), .childChanged(let row, _):
        guard case .node(let node) = row.content else { continue }
        news.noteRevocation(row.key, node)
      case .childRemoved, .childMoved, .value, .page, .pending, .answered: break
      }
    }
  }

  func read<Result>(_ body: (any TreeReader) throws -> Result) throws -> Result {
    try session.read { try body($0) }
  }

  func write(_ decide: (any TreeReader) throws -> Write) throws {
    note(try session.write { reader, _ in try decide(reader) })
  }

  func catchUp() throws { note(try session.catchUp()) }

  func regain() throws {
    // The news of a loss are taken first: only then are there news of a return.
    _ = session.takeLossNews()
    _ = session.takeReturnNews()
    if let loss = session.fileLoss { throw loss }
  }

  func takeNews() -> AccountStore.News {
    defer { news = AccountStore.News() }
    return news
  }

  func removeRemains() -> Bool {
    // While another program reads the file, or if the disk fails, they stay until the next call.
    (try? session.emptyLog()) == true
  }

  func close() throws { try session.close() }
}
