import RunnelBase
@testable import RunnelServer
import RunnelServices
import TestSupport
import Testing

/// Twenty calls of services by ten identities at four places, over REST and Socket.IO: a call that the
/// rules refuse is refused, changes nothing, and reveals nothing.
///
/// To reveal nothing means: in two worlds that differ only in unreadable data, all answers and events are
/// the same, byte for byte.
@Suite struct ServiceMatrixTests {
  enum Transport: CaseIterable { case rest, socket }

  private static let services = ["hidden", "box", "users/bo", "users"]
  private static let one = #"{"a":{"n":1},"n":{"n":1}}"#
  private static let other =
    #"{"a":{"n":5},"b":{"n":7},"c":"much longer than the other one","n":{"n":3}}"#

  /// A call, and what the caller needs for it.
  private struct Operation {
    var method: ServiceMethod
    var id: JSONValue = .null
    var data: JSONValue = .null
    var query: JSONValue = .object([])

    var writes: Bool { method != .find && method != .get }

    func isAllowed(_ identity: MatrixIdentity, _ place: String) -> Bool {
      let (mayRead, mayWrite) = (identity.canRead(place), identity.canWrite(place))
      return method == .create ? mayWrite : mayRead && (mayWrite || !writes)
    }

    /// The arguments over a socket.
    func arguments(_ service: String) -> JSONValue {
      var elements: [JSONValue] = [.string(method.name), .string(service)]
      if method.hasID { elements.append(id) }
      if method.hasData { elements.append(data) }
      return .array(elements + [query])
    }

    /// The request over REST.
    func request(_ service: String) throws -> (method: String, target: String, body: String?) {
      let verbs: [ServiceMethod: String] = [
        .create: "POST", .update: "PUT", .patch: "PATCH", .remove: "DELETE",
      ]
      let text = try QueryString.encoded(ServiceQuery(json: query) ?? ServiceQuery())
      let target = "/" + service + (id.string.map { "/" + $0 } ?? "") + "?" + text
      return (verbs[method] ?? "GET", target, method.hasData ? data.jsonText() : nil)
    }

    /// All calls; `id` is that of a record in both worlds.
    static func all(_ id: JSONValue) -> [Operation] {
      let (record, one): (JSONValue, JSONValue) = (["x": 1], ["n": 1])
      return [
        Operation(method: .find), Operation(method: .find, query: ["n": ["$gt": 0]]),
        Operation(method: .find, query: ["$limit": 0]),
        Operation(method: .find, query: ["$sort": ["n": -1], "$select": ["n"]]),
        Operation(method: .get, id: id), Operation(method: .get, id: "absent"),
        Operation(method: .get, id: id, query: one),
        Operation(method: .create, data: ["id": id, "x": 1]),
        Operation(method: .create, data: ["id": "z", "x": 1]),
        Operation(method: .create, data: record),
        Operation(method: .create, data: [["id": "y", "x": 1], ["id": "z", "x": 1]]),
        Operation(method: .update, id: id, data: record),
        Operation(method: .update, id: "absent", data: record),
        Operation(method: .patch, id: id, data: record),
        Operation(method: .patch, id: id, data: record, query: one),
        Operation(method: .patch, data: record, query: one),
        Operation(method: .patch, data: .object([])),
        Operation(method: .remove, id: id), Operation(method: .remove, id: "absent"),
        Operation(method: .remove, query: one), Operation(method: .remove),
      ]
    }
  }

  /// A server on one of the two worlds.
  private final class World {
    let server: TestServer
    let tree: String
    let identities: [MatrixIdentity]
    private let owner: [String: String]

    init(_ data: String) async throws {
      tree = """
        {"public":{"p":{"n":1}},"hidden":\(data),"box":\(data),"users":{"bo":\(data),"cy":\(data)}}
        """
      server = try await TestServer(rules: MatrixIdentity.rules) { configuration in
        let texts = ServiceMatrixTests.services.map { $0 + ",multi" } + ["public"]
        configuration.services.collections = texts.compactMap { try? ServedCollection($0) }
      }
      var secrets = try ServerSecrets(file: "/nowhere")
      let added = secrets.add("matrix", now: 0)
      let secret = try #require(added).text
      try secrets.write(to: ServerSecrets.file(beside: server.file))
      await server.server.reloadFiles()
      // Services know no administrators that act for others.
      identities = MatrixIdentity.all(
        secret: secret, old: ServerSecrets.newText(), token: secret,
        now: ServerWorld.calendar / 1000
      ).filter { !$0.parameters.contains("override") }
      owner = ["Authorization": "Bearer \(secret)"]
    }

