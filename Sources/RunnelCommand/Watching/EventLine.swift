import RunnelBase
import RunnelTree

/// An event as a line of JSON.
///
///     {"event":"child_added","path":"/users/ana","key":"ana","previous":null,"value":{"age":40}}
///     {"event":"value","path":"/users","value":{"ana":{"age":40}}}
///
/// `previous` is the key of the child before it. A removed child has no `previous`, and carries its
/// last value. The value of a whole place has its members in the order of the query.
struct EventLine {
  /// The line in UTF-8, with its line feed.
  let bytes: [UInt8]

  /// Makes the line of an event of a query; nil for an event that has no line.
  init?(_ event: TreeEvent, of query: Query) {
    let path = query.path
    var members: [JSONMember]
    switch event {
    case .childAdded(let row, let previous):
      members = EventLine.members(.childAdded, row, path)
      members.append(EventLine.previous(previous))
    case .childChanged(let row, let previous):
      members = EventLine.members(.childChanged, row, path)
      members.append(EventLine.previous(previous))
    case .childMoved(let row, let previous):
      members = EventLine.members(.childMoved, row, path)
      members.append(EventLine.previous(previous))
    case .childRemoved(let row): members = EventLine.members(.childRemoved, row, path)
    case .value:
      members = [
        JSONMember("event", .string(EventName.value.rawValue)),
        JSONMember("path", .string(path.description)),
      ]
    case .page, .pending, .answered: return nil
    }
    if case .value(let node) = event {
      members.append(JSONMember("value", EventLine.value(of: node, in: query.index)))
    } else {
      members.append(JSONMember("value", event.row?.node?.json ?? .null))
    }
    bytes = JSONValue.object(members).jsonBytes() + [UInt8(ascii: "\n")]
  }

  private static func members(_ name: EventName, _ row: TreeRow, _ path: Path) -> [JSONMember] {
    let place = (path.isRoot ? "" : path.description) + "/" + row.key.text
    return [
      JSONMember("event", .string(name.rawValue)),
      JSONMember("path", .string(place)),
      JSONMember("key", .string(row.key.text)),
    ]
  }

  private static func value(of node: Node, in index: QueryIndex) -> JSONValue {
    if index == .key || node.leaf != nil || node.children.isEmpty { return node.json }
    let sorted = node.children.map { child in
      (IndexPosition(value: index.value(of: child), key: .key(child.key)), child)
    }.sorted { $0.0 < $1.0 }
    return .object(sorted.map { JSONMember($0.1.key.text, $0.1.node.json) })
  }

  private static func previous(_ key: Key?) -> JSONMember {
    JSONMember("previous", key.map { .string($0.text) } ?? .null)
  }
}
