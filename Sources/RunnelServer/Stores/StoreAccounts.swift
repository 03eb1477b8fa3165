import RunnelIdentity
import RunnelPostgres
import RunnelTree

/// The accounts in a store: the reserved namespace, which no protocol serves.
///
/// All servers of the store sign tokens with the keys there, and accept those of the others. The feed of the
/// namespace names places only, so that it keeps no hash of an old password.
///
/// Source: several servers.
///
/// Isolation: synchronous, and used by one thread at a time.
final class StoreAccounts: IdentityStorage {
  /// The name of the namespace, which is no name of a served one.
  static let namespace = ".accounts"
  /// How long requests are done anew from the beginning of an outage on; later ones fail at once.
  static let outageMax = Duration.seconds(10)
  /// How long who follows the accounts waits for a connection, and for an answer.
  private static let followingPatience = Duration.seconds(2)

  /// A lease that nobody else renews, and its connection.
  private struct OwnLease {
    let lease: StoreLease
    let connection: PostgresConnection

    /// Renews the lease, or begins another one.
    func renew() throws {
      if try !lease.renew(connection, report: nil) { try lease.begin(connection) }
    }
  }

  private let session: PostgresSession
  private let own: OwnLease?
  private let outageMax: Duration
  private let now: () -> Int64
  private let announce: (_ head: Int64) -> Void
  private var news = AccountStore.News()
  /// When the present outage began; nil if there is none.
  private var outage: ContinuousClock.Instant?

  /// Opens the accounts of a store for a server; they are made if there are none.
  ///
  /// - Parameters:
  ///   - place: where the store is.
  ///   - lease: the lease of the server.
  ///   - outageMax: how long requests are done anew from the beginning of an outage on.
  ///   - now: tells the time, in milliseconds since 1970.
  ///   - announce: called after a write with its place in the feed.
  /// - Throws: `PostgresError` if the store cannot be used.
  convenience init(
    _ place: PostgresPlace, lease: StoreLease, outageMax: Duration = StoreAccounts.outageMax,
    now: @escaping () -> Int64, announce: @escaping (_ head: Int64) -> Void
  ) throws {
    try self.init(
      place, lease, own: nil, outageMax: outageMax, now: now, announce: announce)
  }

  /// Opens the accounts of a store for a program that is no server; they are made if there are none.
  ///
  /// - Throws: `PostgresError` if the store cannot be used.
  convenience init(_ place: PostgresPlace, now: @escaping () -> Int64) throws {
    let own = OwnLease(
      lease: StoreLease(address: ""), connection: try PostgresConnection(place))
    do {
      try own.lease.begin(own.connection)
      try self.init(
        place, own.lease, own: own, outageMax: StoreAccounts.outageMax, now: now
      ) { _ in }
    } catch {
      own.connection.close()
      throw error
    }
  }

  private convenience init(
    _ place: PostgresPlace, _ lease: StoreLease, own: OwnLease?, outageMax: Duration,
    now: @escaping () -> Int64, announce: @escaping (_ head: Int64) -> Void
  ) throws {
    let store = try PostgresStore(place)
    defer { store.close() }
    try store.checkVersion()
    try store.makeNamespace(named: StoreAccounts.namespace)
    self.init(
      try PostgresSession(
        place, namespace: StoreAccounts.namespace, lease: lease, isNamed: StoreAccounts.isNamed),
      own: own, outageMax: outageMax, now: now, announce: announce)
    let isEmpty = try read { try $0.summary(at: .root).kind == .empty }
    if isEmpty { try write { _ in try AccountStore.markWrite() } }
    try session.declareIndexes(AccountPlaces.indexes())
    try noteAll()
  }

  /// Opens the accounts of a store, which are there, to follow them: nothing is written, and a primary that
  /// does not answer is given up soon.
  ///
  /// - Throws: `PostgresError` if the store cannot be used.
  convenience init(following place: PostgresPlace, lease: StoreLease) throws {
    var patience = PostgresConnection.Patience()
    patience.connecting = StoreAccounts.followingPatience
    patience.answering = StoreAccounts.followingPatience
    self.init(
      try PostgresSession(
        namespace: StoreAccounts.namespace, lease: lease,
        patience: StoreAccounts.followingPatience, deadline: place.deadline,
        isNamed: StoreAccounts.isNamed
      ) { [patience] in try PostgresConnection(place, patience: patience) },
      own: nil, outageMax: .zero, now: { 0 }, announce: { _ in })
    try noteAll()
  }

  private init(
    _ session: PostgresSession, own: OwnLease?, outageMax: Duration, now: @escaping () -> Int64,
    announce: @escaping (_ head: Int64) -> Void
  ) {
    (self.session, self.own, self.outageMax) = (session, own, outageMax)
    (self.now, self.announce) = (now, announce)
  }

