package import RunnelBase
import RunnelTerminal
import RunnelTree

// Views in the format of a views file: JSON, which is also valid YAML.

extension ViewFile {
  /// The content of the file, as `init(yaml:name:)` reads it.
  package var json: JSONValue {
    let list = JSONMember("views", .array(views.map(\.json)))
    return .object([me.map { JSONMember("me", .string($0)) }, list].compactMap(\.self))
  }
}

extension ViewDefinition {
  fileprivate var json: JSONValue { .object(members) }

  /// The members of the view in a views file.
  var members: [JSONMember] {
    var members = [JSONMember("name", .string(name))] + source.members
    if let from { members.append(JSONMember("from", .string(from))) }
    if !also.isEmpty {
      members.append(JSONMember("also", .array(also.map { .object($0.members) })))
    }
    if !sections.isEmpty { members.append(JSONMember("sections", .array(sections.map(\.json)))) }
    members.append(JSONMember("columns", .array(columns.map(\.json))))
    switch notices {
    case .none: break
    case .usual: members.append(JSONMember("notify", true))
    case .by(let ways):
      members.append(JSONMember("notify", .array(ways.map { .string($0.rawValue) })))
    }
    if let compose { members.append(JSONMember("compose", .string(compose.description))) }
    if !template.isEmpty {
      let fields = template.map { JSONMember($0.path.description, $0.value) }
      members.append(JSONMember("new", .object(fields)))
    }
    return members
  }
}

extension SourceDefinition {
  fileprivate var members: [JSONMember] {
    var members = [
      JSONMember("path", .string((writtenPath ?? path).description)),
      JSONMember("order", .string(order.description)),
      JSONMember("anchor", anchor == .last ? "last" : "first"),
      JSONMember("descending", .bool(isDescending)),
    ]
    if hasOwnPage { members.append(JSONMember("page", .int(page))) }
    if let prefetch { members.append(JSONMember("prefetch", .int(prefetch))) }
    if keep != SourceDefinition.keptRows { members.append(JSONMember("keep", .int(keep ?? 0))) }
    if case .leaf(let leaf)? = equalTo { members.append(JSONMember("equal-to", leaf.json)) }
    if let filter { members.append(JSONMember("where", .string(filter.description))) }
    return members
  }
}

extension SectionRule {
  fileprivate var json: JSONValue {
    switch self {
    case .match(let title, let conditions):
      let members = conditions.map { JSONMember($0.text, $1) }.sorted { $0.name < $1.name }
      return ["title": .string(title), "where": .object(members)]
    case .field(let field, let titles):
      if titles.isEmpty { return ["field": .string(field.text)] }
      let members = titles.map { JSONMember($0.value, .string($0.title)) }
      return ["field": .string(field.text), "titles": .object(members)]
    case .day(let field): return ["day": .string(field.text)]
    }
  }
}

extension ColumnDefinition {
  fileprivate var json: JSONValue {
    var members = [
      JSONMember("field", .string(field.text)), JSONMember("format", .string(format.rawValue)),
      JSONMember("screen", .int(minimumScreen)), JSONMember("muted", .bool(isMuted)),
      JSONMember("color", .bool(isColored)),
    ]
    if let width { members.append(JSONMember("width", .int(width))) }
    return .object(members)
  }
}

extension FieldPath {
  /// The text that `init(_:)` parses.
  package var text: String {
    switch self {
    case .key: "$key"
    case .value: "$value"
    case .path(let path): path.text
    }
  }
}