    func reset() throws {
      let answer = try server.request("PUT", "/.json?print=silent", tree, headers: owner)
      if answer.status != 204 { throw RawClient.Failure(what: "reset: \(answer)") }
    }

    func ask(_ method: String, _ target: String, _ body: String? = nil) throws -> RawClient.Answer {
      try server.request(method, target, body, headers: owner)
    }

    func everything() throws -> String { try ask("GET", "/.json?format=export").body }
  }

  /// What a caller is told about an operation, without what differs between runs.
  private func transcript(
    _ operation: Operation, _ service: String, _ identity: MatrixIdentity, _ world: World,
    _ transport: Transport
  ) throws -> String {
    let text: String
    switch transport {
    case .rest:
      let token = identity.parameters.split(separator: "=").last.map(String.init)
      let request = try operation.request(service)
      let answer = try world.server.request(
        request.method, request.target, request.body,
        headers: token.map { ["Authorization": "Bearer \($0)"] } ?? [:])
      let lines = answer.headers.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
      text = (["\(answer.status)"] + lines + [answer.body]).joined(separator: "\n")
    case .socket:
      let client = try session(of: identity, world)
      text = try client.call(operation.arguments(service)).joined(separator: "\n")
    }
    return text.replacing(/-[OP][A-Za-z0-9_-]{18}/, with: "PUSH")
  }

  private func session(
    of identity: MatrixIdentity, _ world: World
  ) throws -> SocketIOClient {
    let client = try SocketIOClient(world.server)
    if let token = identity.parameters.split(separator: "=").last {
      _ = try client.ask([
        "create", "authentication", ["strategy": "jwt", "accessToken": .string(String(token))],
      ])
    }
    return client
  }

  @Test(arguments: Transport.allCases)
  func refusedCallsAreRefusedAndRevealNothing(transport: Transport) async throws {
    let worlds = [
      try await World(ServiceMatrixTests.one), try await World(ServiceMatrixTests.other),
    ]
    for world in worlds { try world.reset() }
    let before = try worlds.map { try $0.everything() }
    for service in ServiceMatrixTests.services {
      let place = "/" + service
      for (first, second) in zip(worlds[0].identities, worlds[1].identities) {
        for operation in Operation.all(service == "users" ? "cy" : "a") {
          let what = Comment("\(first.name), \(place), \(operation.arguments(service))")
          let told = try zip([first, second], worlds).map { identity, world in
            try transcript(operation, service, identity, world, transport)
          }
          if !first.canRead(place) { #expect(told[0] == told[1], what) }
          let isAllowed = operation.isAllowed(first, place)
          #expect(isRefusal(told[0], transport) != isAllowed, "\(what): \(told[0])")
          if operation.writes, isAllowed { for world in worlds { try world.reset() } }
        }
        let after = try worlds.map { try $0.everything() }
        #expect(after == before, "\(first.name), \(place): what is refused changes nothing")
      }
    }
    for world in worlds { await world.server.stop() }
  }

  private func isRefusal(_ text: String, _ transport: Transport) -> Bool {
    switch transport {
    case .rest: text.hasPrefix("401") || text.hasPrefix("403")
    case .socket: text.contains(#""code":401"#) || text.contains(#""code":403"#)
    }
  }

  @Test func eventsReachOnlyThoseWhoMayRead() async throws {
    let world = try await World(ServiceMatrixTests.one)
    for service in ServiceMatrixTests.services {
      try world.reset()
      let place = "/" + service
      let id = service == "users" ? "cy" : "a"
      let clients = try world.identities.map { ($0, try session(of: $0, world)) }
      _ = try world.ask("PUT", "\(place)/new.json", #"{"n":2}"#)
      _ = try world.ask("PATCH", "\(place)/\(id).json", #"{"n":9}"#)
      _ = try world.ask("PUT", "\(place)/\(id).json", #"{"n":10}"#)
      _ = try world.ask("DELETE", "\(place)/\(id).json")
      for (identity, client) in clients {
        let told = try client.call(["get", "public", "p"])
        let names = told.dropLast().compactMap { text in
          try? JSONValue(parsing: String(text.dropFirst(2)))[0]?.string
        }.filter { $0.hasPrefix(service + " ") }
        let all = ["created", "patched", "updated", "removed"].map { "\(service) \($0)" }
        #expect(names == (identity.canRead(place) ? all : []), "\(identity.name), \(place)")
      }
    }
    await world.server.stop()
  }
}
