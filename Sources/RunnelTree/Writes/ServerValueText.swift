import RunnelBase

/// Replaces the server values in the text of a document that is too large for memory.
///
/// The text goes on piece by piece: memory is that of one piece. What is no JSON, or no node, is left for who
/// reads the result. O(n) in the text.
package struct ServerValueText<Reader: TreeReader> {
  /// Takes the next piece of the result, and the number of bytes of the text that are not needed any more.
  package typealias Piece = (_ piece: [UInt8], _ readBytes: Int) throws -> Void

  /// The most bytes of an object that holds a server value.
  private static var objectBytesMax: Int { 65_536 }
  private static var pieceBytesMin: Int { 1 << 20 }

  private let bytes: UnsafeBufferPointer<UInt8>
  private let values: ServerValues<Reader>
  private let write: Piece
  private var scanner: JSONScanner
  /// The bytes of the text that are in the result, or were replaced.
  private var doneBytes = 0
  private var piece: [UInt8] = []

  private init(
    _ bytes: UnsafeBufferPointer<UInt8>, _ values: ServerValues<Reader>, _ write: @escaping Piece
  ) {
    (self.bytes, self.values, self.write) = (bytes, values, write)
    scanner = JSONScanner(bytes)
  }

  /// Replaces the server values of a document that is to stand at a place.
  ///
  /// - Parameters:
  ///   - bytes: the text.
  ///   - path: the place.
  ///   - now: the time of the write, in milliseconds since 1970.
  ///   - reader: the tree, for increments.
  ///   - write: takes the result.
  /// - Throws: `JSONError` if the text is no JSON, `TreeError` (`invalidValue` with the place) for a server
  ///   value that is not known, and the errors of `write`.
  package static func resolve(
    _ bytes: UnsafeBufferPointer<UInt8>, at path: Path, now: Int64, reader: Reader,
    write: @escaping Piece
  ) throws {
    var text = ServerValueText(bytes, ServerValues(now: now, reader: reader), write)
    try text.readValue(at: path)
    try text.scanner.finish()
    try text.take(upTo: bytes.count)
    try text.passOn(atLeast: 1)
  }

  // MARK: Reading

  private mutating func readValue(at path: Path) throws {
    switch try scanner.peekKind() {
    case .array:
      var position = 0
      try scanner.enterArray()
      while try scanner.nextElement() {
        try readChild(String(position), of: path)
        position += 1
      }
    case .object where try isServerValue():
      try replaceObject(at: path) { (values, json) throws(TreeError) in
        try values.resolved(json, at: path)
      }
    case .object: try readMembers(of: path)
    case .null, .bool, .number, .string: try scanner.skipValue()
    }
  }

  private mutating func readChild(_ name: String, of path: Path) throws {
    let kind = try scanner.peekKind()
    guard kind == .array || kind == .object, Key.refusal(of: name) == nil,
      // Who reads the result reports a place that is too deep.
      let place = try? path.child(Key(unchecked: name))
    else { return try scanner.skipValue() }
    try readValue(at: place)
  }

  private mutating func readMembers(of path: Path) throws {
    var lost: String?
    try scanner.enterObject()
    while let name = try scanner.nextMember() {
      let kind = try scanner.peekKind()
      switch name {
      case ReservedName.serverValue: throw ServerValues<Reader>.loss(of: lost ?? name, at: path)
      case ReservedName.priority where kind == .object:
        try replaceObject(at: path) { (values, json) throws(TreeError) in
          try values.resolvedPriority(json, at: path)
        }
      case ReservedName.value where kind == .object:
        try replaceObject(at: path) { (values, json) throws(TreeError) in
          try values.resolved(json, at: path)
        }
      case ReservedName.priority, ReservedName.value: try scanner.skipValue()
      default: try readChild(name, of: path)
      }
      if lost == nil, name != ReservedName.priority, kind != .null { lost = name }
    }
  }

  /// True if the next value is an object with a server value, which stays unread.
  private func isServerValue() throws -> Bool {
    var ahead = scanner
    try ahead.enterObject()
    while let name = try ahead.nextMember() {
      if name == ReservedName.serverValue { return true }
      let isNull = try ahead.peekKind() == .null
      if name != ReservedName.priority, !isNull { return false }
      try ahead.skipValue()
    }
    return false
  }

  // MARK: Writing

  /// Reads an object, and puts another value in its place.
  private mutating func replaceObject(
    at path: Path, by resolve: (ServerValues<Reader>, JSONValue) throws(TreeError) -> JSONValue
  ) throws {
    try take(upTo: scanner.offset)
    guard let json = try scanner.readValue(maxBytes: Self.objectBytesMax) else {
      throw TreeError(
        .invalidValue,
        "An object with \".sv\" has more than \(Self.objectBytesMax) bytes, and its value replaces all of it: "
          + "give \".sv\" an object of its own.", path: path.description)
    }
    piece += try resolve(values, json).jsonBytes()
    doneBytes = scanner.offset
  }

  /// Takes the text up to a place unchanged.
  private mutating func take(upTo place: Int) throws {
    while doneBytes < place {
      let end = min(place, doneBytes + Self.pieceBytesMin)
      piece += bytes[doneBytes..<end]
      doneBytes = end
      try passOn(atLeast: Self.pieceBytesMin)
    }
  }

  private mutating func passOn(atLeast count: Int) throws {
    guard piece.count >= count else { return }
    try write(piece, doneBytes)
    piece.removeAll(keepingCapacity: true)
  }
}
