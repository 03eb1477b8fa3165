import RunnelBase
import RunnelTree

/// What must hold for whatever comes in: nothing crashes, an error names a place within the text,
/// and what is read can be written and read again.
///
/// Each function gives nil, or says what does not hold. The test suite calls them, and so do the
/// drivers in `Tests/Fuzzing`.
enum HostileInput {
  // MARK: JSON

  /// What does not hold for a text that may be JSON.
  static func violation(inJSON bytes: [UInt8]) -> String? {
    let skipped = skip(bytes)
    do throws(JSONError) {
      let value = try JSONValue(parsing: bytes)
      if let error = skipped { return "read, but not skipped: \(error)" }
      return violation(in: value)
    } catch {
      if skipped != error {
        return "skipping says \(skipped.map(String.init) ?? "nothing"), not \(error)"
      }
      return violation(in: error, of: bytes)
    }
  }

  private static func violation(in value: JSONValue) -> String? {
    for pretty in [false, true] {
      let text = value.jsonBytes(pretty: pretty)
      guard let again = try? JSONValue(parsing: text) else { return "written, but not read again" }
      if again != value { return "not the same when read again" }
      if again.jsonBytes(pretty: pretty) != text { return "not the same when written again" }
      if bounded(text, text.count) != value { return "not read within its own length" }
      if text.count > 1, bounded(text, text.count - 1) != nil { return "read beyond its budget" }
    }
    return nil
  }

  private static func violation(in error: JSONError, of bytes: [UInt8]) -> String? {
    guard (0...bytes.count).contains(error.offset) else {
      return "\(error) is at byte \(error.offset) of \(bytes.count)"
    }
    let before = bytes[..<error.offset]
    let line = before.count { $0 == UInt8(ascii: "\n") } + 1
    let start = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
    let column = before[start...].count { $0 & 0xC0 != 0x80 } + 1
    if error.line != line || error.column != column {
      return "\(error) is in line \(line), column \(column)"
    }
    return error.message.isEmpty ? "an error says nothing" : nil
  }

  /// Reads past the whole text; the error if there is one.
  private static func skip(_ bytes: [UInt8]) -> JSONError? {
    bytes.withUnsafeBufferPointer { buffer in
      var scanner = JSONScanner(buffer)
      do throws(JSONError) {
        try scanner.skipValue()
        try scanner.finish()
        return nil
      } catch {
        return error
      }
    }
  }

  /// The value of a text, if it has at most so many bytes.
  private static func bounded(_ bytes: [UInt8], _ maxBytes: Int) -> JSONValue? {
    bytes.withUnsafeBufferPointer { buffer in
      var scanner = JSONScanner(buffer)
      return (try? scanner.readValue(maxBytes: maxBytes)) ?? nil
    }
  }

  // MARK: Nodes

  /// What does not hold for a text that may be a node.
  static func violation(inNode bytes: [UInt8]) -> String? {
    let read = Result { try self.read(bytes) }
    let imported = Result { try Node(json: JSONValue(parsing: bytes)) }
    switch (read, imported) {
    case (.success(let node), .success(let same)):
      if node != same { return "the reader and the import make different nodes" }
      return violation(in: node)
    case (.success, .failure(let error)): return "read, but not imported: \(error)"
    // A member that is repeated hides what stood there before from the import only.
    case (.failure(let error as TreeError), _):
      return error.message.isEmpty || error.path?.utf8.first != UInt8(ascii: "/")
        ? "\(error) names no place" : nil
    case (.failure(let error as JSONError), .failure(let other as JSONError)):
      return error == other ? violation(in: error, of: bytes) : "\(error) differs from \(other)"
    case (.failure(let error), .success): return "imported, but not read: \(error)"
    // The import looks at the tree only once all of the text is read.
    case (.failure, .failure): return nil
    }
  }

  private static func read(_ bytes: [UInt8]) throws -> Node {
    try bytes.withUnsafeBufferPointer { buffer in
      var scanner = JSONScanner(buffer)
      let node = try NodeReader(at: .root).read(&scanner)
      try scanner.finish()
      return node ?? .empty
    }
  }

  private static func violation(in node: Node) -> String? {
    if let broken = brokenInvariant(of: node, isRoot: true) { return broken }
    var writer = JSONWriter()
    node.writeExport(to: &writer)
    if writer.bytes != node.exportJSON.jsonBytes() { return "two exports of one node" }
    guard let again = try? read(writer.bytes) else { return "exported, but not read again" }
    if again != node { return "not the same when read again" }
    if !node.differences(to: again).isEmpty { return "a node differs from itself" }
    if Node.empty.applying(Node.empty.differences(to: node)) != node {
      return "the differences from nothing do not make the node"
    }
    return nil
  }

  private static func brokenInvariant(of node: Node, isRoot: Bool) -> String? {
    switch node.content {
    case .empty: return isRoot && node.priority == nil ? nil : "an empty child, or with a priority"
    case .leaf: return nil
    case .children(let children):
      if children.isEmpty { return "children without a child" }
      for (left, right) in zip(children, children.dropFirst()) where !(left.key < right.key) {
        return "\(left.key) stands before \(right.key)"
      }
      return children.lazy.compactMap { brokenInvariant(of: $0.node, isRoot: false) }.first
    }
  }

  // MARK: Paths

  /// What does not hold for a text that may be a path.
  static func violation(inPath bytes: [UInt8]) -> String? {
    let text = String(decoding: bytes, as: UTF8.self)
    do throws(TreeError) {
      let path = try Path(text)
      if path.keys.count > TreeLimits.depthMax { return "too deep" }
      if path.description.utf8.count > TreeLimits.pathBytesMax + 1 { return "too long" }
      guard let again = try? Path(path.description) else { return "written, but not read again" }
      if again != path { return "not the same when read again" }
      return path.keys.lazy.compactMap(violation(inNeighboursOf:)).first
    } catch {
      return error.message.isEmpty ? "an error says nothing" : nil
    }
  }

  private static func violation(inNeighboursOf key: Key) -> String? {
    let (before, after) = (key.predecessor, key.successor)
    guard before < .key(key), .key(key) < after else { return "the neighbours of \(key)" }
    return nil
  }

  // MARK: Queries

  /// What does not hold for a text that may be a query.
  static func violation(inQuery bytes: [UInt8]) -> String? {
    guard let json = try? JSONValue(parsing: bytes) else { return nil }
    do throws(TreeError) {
      let query = try Query(wire: json, at: .root)
      let text = try query.wireJSON()
      if try Query(wire: text, at: .root) != query { return "not the same when read again" }
      if try Query(wire: text, at: .root).wireJSON() != text { return "not canonical" }
      return nil
    } catch {
      return error.code == .invalidQuery && !error.message.isEmpty ? nil : "an error says nothing"
    }
  }
}
