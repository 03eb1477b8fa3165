import RunnelBase
import RunnelTree

// Properties, methods and subscripts. Source: rules language, sections 3 and 4.

extension RuleCompiler {
  /// Compiles a property, or a method that is to be called.
  mutating func property(
    _ receiver: Part, _ name: String, _ node: RuleSyntax.Index, _ place: Int
  ) -> Part {
    switch receiver.type {
    case .wrong: return wrong(node)
    case .any:
      // The explanation shows only the outermost property of a chain.
      program.set(.none, of: receiver.step)
      return add(.property(receiver.step, name), node, .any, .reading)
    default: break
    }
    guard let member = member(name, of: receiver.type, place) else { return wrong(node) }
    if member.isMethod { return add(.constant(.null), node, .method) }
    if member == .length { return add(.length(receiver.step), node, .number) }
    return add(.query(member), node, member.result, .reading)
  }

  /// The member of a type by its name; nil if there is none, which is reported.
  private mutating func member(
    _ name: String, of type: RuleType, _ place: Int
  ) -> RuleMember? {
    let known = RuleMember.all(of: type)
    if let member = known.first(where: { $0.rawValue == name }) { return member }
    let meant = Spelling.nearest(to: name, among: known.map(\.rawValue))
    let what: String
    switch type {
    case .method: what = "Is the method before it not called? Write () after it."
    case .primitive where RuleMember.ofSnapshots.contains(where: { $0.rawValue == name }):
      what = "After val() it is a value: leave val() out to ask the place."
    case .primitive:
      what = "What val() gives has the members of texts only; children are read with child()."
    case .snapshot: what = "A place in the tree has \(RuleCompiler.list(known))."
    case .string: what = "A text has \(RuleCompiler.list(known))."
    case .query: what = "The query has \(RuleCompiler.list(known))."
    default: what = "\(RuleCompiler.capitalised(type.name)) has no members."
    }
    tell(
      "No such method/property '\(name)'\(RuleSpelling.question(meant)) \(what)", atByte: place)
    return nil
  }

  private static func list(_ members: [RuleMember]) -> String {
    members.map { $0.isMethod ? "\($0.rawValue)()" : $0.rawValue }.joined(separator: ", ")
  }

  private static func capitalised(_ text: String) -> String {
    text.prefix(1).uppercased() + text.dropFirst()
  }

  mutating func subscripted(
    _ receiver: RuleSyntax.Index, _ index: RuleSyntax.Index, _ node: RuleSyntax.Index
  ) -> Part {
    let inner = part(receiver)
    if case .string(let name) = syntax[index].kind {
      return property(inner, name, node, syntax[index].range.lowerBound)
    }
    let key = part(index)
    switch inner.type {
    case .wrong: return wrong(node)
    case .any:
      guard key.type.isScalar || key.type == .any else {
        tell(
          "The name of a property is a text or a number, and this is \(key.type.name).", at: index)
        return wrong(node)
      }
      program.set(.none, of: inner.step)
      return add(.dynamicProperty(inner.step, key.step), node, .any, .reading)
    default:
      tell(
        "Between these brackets stands the name of a member in quotes; children are read with "
          + "child().", at: index)
      return wrong(node)
    }
  }

  // MARK: Calls

  mutating func call(
    _ callee: RuleSyntax.Index, _ arguments: [RuleSyntax.Index], _ node: RuleSyntax.Index
  ) -> Part {
    let receiver: RuleSyntax.Index
    let name: String
    let place: Int
    switch syntax[callee].kind {
    case .member(let inner, let written, let offset):
      (receiver, name, place) = (inner, written, offset)
    case .subscripted(let inner, let index):
      guard case .string(let written) = syntax[index].kind else {
        tell("The method that is called is named in quotes between these brackets.", at: index)
        return wrong(node)
      }
      (receiver, name, place) = (inner, written, syntax[index].range.lowerBound)
    default:
      tell("This is not a method: a method follows a point, as in data.exists().", at: callee)
      return wrong(node)
    }
    let inner = part(receiver)
    if inner.type == .wrong {
      // Mistakes in the arguments are reported, too.
      for argument in arguments where !isLiteralArgument(argument) { _ = part(argument) }
      return wrong(node)
    }
    let type = inner.type == .any ? .string : inner.type
    guard let member = member(name, of: type, place) else { return wrong(node) }
    guard member.isMethod else {
      tell("\(name) is not a method: remove the parentheses.", atByte: place)
      return wrong(node)
    }
    return call(member, of: inner, arguments, node, place)
  }

  private func isLiteralArgument(_ node: RuleSyntax.Index) -> Bool {
    switch syntax[node].kind {
    case .array, .pattern: true
    default: false
    }
  }

