import Foundation
import RunnelBase
@testable import RunnelServer
import Synchronization
import TestSupport

/// What tests of services share: their rules, their configuration, and clients.
enum ServiceTesting {
  /// Anyone may use `messages`; `notes` belong to their owners; nobody sees `hidden`.
  static let rules = """
    {"rules":{"messages":{".read":true,".write":true},
    "notes":{"$note":{
    ".read":"data.child('owner').val() === auth.uid",
    ".write":"auth != null && (newData.child('owner').val() === auth.uid || \
    data.child('owner').val() === auth.uid)"}}}}
    """

  static func configure(_ configuration: inout ServerConfiguration) {
    configuration.isEmulator = true
    let texts = ["messages,multi", "chat/notes=notes", "hidden", "plain=messages"]
    configuration.services.collections = texts.compactMap { try? ServedCollection($0) }
  }

  /// A token of a user, which an emulator accepts.
  static func token(_ user: String, seconds: Int64 = 3600) -> String {
    let now = ServerWorld.calendar / 1000
    let claims: JSONValue = [
      "sub": .string(user), "user_id": .string(user), "iat": .number(JSONNumber(now)),
      "exp": .number(JSONNumber(now + seconds)),
    ]
    let head: JSONValue = ["alg": "none", "typ": "JWT"]
    return Base64URL.text(head.jsonBytes()) + "." + Base64URL.text(claims.jsonBytes()) + "."
  }

  static func bearer(_ user: String) -> [String: String] {
    ["Authorization": "Bearer \(token(user))"]
  }
}

/// A client of Socket.IO on a web socket, which sees every byte.
final class SocketIOClient {
  let client: RawClient
  let version: Int
  /// The text of the opening packet.
  let opening: String
  private var lastID = -1

  /// Opens a web socket, and connects to the namespace.
  init(
    _ server: TestServer, version: Int = 4, headers: [String: String] = [:],
    connects: Bool = true
  ) throws {
    client = try server.client()
    self.version = version
    try client.openSocket("/socket.io/?EIO=\(version)&transport=websocket", headers: headers)
    opening = try SocketIOClient.text(client)
    if !connects { return }
    if version == 4 { try client.sendText("40") }
    let answer = try next()
    guard answer.hasPrefix("40") else { throw RawClient.Failure(what: answer) }
  }

  private static func text(_ client: RawClient) throws -> String {
    while true {
      let (opcode, payload) = try client.readFrame()
      switch opcode {
      case 1: return String(decoding: payload, as: UTF8.self)
      case 8: throw RawClient.Failure(what: "closed")
      default: continue
      }
    }
  }

  /// The next packet; pings of the server are answered.
  func next() throws -> String {
    while true {
      let text = try SocketIOClient.text(client)
      if text != "2" { return text }
      try client.sendText("3")
    }
  }

  func send(_ text: String) throws { try client.sendText(text) }

  /// Makes a call, and returns what comes until its answer, which is the last.
  func call(_ arguments: JSONValue) throws -> [String] {
    lastID += 1
    try send("42\(lastID)\(arguments.jsonText())")
    var told: [String] = []
    while true {
      let text = try next()
      let start = "43\(lastID)"
      if text.hasPrefix(start + "[") { return told + [String(text.dropFirst(start.count))] }
      told.append(text)
    }
  }

  /// Makes a call, and returns its answer: the result, or the error.
  func ask(_ arguments: JSONValue) throws -> JSONValue {
    let answer = try JSONValue(parsing: call(arguments).last ?? "")
    return answer[1] ?? answer[0] ?? .null
  }

  func logIn(_ user: String) throws {
    let answer = try ask([
      "create", "authentication",
      ["strategy": "jwt", "accessToken": .string(ServiceTesting.token(user))],
    ])
    guard answer["user"]?["id"]?.string == user else {
      throw RawClient.Failure(what: answer.jsonText())
    }
  }
}

/// The machine's clock with an offset that a test moves.
final class MovableClock: Sendable {
  private let offset = Mutex<Int64>(0)
  var now: Int64 { ServerWorld.calendar + offset.withLock { $0 } }
  func advance(_ milliseconds: Int64) { offset.withLock { $0 += milliseconds } }
}

/// A client of Socket.IO that polls, which sees every byte.
final class PollingClient {
  private let polls: RawClient
  private let posts: RawClient
  let version: Int
  let session: String
  /// The body that opened the session.
  let opening: String

  var target: String { "/socket.io/?EIO=\(version)&transport=polling&sid=\(session)" }

  init(_ server: TestServer, version: Int = 4) throws {
    (polls, posts) = (try server.client(), try server.client())
    self.version = version
    let answer = try polls.request("GET", "/socket.io/?EIO=\(version)&transport=polling&t=x&b64=1")
    opening = answer.body
    guard let brace = opening.firstIndex(of: "{"),
      let id = try JSONValue(parsing: String(opening[brace...]))["sid"]?.string
    else { throw RawClient.Failure(what: opening) }
    session = id
  }

  /// Asks for packets, without waiting for the answer.
  func ask() throws { try polls.sendRequest("GET", target) }

  /// The answer to a poll.
  func answer() throws -> RawClient.Answer { try polls.readAnswer() }

  func poll() throws -> String {
    try ask()
    return try answer().body
  }

  @discardableResult
  func post(_ body: String) throws -> RawClient.Answer { try posts.request("POST", target, body) }

  /// Ends the connection of the polls.
  func hangUp() { polls.hangUp() }
}
