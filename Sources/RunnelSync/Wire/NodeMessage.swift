import RunnelBase
import RunnelTree

/// A long message of a server whose data is one node, which is read without a JSON value of all of it.
///
/// The JSON value of an answer with 100,000 records takes more memory than the node. What is not plainly one
/// of these messages is left to `ServerMessage`, and so is what is wrong with it.
///
/// Source: wire protocol, sections A3 and A5.
enum NodeMessage: Hashable, Sendable {
  /// The answer `ok` to the request with this number, which asked for a node.
  case answer(Int64, Node)
  /// The new node of a place.
  case push(Node, Path, tag: Int?)

  /// The least number of bytes of a message that is read so.
  static let bytesMin = 16_384

  /// Reads a message in UTF-8; nil if it is short or another one.
  ///
  /// `place` tells the place of the node that a request asked for; nil if it asked for something else.
  static func read(_ bytes: [UInt8], place: (_ number: Int64) -> Path?) -> NodeMessage? {
    if bytes.count < bytesMin { return nil }
    return bytes.withUnsafeBufferPointer { buffer in
      var reader = Reader(scanner: JSONScanner(buffer))
      return try? reader.message(place)
    }
  }
}

extension NodeMessage {
  /// The message is another one, or it is not certain what it is.
  private struct Unfit: Error {}

  private struct Reader {
    var scanner: JSONScanner
    private var number: Int64?
    private var action: String?
    private var status: String?
    private var path: Path?
    private var tag: Int?
    private var node: Node?

    init(scanner: JSONScanner) { self.scanner = scanner }

    mutating func message(_ place: (_ number: Int64) -> Path?) throws -> NodeMessage {
      try scanner.enterObject()
      try expect(WireName.type)
      guard try scanner.readString() == EnvelopeKind.data else { throw Unfit() }
      try expect(WireName.data)
      try scanner.enterObject()
      while let name = try scanner.nextMember() {
        switch name {
        case WireName.number where number == nil: number = try integer()
        case WireName.action where action == nil: action = try scanner.readString()
        case WireName.body where node == nil: try readBody(place)
        default: throw Unfit()
        }
      }
      guard try scanner.nextMember() == nil else { throw Unfit() }
      try scanner.finish()
      guard let node else { throw Unfit() }
      if let number {
        guard action == nil, path == nil, tag == nil, status == WireStatus.ok.rawValue else {
          throw Unfit()
        }
        return .answer(number, node)
      }
      guard let path, action == PushAction.data, status == nil else { throw Unfit() }
      return .push(node, path, tag: tag)
    }

    private mutating func expect(_ name: String) throws {
      guard try scanner.nextMember() == name else { throw Unfit() }
    }

    private mutating func integer() throws -> Int64 {
      guard let integer = try scanner.readNumber().integer else { throw Unfit() }
      return integer
    }

    private mutating func readBody(_ place: (_ number: Int64) -> Path?) throws {
      try scanner.enterObject()
      while let name = try scanner.nextMember() {
        switch name {
        case WireName.status where status == nil: status = try scanner.readString()
        case WireName.path where path == nil:
          let named = try WirePlace(try scanner.readString())
          if named.isPriority { throw Unfit() }
          path = named.path
        case WireName.tag where tag == nil: tag = Int(try integer())
        case WireName.data where node == nil:
          guard let path = path ?? number.flatMap(place) else { throw Unfit() }
          node = try NodeReader(at: path).read(&scanner)
        default: throw Unfit()
        }
      }
    }
  }
}