  /// True if the log may name a lost place: names of codes and sessions are nobody's business.
  private static func isNamed(_ path: Path) -> Bool {
    path.keys.first?.text == AccountPlaces.accounts
  }

  /// Notes all that is stored.
  private func noteAll() throws {
    try perform(isWriting: false) { transaction, news in
      try StoreAccounts.note([.root], transaction, &news)
      news.access = try StoreAccounts.access(transaction)
    }
  }

  // MARK: Transactions

  /// Runs `body` in a transaction, after it was noted what others wrote.
  ///
  /// While the primary is out of reach it is run anew, for a while. A connection that turns out to be broken, or
  /// to lead to a primary that was replaced, is no outage yet: there is one more attempt in any case.
  private func perform<Result>(
    isWriting: Bool,
    _ body: (PostgresTransaction, inout AccountStore.News) throws -> Result
  ) throws -> Result {
    var pause = RetryPause()
    var mayHaveBroken = session.isConnected
    while true {
      do {
        if isWriting { try own?.renew() }
        let (result, found) = try session.perform(isWriting: isWriting) { transaction in
          var found = AccountStore.News()
          try StoreAccounts.note(transaction.foreignPaths, transaction, &found)
          if transaction.hasForeignSettings {
            found.access = try StoreAccounts.access(transaction)
          }
          let result = try body(transaction, &found)
          return (result, found)
        }
        outage = nil
        news.revocations.merge(found.revocations) { $0.joined($1) }
        news.hasNewKeys = news.hasNewKeys || found.hasNewKeys
        news.access = found.access ?? news.access
        news.isAnew = news.isAnew || found.isAnew
        news.alarms += session.alarms
        session.alarms = []
        return result
      } catch let error as PostgresError where error.isWorthRetrying {
        let start = outage ?? .now
        outage = start
        let isOver = start.duration(to: .now) >= outageMax && !mayHaveBroken
        if session.isPastDeadline || isOver { throw error }
        mayHaveBroken = false
        pause.wait()
      } catch {
        // A refusal is an answer of the primary: the next failure begins another outage.
        if (error as? PostgresError)?.kind != .inDoubt { outage = nil }
        throw error
      }
    }
  }

  /// Notes what was written at places as far as it is news.
  private static func note(
    _ paths: [Path], _ transaction: PostgresTransaction, _ news: inout AccountStore.News
  ) throws {
    for path in paths {
      let keys = path.keys
      let place = keys.first?.text
      if place == nil || place == AccountPlaces.keys { news.hasNewKeys = true }
      if place == nil { news.isAnew = true }
      if place == AccountPlaces.revocations, keys.count > 1 {
        let end = try AccountPlaces.path(AccountPlaces.revocations, keys[1].text)
        news.noteRevocation(keys[1], try transaction.node(at: end))
      } else if place == nil || place == AccountPlaces.revocations {
        let all = try AccountPlaces.path(AccountPlaces.revocations)
        for row in try transaction.rows(of: all, in: RowSlice(Query(all)), detail: .full) {
          if case .node(let node) = row.content { news.noteRevocation(row.key, node) }
        }
      }
    }
  }

  private static func access(_ transaction: PostgresTransaction) throws -> StoredAccess {
    try StoredAccess(StoreTransactionView(transaction), of: "the accounts of the store")
  }

  // MARK: The storage

  func read<Result>(_ body: (any TreeReader) throws -> Result) throws -> Result {
    try perform(isWriting: false) { transaction, _ in try body(transaction) }
  }

  func write(_ decide: (any TreeReader) throws -> Write) throws {
    let hasWritten = try perform(isWriting: true) { transaction, news in
      let time = max(now(), transaction.earliestTime)
      let parts = try decide(transaction).assignments(now: time, reader: transaction)
      if parts.isEmpty { return false }
      try transaction.carryOut(parts, now: time, keepsValues: false)
      try StoreAccounts.note(parts.map(\.path), transaction, &news)
      return true
    }
    if hasWritten, let head = session.head { announce(head) }
  }

  /// Reads what others wrote, in the one round trip that asking for news would take.
  func catchUp() throws { try read { _ in } }

  func regain() {
    // Each transaction connects again if need be.
  }

  func takeNews() -> AccountStore.News {
    defer { news = AccountStore.News() }
    return news
  }

  /// The database itself removes what deleted rows leave.
  func removeRemains() -> Bool { true }

  func close() throws {
    session.close()
    guard let own else { return }
    // If this fails, others end the lease later.
    try? own.lease.end(own.connection)
    own.connection.close()
  }
}
