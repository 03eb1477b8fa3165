import Foundation
import RunnelBase
public import RunnelStreams
import RunnelTree
import Yams

/// The resources of a database, read from a YAML file.
///
/// `Resources/docs/resources.md` describes the file. A mistake in it is reported with its line, and nothing of
/// the file is used.
public struct ResourceDefinitionFile: Sendable {
  /// The registered resources, in the order of the file.
  public var registry: ResourceRegistry

  /// The suffix that replaces `.db` in the name of a database to give that of its resources file.
  static let suffix = ".resources.yaml"

  /// Returns the resources file beside a database, such as `chat.resources.yaml` for `chat.db`, or
  /// nil if there is none.
  public static func path(beside database: String) -> String? {
    let stem = database.hasSuffix(".db") ? String(database.dropLast(3)) : database
    let file = stem + suffix
    return FileManager.default.isReadableFile(atPath: file) ? file : nil
  }

  /// Reads a resources file.
  ///
  /// - Throws: `ConfigurationError` if the file cannot be read or has a mistake.
  public init(file: String) throws {
    let yaml: String
    do {
      yaml = try UserFile.text(of: file)
    } catch let error as ConfigurationError {
      throw error
    } catch {
      throw ConfigurationError(
        file: file, line: nil, "The resources file cannot be read: \(error.fileReason)")
    }
    try self.init(yaml: yaml, name: file)
  }

  /// Parses a resources file.
  ///
  /// Resources may refer to later ones.
  ///
  /// - Parameters:
  ///   - yaml: the text of the file.
  ///   - name: the name of the file in errors.
  /// - Throws: `ConfigurationError` with the file, the line and what is expected there.
  public init(yaml: String, name: String) throws {
    let reader = try YAMLObject(
      document: yaml, file: name, listOf: "resources", allowed: ["resources", "log"])
    let resources = try reader.objects(
      "resources",
      allowed: ["name", "path", "paths", "parents", "fields", "only-fields"]
        + ["counters", "copies", "destroy-with", "needs"])
    if resources.isEmpty {
      throw reader.error(
        "A resources file has a list `resources`: `resources:` and `- name: ...`.", at: "resources")
    }
    var registry = ResourceRegistry()
    for resource in resources { try registry.register(resource) }
    for resource in resources { try registry.relate(resource) }
    if let log = try reader.string("log") {
      try reader.wrapping(at: "log") { () throws(ResourceError) in try registry.log(at: log) }
    }
    try reader.wrapping(at: "resources") { () throws(ResourceError) in
      try registry.checkReferences()
    }
    self.registry = registry
  }
}

extension YAMLObject {
  /// Runs `body`, and reports its errors at the value of a name.
  fileprivate func wrapping<Result>(
    at name: String, _ body: () throws(ResourceError) -> Result
  ) throws -> Result {
    do throws(ResourceError) {
      return try body()
    } catch {
      throw self.error("\(error)", at: name)
    }
  }
}

extension ResourceRegistry {
  /// Registers a resource, without its relations to others.
  fileprivate mutating func register(_ object: YAMLObject) throws {
    let name = try object.required("name")
    let path = object.node("paths") == nil ? "path" : "paths"
    let paths = try object.texts("paths") ?? [try object.required("path")]
    let fields = try object.members("fields") { fields, name, value in
      try FieldRule(name, fields.below(value, at: name))
    }
    let schema = ResourceSchema(
      fields, allowsOthers: try !(object.bool("only-fields") ?? false))
    let parents = try object.members("parents") { parents, name, value in
      (name, try parents.text(value))
    }
    try object.wrapping(at: path) { () throws(ResourceError) in
      try resource(
        name, paths: paths, schema: schema,
        parents: Dictionary(parents) { _, last in last })
    }
  }