  private mutating func call(
    _ member: RuleMember, of receiver: Part, _ arguments: [RuleSyntax.Index],
    _ node: RuleSyntax.Index, _ place: Int
  ) -> Part {
    let isBareHasChildren = member == .hasChildren && arguments.isEmpty
    let expected = isBareHasChildren ? [] : member.parameters
    guard arguments.count == expected.count else {
      let count = ["nothing", "one value", "two values"][min(expected.count, 2)]
      tell(
        "\(member.rawValue)() takes \(count) between its parentheses, and \(arguments.count) "
          + "\(arguments.count == 1 ? "is" : "are") given.", atByte: place)
      return wrong(node)
    }
    switch member {
    case .matches: return matches(receiver, arguments[0], node)
    case .hasChildren where !isBareHasChildren: return hasChildren(receiver, arguments[0], node)
    case .child, .hasChild: return childCall(member, receiver, arguments[0], node)
    default: break
    }
    var steps: [RuleStep.Index] = []
    for argument in arguments { steps.append(string(argument, of: member)) }
    return add(
      RuleCompiler.step(member, receiver.step, steps), node, member.result,
      RuleMember.ofSnapshots.contains(member) && member != .parent ? .reading : .none)
  }

  /// Compiles an argument that must be a text.
  private mutating func string(
    _ argument: RuleSyntax.Index, of member: RuleMember
  ) -> RuleStep.Index {
    let value = part(argument)
    if !value.type.mayBe(.string) {
      tell("\(member.rawValue)() takes a text, and this is \(value.type.name).", at: argument)
    }
    return value.step
  }

  private static func step(
    _ member: RuleMember, _ receiver: RuleStep.Index, _ arguments: [RuleStep.Index]
  ) -> RuleStep {
    switch member {
    case .val: .value(receiver)
    case .exists: .exists(receiver)
    case .parent: .parent(receiver)
    case .hasChildren: .hasAnyChild(receiver)
    case .getPriority: .priority(receiver)
    case .isNumber: .isKind(receiver, .number)
    case .isString: .isKind(receiver, .string)
    case .isBoolean: .isKind(receiver, .bool)
    case .contains: .contains(receiver, arguments[0])
    case .beginsWith: .beginsWith(receiver, arguments[0])
    case .endsWith: .endsWith(receiver, arguments[0])
    case .replace: .replace(receiver, arguments[0], arguments[1])
    case .toLowerCase: .lowercased(receiver)
    case .toUpperCase: .uppercased(receiver)
    default: preconditionFailure("\(member) is compiled elsewhere.")
    }
  }

  private mutating func childCall(
    _ member: RuleMember, _ receiver: Part, _ argument: RuleSyntax.Index,
    _ node: RuleSyntax.Index
  ) -> Part {
    if case .string(let path) = syntax[argument].kind {
      let pieces = RulePlace.Pieces(path)
      return member == .child
        ? add(.fixedChild(receiver.step, pieces), node, .snapshot)
        : add(.hasFixedChild(receiver.step, pieces), node, .bool, .reading)
    }
    let path = string(argument, of: member)
    return member == .child
      ? add(.child(receiver.step, path), node, .snapshot)
      : add(.hasChild(receiver.step, path), node, .bool, .reading)
  }

  private mutating func hasChildren(
    _ receiver: Part, _ argument: RuleSyntax.Index, _ node: RuleSyntax.Index
  ) -> Part {
    guard case .array(let elements) = syntax[argument].kind else {
      tell("hasChildren() takes nothing, or a list of names: ['name', 'email'].", at: argument)
      return wrong(node)
    }
    if elements.isEmpty {
      tell("The list names at least one child; without a list any child will do.", at: argument)
      return wrong(node)
    }
    let names = elements.compactMap { element -> String? in
      if case .string(let name) = syntax[element].kind { name } else { nil }
    }
    if names.count == elements.count {
      return add(
        .hasFixedChildren(receiver.step, names.map { RulePlace.Pieces($0) }), node, .bool, .reading)
    }
    var steps: [RuleStep.Index] = []
    for element in elements { steps.append(string(element, of: .hasChildren)) }
    return add(.hasChildren(receiver.step, steps), node, .bool, .reading)
  }

  private mutating func matches(
    _ receiver: Part, _ argument: RuleSyntax.Index, _ node: RuleSyntax.Index
  ) -> Part {
    guard case .pattern(let body, let flags) = syntax[argument].kind else {
      tell(
        "matches() takes a regular expression between slashes: matches(/^[a-z]+$/).", at: argument)
      return wrong(node)
    }
    let letters = String(decoding: text.bytes[flags], as: UTF8.self)
    guard letters.isEmpty || letters == "i" else {
      tell(
        "A regular expression has no flag but i, which disregards case: remove \"\(letters)\".",
        atByte: flags.lowerBound)
      return wrong(node)
    }
    let units = Array(String(decoding: text.bytes[body], as: UTF8.self).utf16)
    do throws(RegularExpressionError) {
      let pattern = try RegularExpression(
        units, ignoresCase: !letters.isEmpty, budget: &patternBudget)
      return add(.matches(receiver.step, pattern), node, .bool)
    } catch {
      let before = String(decoding: units.prefix(error.unit), as: UTF16.self)
      tell(error.message, atByte: body.lowerBound + before.utf8.count)
      return wrong(node)
    }
  }
}

/// Messages about an unknown name.
enum RuleSpelling {
  /// The end of a sentence about an unknown name.
  static func question(_ meant: String?) -> String {
    meant.map { ": did you mean \"\($0)\"?" } ?? "."
  }
}
