import Crypto
import Glibc
import RunnelBase
import RunnelDatabase
import RunnelIdentity
import RunnelTree

/// The file of the accounts: a database of its own, which only its owner may read, and which is
/// never served.
///
/// It remembers no history, which would keep old passwords' hashes and deleted accounts. What is deleted
/// is overwritten in the file, and after an account was removed, the log is emptied.
///
/// Isolation: synchronous, and used by one thread at a time.
final class AccountStore {
  private static let revocationsListener = ListenerID(1)
  private static let keysListener = ListenerID(2)
  /// The version of the form of the records.
  private static let version: Int64 = 1
  /// The time after which an end of tokens matters no more, in seconds: the tokens have expired.
  private static let revocationSeconds = IdentityPolicy.tokenSeconds + 600

  private let session: DatabaseSession
  let file: String

  /// What was written since the last call, also by other processes.
  struct News: Sendable {
    /// The ends of tokens by account.
    var revocations: [String: Int64] = [:]
    var hasNewKeys = false
  }

  private(set) var news = News()
  /// True if an account was removed, and the log beside the file may still have it.
  private(set) var hasRemains = false

  /// Opens a file; an absent or empty one becomes an accounts file.
  ///
  /// - Throws: `ServerError` if the file is of another kind, `DatabaseError` if it cannot be opened.
  init(file: String, environment: DatabaseEnvironment) throws {
    self.file = file
    try AccountStore.protect(file)
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

  private func prepare() throws {
    let isEmpty = try session.read { try $0.summary(at: .root).kind == .empty }
    if isEmpty {
      try session.setHistoryLimit(0)
      _ = try session.write(
        .set(AccountPlaces.path(AccountPlaces.mark), .number(JSONNumber(AccountStore.version))))
    } else if try session.read({ try !AccountStore.isAccountsFile($0) }) {
      throw ServerError(
        "\(file) is a database without accounts: name another file, which will be made.",
        isUsage: true)
    }
    try session.declareIndexes(AccountPlaces.indexes())
    for (listener, place) in [
      (AccountStore.revocationsListener, AccountPlaces.revocations),
      (AccountStore.keysListener, AccountPlaces.keys),
    ] {
      note(
        try session.listen(
          listener, ListenRequest(query: Query(AccountPlaces.path(place)), events: .children)))
    }
  }

  /// True if a tree is that of an accounts file.
  static func isAccountsFile(_ reader: any TreeReader) throws(TreeError) -> Bool {
    try reader.summary(at: AccountPlaces.path(AccountPlaces.mark)).kind != .empty
  }

  func close() throws { try session.close() }

  private func note(_ deliveries: [Delivery]) {
    for delivery in deliveries {
      if delivery.listener == AccountStore.keysListener {
        news.hasNewKeys = true
        continue
      }
      switch delivery.event {
      case .childAdded(let row, _), .childChanged(let row, _):
        guard let id = AccountPlaces.id(of: row.key.text), case .node(let node) = row.content,
          let second = node.json.int
        else { continue }
        news.revocations[id] = Int64(second)
      case .childRemoved, .childMoved, .value, .page, .pending, .answered: break
      }
    }
  }

  func takeNews() -> News {
    defer { news = News() }
    return news
  }

  /// Reads the writes of other processes.
  func catchUp() throws { note(try session.catchUp()) }

  // MARK: Deciding

  /// Reads the accounts.
  func read<Result>(_ body: (StoredIdentity) throws -> Result) throws -> Result {
    try session.read { try body(StoredIdentity(reader: $0)) }
  }

  /// Decides a request, and writes its changes.
  ///
  /// - Throws: `IdentityStop`; then nothing was written.
  func decide(
    _ call: IdentityCall, _ context: IdentityContext
  ) throws(IdentityStop) -> IdentityDecision {
    func decision(_ reader: StoredIdentity) throws(IdentityStop) -> IdentityDecision {
      var decider = IdentityDecider(
        call, context, reader, random: SystemRandomNumberGenerator())
      return try decider.decide()
    }
    do {
      var decided = try read { try decision($0) }
      if decided.draft.isEmpty { return decided }
      // It is decided anew in the transaction that writes it.
      try write { reader in
        decided = try decision(reader)
        return decided.draft
      }
      if decided.draft.removesAccounts {
        hasRemains = true
        removeRemains()
      }
      return decided
    } catch let stop as IdentityStop {
      throw stop
    } catch {
      throw .storage(error)
    }
  }

  /// Decides from the accounts as they are, and writes the changes in the same transaction.
  ///
  /// - Throws: the errors of `decide`, and `DatabaseError`; then nothing was written.
  func write(_ decide: (StoredIdentity) throws -> IdentityDraft) throws {
    note(try session.write { reader, _ in try decide(StoredIdentity(reader: reader)).write })
  }

  /// Writes places below the root; null removes.
  func write(_ members: [JSONMember]) throws {
    if members.isEmpty { return }
    note(try session.write(.update(.root, members)))
  }

  private func children(_ place: String) throws -> [JSONMember] {
    try session.read { reader in
      try reader.node(at: AccountPlaces.path(place)).json.object ?? []
    }
  }

  /// Empties the log if it may have the data of removed accounts.
  ///
  /// While another program reads the file, or if the disk fails, they stay until the next call.
  func removeRemains() {
    // The account itself is removed: a failure here must not be reported as one of that.
    if hasRemains, (try? session.emptyLog()) == true { hasRemains = false }
  }

  // MARK: Keys

  /// The keys that sign tokens; unreadable ones are left out.
  func keys() throws -> [IssuingKey] {
    try children(AccountPlaces.keys).compactMap { member in
      guard let text = member.value["secret"]?.string, let bytes = Base64URL.bytes(text.utf8),
        let time = member.value["made"].time,
        let key = try? P256.Signing.PrivateKey(rawRepresentation: bytes)
      else { return nil }
      return IssuingKey(entry: KeyRing.Entry(id: member.name, time: time), key: key)
    }
  }

  /// Makes a new key if one is due, and drops those that are not needed any more.
  func rotateKeys(now: Int64) throws {
    var isDue = false
    _ = try session.read { reader in
      let ring = try AccountStore.ring(reader)
      isDue = ring.needsKey(now: now) || !ring.expired(now: now).isEmpty
    }
    if !isDue { return }
    // It is decided anew in the transaction, so that two processes make one key.
    note(
      try session.write { reader, _ in
        let ring = try AccountStore.ring(reader)
        var members = ring.expired(now: now).map {
          JSONMember(AccountPlaces.keys + "/" + $0, .null)
        }
        if ring.needsKey(now: now) {
          let key = P256.Signing.PrivateKey()
          let id = Base64URL.text(SHA256.hash(data: key.publicKey.rawRepresentation).prefix(15))
          members.append(
            JSONMember(
              AccountPlaces.keys + "/" + id,
              [
                "secret": .string(Base64URL.text(key.rawRepresentation)),
                "made": .number(JSONNumber(now)),
              ]))
        }
        return .update(.root, members)
      })
  }

  private static func ring(_ reader: any TreeReader) throws(TreeError) -> KeyRing {
    let members = try reader.node(at: AccountPlaces.path(AccountPlaces.keys)).json.object ?? []
    return KeyRing(
      members.compactMap { member in
        member.value["made"].time.map { KeyRing.Entry(id: member.name, time: $0) }
      })
  }

  // MARK: Care

  /// The stored lock-outs.
  func lockOuts() throws -> [AttemptGuard.Name: AttemptGuard.Counter] {
    var counters: [AttemptGuard.Name: AttemptGuard.Counter] = [:]
    for member in try children(AccountPlaces.lockOuts) {
      let halves = member.name.split(separator: ":", maxSplits: 1)
      guard halves.count == 2, let subject = AttemptGuard.Subject(rawValue: String(halves[0])),
        let count = member.value["count"]?.int, let time = member.value["last"].time,
        let free = member.value["free"].time
      else { continue }
      counters[AttemptGuard.Name(subject, hash: String(halves[1]))] =
        AttemptGuard.Counter(count: count, time: time, freeTime: free)
    }
    return counters
  }

  /// Stores the lock-outs that have changed.
  func write(_ changes: [AttemptGuard.Name: AttemptGuard.Counter?]) throws {
    try write(
      changes.map { name, counter in
        let value: JSONValue? = counter.map { counter in
          [
            "count": .number(JSONNumber(Int64(counter.count))),
            "last": .number(JSONNumber(counter.time)),
            "free": .number(JSONNumber(counter.freeTime)),
          ]
        }
        let place = "\(AccountPlaces.lockOuts)/\(name.subject.rawValue):\(name.hash)"
        return JSONMember(place, value ?? .null)
      })
  }

  /// Removes what has expired: codes, lock-outs and ends of tokens.
  func removeExpired(now: Int64, isEmulator: Bool) throws {
    var members: [JSONMember] = []
    for code in try read({ try $0.codes(count: 1000) })
    where code.isExpired(now: now, isEmulator: isEmulator) {
      members.append(JSONMember(AccountPlaces.codes + "/" + code.hash, .null))
    }
    for (name, counter) in try lockOuts()
    where now - counter.time > AttemptGuard.memory && counter.freeTime <= now {
      members.append(
        JSONMember("\(AccountPlaces.lockOuts)/\(name.subject.rawValue):\(name.hash)", .null))
    }
    let oldest = IdentityTime.seconds(now) - AccountStore.revocationSeconds
    for member in try children(AccountPlaces.revocations) where member.value.int ?? 0 < oldest {
      members.append(JSONMember(AccountPlaces.revocations + "/" + member.name, .null))
    }
    try write(members)
  }
}
