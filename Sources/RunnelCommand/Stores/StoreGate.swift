import Foundation
import Logging
import RunnelApp
import RunnelClient
import RunnelNetwork
import RunnelPostgres
import RunnelServer
import RunnelSync
import Synchronization

/// A namespace of a store, as a workspace of this process reads and writes it: without any server but
/// the one inside this process.
///
/// That server takes part in the store as all others do, with a lease and the feed, so that the workspace is
/// live and its writes are in the one order. It serves this namespace alone, on a Unix socket in a folder
/// that only the user may open, and takes whoever knows its secret for an administrator.
///
/// When the namespace is moved to another store whose name is known here, it goes on from there, with the same
/// replica: so what was not written yet is written there. If it is not there any more, or that store is silent, the
/// one in which it was opened is asked again: the move may have been taken back there.
///
/// ```
///   new --start--> serving --stop--> ended
///    |       ^        |
///    |       +-moved--+
///    +--no primary answers--> waiting --> serving
/// ```
final class StoreGate: Sendable {
  private struct Life {
    var server: DatabaseServer?
    /// The name of the store that is served from.
    var store: String
    var isEnding = false
  }

  /// How long answers under way are waited for at the end.
  private static let stopDuration = Duration.seconds(2)
  /// Between two attempts to follow the namespace to another store.
  private static let followPause = Duration.seconds(3)

  /// After this time without an answer, a store to which the namespace was moved may be lost.
  private static let silenceMax = Duration.seconds(10)

  private static let hostEnd = ".store.localhost"
  /// Why there is no server inside this process: it is made when the namespace can be served.
  private static let absence = "the namespace is being moved, or no database of its store answers"

  /// What the workspace needs to show the namespace.
  let wish: OriginWish
  /// What is to be said first.
  let remarks: [String]
  private let namespace: String
  /// The name of the store in which it was opened.
  private let first: String
  private let configuration: ServerConfiguration
  private let scratch: ScratchDatabase
  private let life: Mutex<Life>
  /// True if no primary answered: the replica is shown, and the store is tried again.
  private let isOffline: Bool

  /// Looks up a namespace of a store, or of the one to which it was moved.
  ///
  /// - Throws: `Failure` if there is no such namespace, `PostgresError` if the store cannot be used, and there
  ///   is no replica.
  init(_ namespace: String, ofStore name: String) throws {
    let (found, outage) = try StoreGate.found(namespace, name)
    isOffline = outage != nil
    guard DatabaseNames.isValid(namespace) else {
      throw Failure(
        "\(namespace) cannot be opened: names of served namespaces have small letters, digits and "
          + "hyphens.", status: .usage)
    }
    if isOffline {
      // The log tells why, when it is tried again.
      remarks = ["The store \(name) does not answer: what you write is sent when it does."]
    } else {
      remarks =
        found.store == name ? [] : ["\(namespace) was moved, and is in the store \(found.store)."]
    }
    let address = try StoreGate.address(of: namespace, name)
    scratch = try ScratchDatabase(named: "socket")
    let secret = ServerSecrets.newText()
    var configuration = ServerConfiguration(.store(found.configuration))
    (configuration.listen, configuration.socketFile) = ([], scratch.file)
    (configuration.ownSecret, configuration.logsRequests) = (secret, false)
    configuration.stopDuration = StoreGate.stopDuration
    (self.configuration, self.namespace, first) = (configuration, namespace, name)
    life = Mutex(Life(store: found.store))
    var options = OriginOptions(environment: [:])
    options.socketFile = scratch.file
    (options.socketAbsence, options.socketName) = (StoreGate.absence, "the store \(name)")
    options.userAgent = OriginArguments.userAgent
    wish = OriginWish(address, as: .token(secret), options)
  }

  /// Where a namespace is, or was to be looked for, and why it could not be: there is a replica then.
  private static func found(
    _ namespace: String, _ store: String
  ) throws -> (FoundNamespace, PostgresError?) {
    do {
      return (try FoundNamespace(namespace, ofStore: store), nil)
    } catch let error as PostgresError where error.isOutage {
      guard DatabaseNames.isValid(namespace) else { throw error }
      let file = try ReplicaFolder.file(
        for: try address(of: namespace, store), user: OriginAccess.token("").user,
        environment: ProcessInfo.processInfo.environment)
      if !FileManager.default.fileExists(atPath: file) { throw error }
      return (try FoundNamespace(unasked: namespace, ofStore: store), error)
    }
  }

  private static func address(of namespace: String, _ store: String) throws -> OriginAddress {
    try OriginAddress("http://\(host(of: store))/?ns=\(namespace)")
  }

