import Foundation
public import RunnelDatabase
public import RunnelNetwork
public import RunnelSync
public import RunnelTree

/// The options for the connection to an origin.
public struct OriginOptions: Sendable {
  /// The PEM file of the certificates to trust, instead of those that the system trusts.
  public var trustedFile: String?
  /// The proxy for connections with TLS.
  public var proxies: WebProxies
  /// The Unix socket at which the origin listens, whatever its address; nil for the host of the address.
  package var socketFile: String?
  /// What is said if the origin does not listen at that socket, without a full stop.
  package var socketAbsence = "the server is not there"
  /// What the origin at that socket is called for people; nil for its address.
  package var socketName: String?
  /// The timeouts and size limits of the client.
  public var limits = ClientLimits()
  /// Whether an increment is sent again although it may have been done, to origins that do not
  /// recognize repeated writes by their ids.
  public var resendsIncrements = false
  /// The name of the program, sent to the origin in the `User-Agent` header.
  public var userAgent = "runnel"
  /// The function that receives notices beside the link state; called on the tree's thread.
  public var notice: @Sendable (OriginNotice) -> Void = { _ in }

  /// Makes options with the proxy that this process's environment variables name.
  public init() { self.init(environment: ProcessInfo.processInfo.environment) }

  /// Makes options with the proxy that these environment variables name.
  public init(environment: [String: String]) {
    proxies = WebProxies(environment: environment)
  }
}

extension Database {
  /// Opens the replica of a server's database, and keeps it synchronized with the server.
  ///
  /// The replica's data can be read at once, without waiting for the network. Writes are visible at
  /// once too, and are sent when the server can be reached, also after a restart. `goOffline` ends
  /// the connection, and `goOnline` makes it again.
  ///
  /// - Parameters:
  ///   - address: `https://HOST/?ns=NAME`, or `http` without TLS.
  ///   - access: the user and the credentials.
  ///   - file: the file of the replica; nil for the default file of this origin and user.
  ///   - indexes: the indexes that the program's queries need.
  ///   - options: the options for the connection.
  ///   - environment: makes the clock and the random numbers; it is called twice.
  ///   - onTrouble: as for `open`.
  /// - Returns: the open database; its `originLink` is the link.
  /// - Throws: `TreeError` if `address` is not valid; `DatabaseError` if the file cannot be opened.
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

  /// Starts to synchronize a replica with its origin.
  ///
  /// - Returns: the link, which lives as long as the database.
  /// - Throws: `DatabaseError` if the lock file cannot be made.
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

extension OriginOptions {
  /// What opens the connections to the origin.
  var dialer: SocketDialer {
    socketFile.map { SocketDialer(socketFile: $0, absence: socketAbsence, name: socketName) }
      ?? SocketDialer(trustedFile: trustedFile, proxies: proxies)
  }
}
