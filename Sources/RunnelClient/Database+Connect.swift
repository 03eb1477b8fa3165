import Foundation
public import RunnelDatabase
public import RunnelNetwork
public import RunnelSync
public import RunnelTree

/// How an origin is talked to.
public struct OriginOptions: Sendable {
  /// A file of certificates in PEM to trust, instead of those that the system trusts.
  public var trustedFile: String?
  /// The proxy for connections with TLS.
  public var proxies: WebProxies
  /// The times and numbers to go by.
  public var limits = ClientLimits()
  /// Whether a write that adds to a number is sent again although it may have been done, to origins that do not
  /// know writes by name.
  public var resendsIncrements = false
  /// What the origin is told of the program.
  public var userAgent = "runnel"
  /// Is told what is worth knowing beside the state of the link, on the tree's thread.
  public var notice: @Sendable (OriginNotice) -> Void = { _ in }

  /// Makes the options for this process, whose variables name the proxy.
  public init() { self.init(environment: ProcessInfo.processInfo.environment) }

  /// Makes the options for a process with these variables, of which those for proxies count.
  public init(environment: [String: String]) {
    proxies = WebProxies(environment: environment)
  }
}

extension Database {
  /// Opens the replica of a server's database, and keeps it in step with the server.
  ///
  /// What is known shows at once; nothing waits for the network. Writes show at once too, and are sent when the
  /// server can be reached, also after a restart. `goOffline` and `goOnline` end and begin the talk.
  ///
  /// - Parameters:
  ///   - address: `https://HOST/?ns=NAME`, or `http` without TLS.
  ///   - access: as whom.
  ///   - file: the file of the replica; nil for the user's own, one for each origin and user.
  ///   - indexes: the orders that the program will ask for.
  ///   - options: how it is talked to.
  ///   - environment: makes the clock and the random numbers; it is called twice.
  ///   - onTrouble: as for `open`.
  /// - Returns: the open database; the link is its `originLink`.
  /// - Throws: `TreeError` for what is no address; `DatabaseError` that says what is wrong with the file.
  public static func connect(
    to address: String, as access: OriginAccess = .nobody, file: String? = nil,
    indexes: [IndexDefinition] = [], options: OriginOptions = OriginOptions(),
    environment: @escaping @Sendable () -> sending DatabaseEnvironment = { .system },
    onTrouble: @escaping @Sendable (DatabaseError) -> Void = { _ in }
  ) async throws -> Database {
    let origin = try OriginAddress(address)
    let file =
      try file
      ?? ReplicaFolder.file(
        for: origin, user: access.user, environment: ProcessInfo.processInfo.environment)
    let database = try await open(
      file: file, indexes: indexes, environment: environment, onTrouble: onTrouble)
    do {
      try await database.becomeReplica(ofOrigin: origin.name)
      _ = try database.link(to: origin, as: access, options)
    } catch {
      database.close()
      throw error
    }
    return database
  }

  /// Keeps a replica in step with its origin from now on.
  ///
  /// - Returns: the link, which lives as long as the database.
  /// - Throws: `DatabaseError` if the file that tells other processes of it cannot be made.
  @discardableResult
  public nonisolated func link(
    to address: OriginAddress, as access: OriginAccess, _ options: OriginOptions
  ) throws -> OriginLink {
    let link = try OriginLink(self, address, access, options)
    link.begin()
    return link
  }

  /// The link to the origin; nil if there is none.
  public var originLink: OriginLink? { linkOfOrigin as? OriginLink }
}
