import RunnelBase

/// The version of the Engine.IO protocol: 3 belongs to Socket.IO 1 and 2, 4 to later ones.
public enum EngineVersion: Int, Hashable, Sendable {
  /// Version 3: the client pings, and Socket.IO connects by itself.
  case three = 3
  /// Version 4: the server pings, and the client connects.
  case four = 4
}

/// A packet of Engine.IO.
package struct EnginePacket: Hashable, Sendable {
  /// The kind of a packet; its number is the first digit on the wire.
  package enum Kind: UInt8, Hashable, Sendable {
    /// The server opens a session.
    case open
    /// The session ends.
    case close
    /// Are you there?
    case ping
    /// Here I am.
    case pong
    /// A message of Socket.IO.
    case message
    /// The client moves to the web socket.
    case upgrade
    /// Nothing; it releases a poll.
    case noop
  }

  /// The kind.
  package var kind: Kind
  /// The content.
  package var data: [UInt8]
  /// True for a message of bytes that are no text.
  package var isBinary: Bool

  /// Makes a packet with text.
  package init(_ kind: Kind, _ data: [UInt8] = []) {
    (self.kind, self.data, isBinary) = (kind, data, false)
  }

  /// Makes a message of bytes.
  package init(binary data: [UInt8]) { (kind, self.data, isBinary) = (.message, data, true) }

  /// Reads a packet that is a text frame or a part of a body.
  ///
  /// - Throws: `EngineError` if it is none.
  package init(text: some Collection<UInt8>) throws(EngineError) {
    guard let first = text.first, let kind = Kind(rawValue: first &- 0x30) else {
      throw EngineError("A packet begins with no digit from 0 to 6.")
    }
    self.init(kind, Array(text.dropFirst()))
  }

  /// The packet as a text frame; nil for bytes.
  package var text: [UInt8]? { isBinary ? nil : [kind.rawValue + 0x30] + data }

  /// The packet as a frame of bytes, for one that is bytes.
  package func binaryFrame(_ version: EngineVersion) -> [UInt8] {
    version == .three ? [4] + data : data
  }

  /// Reads a frame of bytes.
  package static func binary(_ frame: [UInt8], _ version: EngineVersion) -> EnginePacket {
    // Version 3 has the type in front.
    EnginePacket(binary: version == .three && frame.first == 4 ? Array(frame.dropFirst()) : frame)
  }
}

/// The reason why bytes are no packets.
package struct EngineError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The message, for people.
  package let description: String

  init(_ description: String) { self.description = description }
}

