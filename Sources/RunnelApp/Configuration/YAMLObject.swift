import RunnelBase
import RunnelTree
import RunnelWorkspace
import Yams

/// An error in a file that the user wrote, with its place.
public struct ConfigurationError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The file, as the user named it.
  public var file: String
  /// The line, from 1, or nil if the error is about the whole file.
  public var line: Int?
  /// The error, and what is expected.
  public var message: String
  /// Further errors in the file, in the order of its lines.
  public var others: [ConfigurationError] = []

  /// Makes an error.
  public init(file: String, line: Int?, _ message: String) {
    self.file = file
    self.line = line
    self.message = message
  }

  /// The file, the line and the message in the format of editors and compilers, followed by the
  /// other errors.
  public var description: String {
    let text = line.map { "\(file):\($0): \(message)" } ?? "\(file): \(message)"
    return ([text] + others.map(\.description)).joined(separator: "\n")
  }
}

extension ConfigurationError {
  /// The same text for a warning.
  public var warningText: String {
    ConfigurationError(file: file, line: line, "warning: \(message)").description
  }

  /// Makes an error from one of the YAML parser, in one line with its place.
  fileprivate init(_ error: any Error, file: String) {
    switch error {
    case YamlError.scanner(let context, let problem, let mark, _),
      YamlError.parser(let context, let problem, let mark, _),
      YamlError.composer(let context, let problem, let mark, _):
      let words = [context?.text, problem].compactMap(\.self).joined(separator: ": ")
      self.init(file: file, line: mark.line, "This is not YAML: \(words).")
    case YamlError.reader(let problem, let offset, _, let yaml):
      let line = offset.map { yaml.prefix($0).count { $0.isNewline } + 1 }
      self.init(file: file, line: line, "This is not YAML: \(problem).")
    case YamlError.duplicatedKeysInMapping(let duplicates, let context):
      let names = duplicates.sorted().map { "`\($0)`" }.joined(separator: ", ")
      self.init(
        file: file, line: context.mark.line,
        "\(names) stands twice in the names that begin here: once is expected.")
    default: self.init(file: file, line: nil, "This is not YAML: \(error)")
    }
  }
}

/// A YAML mapping with its place, for errors that name it.
struct YAMLObject {
  let file: String
  private let line: Int?
  private let mapping: [(name: String, value: Yams.Node, line: Int?)]

  /// The names with their values and lines, in order.
  var members: [(name: String, value: Yams.Node, line: Int?)] { mapping }

  /// Makes an object of a mapping.
  ///
  /// Other names than the `allowed` ones are refused; nil allows all, for a caller that checks them
  /// later.
  init(_ node: Yams.Node, file: String, allowed: [String]?) throws {
    self.file = file
    line = node.mark?.line
    guard let mapping = node.mapping else {
      throw ConfigurationError(
        file: file, line: node.mark?.line, "Names with values are expected here: `name: value`.")
    }
    self.mapping = mapping.map { ($0.key.string ?? "", $0.value, $0.key.mark?.line) }
    if let allowed { try check(allowed: allowed) }
  }

  /// Makes an object of the text of a file that has a list named `list`.
  init(document yaml: String, file: String, listOf list: String, allowed: [String]) throws {
    guard let root = try YAMLObject.root(of: yaml, file: file) else {
      throw ConfigurationError(file: file, line: 1, "The file is empty: it has a list `\(list)`.")
    }
    try self.init(root, file: file, allowed: allowed)
  }

  /// Makes an object of the text of a file in which everything is optional; nil if the file is
  /// empty.
  init?(settings yaml: String, file: String) throws {
    guard let root = try YAMLObject.root(of: yaml, file: file), root.null == nil else { return nil }
    try self.init(root, file: file, allowed: nil)
  }

  /// Returns the first value of a file, or nil if the file is empty.
  private static func root(of yaml: String, file: String) throws -> Yams.Node? {
    try YAMLMeasure.check(yaml, file: file)
    do {
      return try Yams.compose(yaml: yaml)
    } catch {
      throw ConfigurationError(error, file: file)
    }
  }

  func check(allowed: [String]) throws {
    for (name, _, line) in mapping where !allowed.contains(name) {
      let meant =
        Spelling.nearest(to: name, among: allowed.sorted())
        .map { ": did you mean `\($0)`?" } ?? "."
      throw ConfigurationError(
        file: file, line: line,
        "`\(name)` is not known here\(meant) Known: \(allowed.sorted().joined(separator: ", ")).")
    }
  }

