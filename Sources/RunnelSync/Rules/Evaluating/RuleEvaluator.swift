import RunnelBase
import RunnelTree

/// The reason why an expression has no value.
enum RuleFault: Error {
  /// A value is not of a kind that the step takes.
  case wrongKind(RuleStep.Index)
  /// The root has no parent.
  case noParent(RuleStep.Index)
  /// A text is longer than any text in the database.
  case tooLong(RuleStep.Index)
  /// The decision used up its steps.
  case tooCostly
  /// The tree could not be read.
  case storage(TreeError)
}

/// A recorder that is told the steps of an evaluation; `NoTrace` costs nothing.
protocol RuleTrace {
  /// Whether the recorder wants to be told anything.
  static var isOn: Bool { get }
  /// Notes that a step gave a value.
  mutating func note(_ step: RuleStep.Index, _ value: RuleValue)
}

/// A recorder that records nothing.
struct NoTrace: RuleTrace {
  static var isOn: Bool { false }
  mutating func note(_ step: RuleStep.Index, _ value: RuleValue) {}
}

/// The inputs of a decision, besides the rules.
struct RuleContext {
  let auth: RuleValue
  let now: Int64
  let query: RulesQuery
  let before: any RulesReader
  /// The tree after the operation; nil if it is to be computed when a rule asks for it.
  let after: (any RulesReader)?
  /// The parts of the write; empty if the operation is a read.
  let parts: [Assignment]
}

/// Evaluates compiled expressions.
///
/// Source: rules language, section 5.
struct RuleEvaluator<Trace: RuleTrace> {
  let contents: RulesContents
  let context: RuleContext
  /// The number of steps that remain.
  var stepsLeft: Int
  /// The path of the place that is being checked: that of the operation, or one below it.
  var keys: [Key]
  /// The level of the rule that is evaluated.
  var level = 0
  /// The node at the whole path after the operation, where it is known without reading.
  var node: Node?
  var trace: Trace
  /// The recent summaries of places, the newest last.
  private var readings: [(place: Path, moment: RulePlace.Moment, summary: NodeSummary)] = []
  /// The tree after the operation, once a rule has asked for it.
  private var written: (any RulesReader)?

  init(contents: RulesContents, context: RuleContext, stepsMax: Int, trace: Trace) {
    self.contents = contents
    self.context = context
    self.trace = trace
    keys = []
    stepsLeft = stepsMax
  }

  // MARK: Costs

  /// Uses up steps for work.
  @inline(__always)
  mutating func pay(_ steps: Int) throws(RuleFault) {
    stepsLeft &-= steps
    if stepsLeft < 0 { throw .tooCostly }
  }

  /// Uses up steps for scanning texts.
  mutating func pay(bytes: Int, factor: Int = 1) throws(RuleFault) {
    let (product, overflows) = (bytes >> 6).multipliedReportingOverflow(by: factor)
    try pay(overflows ? Int.max / 2 : product)
  }

  // MARK: Conditions

  /// The value of a step whose type is Bool.
  mutating func bool(_ index: RuleStep.Index) throws(RuleFault) -> Bool {
    let value = try evaluatedBool(index)
    if Trace.isOn, contents.program.roles[index] != .none { trace.note(index, .bool(value)) }
    return value
  }

