import RunnelBase
package import RunnelTree

/// The change that one write made to the result of a query.
///
/// Source: wire protocol, sections A5.1 and D.
package enum AudienceChange: Hashable, Sendable {
  /// One place now has this value.
  case put(Path, Assignment.Target)
  /// These places, whose paths start with the given one, now have these values.
  case patch(Path, [Assignment])
}

/// A push that is encoded once for all its receivers; each has a tag of its own.
///
/// Source: wire protocol, sections A3 and A5.
package struct EncodedPush: Hashable, Sendable {
  /// The change; nil for ranges, and if it is not kept.
  package private(set) var change: AudienceChange?
  /// The message up to the end of its data.
  private let head: [UInt8]
  /// The frames for all receivers without a tag; nil if they are made for each.
  private var untagged: [[UInt8]]?

  /// Encodes a change.
  package init(_ change: AudienceChange) {
    switch change {
    case .put(let path, .node(let node)):
      self.init(PushAction.data, path, change) { node.writeExport(to: &$0) }
    case .put(let path, .priority(let priority)):
      self.init(PushAction.data, path, change, isPriority: true) {
        $0.writeValue(priority?.json ?? .null)
      }
    case .patch(let path, let parts):
      self.init(PushAction.merge, path, change) { EncodedPush.write(parts, to: &$0) }
    }
  }

  /// Encodes the part of a query's answer that a client lacks; nil if the client lacks nothing.
  package init?(_ answer: ListenAnswer, of query: Query) {
    switch answer {
    case .unchanged: return nil
    case .encoded(let push): self = push
    case .all(let node): self.init(.put(query.path, .node(node)))
    case .ranges(let merges):
      self.init(PushAction.ranges, query.path, nil) { EncodedPush.write(merges, to: &$0) }
    }
  }

  private init(
    _ action: String, _ path: Path, _ change: AudienceChange?, isPriority: Bool = false,
    _ writeData: (inout JSONWriter) -> Void
  ) {
    self.change = change
    var keys = path.keys.map(\.text)
    if isPriority { keys.append(WireName.priority) }
    var writer = JSONWriter()
    writer.beginObject()
    writer.writeName(WireName.type)
    writer.writeString(EnvelopeKind.data)
    writer.writeName(WireName.data)
    writer.beginObject()
    writer.writeName(WireName.action)
    writer.writeString(action)
    writer.writeName(WireName.body)
    writer.beginObject()
    writer.writeName(WireName.path)
    writer.writeString(keys.joined(separator: "/"))
    writer.writeName(WireName.data)
    writeData(&writer)
    head = writer.takeBytes()
  }

  /// The whole message for a receiver, with its tag if it has one.
  package func message(tag: Int?) -> [UInt8] {
    var message = head
    if let tag { message += Array(",\"\(WireName.tag)\":\(tag)".utf8) }
    // The braces close the body, the message around it, and the envelope.
    message += Array("}}}".utf8)
    return message
  }

  /// The same push with its untagged frames made now, for all receivers.
  package func shared() -> EncodedPush {
    var push = self
    push.untagged = FrameSplitter.frames(of: message(tag: nil))
    return push
  }

  /// The same push without the change, which then takes no memory.
  package func withoutChange() -> EncodedPush {
    var push = self
    push.change = nil
    return push
  }

  /// The bytes of memory that the encoded push takes, about.
  package var byteCount: Int {
    head.count + (untagged ?? []).reduce(0) { $0 + $1.count + 32 }
  }

  /// The frames for a receiver, with its tag if it has one.
  func frames(tag: Int?) -> [[UInt8]] {
    if tag == nil, let untagged { return untagged }
    return FrameSplitter.frames(of: message(tag: tag))
  }

  private static func write(_ parts: [Assignment], to writer: inout JSONWriter) {
    writer.beginObject()
    for part in parts {
      writer.writeName(part.wireName)
      part.target.writeExport(to: &writer)
    }
    writer.endObject()
  }

  private static func write(_ merges: [RangeMerge], to writer: inout JSONWriter) {
    writer.beginArray()
    for merge in merges {
      writer.beginObject()
      if let start = merge.start {
        writer.writeName(WireName.rangeStart)
        writer.writeString(start.description)
      }
      if let end = merge.end {
        writer.writeName(WireName.rangeEnd)
        writer.writeString(end.description)
      }
      writer.writeName(WireName.rangeNode)
      merge.node.writeExport(to: &writer)
      writer.endObject()
    }
    writer.endArray()
  }
}

extension Assignment {
  /// The path as a merge names it, relative to the place of the merge.
  var wireName: String {
    var keys = path.keys.map(\.text)
    if case .priority = target { keys.append(WireName.priority) }
    return keys.joined(separator: "/")
  }
}

extension Assignment.Target {
  func writeExport(to writer: inout JSONWriter) {
    switch self {
    case .node(let node): node.writeExport(to: &writer)
    case .priority(let priority): writer.writeValue(priority?.json ?? .null)
    }
  }
}
