import RunnelBase
import RunnelTree
import Testing

@testable import RunnelStreams

/// Groups with messages and likes, users, and a tree in memory in which operations are carried out.
struct ResourceWorld {
  var registry: ResourceRegistry
  var tree = MemoryTree()
  var now: Int64 = 1_700_000_000_000
  var recordsMax = ResourceLimits.recordsMax
  private let keys = KeySource()

  /// What most tests need.
  static func chat() throws -> ResourceRegistry {
    var registry = ResourceRegistry()
    try registry.resource(
      "user", path: "/user/@",
      schema: ResourceSchema([try FieldRule("name", .text(length: 1...20), isRequired: true)]))
    try registry.resource(
      "group", path: "/group/@", schema: ResourceSchema([try FieldRule("name", .text())]))
    try registry.resource(
      "message", path: "/group_message/$group/@",
      schema: ResourceSchema([
        try FieldRule("text", .text(length: 0...1000)), try FieldRule("from", .reference("user")),
        try FieldRule("pinned", .boolean),
      ]))
    try registry.resource("like", path: "/message_like/$group/$message/$user")
    try registry.counter("group", name: "message_count", counting: "message")
    try registry.counter(
      "group", name: "pinned_count", counting: "message",
      predicate: ChildPredicate(parsing: "pinned == true"))
    try registry.counter("user", name: "message_count", counting: "message")
    try registry.counter("message", name: "like_count", counting: "like")
    try registry.copy(into: "message", from: "user", fields: ["name": "from_name"])
    try registry.cascade(from: "group", to: "message")
    try registry.cascade(from: "message", to: "like")
    try registry.log(at: "/action")
    return registry
  }

  init(_ registry: ResourceRegistry? = nil) throws {
    self.registry = try registry ?? ResourceWorld.chat()
  }

  /// Plans an operation on the tree as it is.
  mutating func plan(_ operation: ResourceOperation) throws -> ResourcePlan {
    now += 1
    var planner = ResourcePlanner(
      registry: registry, reader: tree, now: now, author: "zoe",
      newKey: { [keys, now] in keys.next(now) })
    planner.recordsMax = recordsMax
    return try planner.plan(operation)
  }

  /// Plans an operation, and carries it out.
  @discardableResult
  mutating func perform(_ operation: ResourceOperation) throws -> ResourcePlan {
    let plan = try plan(operation)
    if let write = plan.write { try perform(write) }
    return plan
  }

  mutating func perform(_ write: Write) throws {
    for part in try write.assignments(now: now, reader: tree) { tree.perform(part) }
  }

  /// Carries out an operation whose objects are given in short.
  @discardableResult
  mutating func perform(
    _ kind: ResourceOperation.Kind, _ resource: String, _ key: String?, _ value: JSONValue = .null,
    in context: [String: (resource: String, key: String)] = [:]
  ) throws -> ResourcePlan {
    try perform(ResourceWorld.operation(kind, resource, key, value, in: context))
  }

  static func operation(
    _ kind: ResourceOperation.Kind, _ resource: String, _ key: String?, _ value: JSONValue = .null,
    in context: [String: (resource: String, key: String)] = [:]
  ) throws -> ResourceOperation {
    ResourceOperation(
      kind, ResourceObject(resource, key: try key.map { try Key($0) }, value: value),
      in: try context.mapValues { try ResourceObject($0.resource, key: $0.key) })
  }

  mutating func set(_ path: String, _ json: JSONValue) throws {
    try perform(.set(Path(path), json))
  }

  /// What stands at a place.
  func json(_ path: String) throws -> JSONValue { tree.root[try Path(path)].exportJSON }

  /// What an audit finds.
  func report() throws -> ResourceReport {
    try #require(try ResourceAudit(registry: registry, reader: tree).run())
  }

  /// The entries of the log, oldest first.
  func log() throws -> [ActionLogEntry] {
    tree.root[try Path("action")].children.compactMap { ActionLogEntry(id: $0.key, $0.node) }
  }
}

/// Makes keys as a database does.
private final class KeySource {
  private var random = SeededRandom(seed: 1)
  private var generator = PushIDGenerator()

  func next(_ now: Int64) -> Key { generator.next(now: now, random: &random) }
}

/// The error that `body` throws.
func resourceError(_ body: () throws -> Void) throws -> ResourceError {
  try #require(throws: ResourceError.self) { try body() }
}
