import Foundation
import Logging
import PostgresCluster
import RunnelBase
import RunnelNetwork
import RunnelPostgres
import RunnelServer
import TestSupport

/// A server on its own database, at a free port of this machine.
final class TestServer {
  /// The connection string of the store whose namespace `test` is served; nil for a file.
  @TaskLocal static var store: String?
  /// Where servers write the lines of connections and requests; nil for nowhere.
  @TaskLocal static var lines: LogLines?
  /// Where servers log; nil for nowhere.
  @TaskLocal static var log: LogLines?

  let folder: String
  let file: String
  let port: Int
  /// The places for administrators, the Unix socket first.
  let adminPlaces: [String]
  let server: DatabaseServer
  private let keepsFolder: Bool

  /// Starts a server.
  init(
    rules: String? = nil, in old: String? = nil,
    _ change: (inout ServerConfiguration) -> Void = { $0.isEmulator = true }
  ) async throws {
    keepsFolder = old != nil
    folder =
      old ?? FileManager.default.temporaryDirectory.path + "/runnel-server-\(UUID().uuidString)"
    try FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: true)
    file = folder + "/test.db"
    if let rules {
      try Data(rules.utf8).write(to: URL(fileURLWithPath: folder + "/test.rules.json"))
    }
    var configuration = ServerConfiguration(.file(file, name: nil))
    configuration.listen = ["localhost:0"]
    configuration.stopDuration = .seconds(2)
    if let store = TestServer.store {
      configuration.databases = .store(StoreConfiguration(name: "test", connection: store))
      if let rules { try TestServer.write(rules, to: store) }
    }
    change(&configuration)
    server = try DatabaseServer(
      configuration, lines: TestServer.lines ?? LogLines { _ in },
      logger: TestServer.log.map { log in
        Logger(label: "test", factory: { _ in LineLogHandler(log) })
      } ?? Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
    let announcement = try await server.start()
    port = announcement.addresses.first?.port ?? 0
    adminPlaces = announcement.adminPlaces
  }

  private static func write(_ rules: String, to place: String) throws {
    let store = try PostgresStore(PostgresPlace(place))
    defer { store.close() }
    guard let namespace = try store.namespace(named: "test") else { return }
    try store.writeRules(rules, of: namespace, now: 0)
  }

  /// Runs `body` with servers of a new store, which has a namespace `test`.
  static func onStore<Result>(_ body: () async throws -> Result) async throws -> Result {
    let place = try PostgresCluster.shared().makeDatabase()
    let store = try PostgresStore(PostgresPlace(place))
    try store.makeTables()
    try store.makeNamespace(named: "test")
    store.close()
    return try await TestServer.$store.withValue(place) { try await body() }
  }

  /// Stops the server.
  func stop() async { await server.stop() }

  deinit {
    if keepsFolder { return }
    // Remaining files are in the folder for temporary files.
    try? FileManager.default.removeItem(atPath: folder)
  }

  func client() throws -> RawClient { try RawClient(port: port) }

  /// Returns a client of the Unix socket for administrators.
  func administrator() throws -> RawClient {
    guard let file = adminPlaces.first else { throw RawClient.Failure(what: "no socket") }
    return try RawClient(socketFile: file)
  }

  /// Returns a WebSocket after the handshake.
  func socket(_ target: String = "/.ws?v=5&ns=test") throws -> Socket {
    try Socket(client(), target)
  }

  /// Sends one request on its own connection.
  func request(
    _ method: String, _ target: String, _ body: String? = nil, headers: [String: String] = [:]
  ) throws -> RawClient.Answer {
    try client().request(method, target, body, headers: headers)
  }
}

/// Runs `body` with a server, and stops it.
func withServer(
  rules: String? = nil, _ change: (inout ServerConfiguration) -> Void = { $0.isEmulator = true },
  _ body: (TestServer) async throws -> Void
) async throws {
  let server = try await TestServer(rules: rules, change)
  do {
    try await body(server)
  } catch {
    await server.stop()
    throw error
  }
  await server.stop()
}

/// A WebSocket client of the wire protocol.
final class Socket {
  let client: RawClient
  /// The name of the session.
  let session: String
  /// The payload of the handshake.
  let handshake: JSONValue

  init(_ client: RawClient, _ target: String) throws {
    self.client = client
    try client.openSocket(target)
    handshake = try JSONValue(parsing: client.readMessage())
    guard case .string(let name)? = handshake["d"]?["d"]?["s"] else {
      throw RawClient.Failure(what: "no handshake: \(handshake)")
    }
    session = name
  }

  /// Sends a message unchanged.
  func send(_ text: String) throws { try client.sendText(text) }

  /// Sends a request.
  func ask(_ number: Int, _ action: String, _ body: String) throws {
    try send("{\"t\":\"d\",\"d\":{\"r\":\(number),\"a\":\"\(action)\",\"b\":\(body)}}")
  }

  /// Reads the data of the next message.
  func next() throws -> JSONValue {
    let json = try JSONValue(parsing: client.readMessage())
    return json["d"] ?? json
  }

  /// Reads the data of the next message, as text.
  func nextText() throws -> String { try next().jsonText() }

  /// Sends a request and reads its answer, which is the next message; returns the status.
  func status(_ number: Int, _ action: String, _ body: String) throws -> String {
    try ask(number, action, body)
    let answer = try next()
    guard case .string(let status)? = answer["b"]?["s"] else {
      throw RawClient.Failure(what: "no answer: \(answer.jsonText())")
    }
    return status
  }
}

/// Parses the expected data of a message.
func json(_ text: String) throws -> JSONValue { try JSONValue(parsing: text) }
