import Crypto
import RunnelBase
import RunnelIdentity
import RunnelTree

/// The stored accounts, with what is decided of them, and the keys that sign tokens.
///
/// Isolation: synchronous, and used by one thread at a time.
final class AccountStore {
  /// The version of the form of the records.
  private static let version: Int64 = 1
  /// The time after which an end of tokens matters no more, in seconds: the tokens have expired.
  private static let revocationSeconds = IdentityPolicy.tokenSeconds + 600

  /// The size of a trial: more than what a nearly full disk may still take.
  private static let trialBytes = 8192

  private let storage: any IdentityStorage

  /// What was written since the last call, also by other processes.
  struct News: Sendable {
    /// The ends of tokens by account.
    var revocations: [String: TokenEnd] = [:]
    var hasNewKeys = false
    /// The secrets and service accounts, if they were read; those of a file are beside it.
    var access: StoredAccess?
    /// True if anything may have changed: accounts may be gone without an end of their tokens.
    var isAnew = false
    /// What is to be logged.
    var alarms: [String] = []

    /// Notes the end of an account's tokens.
    mutating func noteRevocation(_ key: Key, _ node: Node) {
      guard let id = AccountPlaces.id(of: key.text), let end = TokenEnd(stored: node.json) else {
        return
      }
      revocations[id] = end
    }
  }

  /// True if an account was removed, and something of it may be left.
  private(set) var hasRemains = false

  /// Makes the accounts of a storage.
  init(_ storage: any IdentityStorage) { self.storage = storage }

  /// The write that makes an empty tree one of accounts.
  static func markWrite() throws(TreeError) -> Write {
    try .set(AccountPlaces.path(AccountPlaces.mark), .number(JSONNumber(version)))
  }

  /// True if a tree is that of accounts.
  static func isAccountsFile(_ reader: any TreeReader) throws(TreeError) -> Bool {
    try reader.summary(at: AccountPlaces.path(AccountPlaces.mark)).kind != .empty
  }

  func close() throws { try storage.close() }

  func takeNews() -> News { storage.takeNews() }

  /// Reads the writes of others.
  func catchUp() throws { try storage.catchUp() }

  /// True if there is an account with an id.
  func has(account id: String) throws -> Bool { try read { try $0.account(id) != nil } }

  // MARK: Deciding

  /// Reads the accounts.
  func read<Result>(_ body: (StoredIdentity) throws -> Result) throws -> Result {
    try storage.read { try body(StoredIdentity(reader: $0)) }
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
        if !decided.draft.owed.isEmpty, try reader.owedCount() >= OwedMail.countMax {
          decided.draft.owed = [:]
        }
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
  /// - Throws: the errors of `decide` and of the storage; then nothing was written.
  func write(_ decide: (StoredIdentity) throws -> IdentityDraft) throws {
    try storage.write { try decide(StoredIdentity(reader: $0)).write }
  }

  /// Writes places below the root; null removes.
  func write(_ members: [JSONMember]) throws {
    if members.isEmpty { return }
    try storage.write { _ in .update(.root, members) }
  }

  /// Shows that the accounts can be written, also after their file was away for a while.
  ///
  /// - Throws: the error that they cannot.
  func tryWriting() throws {
    try storage.regain()
    let text = String(repeating: "-", count: AccountStore.trialBytes)
    try write([JSONMember(AccountPlaces.trial, .string(text))])
    try write([JSONMember(AccountPlaces.trial, .null)])
  }

  private func children(_ place: String) throws -> [JSONMember] {
    try storage.read { reader in
      try reader.node(at: AccountPlaces.path(place)).json.object ?? []
    }
  }

  /// Removes what may be left of removed accounts; what cannot be removed stays until the next call.
  func removeRemains() {
    // The account itself is removed: a failure here must not be reported as one of that.
    if hasRemains, storage.removeRemains() { hasRemains = false }
  }

  // MARK: Mails

  /// The mails that are owed.
  func owedMails() throws -> [OwedMail] {
    try children(AccountPlaces.mails).compactMap { OwedMail(stored: $0.value, id: $0.name) }
  }

  /// Makes an owed mail once more; nil if it is owed no more, or another server has taken it over.
  func renew(_ owed: OwedMail, _ context: IdentityContext) throws -> AccountMail? {
    var mail: AccountMail?
    try write { reader in
      mail = nil
      var decider = IdentityDecider(
        IdentityCall(.ready, CallFields(.null), isAdministrative: true), context, reader,
        random: SystemRandomNumberGenerator())
      if try reader.owedMail(owed.id) == owed { mail = try decider.renew(owed) }
      return decider.draft
    }
    return mail
  }

  /// Notes that mails were sent, and are owed no more.
  func forgetMails(_ ids: Set<String>) throws {
    try write(ids.map { JSONMember(AccountPlaces.mails + "/" + $0, .null) })
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
    _ = try storage.read { reader in
      let ring = try AccountStore.ring(reader)
      isDue = ring.needsKey(now: now) || !ring.expired(now: now).isEmpty
    }
    if !isDue { return }
    // It is decided anew in the transaction, so that two processes make one key.
    try storage.write { reader in
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
    }
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
    for member in try children(AccountPlaces.revocations)
    where TokenEnd(stored: member.value)?.second ?? 0 < oldest {
      members.append(JSONMember(AccountPlaces.revocations + "/" + member.name, .null))
    }
    try write(members)
  }
}