  /// Registers the relations of a resource to others.
  fileprivate mutating func relate(_ object: YAMLObject) throws {
    let name = try object.required("name")
    for counter in try object.objects("counters", allowed: ["field", "count", "by", "where"]) {
      let (field, member) = (try counter.required("field"), try counter.required("count"))
      let (link, predicate) = (try counter.string("by"), try counter.predicate("where"))
      try counter.wrapping(at: "field") { () throws(ResourceError) in
        try self.counter(name, name: field, counting: member, link: link, predicate: predicate)
      }
    }
    for copy in try object.objects("copies", allowed: ["from", "by", "fields"]) {
      let (owner, link) = (try copy.required("from"), try copy.string("by"))
      let pairs = try copy.members("fields") { fields, source, target in
        (source: source, copy: try fields.text(target))
      }
      if pairs.isEmpty {
        throw copy.error("A copy has `fields`: `name: from_name`.", at: "fields")
      }
      try copy.wrapping(at: "from") { () throws(ResourceError) in
        try self.copy(into: name, from: owner, link: link, pairs: pairs)
      }
    }
    for cascade in try object.objects("destroy-with", allowed: ["owner", "by"]) {
      let (owner, link) = (try cascade.required("owner"), try cascade.string("by"))
      try cascade.wrapping(at: "owner") { () throws(ResourceError) in
        try self.cascade(from: owner, to: name, link: link)
      }
    }
    for need in try object.objects("needs", allowed: ["owner", "by"]) {
      let (owner, link) = (try need.required("owner"), try need.string("by"))
      try need.wrapping(at: "owner") { () throws(ResourceError) in
        try self.require(owner, for: name, link: link)
      }
    }
  }
}

extension FieldRule {
  private static let kinds = [
    "text", "integer", "number", "boolean", "time", "choice", "reference", "object", "any",
  ]

  fileprivate init(_ name: String, _ object: YAMLObject) throws {
    try object.check(
      allowed: ["kind", "required", "initial", "length", "range", "choices", "to"])
    let kind = try FieldRule.kind(object)
    let isRequired = try object.bool("required") ?? false
    let initial = try object.node("initial").map { try object.json($0) }
    self = try object.wrapping(at: "kind") { () throws(ResourceError) in
      try FieldRule(name, kind, isRequired: isRequired, initial: initial)
    }
  }

  private static func kind(_ object: YAMLObject) throws -> Kind {
    switch try object.required("kind") {
    case "text":
      return .text(length: try object.range("length", 0, .max) { $0.integer.map { Int($0) } })
    case "integer": return .integer(try object.range("range", .min, .max) { $0.integer })
    case "number":
      return .number(try object.range("range", -.infinity, .infinity) { $0.double })
    case "boolean": return .boolean
    case "time": return .time
    case "choice":
      let choices = try object.values("choices").compactMap { Leaf($0) }
      if choices.isEmpty {
        throw object.error("A choice has a list `choices` of texts, numbers, true and false.")
      }
      return .choice(choices)
    case "reference": return .reference(try object.required("to"))
    case "object": return .object
    case "any": return .any
    case let other:
      throw object.error(
        "`kind` is one of \(kinds.joined(separator: ", ")), not `\(other)`.", at: "kind")
    }
  }
}

extension YAMLObject {
  /// Returns the mapping that is the value of a name in this mapping.
  fileprivate func below(_ node: Yams.Node, at name: String) throws -> YAMLObject {
    guard node.mapping != nil else {
      throw error("The field `\(name)` has a `kind`: `{ kind: text }`.", at: name)
    }
    return try self.object(node)
  }

  /// Returns a list of texts, or nil if it is missing.
  fileprivate func texts(_ name: String) throws -> [String]? {
    guard let node = node(name) else { return nil }
    guard let sequence = node.sequence else { throw error("`\(name)` is a list.", at: name) }
    return try sequence.map { try text($0) }
  }

  /// Returns a list of values; empty if it is missing.
  fileprivate func values(_ name: String) throws -> [JSONValue] {
    guard let node = node(name) else { return [] }
    guard let sequence = node.sequence else { throw error("`\(name)` is a list.", at: name) }
    return try sequence.map { try json($0) }
  }

  /// Returns a range given as `[1, 9]`, where null stands for no bound; nil if it is missing.
  fileprivate func range<Value>(
    _ name: String, _ least: Value, _ greatest: Value, _ value: (JSONNumber) -> Value?
  ) throws -> ClosedRange<Value>? {
    let bounds = try values(name)
    if node(name) == nil { return nil }
    func bound(_ json: JSONValue, _ open: Value) -> Value? {
      switch json {
      case .null: open
      case .number(let number): value(number)
      default: nil
      }
    }
    guard bounds.count == 2, let lower = bound(bounds[0], least),
      let upper = bound(bounds[1], greatest), lower <= upper
    else {
      throw error(
        "`\(name)` is two numbers, the least and the greatest: `[1, 9]`; null for no bound.",
        at: name)
    }
    return lower...upper
  }
}
