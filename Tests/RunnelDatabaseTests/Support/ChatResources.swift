import RunnelBase
import RunnelStreams
import RunnelTree

/// Groups that count their messages, and random operations on few of them.
enum ChatResources {
  static func registry() throws -> ResourceRegistry {
    var registry = ResourceRegistry()
    try registry.resource("group", path: "/group/@")
    try registry.resource("message", path: "/group_message/$group/@")
    try registry.counter("group", name: "message_count", counting: "message")
    try registry.counter(
      "group", name: "pinned_count", counting: "message",
      predicate: ChildPredicate(parsing: "pinned == true"))
    try registry.cascade(from: "group", to: "message")
    try registry.log(at: "/action")
    return registry
  }

  /// Puts a record in place; a message is one of the group `g`.
  static func create(
    _ resource: String, _ key: String, _ value: JSONValue
  ) throws -> ResourceOperation {
    ResourceOperation(
      .create, try ResourceObject(resource, key: key, value: value),
      in: ["group": try ResourceObject("group", key: "g")])
  }

  static func operation(_ random: inout SeededRandom) throws -> ResourceOperation {
    let kinds: [ResourceOperation.Kind] = [
      .create, .create, .update, .destroy, .toggle(), .createOrUpdate(),
    ]
    let kind = kinds[Int.random(in: 0..<kinds.count, using: &random)]
    let group = try ResourceObject("group", key: Bool.random(using: &random) ? "g" : "h")
    if Int.random(in: 0..<4, using: &random) == 0 {
      var object = group
      object.value = ["name": "G", "message_count": 99]
      return ResourceOperation(kind, object)
    }
    let key = "m\(Int.random(in: 0..<4, using: &random))"
    let value: JSONValue = ["text": "x", "pinned": .bool(Bool.random(using: &random))]
    return ResourceOperation(
      kind, try ResourceObject("message", key: key, value: value), in: ["group": group])
  }

  /// A counter that is not the count of what is stored; nil if all are.
  static func fault(in root: Node) -> String? {
    for group in children(of: root, "group") {
      let messages =
        children(of: root, "group_message")
        .first { $0.key == group.key }?.node.children ?? []
      let pinned = messages.count { $0.node.json["pinned"] == true }
      for (field, count) in [("message_count", messages.count), ("pinned_count", pinned)] {
        let stored = group.node.json[field] ?? 0
        if stored != .number(JSONNumber(Int64(count))) {
          return "\(group.key) \(field): \(stored.jsonText()) for \(count)"
        }
      }
    }
    return nil
  }

  private static func children(of root: Node, _ name: String) -> [Child] {
    root.children.first { $0.key.text == name }?.node.children ?? []
  }
}
