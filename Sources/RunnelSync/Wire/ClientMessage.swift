package import RunnelBase
package import RunnelTree

/// A message of a client: a request, or a control message.
///
/// Source: wire protocol, section A3.
package enum ClientMessage: Hashable, Sendable {
  /// A request with its number, which the answer repeats; `WireRequest` reads its body.
  case request(Int64, action: String, body: JSONValue)
  /// A ping.
  case ping
  /// Another control message, which is ignored.
  case control(String)

  /// Reads a message in UTF-8.
  ///
  /// - Throws: `TreeError` (`invalidMessage`) that says what is wrong; the message cannot be
  ///   answered.
  package init(_ bytes: [UInt8]) throws(TreeError) {
    let (kind, data) = try Envelope.read(bytes)
    switch kind {
    case EnvelopeKind.control:
      let control = try WireBody(data, "A control message").string(WireName.type)
      self = control == ControlKind.ping ? .ping : .control(control)
    case EnvelopeKind.data:
      let body = try WireBody(data, "A request")
      self = .request(
        try body.integer(WireName.number), action: try body.string(WireName.action),
        body: try body.required(WireName.body))
    default:
      throw TreeError(.invalidMessage, "There is no kind of message \"\(kind.prefix(20))\".")
    }
  }

  /// The message in UTF-8.
  package var bytes: [UInt8] {
    switch self {
    case .request(let number, let action, let body):
      let data: JSONValue = [
        WireName.number: .number(JSONNumber(number)), WireName.action: .string(action),
        WireName.body: body,
      ]
      return Envelope.bytes(EnvelopeKind.data, data)
    case .ping: return Envelope.control(ControlKind.ping, .object([]))
    case .control(let kind): return Envelope.control(kind, .object([]))
    }
  }

  /// The keep-alive frame of a client; it is no message.
  package static let keepAlive = Array("0".utf8)
}

/// The envelope of every message: its kind, and the payload.
enum Envelope {
  static func read(_ bytes: [UInt8]) throws(TreeError) -> (kind: String, data: JSONValue) {
    let json: JSONValue
    do throws(JSONError) {
      json = try JSONValue(parsing: bytes)
    } catch {
      throw TreeError(.invalidMessage, "A message is not JSON: \(error.message).")
    }
    let body = try WireBody(json, "A message")
    if case .string(let text)? = json[WireName.error] {
      throw TreeError(.invalidMessage, "The server complains: \(text)")
    }
    return (try body.string(WireName.type), try body.required(WireName.data))
  }

  static func bytes(_ kind: String, _ data: JSONValue) -> [UInt8] {
    let json: JSONValue = [WireName.type: .string(kind), WireName.data: data]
    return json.jsonBytes()
  }

  static func control(_ kind: String, _ payload: JSONValue) -> [UInt8] {
    bytes(EnvelopeKind.control, [WireName.type: .string(kind), WireName.data: payload])
  }
}
