/// The table of keys: which keys do what, in which context.
///
/// Dispatch, help, hints, and the list of keys after a prefix all use this table. Contexts are
/// given innermost first: the innermost context that knows a sequence of keys decides, so that a
/// view can redefine keys of the list it is built on.
public struct Keymap: Hashable, Sendable {
  /// The bindings, in the order of the table.
  public let bindings: [KeyBinding]
  /// The contexts in which leading digits are a count.
  public let countingContexts: Set<KeymapContext>
  /// The contexts that take precedence over each context.
  let innerContexts: [KeymapContext: Set<KeymapContext>]

  /// The meaning of a sequence of keys.
  enum Lookup: Hashable {
    case command(KeyBinding)
    case prefix
    case nothing
  }

  /// The first binding of each sequence, and the prefixes of longer sequences, by context.
  private let commands: [KeymapContext: [[KeyStroke]: KeyBinding]]
  private let prefixes: [KeymapContext: Set<[KeyStroke]>]
  /// The bindings of each action, in the order of the table; hints need a few of them in every
  /// frame.
  private let bindingsByAction: [ActionID: [KeyBinding]]
  private let notations: [[KeyStroke]: String]

  /// Makes a keymap.
  ///
  /// `validate()` finds tables that contradict themselves.
  public init(
    _ bindings: [KeyBinding], countingContexts: Set<KeymapContext> = [],
    innerContexts: [KeymapContext: Set<KeymapContext>] = [:]
  ) {
    var commands: [KeymapContext: [[KeyStroke]: KeyBinding]] = [:]
    var prefixes: [KeymapContext: Set<[KeyStroke]>] = [:]
    for binding in bindings where !binding.sequence.isEmpty {
      if commands[binding.context]?[binding.sequence] == nil {
        commands[binding.context, default: [:]][binding.sequence] = binding
      }
      for length in 1..<binding.sequence.count {
        prefixes[binding.context, default: []].insert(Array(binding.sequence.prefix(length)))
      }
    }
    self.bindings = bindings
    self.countingContexts = countingContexts
    self.innerContexts = innerContexts
    self.commands = commands
    self.prefixes = prefixes
    bindingsByAction = Dictionary(grouping: bindings, by: \.action)
    notations = Dictionary(bindings.map { ($0.sequence, $0.keys) }) { first, _ in first }
  }

  /// The actions that have a key in some context.
  public var actions: Set<ActionID> { Set(bindings.map(\.action)) }

  // MARK: - Questions

  /// The meaning of some keys in these contexts, innermost first.
  ///
  /// O(contexts).
  func lookup(_ sequence: [KeyStroke], in contexts: [KeymapContext]) -> Lookup {
    for context in contexts {
      if let binding = commands[context]?[sequence] { return .command(binding) }
      if prefixes[context]?.contains(sequence) == true { return .prefix }
    }
    return .nothing
  }

  /// The bindings that can be reached in these contexts, innermost first; bindings of an outer
  /// context that an inner one hides are left out.
  ///
  /// - Parameters:
  ///   - contexts: the contexts, innermost first.
  ///   - prefix: the keys with which the sequences must begin.
  /// - Returns: the bindings, in the order of the contexts, then of the table.
  public func bindings(
    for contexts: [KeymapContext], after prefix: [KeyStroke] = []
  ) -> [KeyBinding] {
    contexts.flatMap { context in
      bindings.filter { binding in
        binding.context == context && binding.sequence.starts(with: prefix)
          && binding.sequence.count > prefix.count && reaches(binding, in: contexts)
      }
    }
  }

  /// The notation of the first keys that reach an action in these contexts; nil if none do.
  public func firstKeys(for action: ActionID, in contexts: [KeymapContext]) -> String? {
    let candidates = bindingsByAction[action] ?? []
    for context in contexts {
      let first = candidates.first { $0.context == context && reaches($0, in: contexts) }
      if let first { return notations[first.sequence] }
    }
    return nil
  }

  /// The notations of the keys that reach an action in these contexts, innermost first.
  public func keys(for action: ActionID, in contexts: [KeymapContext]) -> [String] {
    let candidates = bindingsByAction[action] ?? []
    return contexts.flatMap { context in
      candidates.filter { $0.context == context && reaches($0, in: contexts) }.map(\.keys)
    }
  }

  /// Whether the keys of the binding, pressed one by one, lead to its action.
  private func reaches(_ binding: KeyBinding, in contexts: [KeymapContext]) -> Bool {
    for length in 1..<binding.sequence.count {
      let beginning = Array(binding.sequence.prefix(length))
      guard lookup(beginning, in: contexts) == .prefix else { return false }
    }
    return lookup(binding.sequence, in: contexts) == .command(binding)
  }

  // MARK: - Validation

  /// The mistakes in the table, in its order; empty if there are none.
  ///
  /// O(n) in the bindings times the length of a sequence.
  public func validate() -> [KeymapProblem] {
    bindings.flatMap { binding -> [KeymapProblem] in
      guard !binding.sequence.isEmpty else { return [.noKeys(binding)] }
      let commands = commands[binding.context] ?? [:]
      var problems: [KeymapProblem] = []
      if let first = commands[binding.sequence], first != binding {
        problems.append(.duplicate(first, binding))
      }
      for length in 1..<binding.sequence.count {
        if let command = commands[Array(binding.sequence.prefix(length))] {
          problems.append(.commandAndPrefix(command: command, longer: binding))
        }
      }
      return problems
    }
  }
}

/// A contradiction in a table of keys.
public enum KeymapProblem: Hashable, Sendable {
  /// Two bindings have the same keys in one context; the first one wins.
  case duplicate(KeyBinding, KeyBinding)
  /// The keys of one binding begin those of another in the same context, which cannot be reached.
  case commandAndPrefix(command: KeyBinding, longer: KeyBinding)
  /// A binding has no keys.
  case noKeys(KeyBinding)
}

extension KeymapProblem: CustomStringConvertible {
  /// The problem in one sentence, for the user who wrote the keys.
  public var description: String {
    switch self {
    case .duplicate(let first, let second):
      "\(first.keys) is bound twice in \(first.context): "
        + "to \(first.action) and to \(second.action)"
    case .commandAndPrefix(let command, let longer):
      "\(longer.keys) (\(longer.action)) cannot be typed in \(longer.context), "
        + "for \(command.keys) is \(command.action)"
    case .noKeys(let binding):
      "\(binding.action) is bound to no keys in \(binding.context)"
    }
  }
}
