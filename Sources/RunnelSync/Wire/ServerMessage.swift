package import RunnelBase
package import RunnelTree

/// A message of a server: an answer, a push, or a control message.
///
/// Source: wire protocol, sections A3 and A5.
package enum ServerMessage: Hashable, Sendable {
  /// The first message of a connection.
  case handshake(Handshake)
  /// The client is to connect to this host instead.
  case redirect(host: String)
  /// The client is to close, and not to come back by itself.
  case shutdown(reason: String)
  /// An error of the connection, for the log.
  case error(String)
  /// The answer to a ping.
  case pong
  /// Another control message, which is ignored.
  case control(String)
  /// The answer to the request with this number.
  case response(Int64, WireStatus, JSONValue)
  /// An unrequested message; `PushDecoder` reads those that concern data.
  case push(action: String, body: JSONValue)

  /// Reads a message in UTF-8.
  ///
  /// - Throws: `TreeError` (`invalidMessage`) that names the mistake.
  package init(_ bytes: [UInt8]) throws(TreeError) {
    let (kind, data) = try Envelope.read(bytes)
    switch kind {
    case EnvelopeKind.control: self = try ServerMessage.control(data)
    case EnvelopeKind.data: self = try ServerMessage.data(data)
    default:
      throw TreeError(.invalidMessage, "There is no kind of message \"\(kind.prefix(20))\".")
    }
  }

  private static func control(_ data: JSONValue) throws(TreeError) -> ServerMessage {
    let body = try WireBody(data, "A control message")
    switch try body.string(WireName.type) {
    case ControlKind.handshake: return .handshake(try Handshake(try body.required(WireName.data)))
    case ControlKind.redirect: return .redirect(host: try body.string(WireName.data))
    case ControlKind.shutdown: return .shutdown(reason: try body.string(WireName.data))
    case ControlKind.error: return .error(try body.string(WireName.data))
    case ControlKind.pong: return .pong
    case let kind: return .control(kind)
    }
  }

  private static func data(_ data: JSONValue) throws(TreeError) -> ServerMessage {
    let message = try WireBody(data, "A message of the server")
    if let error = try message.optionalString(WireName.error) {
      throw TreeError(.invalidMessage, "The server complains: \(error)")
    }
    let body = try message.required(WireName.body)
    guard message.optional(WireName.number) != nil else {
      return .push(action: try message.string(WireName.action), body: body)
    }
    let answer = try WireBody(body, "An answer")
    return .response(
      try message.integer(WireName.number),
      WireStatus(rawValue: try answer.string(WireName.status)), body[WireName.data] ?? .null)
  }

  /// The bytes of the answer `ok` to a request, whose data is already encoded as JSON.
  static func bytes(answering number: Int64, text: [UInt8]) -> [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.writeName(WireName.type)
    writer.writeString(EnvelopeKind.data)
    writer.writeName(WireName.data)
    writer.beginObject()
    writer.writeName(WireName.number)
    writer.writeNumber(JSONNumber(number))
    writer.writeName(WireName.body)
    writer.beginObject()
    writer.writeName(WireName.status)
    writer.writeString(WireStatus.ok.rawValue)
    writer.writeName(WireName.data)
    writer.writeText(text)
    writer.endObject()
    writer.endObject()
    writer.endObject()
    return writer.takeBytes()
  }

  /// The message in UTF-8.
  package var bytes: [UInt8] {
    switch self {
    case .handshake(let handshake): return Envelope.control(ControlKind.handshake, handshake.json)
    case .redirect(let host): return Envelope.control(ControlKind.redirect, .string(host))
    case .shutdown(let reason): return Envelope.control(ControlKind.shutdown, .string(reason))
    case .error(let text): return Envelope.control(ControlKind.error, .string(text))
    case .pong: return Envelope.control(ControlKind.pong, .object([]))
    case .control(let kind): return Envelope.control(kind, .object([]))
    case .response(let number, let status, let data):
      let body: JSONValue = [WireName.status: .string(status.rawValue), WireName.data: data]
      return Envelope.bytes(
        EnvelopeKind.data, [WireName.number: .number(JSONNumber(number)), WireName.body: body])
    case .push(let action, let body):
      return Envelope.bytes(
        EnvelopeKind.data, [WireName.action: .string(action), WireName.body: body])
    }
  }
}

/// The first message of a connection, in which the server introduces itself.
///
/// Source: wire protocol, sections A3 and A9.
package struct Handshake: Hashable, Sendable {
  /// The server's clock, in milliseconds since 1970.
  package var timestamp: Int64
  /// The host for later connections.
  package var host: String
  /// The name of the session, which the next connection tells.
  package var session: String
  /// The name, if it can be a part of an address; nil otherwise.
  var nameToTell: String? {
    let isFit = session.utf8.allSatisfy { byte in
      (0x21...0x7E).contains(byte) && !"&#\"\\".utf8.contains(byte)
    }
    return isFit && (1...256).contains(session.utf8.count) ? session : nil
  }
  /// True if the server does a write with a name once.
  package var takesWriteNames: Bool
  /// True if the server does a merge only if the nodes that it replaces have the hashes that come with it.
  package var takesWriteHashes: Bool

  /// Makes a handshake.
  package init(
    timestamp: Int64, host: String, session: String, takesWriteNames: Bool,
    takesWriteHashes: Bool = false
  ) {
    self.timestamp = timestamp
    self.host = host
    self.session = session
    self.takesWriteNames = takesWriteNames
    self.takesWriteHashes = takesWriteHashes
  }

  /// Reads the payload of a handshake.
  init(_ json: JSONValue) throws(TreeError) {
    let body = try WireBody(json, "The handshake")
    timestamp = try body.integer(WireName.timestamp)
    host = try body.string(WireName.host)
    session = try body.string(WireName.session)
    var names: [JSONValue] = []
    if case .array(let told)? = body.optional(WireName.extensions) { names = told }
    takesWriteNames = names.contains(.string(WireName.writeNames))
    takesWriteHashes = names.contains(.string(WireName.writeHashes))
  }

  var json: JSONValue {
    var members = [
      JSONMember(WireName.timestamp, .number(JSONNumber(timestamp))),
      JSONMember(WireName.version, .string(WireName.protocolVersion)),
      JSONMember(WireName.host, .string(host)), JSONMember(WireName.session, .string(session)),
    ]
    var names: [JSONValue] = []
    if takesWriteNames { names.append(.string(WireName.writeNames)) }
    if takesWriteHashes { names.append(.string(WireName.writeHashes)) }
    if !names.isEmpty { members.append(JSONMember(WireName.extensions, .array(names))) }
    return .object(members)
  }
}
