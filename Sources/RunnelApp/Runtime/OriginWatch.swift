import Logging
package import RunnelAccounts
public import RunnelClient
package import RunnelDatabase
public import RunnelSync
public import RunnelTree
import RunnelWorkspace
import Synchronization

/// The server's database that a workspace shows, and how to connect to it.
public struct OriginWish: Sendable {
  /// The address of the database.
  public var address: OriginAddress
  /// The user and the credentials.
  public var access: OriginAccess
  /// The options for the connection.
  public var options: OriginOptions
  /// The accounts of the user at the server; nil if the access is that of a token.
  package var accounts: AccountHome?
  /// The id of the user as whom the accounts give access; nil for nobody.
  package var user: String?
  /// The most bytes of server data that are kept in the cache while nobody listens to them.
  public var cacheBytesMax = 500_000_000

  /// The place where workspaces show who is here; nil if they do not.
  public var presence: Path?
  /// The places that the replica keeps up to date although nobody shows them.
  public var keep: [Path] = []
  /// The file with the rules of the server; nil for those that the server tells.
  public var rulesFile: String?
  /// What the user is told at the start; nil for nothing.
  package var notice: String?
  /// How the services are asked, if the server is one of Feathers; nil for a tree's server.
  package var services: ServicePlan?

  /// The place of the lists of users' devices; nil if this device is in none.
  public var devices: Path?

  /// The places of the replica where programs write by themselves; known when the replica was prepared.
  package internal(set) var ownPlaces = OwnPlaces()

  /// The version of the program, for the list of devices; nil if it is not told.
  public var programVersion: String?

  /// The id of the user for the rules of the server: that of the account, or else of the token; nil if it
  /// is not known.
  var userID: String? { user ?? access.userID }

  /// Makes a wish.
  public init(_ address: OriginAddress, as access: OriginAccess, _ options: OriginOptions) {
    (self.address, self.access, self.options) = (address, access, options)
  }
}

/// Keeps the newest link state for the application's loop.
final class OriginWatch: Sendable {
  private struct State {
    var facts: OriginFacts?
    var notices: [String] = []
    /// The new places of records.
    var newPlaces: [Path: Path] = [:]
    /// When the link was told last that the user does something, in milliseconds since 1970.
    var attendedAt: Int64 = 0
  }

  /// The shortest time between two such notes; the link itself asks the server more rarely.
  private static let attentionMilliseconds: Int64 = 2000

  /// The most waiting notices; later ones are dropped.
  private static let noticesMax = 8

  private static let log = Logger(label: "runnel.origin")

  private let state = Mutex(State())
  private let link = Mutex<OriginLink?>(nil)
  private let services = Mutex<ServiceLink?>(nil)
  private let wake: @Sendable () -> Void

  /// Makes a watch that calls `wake`, on any thread, when there is something to take.
  init(wake: @escaping @Sendable () -> Void) { self.wake = wake }

  /// Links a database to its server; if there are accounts, they give the access.
  ///
  /// - Throws: `DatabaseError` if the lock file cannot be made.
  func link(
    _ database: Database, to wish: OriginWish, _ accounts: AccountWork? = nil,
    _ devices: DeviceWork? = nil
  ) throws {
    if let notice = wish.notice { add(notice) }
    if var plan = wish.services {
      if let accounts {
        plan.tokens = accounts.access(of: wish.user).provider
        plan.hasAccounts = true
      }
      let note: @Sendable (String) -> Void = { OriginWatch.log.info("\($0)") }
      let follow: @Sendable ([Path: Path]) -> Void = { [weak self] in self?.follow($0) }
      let link = try ServiceLink(database, plan, note: note, follow: follow) { [weak self] status in
        var facts = OriginFacts(status)
        facts?.hasServices = true
        self?.take(facts)
      }
      services.withLock { $0 = link }
      accounts?.serve { [weak link] in link?.retry() }
      return link.begin()
    }
    var options = wish.options
    options.notice = { [weak self] in self?.take($0) }
    let access = accounts?.access(of: wish.user, checksDevice: true) ?? wish.access
    let link = try database.link(to: wish.address, as: access, options)
    link.onStatus { [weak self] status in
      var facts = OriginFacts(status)
      facts?.credential = access.title
      self?.take(facts)
    }
    self.link.withLock { $0 = link }
    accounts?.serve(link, devices)
  }