  // tidy:table
  private mutating func evaluatedBool(_ index: RuleStep.Index) throws(RuleFault) -> Bool {
    try pay(1)
    switch contents.program.steps[index] {
    case .constant(.bool(let value)): return value
    case .not(let operand): return try !bool(operand)
    case .and(let operands):
      for operand in operands where try !bool(operand) { return false }
      return true
    case .or(let operands):
      for operand in operands where try bool(operand) { return true }
      return false
    case .conditional(let condition, let first, let second):
      return try bool(condition) ? try bool(first) : try bool(second)
    case .equal(let left, let right):
      let one = try value(left)
      return try isEqual(one, value(right))
    case .unequal(let left, let right):
      let one = try value(left)
      return try !isEqual(one, value(right))
    case .ordered(let order, let left, let right):
      let one = try value(left)
      return try isOrdered(order, one, value(right), index)
    case .exists(let receiver): return try summary(place(receiver)).kind != .empty
    case .hasChild(let receiver, let path):
      return try summary(child(receiver, path)).kind != .empty
    case .hasFixedChild(let receiver, let pieces):
      return try summary(place(receiver), pieces).kind != .empty
    case .hasAnyChild(let receiver):
      if case .children = try summary(place(receiver)).kind { return true }
      return false
    case .hasChildren(let receiver, let names): return try hasChildren(receiver, names)
    case .hasFixedChildren(let receiver, let paths):
      return try hasChildren(place(receiver), paths)
    case .isKind(let receiver, let kind):
      return try isKind(summary(place(receiver)).kind, kind)
    case .contains(let text, let part):
      let whole = try string(text, for: index)
      return try contains(whole, string(part, for: index))
    case .beginsWith(let text, let part):
      let whole = try string(text, for: index)
      return try hasPart(whole, string(part, for: index), isEnd: false)
    case .endsWith(let text, let part):
      let whole = try string(text, for: index)
      return try hasPart(whole, string(part, for: index), isEnd: true)
    case .matches(let text, let pattern):
      let whole = try string(text, for: index)
      try pay(bytes: whole.utf8.count + 63, factor: pattern.costFactor)
      return pattern.matches(whole)
    case .query(let member):
      if case .bool(let value) = context.query.value(of: member) { return value }
      throw .wrongKind(index)
    default: preconditionFailure("A step of this kind has no Bool: the compiler checked it.")
    }
  }

  private mutating func hasChildren(
    _ receiver: RuleStep.Index, _ names: [RuleStep.Index]
  ) throws(RuleFault) -> Bool {
    let place = try place(receiver)
    // All names are evaluated, because an error in any of them counts.
    var paths: [RulePlace.Pieces] = []
    for name in names { paths.append(RulePlace.Pieces(try string(name, for: name))) }
    return try hasChildren(place, paths)
  }

  private mutating func hasChildren(
    _ place: RulePlace, _ paths: [RulePlace.Pieces]
  ) throws(RuleFault) -> Bool {
    for path in paths where try summary(place, path).kind == .empty { return false }
    return true
  }

  private func isKind(_ kind: NodeSummary.Kind, _ asked: RuleLeafKind) -> Bool {
    switch (kind, asked) {
    case (.leaf(.number), .number), (.leaf(.string), .string), (.leaf(.bool), .bool): true
    default: false
    }
  }

  // MARK: Values

  /// The value of a step, whatever its type.
  mutating func value(_ index: RuleStep.Index) throws(RuleFault) -> RuleValue {
    let value = try evaluated(index)
    if Trace.isOn, contents.program.roles[index] != .none {
      trace.note(index, value.absolute(in: keys))
    }
    return value
  }

  // tidy:table
  private mutating func evaluated(_ index: RuleStep.Index) throws(RuleFault) -> RuleValue {
    switch contents.program.steps[index] {
    case .constant(let value): return value
    case .capture(let level):
      try pay(1)
      return .string(keys[level].text)
    case .auth: return context.auth
    case .now: return .number(JSONNumber(context.now))
    case .query(let member): return context.query.value(of: member)
    case .conditional(let condition, let first, let second):
      return try bool(condition) ? try value(first) : try value(second)
    case .negate(let operand):
      try pay(1)
      return try negated(value(operand), index)
    case .add(let left, let right):
      try pay(1)
      let one = try value(left)
      return try sum(one, value(right), index)
    case .arithmetic(let operation, let left, let right):
      try pay(1)
      let one = try value(left)
      return try result(operation, one, value(right), index)
    case .property(let receiver, let name):
      try pay(1)
      return try property(name, of: value(receiver), index)
    case .dynamicProperty(let receiver, let name):
      try pay(1)
      let whole = try value(receiver)
      return try property(propertyName(value(name), index), of: whole, index)
    case .value(let receiver): return try read(receiver)
    case .priority(let receiver): return try RuleValue(summary(place(receiver)).priority)
    case .length(let text): return try length(string(text, for: index))
    case .replace(let text, let old, let new):
      let whole = try string(text, for: index)
      let part = try string(old, for: index)
      return try replaced(whole, part, string(new, for: index), index)
    case .lowercased(let text):
      let text = try string(text, for: index)
      try pay(bytes: text.utf8.count * 4)
      return .string(text.lowercased())
    case .uppercased(let text):
      let text = try string(text, for: index)
      try pay(bytes: text.utf8.count * 4)
      return .string(text.uppercased())
    case .root, .data, .newData, .child, .fixedChild, .parent: return .place(try place(index))
    default:
      // The caller has already handled the role.
      return .bool(try evaluatedBool(index))
    }
  }

