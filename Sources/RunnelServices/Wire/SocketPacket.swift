package import RunnelBase

/// A packet of Socket.IO.
///
/// Source: services protocol, section 5.1.
package struct SocketPacket: Hashable, Sendable {
  /// The kind of a packet; its number is the first digit on the wire.
  package enum Kind: UInt8, Hashable, Sendable {
    /// A namespace is connected.
    case connect
    /// A namespace is disconnected.
    case disconnect
    /// An event.
    case event
    /// The answer to an event.
    case acknowledge
    /// A namespace was not connected.
    case refusal
    /// An event with bytes.
    case binaryEvent
    /// The answer to an event, with bytes.
    case binaryAcknowledge
  }

  /// The kind.
  package var kind: Kind
  /// The namespace.
  package var namespace: String
  /// The number by which an answer is found; nil for none.
  package var id: Int?
  /// The content; nil for none.
  package var payload: JSONValue?
  /// The number of messages of bytes that follow.
  package var attachmentCount: Int

  /// The most messages of bytes that a packet may have.
  static let attachmentsMax = 10
  /// Names that no event may have: they are Socket.IO's own.
  private static let reserved: Set<String> = [
    "connect", "connect_error", "disconnect", "disconnecting", "newListener", "removeListener",
  ]

  /// Makes a packet.
  package init(
    _ kind: Kind, namespace: String = "/", id: Int? = nil, payload: JSONValue? = nil,
    attachmentCount: Int = 0
  ) {
    (self.kind, self.namespace, self.id) = (kind, namespace, id)
    (self.payload, self.attachmentCount) = (payload, attachmentCount)
  }

  /// The packet on the wire.
  package var text: [UInt8] {
    var text = String(kind.rawValue)
    if kind == .binaryEvent || kind == .binaryAcknowledge { text += "\(attachmentCount)-" }
    if namespace != "/" { text += namespace + "," }
    if let id { text += String(id) }
    return Array(text.utf8) + (payload?.compactBytes ?? [])
  }

  /// Reads a packet.
  ///
  /// - Throws: `EngineError` if it is none, or an event without a name or with a reserved one.
  package init(_ text: [UInt8]) throws(EngineError) {
    guard let first = text.first, let kind = Kind(rawValue: first &- 0x30) else {
      throw EngineError("A packet has no kind from 0 to 6.")
    }
    var rest = text[1...]
    self.init(kind)
    if kind == .binaryEvent || kind == .binaryAcknowledge {
      let digits = SocketPacket.takeDigits(&rest)
      guard rest.popFirst() == UInt8(ascii: "-"), let digits, digits <= SocketPacket.attachmentsMax
      else { throw EngineError("A packet has no usable number of attachments.") }
      attachmentCount = digits
    }
    if rest.first == UInt8(ascii: "/") {
      let name = rest.prefix { $0 != UInt8(ascii: ",") }
      namespace = String(decoding: name, as: UTF8.self)
      rest = rest[name.endIndex...].dropFirst()
    }
    id = SocketPacket.takeDigits(&rest)
    if !rest.isEmpty {
      do throws(JSONError) {
        payload = try JSONValue(parsing: rest)
      } catch {
        throw EngineError("The content of a packet is not JSON: \(error)")
      }
    }
    try check()
  }

  /// Takes the digits of a number away; nil if there are none, or too many.
  private static func takeDigits(_ rest: inout ArraySlice<UInt8>) -> Int? {
    let digits = rest.prefix { (0x30...0x39).contains($0) }
    rest = rest[digits.endIndex...]
    return digits.isEmpty ? nil : Int(String(decoding: digits, as: UTF8.self))
  }

  private func check() throws(EngineError) {
    switch kind {
    case .event, .binaryEvent:
      guard let payload else { return }
      guard case .array(let elements) = payload, let name = elements.first else {
        throw EngineError("An event has no name.")
      }
      switch name {
      case .string(let name) where SocketPacket.reserved.contains(name):
        throw EngineError("An event has the reserved name \(name).")
      case .string, .number: break
      default: throw EngineError("The name of an event is no text.")
      }
    case .acknowledge, .binaryAcknowledge:
      if let payload, payload.array == nil { throw EngineError("An answer is no array.") }
    default: break
    }
  }
}

/// Joins packets with the messages of bytes that follow them.
///
/// Bytes come out as `{"base64": "…"}` in the place where they were.
struct SocketPacketJoiner {
  private var waiting: SocketPacket?
  private var attachments: [[UInt8]] = []

  /// Takes the text of a packet; returns the packet if nothing has to follow.
  mutating func take(_ text: [UInt8]) throws(EngineError) -> SocketPacket? {
    if waiting != nil { throw EngineError("A packet came before the bytes of the one before.") }
    let packet = try SocketPacket(text)
    if packet.attachmentCount == 0 { return packet }
    (waiting, attachments) = (packet, [])
    return nil
  }

  /// Takes bytes; returns the packet that they complete.
  mutating func take(binary bytes: [UInt8]) throws(EngineError) -> SocketPacket? {
    guard var packet = waiting else { throw EngineError("Bytes came that belong to no packet.") }
    attachments.append(bytes)
    if attachments.count < packet.attachmentCount { return nil }
    packet.payload = packet.payload.map(filled)
    packet.attachmentCount = 0
    packet.kind = packet.kind == .binaryEvent ? .event : .acknowledge
    waiting = nil
    return packet
  }

  private func filled(_ value: JSONValue) -> JSONValue {
    switch value {
    case .array(let elements): return .array(elements.map(filled))
    case .object(let members):
      if value["_placeholder"] == true, let number = value["num"]?.int,
        attachments.indices.contains(number)
      {
        return ["base64": .string(Base64.text(of: attachments[number]))]
      }
      return .object(members.map { JSONMember($0.name, filled($0.value)) })
    default: return value
    }
  }
}
