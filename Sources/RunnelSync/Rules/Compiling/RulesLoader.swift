import RunnelBase
import RunnelTree

/// Loads the rules of a file: reads it, checks all of it, and compiles every expression.
///
/// Source: rules language, sections 1 and 7.
struct RulesLoader {
  /// The budget of one file for the tables of regular expressions.
  private static let patternBudget = 20_000_000

  let source: RulesSource
  private var mistakes: MistakeList
  private(set) var program = RuleProgram()
  private(set) var nodes: [RuleNode] = []
  private(set) var rules: [Rule] = []
  /// The first step of each rule.
  private(set) var roots: [RuleStep.Index] = []
  private(set) var indexes: [RulesIndex] = []
  private(set) var document: RulesDocument?
  private var patternBudget = RulesLoader.patternBudget

  /// Loads a file.
  ///
  /// - Throws: `RulesError` with all mistakes of the file.
  init(_ bytes: [UInt8]) throws(RulesError) {
    source = RulesSource(bytes)
    mistakes = MistakeList(source)
    if bytes.count > RulesLimits.fileBytesMax {
      mistakes.add(
        "The file has \(bytes.count) bytes: \(RulesLimits.fileBytesMax) are allowed.", at: 0)
    } else {
      var parser = RulesDocumentParser(source, mistakes)
      document = parser.document()
      mistakes = parser.mistakes
      if let document { readFile(document) }
    }
    if !mistakes.mistakes.isEmpty { throw RulesError(mistakes.mistakes) }
  }

  private mutating func readFile(_ document: RulesDocument) {
    guard case .object(let members) = document.content else {
      mistakes.add(
        "A rules file is an object with the one member \"rules\", not \(document.kind).",
        at: document.offset)
      return
    }
    var rules: RulesDocument?
    for member in members {
      if member.name.string != "rules" {
        mistakes.add(
          "\"\(member.name.string)\" does not belong here: the file has the one member \"rules\".",
          at: member.offset)
      } else if rules != nil {
        mistakes.add("\"rules\" stands here a second time: join both.", at: member.offset)
      } else {
        rules = member.value
      }
    }
    guard let rules else {
      if members.isEmpty || mistakes.mistakes.isEmpty {
        mistakes.add("The member \"rules\" is missing: {\"rules\": {...}}.", at: document.offset)
      }
      return
    }
    guard case .object = rules.content else {
      mistakes.add("\"rules\" is an object, not \(rules.kind).", at: rules.offset)
      return
    }
    _ = node(rules, Place())
  }

  // MARK: Nodes

  /// The position of a node.
  private struct Place {
    var pieces: [String] = []
    var captures: [String: Int] = [:]

    var pattern: String { "/" + pieces.joined(separator: "/") }

    func child(_ name: String) -> Place {
      var place = self
      if name.hasPrefix("$") { place.captures[name] = pieces.count }
      place.pieces.append(name)
      return place
    }
  }

  /// Reads the rules of a place and those below; returns their number.
  private mutating func node(_ document: RulesDocument, _ place: Place) -> Int {
    let number = nodes.count
    nodes.append(RuleNode())
    guard case .object(let members) = document.content else { return number }
    // Names are compared by their bytes: names that look the same may differ, as they do in the
    // tree.
    var names: Set<[UInt8]> = []
    for member in members {
      if mistakes.isFull { break }
      let name = member.name.string
      if !names.insert(member.name.bytes).inserted {
        mistakes.add("\"\(name)\" stands here a second time: join both.", at: member.offset)
      } else if name.hasPrefix(".") {
        readRule(member, of: number, place)
      } else if name.hasPrefix("$") {
        readWildcard(member, of: number, place)
      } else {
        readChild(member, of: number, place)
      }
    }
    return number
  }

  private mutating func readRule(
    _ member: RulesDocument.Member, of number: Int, _ place: Place
  ) {
    let name = member.name.string
    if name == ".indexOn" { return readIndexes(member.value, of: number, place) }
    guard let kind = RuleKind(rawValue: name) else {
      let known = RuleKind.allCases.map(\.rawValue) + [".indexOn"]
      let meant = Spelling.nearest(to: name, among: known)
      mistakes.add(
        "\"\(name)\" is not a rule\(RuleSpelling.question(meant)) Rules are "
          + "\(known.joined(separator: ", ")).", at: member.offset)
      return
    }
    guard let id = rule(kind, member.value, place) else { return }
    switch kind {
    case .read: nodes[number].read = id
    case .write: nodes[number].write = id
    case .validate: nodes[number].validate = id
    }
  }