  /// The value of `val()` of a step of type Snapshot.
  private mutating func read(_ receiver: RuleStep.Index) throws(RuleFault) -> RuleValue {
    guard case .fixedChild(let above, let pieces) = contents.program.steps[receiver] else {
      return try read(place(receiver))
    }
    // The place of a leaf that is known need not be made.
    try pay(1)
    let place = try place(above)
    if let node = place.knownNode(pieces) {
      switch NodeSummary(node).kind {
      case .empty: return .null
      case .leaf(let leaf): return RuleValue(leaf)
      case .children: break
      }
    }
    return try read(place.child(pieces))
  }

  private mutating func read(_ place: RulePlace) throws(RuleFault) -> RuleValue {
    switch try summary(place).kind {
    case .empty: .null
    case .leaf(let leaf): RuleValue(leaf)
    case .children: .object(place)
    }
  }

  // MARK: Places

  /// The place that a step of type Snapshot gives.
  mutating func place(_ index: RuleStep.Index) throws(RuleFault) -> RulePlace {
    try pay(1)
    switch contents.program.steps[index] {
    case .root: return RulePlace(.before, level: 0)
    case .data: return RulePlace(.before, level: level)
    case .newData:
      return RulePlace(.after, level: level, node: level == keys.count ? node : nil)
    case .fixedChild(let receiver, let pieces): return try place(receiver).child(pieces)
    case .child(let receiver, let path): return try child(receiver, path)
    case .parent(let receiver):
      guard let parent = try place(receiver).parent else { throw .noParent(index) }
      return parent
    case .conditional(let condition, let first, let second):
      return try bool(condition) ? try place(first) : try place(second)
    default: preconditionFailure("A step of this kind has no place: the compiler checked it.")
    }
  }

  private mutating func child(
    _ receiver: RuleStep.Index, _ path: RuleStep.Index
  ) throws(RuleFault) -> RulePlace {
    let above = try place(receiver)
    let text = try string(path, for: path)
    try pay(bytes: text.utf8.count * 16)
    return above.child(RulePlace.Pieces(text))
  }

  /// The summary of the node at a place below another one.
  private mutating func summary(
    _ place: RulePlace, _ pieces: RulePlace.Pieces
  ) throws(RuleFault) -> NodeSummary {
    if let node = place.knownNode(pieces) { return NodeSummary(node) }
    return try summary(place.child(pieces))
  }

  /// The summary of the node at a place; a place that was read recently is not read again.
  mutating func summary(_ place: RulePlace) throws(RuleFault) -> NodeSummary {
    if let node = place.node { return NodeSummary(node) }
    guard let path = place.path(in: keys) else { return NodeSummary(.empty) }
    if let known = readings.last(where: { $0.moment == place.moment && $0.place == path }) {
      return known.summary
    }
    try pay(8)
    do throws(TreeError) {
      let summary = try reader(place.moment).summary(at: path)
      if readings.count == 4 { readings.removeFirst() }
      readings.append((path, place.moment, summary))
      return summary
    } catch {
      throw .storage(error)
    }
  }

  /// The subtree at a place.
  mutating func subtree(_ place: RulePlace) throws(RuleFault) -> Node {
    if let node = place.node { return node }
    guard let path = place.path(in: keys) else { return .empty }
    do throws(TreeError) {
      return try reader(place.moment).node(at: path)
    } catch {
      throw .storage(error)
    }
  }

  private mutating func reader(_ moment: RulePlace.Moment) -> any RulesReader {
    if moment == .before { return context.before }
    if let after = context.after ?? written { return after }
    let after = RuleEvaluator.after(context.before, context.parts)
    written = after
    return after
  }

  private static func after(
    _ before: some RulesReader, _ parts: [Assignment]
  ) -> any RulesReader {
    WrittenTree(before, parts)
  }
}