  /// The host that stands for a store in the address of a replica: different for each name.
  ///
  /// Hosts are written in small letters.
  private static func host(of store: String) -> String {
    var host = ""
    for scalar in store.unicodeScalars {
      if scalar == "_" { host += "_" }
      if ("A"..."Z").contains(scalar) { host += "_" }
      host.unicodeScalars.append(scalar)
    }
    return host.lowercased() + hostEnd
  }

  /// The command that opens the namespace for which an address stands; nil if it stands for none.
  static func command(for address: OriginAddress) -> String? {
    place(for: address).map { "runnel open --store \($0.store) --namespace \($0.namespace)" }
  }

  /// An origin for people: that of a namespace of a store is its place there.
  static func shown(_ origin: String) -> String {
    guard let address = try? OriginAddress(origin), let place = place(for: address) else {
      return origin
    }
    return "\(place.namespace) in the store \(place.store)"
  }

  private static func place(
    for address: OriginAddress
  ) -> (store: String, namespace: String)? {
    guard address.host.hasSuffix(hostEnd), let namespace = address.namespace else { return nil }
    var store = ""
    var isMarked = false
    for character in address.host.dropLast(hostEnd.count) {
      if character == "_", !isMarked {
        isMarked = true
      } else {
        store += isMarked ? character.uppercased() : String(character)
        isMarked = false
      }
    }
    return (store, namespace)
  }

  /// Begins to serve, or to wait for the store if it does not answer.
  ///
  /// - Throws: `Failure`, `PostgresError` or `DatabaseError` that says why it cannot.
  func start() throws {
    if isOffline {
      Task { await follow() }
      return
    }
    do {
      let server = try made(configuration)
      life.withLock { $0.server = server }
      _ = try AsyncWork.wait { try await server.start() }
      watch(server)
    } catch let error as ServerError {
      throw Failure(error.message)
    } catch let error as NetworkError {
      throw Failure(error.message)
    }
  }

  private func made(_ configuration: ServerConfiguration) throws -> DatabaseServer {
    var configuration = configuration
    configuration.didLeave = { [weak self] _ in
      Task { await self?.follow() }
    }
    // What is logged goes where the workspace's log goes, as the screen is not to be written on.
    return try DatabaseServer(
      configuration, lines: LogLines { _ in }, logger: Logger(label: "runnel.store"))
  }

  /// Serves from the store to which the namespace was moved; tries again until that is done.
  private func follow() async {
    var told = ""
    while let store = life.withLock({ $0.isEnding ? nil : $0.store }) {
      do {
        try await serve(try found(after: store))
        return
      } catch {
        if told != "\(error)" { Logger(label: "runnel.store").error("\(error)") }
        told = "\(error)"
        // The sleep is cut short only if the program ends at once.
        try? await Task.sleep(for: StoreGate.followPause)
      }
    }
  }

  /// Where the namespace is that was in a store last.
  private func found(after store: String) throws -> FoundNamespace {
    do {
      return try FoundNamespace(namespace, ofStore: store)
    } catch {
      // A move that was taken back is told by the store from which it began; else the last one says why.
      guard store != first, let found = try? FoundNamespace(namespace, ofStore: first) else {
        throw error
      }
      return found
    }
  }

  /// Looks in the first store again when the one to which the namespace was moved is silent.
  private func watch(_ server: DatabaseServer) {
    Task {
      while life.withLock({ $0.server === server && $0.store != first }) {
        // The sleep is cut short only if the program ends at once.
        try? await Task.sleep(for: StoreGate.followPause)
        guard server.storeSilence > StoreGate.silenceMax,
          let found = try? FoundNamespace(namespace, ofStore: first),
          life.withLock({ $0.server === server && $0.store != found.store })
        else { continue }
        Logger(label: "runnel.store").notice(
          "\(namespace) is in the store \(found.store) again, and the other one is silent")
        await follow(to: found)
        return
      }
    }
  }

  /// Serves from a store, or from where the namespace is then.
  private func follow(to found: FoundNamespace) async {
    do {
      try await serve(found)
    } catch {
      Logger(label: "runnel.store").error("\(error)")
      await follow()
    }
  }

  private func serve(_ found: FoundNamespace) async throws {
    // Both have the same socket.
    let former = life.withLock { life in
      defer { life.server = nil }
      return life.server
    }
    await former?.stop()
    var configuration = configuration
    configuration.databases = .store(found.configuration)
    let server = try made(configuration)
    let isOver = life.withLock { life in
      if !life.isEnding { (life.server, life.store) = (server, found.store) }
      return life.isEnding
    }
    if isOver { return await server.stop() }
    _ = try await server.start()
    watch(server)
  }

  /// Ends the server and its lease, and removes the socket.
  func stop() {
    let server = life.withLock { life in
      defer { (life.server, life.isEnding) = (nil, true) }
      return life.server
    }
    if let server {
      // Nobody waits for more than the end.
      try? AsyncWork.wait { await server.stop() }
    }
    scratch.remove()
  }
}