  private mutating func readWildcard(
    _ member: RulesDocument.Member, of number: Int, _ place: Place
  ) {
    let name = member.name.string
    let letters = name.utf8.dropFirst()
    if letters.isEmpty || !letters.allSatisfy(RuleLetter.isOfName) {
      mistakes.add(
        "The name of a wildcard is $ and then letters, digits and underscores, such as $user_id.",
        at: member.offset)
    } else if nodes[number].wildcard != nil {
      mistakes.add(
        "A second wildcard beside another one: each stands for all keys that are not named. Join "
          + "both.", at: member.offset)
    } else if place.captures[name] != nil {
      mistakes.add(
        "The wildcard \(name) is also above: give this one another name.", at: member.offset)
    } else if let child = child(member, place) {
      nodes[number].wildcard = child
      noteValidation(of: child, in: number)
    }
  }

  private mutating func readChild(
    _ member: RulesDocument.Member, of number: Int, _ place: Place
  ) {
    do throws(TreeError) {
      let key = try Key(member.name.string)
      guard let child = child(member, place) else { return }
      nodes[number].children[key] = child
      noteValidation(of: child, in: number)
    } catch {
      let advice =
        member.name.string.contains("/") ? " Put an object for each piece of the path." : ""
      mistakes.add(error.message + advice, at: member.offset)
    }
  }

  private mutating func child(_ member: RulesDocument.Member, _ place: Place) -> Int? {
    guard case .object = member.value.content else {
      let meant = Spelling.nearest(
        to: "." + member.name.string, among: RuleKind.allCases.map(\.rawValue) + [".indexOn"])
      mistakes.add(
        "The rules of \"\(member.name.string)\" are an object, not \(member.value.kind)"
          + RuleSpelling.question(meant), at: member.value.offset)
      return nil
    }
    if place.pieces.count == TreeLimits.depthMax {
      mistakes.add(
        "Rules are at most \(TreeLimits.depthMax) levels deep, as the tree is: this is deeper.",
        at: member.offset)
      return nil
    }
    return node(member.value, place.child(member.name.string))
  }

  private mutating func noteValidation(of child: Int, in number: Int) {
    if nodes[child].validate != nil || nodes[child].validatesBelow {
      nodes[number].validatesBelow = true
    }
  }

  // MARK: Expressions

  private mutating func rule(
    _ kind: RuleKind, _ document: RulesDocument, _ place: Place
  ) -> Int? {
    switch document.content {
    case .bool(let value):
      let word = value ? "true" : "false"
      let range = document.offset..<(document.offset + word.utf8.count)
      let step = program.add(.constant(.bool(value)), at: range, .none)
      return add(kind, word, document.offset, step, place)
    case .string(let text):
      var compiler = RuleCompiler(
        scope: .init(kind: kind, captures: place.captures), text: text, mistakes: mistakes,
        program: program, patternBudget: patternBudget)
      // The program has a single owner at any time, so that nothing is copied.
      program = RuleProgram()
      let step = compiler.compile()
      (mistakes, program) = (compiler.mistakes, compiler.program)
      patternBudget = compiler.patternBudget
      return step.map { add(kind, text.string, text.start, $0, place) }
    default:
      mistakes.add(
        "\(kind.rawValue) is true, false or an expression in a string, not \(document.kind).",
        at: document.offset)
      return nil
    }
  }

  private mutating func add(
    _ kind: RuleKind, _ text: String, _ offset: Int, _ step: RuleStep.Index, _ place: Place
  ) -> Int {
    let (line, column) = source.position(of: offset)
    rules.append(
      Rule(
        id: rules.count, pattern: place.pattern, kind: kind, text: text, line: line,
        column: column))
    roots.append(step)
    return rules.count - 1
  }

  // MARK: Indexes

  private mutating func readIndexes(
    _ document: RulesDocument, of number: Int, _ place: Place
  ) {
    let values: [RulesDocument]
    if case .array(let elements) = document.content {
      values = elements
    } else {
      values = [document]
    }
    for value in values {
      guard case .string(let text) = value.content else {
        mistakes.add(
          ".indexOn is the name of a child, or a list of names, not \(value.kind).",
          at: value.offset)
        continue
      }
      readIndex(text, at: value.offset, of: number, place)
    }
  }

  private mutating func readIndex(
    _ text: RuleText, at offset: Int, of number: Int, _ place: Place
  ) {
    let order: QueryIndex
    switch text.string {
    // Children are stored by key, and ordering by priority needs no index.
    case ".key", ".priority": return
    case ".value": order = .value
    case let name:
      do throws(TreeError) {
        let path = try Path(name)
        if path.isRoot || path.isInfo {
          mistakes.add("An index names a child, or is \".value\".", at: offset)
          return
        }
        order = .child(path)
      } catch {
        mistakes.add(error.message + " An index names a child, or is \".value\".", at: offset)
        return
      }
    }
    if nodes[number].indexes.contains(order) { return }
    nodes[number].indexes.append(order)
    indexes.append(RulesIndex(pattern: place.pattern, order: order))
  }
}
