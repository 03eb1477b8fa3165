import RunnelBase
import RunnelTerminal
import Yams

/// Reads changes of a theme's roles, from a theme file or the configuration.
struct RoleReader: Sendable {
  /// The changes read so far.
  private(set) var roles = RoleChanges()
  /// The mistakes; roles with a mistake are left out.
  private(set) var problems: [ConfigurationError] = []
  /// The roles that were read, with their lines, in the order of the file.
  private var places: [(role: ThemeRole, line: Int?)] = []
  private var file = ""

  private static let members = ["foreground", "background", "attributes"]
  private static let attributes: [(name: String, attribute: Style.Attributes)] = [
    ("bold", .bold), ("dim", .dim), ("italic", .italic), ("underline", .underline),
    ("reverse", .reverse),
  ]

  /// Reads a mapping of roles.
  mutating func read(_ object: YAMLObject) {
    file = object.file
    for (name, node, line) in object.members {
      do {
        try read(name, node, line, object)
      } catch let error as ConfigurationError {
        problems.append(error)
      } catch {
        problems.append(ConfigurationError(file: file, line: line, "\(error)"))
      }
    }
    dropCircles()
  }

  private mutating func read(
    _ name: String, _ node: Yams.Node, _ line: Int?, _ object: YAMLObject
  ) throws {
    guard let role = ThemeRole(name: name) else {
      let nearest = Spelling.nearest(to: name, among: ThemeRole.allCases.map(\.name))
      throw object.error(
        "There is no role `\(name)`: "
          + (nearest.map { "did you mean `\($0)`?" } ?? "`runnel config roles` lists all."),
        at: name)
    }
    roles[role] =
      node.mapping == nil
      ? try look(node, at: name, object) : .changed(try change(try object.object(node)))
    places.append((role, line))
  }

  /// Returns a color, or the look of another role.
  private func look(
    _ node: Yams.Node, at name: String, _ object: YAMLObject
  ) throws -> RoleChanges.Look {
    let text = try text(of: node, at: name, object)
    if let role = ThemeRole(name: text) { return .like(role) }
    if let color = ThemeColor(text) { return .changed(StyleChange(foreground: color)) }
    let known = ThemeRole.allCases.map(\.name) + ThemeColor.names
    throw object.error(
      "`\(text)` is neither a color nor a role" + RoleReader.advice(for: text, among: known),
      at: name)
  }

  private func change(_ object: YAMLObject) throws -> StyleChange {
    try object.check(allowed: RoleReader.members)
    return StyleChange(
      foreground: try color("foreground", of: object),
      background: try color("background", of: object), attributes: try attributes(of: object))
  }

  private func color(_ name: String, of object: YAMLObject) throws -> ThemeColor? {
    guard let node = object.node(name) else { return nil }
    let text = try text(of: node, at: name, object)
    if let color = ThemeColor(text) { return color }
    throw object.error(
      "`\(text)` is no color" + RoleReader.advice(for: text, among: ThemeColor.names), at: name)
  }

  private static func advice(for text: String, among known: [String]) -> String {
    Spelling.nearest(to: text, among: known).map { ": did you mean `\($0)`?" }
      ?? ". Colors are 0 to 255, \"#rrggbb\" in quotes, or one of "
      + "\(ThemeColor.names.joined(separator: ", "))."
  }

  /// Returns a text, which must not be empty; an unquoted `#` begins a comment.
  private func text(
    of node: Yams.Node, at name: String, _ object: YAMLObject
  ) throws -> String {
    if node.scalar?.string.isEmpty == true || node.null != nil {
      throw object.error(
        "`\(name)` has no value: a color such as \"#87afd7\" stands in quotes, since # begins a "
          + "comment.", at: name)
    }
    return try object.text(node)
  }

  private func attributes(of object: YAMLObject) throws -> Style.Attributes? {
    guard let node = object.node("attributes") else { return nil }
    let names = try node.sequence.map { try $0.map(object.text) } ?? [object.text(node)]
    return try names.reduce(into: Style.Attributes()) { result, name in
      let known = RoleReader.attributes.map(\.name)
      guard let found = RoleReader.attributes.first(where: { $0.name == name }) else {
        throw object.error(
          "`attributes` is a list of \(known.joined(separator: ", ")), and [] for none, not "
            + "`\(name)`"
            + (Spelling.nearest(to: name, among: known).map { ": did you mean `\($0)`?" } ?? "."),
          at: "attributes")
      }
      result.insert(found.attribute)
    }
  }

  /// Removes roles that refer to each other in a circle.
  private mutating func dropCircles() {
    let all = roles
    for (role, line) in places {
      let chain = all.chain(from: role)
      guard let last = chain.last, last == role, chain.count > 1 else { continue }
      roles[role] = nil
      let names = chain.dropFirst().map { "`\($0.name)`" }.joined(separator: ", which is like ")
      problems.append(
        ConfigurationError(
          file: file, line: line,
          "`\(role.name)` is like \(names): one of them needs colors of its own."))
    }
  }

  // MARK: Warnings

  /// Returns warnings about roles that are hard to read in the theme of the options.
  func warnings(_ options: TerminalOptions) -> [ConfigurationError] {
    let read = places.filter { roles[$0.role] != nil }
    return ThemeContrast.findings(in: options, changed: read.map(\.role)).map { finding in
      let line = read.first { $0.role == finding.role }?.line
      let advice =
        options.baseTheme == nil
        ? " A theme for one kind of background names its `\(finding.theme.rawValue)`." : ""
      return ConfigurationError(
        file: file, line: line,
        "`\(finding.role.name)` is hard to read: its contrast is \(tenths(finding.contrast)) on "
          + "\(finding.ground.hexText), and \(tenths(finding.least)) at least in "
          + "`\(finding.theme.rawValue)`.\(advice)")
    }
  }

  private func tenths(_ value: Double) -> String {
    let whole = Int(value * 10)
    return "\(whole / 10).\(whole % 10)"
  }

  /// Returns the words for attributes, as they are read.
  static func names(of attributes: Style.Attributes) -> [String] {
    self.attributes.filter { attributes.contains($0.attribute) }.map(\.name)
  }
}