  func error(_ message: String, at name: String? = nil) -> ConfigurationError {
    let place = mapping.first { $0.name == name }?.line
    return ConfigurationError(file: file, line: place ?? line, message)
  }

  func node(_ name: String) -> Yams.Node? { mapping.first { $0.name == name }?.value }

  // MARK: Scalars

  func string(_ name: String) throws -> String? {
    guard let node = node(name) else { return nil }
    return try text(node)
  }

  func text(_ node: Yams.Node) throws -> String {
    guard let text = node.scalar?.string else {
      throw ConfigurationError(file: file, line: node.mark?.line, "A text is expected here.")
    }
    return text
  }

  func required(_ name: String) throws -> String {
    guard let text = try string(name), !text.isEmpty else {
      throw error("`\(name)` is missing: a text is expected.", at: name)
    }
    return text
  }

  func bool(_ name: String) throws -> Bool? {
    guard let node = node(name) else { return nil }
    // Settings may say yes, no, on and off too, which are texts as values.
    guard node.scalar?.style == .plain, let value = node.bool else {
      throw error("`\(name)` is true or false.", at: name)
    }
    return value
  }

  func integer(_ name: String, in range: ClosedRange<Int>) throws -> Int? {
    guard let node = node(name) else { return nil }
    guard case .number(let number) = try json(node), let value = number.integer,
      let value = Int(exactly: value), range.contains(value)
    else {
      throw error(
        "`\(name)` is a whole number from \(range.lowerBound) to \(range.upperBound).", at: name)
    }
    return value
  }

  // MARK: Paths

  func path(_ name: String) throws -> Path? {
    try string(name).map { try path(text: $0, at: name) }
  }

  func path(text: String, at name: String? = nil) throws -> Path {
    do {
      return try Path(text)
    } catch {
      throw self.error("\(error)", at: name)
    }
  }

  func field(_ name: String) throws -> FieldPath? {
    try string(name).map { try field(text: $0, at: name) }
  }

  func field(text: String, at name: String? = nil) throws -> FieldPath {
    do {
      return try FieldPath(text)
    } catch {
      throw self.error("\(error)", at: name)
    }
  }

  /// Returns an order: one component, several separated by commas, or a list; nil if it is missing.
  func order(_ name: String) throws -> QueryIndex? {
    guard let node = node(name) else { return nil }
    do {
      if let sequence = node.sequence {
        return try QueryIndex(sequence.flatMap { try SortKey.list(try text($0)) })
      }
      return try QueryIndex(SortKey.list(text(node)))
    } catch let error as TreeError {
      throw self.error("\(error)", at: name)
    }
  }

  /// Returns the condition on rows, or nil if it is missing.
  func predicate(_ name: String) throws -> ChildPredicate? {
    guard let text = try string(name) else { return nil }
    do {
      return try ChildPredicate(parsing: text)
    } catch {
      throw self.error("`\(name)`, \(error)", at: name)
    }
  }

  // MARK: Collections

  /// Returns the mapping at a name, which must exist.
  func member(_ name: String) throws -> YAMLObject {
    guard let node = node(name) else { throw error("`\(name)` is missing.") }
    return try object(node)
  }

  /// Returns a mapping of the same file.
  func object(_ node: Yams.Node) throws -> YAMLObject {
    try YAMLObject(node, file: file, allowed: nil)
  }

  func objects(_ name: String, allowed: [String]?) throws -> [YAMLObject] {
    guard let node = node(name) else { return [] }
    guard let sequence = node.sequence else {
      throw error("`\(name)` is a list.", at: name)
    }
    return try sequence.map { try YAMLObject($0, file: file, allowed: allowed) }
  }

  /// Returns the results of a function for each name and value of the mapping at a name, in order;
  /// empty if it is missing.
  ///
  /// The function also gets the mapping, for errors that name a place in it.
  func members<Member>(
    _ name: String, _ body: (_ object: YAMLObject, _ name: String, Yams.Node) throws -> Member
  ) throws -> [Member] {
    guard let node = node(name) else { return [] }
    let object = try YAMLObject(node, file: file, allowed: nil)
    return try object.mapping.map { try body(object, $0.name, $0.value) }
  }

  /// Returns a YAML value as JSON.
  func json(_ node: Yams.Node) throws -> JSONValue {
    if let mapping = node.mapping {
      return .object(try mapping.map { JSONMember(try text($0.key), try json($0.value)) })
    }
    if let sequence = node.sequence { return .array(try sequence.map { try json($0) }) }
    let scalar = try text(node)
    return node.scalar?.style == .plain ? YAMLScalar.json(scalar) : .string(scalar)
  }
}
