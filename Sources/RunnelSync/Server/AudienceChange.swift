import RunnelBase
public import RunnelTree

/// What one write changed of what a query shows.
///
/// Source: wire protocol, sections A5.1 and D.
public enum AudienceChange: Hashable, Sendable {
  /// One place holds this now.
  case put(Path, Assignment.Target)
  /// These places, whose paths begin at one, hold this now.
  case patch(Path, [Assignment])
}

/// A push that was encoded once for all who are told it; each has a tag of its own.
///
/// Source: wire protocol, sections A3 and A5.
public struct EncodedPush: Hashable, Sendable {
  /// What is told; nil for ranges.
  public let change: AudienceChange?
  /// The message up to the end of its data.
  private let head: [UInt8]
  /// The frames for all who are told it without a tag; nil if they are made for each.
  private var untagged: [[UInt8]]?

  /// Encodes a change.
  public init(_ change: AudienceChange) {
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

  /// Encodes what a client lacks of a query's answer; nil if that is nothing.
  public init?(_ answer: ListenAnswer, of query: Query) {
    switch answer {
    case .unchanged: return nil
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

  /// The whole message, for one who is told it under a tag, or without.
  public func message(tag: Int?) -> [UInt8] {
    var message = head
    if let tag { message += Array(",\"\(WireName.tag)\":\(tag)".utf8) }
    // The body, what is around it, and the envelope.
    message += Array("}}}".utf8)
    return message
  }

  /// The same, whose frames without a tag are made now, for all.
  public func shared() -> EncodedPush {
    var push = self
    push.untagged = FrameSplitter.frames(of: message(tag: nil))
    return push
  }

  /// The frames for one who is told it under a tag, or without.
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
  /// The path relative to where it begins, as a merge names it.
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