  /// Sends a write of unknown outcome again.
  func sendAgain(_ write: Int64) {
    link.withLock { $0 }?.sendAgain(write)
    services.withLock { $0 }?.sendAgain(write)
  }

  /// Asks a server of services again for all that is shown.
  func readAgain() { services.withLock { $0 }?.readAgain() }

  /// Measures how long the server takes to answer.
  func measureLatency() { link.withLock { $0 }?.measureLatency() }

  /// Notes that the user does something: a server that was not heard for a while is asked for a sign of life.
  func attend(now: Int64) {
    let isDue = state.withLock { state in
      guard abs(now - state.attendedAt) >= OriginWatch.attentionMilliseconds else { return false }
      state.attendedAt = now
      return true
    }
    if isDue { link.withLock { $0 }?.attend() }
  }

  /// Connects now; credentials are asked for anew.
  func reconnect() {
    link.withLock { $0 }?.retry()
    services.withLock { $0 }?.retry()
  }

  private func take(_ facts: OriginFacts?) {
    guard var facts else { return }
    state.withLock { state in
      // Of facts that nobody has taken yet, the last ones are shown.
      if let passed = state.facts, !passed.isConnected || passed.isOtherConnection {
        facts.isOtherConnection = true
      }
      state.facts = facts
    }
    wake()
  }

  private func follow(_ places: [Path: Path]) {
    state.withLock { state in state.newPlaces.merge(places) { $1 } }
    wake()
  }

  /// Returns and removes the new places of records, as facts that are otherwise those that were taken before;
  /// nil if there are none.
  ///
  /// They are to be taken before the deliveries that follow them.
  func moves(_ known: OriginFacts?) -> OriginFacts? {
    let places = state.withLock { state in
      defer { state.newPlaces = [:] }
      return state.newPlaces
    }
    guard !places.isEmpty, var facts = known else { return nil }
    (facts.newPlaces, facts.latency, facts.isOtherConnection) = (places, nil, false)
    return facts
  }

  private func take(_ notice: OriginNotice) {
    switch notice {
    case .log(let text): OriginWatch.log.info("\(text)")
    case .credential(let text): add(text)
    case .indexMissing(let place, let line):
      add("The server has no index at \(place): add \(line) to its rules.")
    }
  }

  private func add(_ notice: String) {
    state.withLock { state in
      guard state.notices.count < OriginWatch.noticesMax else { return }
      state.notices.append(notice)
    }
    wake()
  }

  /// Returns and removes the facts and notices since the last call, as actions.
  func news() -> [AppAction] {
    state.withLock { state in
      defer { (state.facts, state.notices) = (nil, []) }
      return (state.facts.map { [.origin($0)] } ?? []) + state.notices.map { .trouble($0) }
    }
  }
}

extension OriginFacts {
  /// Makes the facts of a status; nil if the database is closed.
  init?(_ status: OriginStatus) {
    if status.state == .closed { return nil }
    let parts: (link: Link, reason: String?) =
      switch status.link {
      case nil: (.shared, nil)
      case .live?: (status.hasEvents ? .live : .read, nil)
      case .catchingUp?: (.catchingUp, nil)
      case .notAnswering?: (.notAnswering, nil)
      case .connecting?, .authenticating?: (.connecting, nil)
      case .waiting(_, let reason)?: (.waiting, reason)
      case .offline(.asked)?: (.offline, nil)
      case .offline(.shutDown(let reason))?: (.shutDown, reason)
      case .offline(.refused(let refusal))?: (.refused, refusal.text)
      }
    self.init(
      parts.link, reason: parts.reason, since: status.offlineSince,
      unknownWrites: status.unknownWrites)
    isShared = status.state == .elsewhere
    (latency, receivedBytes, limits) = (
      status.latencyMilliseconds, status.receivedBytes, status.limits
    )
  }
}
