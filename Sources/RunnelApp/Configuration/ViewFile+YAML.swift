import RunnelBase
import RunnelStreams
import RunnelTree
public import RunnelWorkspace
import Yams

extension ViewFile {
  /// Parses a views file.
  ///
  /// - Parameters:
  ///   - yaml: the text of the file.
  ///   - name: the name of the file in errors.
  ///   - pageSize: the number of rows of a page, if the file does not set it.
  /// - Throws: `ConfigurationError` with the file, the line and what is expected there.
  public init(yaml: String, name: String, pageSize: Int = Settings().pageSize) throws {
    let read = try ViewFile.reading(yaml, name: name, pageSize: pageSize)
    if let problem = read.problem { throw problem }
    self = read.file
  }

  /// Reads the views of a file that have no mistake.
  ///
  /// - Throws: `ConfigurationError` if no view can be read.
  static func reading(_ yaml: String, name: String, pageSize: Int) throws -> ReadViews {
    let reader = try YAMLObject(
      document: yaml, file: name, listOf: "views", allowed: ["views", "me"])
    let me = try reader.string("me")
    guard let list = reader.node("views"), let sequence = list.sequence else {
      throw reader.error(
        "A views file has a list `views`: `views:` and `- name: ...`.", at: "views")
    }
    let mistakes = Mistakes()
    var read: [(view: ViewDefinition, node: Yams.Node)] = []
    var leftOut: [String: ConfigurationError] = [:]
    for node in sequence {
      let before = mistakes.count
      let view = try mistakes.reading {
        try ViewDefinition(YAMLObject(node, file: name, allowed: nil), mistakes, pageSize: pageSize)
      }
      if let view, mistakes.count == before { read.append((view, node)) }
      if let mistake = mistakes.first(after: before), let name = node["name"]?.string {
        leftOut[name] = mistake
      }
    }
    if mistakes.count == 0, read.isEmpty {
      throw reader.error("The list `views` is empty: describe one view or more.", at: "views")
    }
    // A view with a mistake may be the one that another view is opened from.
    let areComplete = mistakes.count == 0
    var views: [ViewDefinition] = []
    for (view, node) in read {
      guard let problem = view.parameterProblem(among: read.map(\.view)) else {
        views.append(view)
        continue
      }
      let mistake = try YAMLObject(node, file: name, allowed: nil)
        .error(problem, at: view.from == nil ? "path" : "from")
      leftOut[view.name] = mistake
      if areComplete { mistakes.note(mistake) }
    }
    let problem = mistakes.error
    if let problem, views.isEmpty { throw problem }
    return ReadViews(file: ViewFile(me: me, views: views), problem: problem, leftOut: leftOut)
  }
}

/// What could be read of a views file.
struct ReadViews {
  var file: ViewFile
  /// All mistakes of the file; nil if there are none.
  var problem: ConfigurationError?
  /// The views that cannot be used, by name, each with its first mistake.
  var leftOut: [String: ConfigurationError]
}

extension ViewDefinition {
  /// Reads a view; its mistakes are kept, and values with a mistake are replaced by unusable ones.
  fileprivate init(_ object: YAMLObject, _ mistakes: Mistakes, pageSize: Int) throws {
    let before = mistakes.count
    _ = try mistakes.reading {
      try object.check(
        allowed: SourceDefinition.names + [
          "name", "from", "also", "sections", "columns", "compose", "new", "notify",
        ])
    }
    let name = try mistakes.reading { try object.required("name") } ?? ""
    let source = try mistakes.reading {
      try SourceDefinition(object, defaultPath: nil, pageSize: pageSize)
    }
    self.init(name: name, source: source ?? SourceDefinition(path: .root), columns: [])
    also =
      try mistakes.reading {
        try object.objects("also", allowed: SourceDefinition.names)
          .map {
            // All of them are to be seen at once: no fetch-more row stands for the rest.
            try SourceDefinition(
              $0, defaultPath: source?.path ?? .root, pageSize: SourceDefinition.keptRows)
          }
      } ?? []
    from = try mistakes.reading { try object.string("from") } ?? nil
    sections = try object.parts("sections", mistakes, SectionRule.init)
    columns = try object.parts("columns", mistakes, ColumnDefinition.init)
    notices = try mistakes.reading { try object.notices("notify") } ?? .none
    compose = try mistakes.reading { try object.path("compose") } ?? nil
    template =
      try mistakes.reading {
        try object.members("new") { new, name, value in
          TemplateField(path: try new.path(text: name, at: name), value: try new.json(value))
        }.flatMap(\.flattened)
      } ?? []
    // Another mistake may be the reason why there are none.
    if columns.isEmpty, mistakes.count == before {
      throw object.error(
        "A view has a list `columns`: describe one column or more.", at: "columns")
    }
  }
}

extension TemplateField {
  /// The field, or if its value is an object, a field for each value in it; objects with a name that
  /// begins with a dot, such as `.sv`, are values themselves.
  fileprivate var flattened: [TemplateField] {
    guard case .object(let members) = value, !members.isEmpty,
      !members.contains(where: { $0.name.hasPrefix(".") })
    else { return [self] }
    return members.flatMap { member -> [TemplateField] in
      // A name that is no key is refused when a record is written.
      guard let below = try? path.appending(Path(member.name)) else { return [self] }
      return TemplateField(path: below, value: member.value).flattened
    }
  }
}

