import RunnelPostgres
import Synchronization

/// The readiness of a server to take work.
final class Readiness: Sendable {
  /// The phase of a server's life.
  enum Phase: Hashable, Sendable {
    case starting
    case serving
    case ending
  }

  /// What is asked for.
  enum Scope: Hashable, Sendable {
    /// The server: it is ready as long as it can use one of its stores.
    case server
    /// One of its stores.
    case store(String)
    /// One of its databases.
    case database(String)
  }

  /// What is answered.
  enum Answer: Hashable, Sendable {
    /// It is ready; `rest` tells what cannot be used though.
    case ready(rest: [String])
    /// It is not, and why.
    case notReady(String)
    /// There is no such store or database.
    case unknown
  }

  private let phase = Mutex(Phase.starting)

  func enter(_ next: Phase) { phase.withLock { $0 = next } }

  /// Whether the server can take work.
  func answer(
    to scope: Scope, _ databases: ServedDatabases, _ accounts: AccountService?
  ) -> Answer {
    switch phase.withLock({ $0 }) {
    case .starting: return .notReady("The server starts.")
    case .ending: return .notReady("The server ends.")
    case .serving: break
    }
    switch scope {
    case .server:
      if databases.links.isEmpty {
        return Readiness.answer(
          Readiness.obstacle(of: databases.all.map(\.database)) ?? Readiness.obstacle(of: accounts))
      }
      let obstacles = databases.links.compactMap { Readiness.obstacle(of: $0, databases, accounts) }
      return obstacles.count < databases.links.count
        ? .ready(rest: obstacles + databases.links.compactMap(Readiness.remark))
        : .notReady(obstacles.joined(separator: "\n"))
    case .store(let name):
      guard let link = databases.links.first(where: { $0.store.name == name }) else {
        return .unknown
      }
      return Readiness.answer(
        Readiness.obstacle(of: link, databases, accounts), Readiness.remark(on: link))
    case .database(let name):
      guard let database = databases.open(name) else {
        return databases.mayServe(name) ? .notReady("\(name) is not served here now.") : .unknown
      }
      guard let link = databases.links.first(where: { $0.has(database) }) else {
        return Readiness.answer(Readiness.obstacle(of: [database]))
      }
      return Readiness.answer(Readiness.obstacle(of: link, [database]), Readiness.remark(on: link))
    }
  }

  /// Why a store cannot be used; nil if it can.
  ///
  /// The accounts are in the first one.
  private static func obstacle(
    of link: StoreLink, _ databases: ServedDatabases, _ accounts: AccountService?
  ) -> String? {
    let isFirst = databases.links.first?.keeper === link.keeper
    return silence(of: link) ?? heldUp(of: link, databases)
      ?? obstacle(of: link, databases.all.map(\.database))
      ?? obstacle(of: isFirst ? accounts : nil)
  }

  /// Why nobody can sign in; nil if that is possible.
  private static func obstacle(of accounts: AccountService?) -> String? {
    guard let accounts, accounts.isUnusable else { return nil }
    return "\(accounts.name) cannot be used: see the log."
  }

  private static func answer(_ obstacle: String?, _ remark: String? = nil) -> Answer {
    obstacle.map { .notReady($0) } ?? .ready(rest: remark.map { [$0] } ?? [])
  }

  /// What is said of a store that can be used; nil for nothing.
  private static func remark(on link: StoreLink) -> String? {
    link.keeper.copies.remark(of: "the store \(link.store.name)")
  }

  /// Why a namespace of a store is not served yet, although it should be; nil if none is missing.
  private static func heldUp(of link: StoreLink, _ databases: ServedDatabases) -> String? {
    databases.heldUp(of: link).map { held in
      let reason = held.reason.hasSuffix(".") ? held.reason : held.reason + "."
      return "\(held.name) of the store \(link.store.name) is not served yet: \(reason)"
    }
  }

  /// What is told of a store that has been silent for too long; nil if it has not.
  private static func silence(of link: StoreLink) -> String? {
    let silence = link.keeper.silence
    return silence > link.store.readyPatience ? link.keeper.words(for: silence) : nil
  }

  /// Why a store cannot be used, or one of its namespaces among `databases`; nil if it can.
  private static func obstacle(of link: StoreLink, _ databases: [ServedDatabase]) -> String? {
    if let words = silence(of: link) { return words }
    let own = databases.filter { link.has($0) }
    if !link.keeper.lease.isHeld {
      let what = own.first?.name ?? "its namespaces"
      let reason = link.keeper.refusal.map { ": \($0)" } ?? "."
      return
        "The primary of the store \(link.store.name) does not confirm that this server may serve \(what)"
        + reason
    }
    return obstacle(of: own)
  }

  /// Why one of these databases cannot be used; nil if all can.
  private static func obstacle(of databases: [ServedDatabase]) -> String? {
    if let lost = databases.first(where: \.isLost) {
      let rest = lost.needsRestart.load(ordering: .relaxed) ? " until this server is restarted" : ""
      return "\(lost.name) cannot be used\(rest): see the log."
    }
    return databases.first(where: \.isUnwritable).map {
      "\($0.name) cannot be written: see the log."
    }
  }
}
