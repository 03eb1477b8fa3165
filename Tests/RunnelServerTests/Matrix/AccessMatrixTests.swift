import CryptoExtras
import Foundation
import RunnelBase
@testable import RunnelServer
import RunnelSync
import TestSupport
import Testing

/// Fifty operations by twelve identities at four places: an operation that the rules refuse is
/// refused over WebSockets, HTTP and event streams, changes nothing, and reveals nothing.
///
/// In an ordinary run identities that are alike share the operations at each place, so that each of them
/// does each operation somewhere; a long run has every one do all of them everywhere.
///
/// To reveal nothing means: in two worlds that differ only in unreadable data, all answers are the
/// same, byte for byte: statuses, headers, bodies and messages, in the same number and order.
@Suite struct AccessMatrixTests {
  private static let places = ["/hidden", "/box", "/users/bo", "/users"]
  private static let one = #"{"a":{"n":1},"n":1}"#
  private static let other =
    #"{"a":{"n":5},"b":{"n":7},"c":"much longer than the other one","n":3}"#

  /// A server on one of the two worlds.
  private final class World {
    let server: TestServer
    let tree: String
    let identities: [MatrixIdentity]
    private let owner: [String: String]

    init(_ data: String) async throws {
      tree = """
        {"public":{"p":1},"hidden":\(data),"box":\(data),"users":{"bo":\(data),"cy":\(data)}}
        """
      server = try await TestServer(rules: MatrixIdentity.rules) { _ in }
      var secrets = try ServerSecrets(file: "/nowhere")
      let added = secrets.add("matrix", now: 0)
      let secret = try #require(added).text
      try secrets.write(to: ServerSecrets.file(beside: server.file))
      var accounts = try ServiceAccounts(file: "/nowhere")
      let made = try accounts.add("sdk", for: server.file, server: "http://localhost", now: 0)
      let key = try JSONValue(parsing: #require(made))
      try accounts.write(to: ServiceAccounts.file(beside: server.file))
      await server.server.reloadFiles()
      let now = ServerWorld.calendar / 1000
      let assertion = try TestTokens.signed(
        by: _RSA.Signing.PrivateKey(pemRepresentation: #require(key["private_key"]?.string)),
        [
          "iss": #require(key["client_email"]), "aud": #require(key["token_uri"]),
          "iat": .number(JSONNumber(now)), "exp": .number(JSONNumber(now + 3600)),
        ], keyID: #require(key["private_key_id"]?.string))
      let answer = try server.request(
        "POST", "/oauth2/token",
        "grant_type=urn:ietf:params:oauth:grant-type:jwt-bearer&assertion=\(assertion)")
      identities = MatrixIdentity.all(
        secret: secret, old: ServerSecrets.newText(),
        token: try #require(JSONValue(parsing: answer.body)["access_token"]?.string), now: now)
      owner = ["Authorization": "Bearer \(secret)"]
    }

    /// Restores all data.
    func reset() throws {
      let answer = try server.request("PUT", "/.json?print=silent", tree, headers: owner)
      if answer.status != 204 { throw RawClient.Failure(what: "reset: \(answer)") }
    }

    func ask(_ method: String, _ target: String, _ body: String? = nil) throws -> RawClient.Answer {
      try server.request(method, target, body, headers: owner)
    }

    func everything() throws -> String { try ask("GET", "/.json?format=export").body }

    func hash(_ place: String) throws -> String {
      try server.request(
        "GET", place + ".json", headers: owner.merging(["X-Firebase-ETag": "true"]) { $1 }
      ).headers["etag"] ?? ""
    }
  }

  /// Returns the answer to an operation, without the parts that differ between runs.
  private func transcript(
    _ operation: MatrixOperation, _ place: String, _ identity: MatrixIdentity, _ world: World
  ) throws -> String {
    let text: String
    switch operation.kind {
    case .request(let method, let rest, let body, let headers):
      let answer = try world.server.request(
        method, place + rest + identity.parameters, body, headers: headers)
      let lines = answer.headers.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
      text = (["\(answer.status)"] + lines + [answer.body]).joined(separator: "\n")
    case .stream(let rest): text = try stream(place + rest + identity.parameters, place, world)
    case .message(let action, let body): text = try messages(action, body, place, identity, world)
    }
    return text.replacing(/-[OP][A-Za-z0-9_-]{18}/, with: "PUSH").replacing(
      /\b1[0-9]{12}\b/, with: "TIME")
  }

  private func stream(_ target: String, _ place: String, _ world: World) throws -> String {
    let client = try world.server.client()
    try client.sendRequest("GET", target, headers: ["Accept": "text/event-stream"])
    let head = try client.readHead()
    if head.status != 200 { return "\(head.status) \(try client.readBody(of: head))" }
    return "200 \(try client.readEvent())"
  }

  /// Returns all messages of a socket from the request on, while an administrator writes its place.
  private func messages(
    _ action: String, _ body: String, _ place: String, _ identity: MatrixIdentity, _ world: World
  ) throws -> String {
    let socket = try world.server.socket()
    if let request = identity.request {
      _ = try socket.status(1, request.action, request.body)
    }
    try socket.ask(2, action, body)
    try socket.ask(3, "g", "{\"p\":\"/public\"}")
    var told = try until(3, socket)
    if action == "q" {
      // The two worlds get different values.
      _ = try world.ask("PUT", place + "/a/n.json?print=silent", world.tree.count.description)
      try socket.ask(4, "g", "{\"p\":\"/public\"}")
      told += try until(4, socket)
    }
    if action.hasPrefix("o") { _ = try socket.status(5, "oc", "{\"p\":\"\(place)\"}") }
    return told.joined(separator: "\n")
  }

  private func until(_ number: Int64, _ socket: Socket) throws -> [String] {
    var told: [String] = []
    while true {
      let message = try socket.next()
      if message["r"] == .number(JSONNumber(number)) { return told }
      told.append(message.jsonText())
    }
  }

  // MARK: Tests

  /// A write's name is its user's: nobody uses up those of others, and nothing forbidden is confirmed.
  @Test func theNamesOfWritesBelongToTheirUsers() async throws {
    let world = try await World(AccessMatrixTests.one)
    try world.reset()
    func put(_ user: String, _ place: String, _ value: String, _ number: Int) throws -> Int {
      let identity = try #require(
        world.identities.first { $0.user == user && !$0.parameters.contains("override") })
      return try world.server.request(
        "PUT", "\(place).json?\(identity.parameters)", value,
        headers: ["X-Runnel-Write": "shared \(number)"]
      ).status
    }
    #expect(try put("bo", "/users/bo/w", "1", 5) == 200)
    #expect(try put("bo", "/users/bo/v", "1", 6) == 200)
    #expect(try put("ana", "/users/ana/w", "2", 5) == 200)
    #expect(try put("ana", "/users/bo/w", "3", 6) == 401, "bo's names are not ana's")
    #expect(try put("bo", "/users/bo/w", "4", 5) == 400, "it was another write")
    #expect(try put("bo", "/users/bo/w", "1", 5) == 200, "it was done before")
    #expect(try world.ask("GET", "/users/bo/w.json").body == "1")
    #expect(try world.ask("GET", "/users/ana/w.json").body == "2")
    // What others have written since is not told to one who may not read it.
    let ana = try #require(world.identities.first { $0.user == "ana" })
    func note() throws -> String {
      try world.server.request(
        "PUT", "/box/t.json?\(ana.parameters)", #"{".sv":"timestamp"}"#,
        headers: ["X-Runnel-Write": "noted 1"]
      ).body
    }
    #expect(try Int64(note()) != nil)
    #expect(try world.ask("PUT", "/box/t.json", "4711").status == 200)
    #expect(try note() == #"{".sv":"timestamp"}"#)
    await world.server.stop()
  }

  @Test(arguments: Seeds.first(1, oneOf: 50))
  func refusedOperationsAreRefusedEverywhereAndRevealNothing(seed: UInt64) async throws {
    let worlds = [
      try await World(AccessMatrixTests.one), try await World(AccessMatrixTests.other),
    ]
    for world in worlds { try world.reset() }
    let before = try worlds.map { try $0.everything() }
    for (row, place) in AccessMatrixTests.places.enumerated() {
      let hash = try worlds[0].hash(place)
      for (first, second) in zip(worlds[0].identities, worlds[1].identities) {
        for (number, operation) in MatrixOperation.all(at: place, hash: hash).enumerated()
        where LongRun.seeds != nil || first.share.has(number + row) {
          try check(operation, place, [first, second], worlds)
        }
        for operation in MatrixOperation.conditional(at: place, hash: hash) {
          try check(operation, place, [first, second], worlds)
        }
        let after = try worlds.map { try $0.everything() }
        #expect(after == before, "\(first.name), \(place): what is refused changes nothing")
      }
    }
    for world in worlds { await world.server.stop() }
  }

  private func check(
    _ operation: MatrixOperation, _ place: String, _ identities: [MatrixIdentity],
    _ worlds: [World]
  ) throws {
    let identity = identities[0]
    let what = Comment("\(identity.name), \(place), \(operation.kind)")
    let told = try zip(identities, worlds).map { identity, world in
      try transcript(operation, place, identity, world)
    }
    // Whether a condition holds tells what is there.
    let reads = !operation.writes || operation.isConditional
    let isAllowed =
      (!reads || identity.canRead(place)) && (!operation.writes || identity.canWrite(place))
    if !identity.canRead(place) { #expect(told[0] == told[1], what) }
    if !isAllowed { #expect(isRefusal(told[0], operation, identity), "\(what): \(told[0])") }
    if operation.writes, !isAllowed { return }
    let isListen = if case .message("q", _) = operation.kind { true } else { false }
    if operation.writes || isListen { for world in worlds { try world.reset() } }
  }

  /// Returns whether a transcript is that of a refusal.
  private func isRefusal(
    _ text: String, _ operation: MatrixOperation, _ identity: MatrixIdentity
  ) -> Bool {
    switch operation.kind {
    case .request, .stream: text.hasPrefix("401")
    // These operations cannot be refused.
    case .message("n", _), .message("oc", _): true
    case .message: text == #"{"r":2,"b":{"s":"permission_denied","d":"Permission denied"}}"#
    }
  }

  /// A listener of public data learns nothing of other writes, not even that they happened.
  @Test func writesToHiddenPlacesAreNotRevealed() async throws {
    let beside = try await followed([
      ("PUT", "/hidden.json", "1"), ("PATCH", "/.json", #"{"hidden":2,"box":3}"#),
      ("DELETE", "/box.json", nil), ("PATCH", "/.json", #"{"hidden/x":1,"public/p":1}"#),
      ("PATCH", "/.json", #"{"hidden/x":2,"public/q":7}"#),
      ("PATCH", "/.json", #"{"hidden":null,"public/q":8,"public/r":8,"users/bo":1}"#),
    ])
    let alone = try await followed([
      ("PATCH", "/.json", #"{"public/q":7}"#),
      ("PATCH", "/.json", #"{"public/q":8,"public/r":8}"#),
    ])
    #expect(beside == alone)
    #expect(alone.count == 4)
  }

  /// Returns the messages of a socket and a stream on `/public` about these writes.
  private func followed(
    _ writes: [(method: String, target: String, body: String?)]
  ) async throws -> [String] {
    let world = try await World(AccessMatrixTests.one)
    try world.reset()
    let socket = try world.server.socket()
    #expect(try socket.status(1, "q", "{\"p\":\"/none\",\"h\":\"\"}") == "permission_denied")
    try socket.ask(2, "q", "{\"p\":\"/public\",\"h\":\"\"}")
    _ = try until(2, socket)
    let stream = try world.server.client()
    try stream.sendRequest("GET", "/public.json", headers: ["Accept": "text/event-stream"])
    _ = try stream.readHead()
    _ = try stream.readEvent()
    for (method, target, body) in writes {
      #expect(try world.ask(method, target, body).status == 200)
    }
    try socket.ask(3, "g", "{\"p\":\"/public\"}")
    var told = try until(3, socket)
    // The last event is recognized by a value that only this write has.
    _ = try world.ask("PUT", "/public/end.json", "1")
    while true {
      let event = try stream.readEvent()
      if event.data.contains("end") { break }
      told.append("\(event)")
    }
    await world.server.stop()
    return told
  }
}