extension SourceDefinition {
  fileprivate static let names = [
    "path", "order", "anchor", "descending", "page", "prefetch", "keep", "equal-to", "where",
  ]

  fileprivate init(_ object: YAMLObject, defaultPath: Path?, pageSize: Int) throws {
    guard let path = try object.pathWithParameters("path") ?? defaultPath else {
      throw object.error("A view has a `path`: the place of its collection.")
    }
    self.init(path: path)
    order = try object.order("order") ?? .key
    switch try object.string("anchor") {
    case "last": anchor = .last
    case "first", nil: anchor = .first
    case let other?:
      throw object.error("`anchor` is `first` or `last`, not `\(other)`.", at: "anchor")
    }
    isDescending = try object.bool("descending") ?? false
    let own = try object.integer("page", in: 1...Settings.pageSizeMax)
    page = own ?? pageSize
    hasOwnPage = own != nil
    prefetch = try object.integer("prefetch", in: 1...Settings.pageSizeMax)
    keep = try SourceDefinition.keep(object)
    if let node = object.node("equal-to") {
      guard let leaf = Leaf(try object.json(node)) else {
        throw object.error("`equal-to` is a text, a number or a boolean.", at: "equal-to")
      }
      equalTo = .leaf(leaf)
    }
    filter = try object.predicate("where")
    do {
      _ = try request()
    } catch {
      throw object.error("\(error)")
    }
  }
}

extension SourceDefinition {
  /// Returns the number of rows to keep, or nil for all rows (`off` or 0 in the file).
  private static func keep(_ object: YAMLObject) throws -> Int? {
    guard let node = object.node("keep") else { return keptRows }
    if try object.text(node) == "off" { return nil }
    guard let count = try? object.integer("keep", in: 0...keepMax) else {
      throw object.error(
        "`keep` is how many rows stay loaded, a whole number up to \(keepMax), or `off` for all.",
        at: "keep")
    }
    return count == 0 ? nil : count
  }

  /// The greatest number of rows that a view can ask to keep.
  static let keepMax = 100_000_000
}

extension SectionRule {
  fileprivate init(_ object: YAMLObject) throws {
    if object.node("where") != nil {
      try object.check(allowed: ["title", "where"])
      let conditions = try object.members("where") { object, name, value in
        (try object.field(text: name, at: name), try object.json(value))
      }
      // Two names may stand for one field: the last one counts.
      self = .match(
        title: try object.required("title"), Dictionary(conditions) { _, last in last })
    } else if let field = try object.field("field") {
      try object.check(allowed: ["field", "titles"])
      let titles = try object.members("titles") { object, value, title in
        SectionTitle(value: value, title: try object.text(title))
      }
      self = .field(field, titles: titles)
    } else if let field = try object.field("day") {
      try object.check(allowed: ["day"])
      self = .day(field)
    } else {
      throw object.error("A section rule has `where` with `title`, or `field`, or `day`.")
    }
  }
}

extension ColumnDefinition {
  fileprivate init(_ object: YAMLObject) throws {
    try object.check(allowed: ["field", "format", "width", "screen", "muted", "color"])
    guard let field = try object.field("field") else {
      throw object.error("A column has a `field`.")
    }
    self.init(field: field)
    if let name = try object.string("format") {
      guard let format = Format(rawValue: name) else {
        let known = Format.allCases.map(\.rawValue).joined(separator: ", ")
        throw object.error("`format` is one of \(known), not `\(name)`.", at: "format")
      }
      self.format = format
    }
    width = try object.integer("width", in: 1...500)
    minimumScreen = try object.integer("screen", in: 0...500) ?? 0
    isMuted = try object.bool("muted") ?? false
    isColored = try object.bool("color") ?? false
  }
}

extension YAMLObject {
  /// Returns a path in which a piece that begins with `$` is a parameter; nil if it is missing.
  fileprivate func pathWithParameters(_ name: String) throws -> Path? {
    guard let text = try string(name) else { return nil }
    guard text.contains("$") else { return try path(text: text, at: name) }
    let pattern: PathPattern
    do {
      pattern = try PathPattern(text)
    } catch {
      throw self.error("\(error)", at: name)
    }
    return try Path(
      unchecked: pattern.pieces.map { piece in
        switch piece {
        case .literal(let key): key
        case .name(let parameter): Key(unchecked: "$" + parameter)
        case .key:
          throw self.error("A path of a view has no `@`: its records stand in it.", at: name)
        }
      })
  }

  /// Returns a value for each element of a list at a name; the mistakes are kept.
  fileprivate func parts<Part>(
    _ name: String, _ mistakes: Mistakes, _ make: (YAMLObject) throws -> Part
  ) throws -> [Part] {
    guard let node = node(name) else { return [] }
    guard let sequence = node.sequence else {
      _ = try mistakes.reading { throw error("`\(name)` is a list.", at: name) }
      return []
    }
    return try sequence.compactMap { node in try mistakes.reading { try make(object(node)) } }
  }
}