/// The body of a poll: packets one after the other.
///
/// Source: services protocol, section 4.4.
package enum EnginePayload {
  private static let separator: UInt8 = 0x1E
  private static let colon = UInt8(ascii: ":")
  private static let base64Mark = UInt8(ascii: "b")

  /// Returns the version that the body of a handshake has; nil if it is none.
  package static func version(of body: [UInt8]) -> EngineVersion? {
    guard let first = body.first else { return nil }
    if first <= 1 { return body.prefix(12).contains(0xFF) ? .three : nil }
    if body.starts(with: "0{".utf8) { return .four }
    let digits = body.prefix { (0x30...0x39).contains($0) }
    return !digits.isEmpty && body.dropFirst(digits.count).first == colon ? .three : nil
  }

  /// Returns packets as a body.
  package static func encoded(_ packets: [EnginePacket], _ version: EngineVersion) -> [UInt8] {
    var body: [UInt8] = []
    for packet in packets {
      let text: [UInt8]
      if packet.isBinary {
        let mark = version == .three ? "b4" : "b"
        text = Array((mark + Base64.text(of: packet.data)).utf8)
      } else {
        text = packet.text ?? []
      }
      switch version {
      case .four: body += (body.isEmpty ? [] : [separator]) + text
      case .three: body += Array("\(utf16Count(text)):".utf8) + text
      }
    }
    return body
  }

  /// Reads a body: the packets up to the first part that is none, and the error there.
  package static func decoded(
    _ body: [UInt8], _ version: EngineVersion
  ) -> (packets: [EnginePacket], error: EngineError?) {
    if body.isEmpty { return ([], EngineError("The body is empty.")) }
    var packets: [EnginePacket] = []
    do throws(EngineError) {
      switch version {
      case .four:
        for part in body.split(separator: separator, omittingEmptySubsequences: false) {
          packets.append(try packet(part, skipping: 1))
        }
      case .three:
        var rest = body[...]
        let isBinary = body[0] <= 1
        while !rest.isEmpty {
          packets.append(try isBinary ? binaryForm(&rest) : lengthPrefixed(&rest))
        }
      }
      return (packets, nil)
    } catch {
      return (packets, error)
    }
  }

  /// Reads a part: `b` and base64, or a packet of text.
  private static func packet(
    _ part: ArraySlice<UInt8>, skipping markCount: Int
  ) throws(EngineError) -> EnginePacket {
    guard part.first == base64Mark else { return try EnginePacket(text: part) }
    guard let data = bytes(ofBase64: part.dropFirst(markCount)) else {
      throw EngineError("A packet of bytes is no base64.")
    }
    return EnginePacket(binary: data)
  }

  /// Reads `<length>:<packet>`, where the length counts UTF-16.
  private static func lengthPrefixed(
    _ rest: inout ArraySlice<UInt8>
  ) throws(EngineError) -> EnginePacket {
    let digits = rest.prefix { (0x30...0x39).contains($0) }
    guard digits.count <= 10, let length = Int(String(decoding: digits, as: UTF8.self)),
      rest.dropFirst(digits.count).first == colon
    else { throw EngineError("A packet has no length.") }
    let start = digits.endIndex + 1
    var (end, count) = (start, 0)
    while count < length {
      guard end < rest.endIndex else { throw EngineError("A packet is shorter than its length.") }
      count += units(ofLead: rest[end])
      end += 1
      while end < rest.endIndex, rest[end] & 0xC0 == 0x80 { end += 1 }
    }
    guard count == length else { throw EngineError("The length of a packet is wrong.") }
    let part = rest[start..<end]
    rest = rest[end...]
    return try packet(part, skipping: 2)
  }

  /// Reads the form of bytes: a kind, the digits of a length in bytes, 255 and the content.
  private static func binaryForm(
    _ rest: inout ArraySlice<UInt8>
  ) throws(EngineError) -> EnginePacket {
    guard let kind = rest.popFirst(), kind <= 1 else {
      throw EngineError("A packet is neither text nor bytes.")
    }
    var length = 0
    while let digit = rest.popFirst(), digit != 0xFF {
      guard digit <= 9, length < 1 << 40 else {
        throw EngineError("The length of a packet is wrong.")
      }
      length = length * 10 + Int(digit)
    }
    guard rest.count >= length, length > 0 else {
      throw EngineError("A packet is shorter than its length.")
    }
    let content = rest.prefix(length)
    rest = rest.dropFirst(length)
    return kind == 0 ? try EnginePacket(text: content) : .binary(Array(content), .three)
  }

  /// The number of UTF-16 code units of a text in UTF-8.
  static func utf16Count(_ text: [UInt8]) -> Int {
    text.reduce(0) { $0 + ($1 & 0xC0 == 0x80 ? 0 : units(ofLead: $1)) }
  }

  private static func units(ofLead byte: UInt8) -> Int { byte >= 0xF0 ? 2 : 1 }

  /// Returns the bytes of base64, with or without padding; nil if it is none.
  static func bytes(ofBase64 text: ArraySlice<UInt8>) -> [UInt8]? {
    let padding = text.reversed().prefix { $0 == UInt8(ascii: "=") }.count
    guard padding <= 2 else { return nil }
    return Base64URL.bytes(
      text.dropLast(padding).lazy.map { byte -> UInt8 in
        switch byte {
        case UInt8(ascii: "+"): UInt8(ascii: "-")
        case UInt8(ascii: "/"): UInt8(ascii: "_")
        default: byte
        }
      })
  }
}

/// What the server tells when it opens a session.
package struct EngineOpening: Hashable, Sendable {
  /// The id of the session.
  package var session: String
  /// True if the session can move to a web socket.
  package var canUpgrade: Bool
  /// The time between pings, in milliseconds.
  package var pingInterval: Int64
  /// How long an answer to a ping may take, in milliseconds.
  package var pingTimeout: Int64
  /// The most bytes of a body; nil if the server does not tell.
  package var maxPayload: Int?

  /// Reads the content of the packet.
  ///
  /// - Throws: `EngineError` if it is none.
  package init(_ data: [UInt8]) throws(EngineError) {
    guard let json = try? JSONValue(parsing: data), let session = json["sid"]?.string,
      let interval = json["pingInterval"]?.int, let timeout = json["pingTimeout"]?.int,
      interval > 0, timeout > 0
    else { throw EngineError("The opening packet has no session or no times.") }
    self.session = session
    canUpgrade = json["upgrades"]?.array?.contains("websocket") ?? false
    (pingInterval, pingTimeout) = (Int64(interval), Int64(timeout))
    maxPayload = json["maxPayload"]?.int
  }
}
