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
  /// The contexts in which text is typed, so that a change for all contexts gives them no key that
  /// is a character.
  let typingContexts: Set<KeymapContext>

  /// The meaning of a sequence of keys.
  enum Lookup: Hashable {
    case command(KeyBinding)
    case prefix
    case nothing
  }

  /// The first binding of each sequence, and the prefixes of longer sequences, by context.
  private let commands: [KeymapContext: [[KeyStroke]: KeyBinding]]
  private let prefixes: [KeymapContext: Set<[KeyStroke]>]
  /// The bindings of each action, in the order of the table; hints need a few of them in every frame.
  private let reachableByAction: [ActionID: [Reachable]]

  /// A binding, and the contexts that may keep it from being reached.
  private struct Reachable: Hashable {
    var context: KeymapContext
    var keys: String
    /// The first notation in the table of the same keys.
    var notation: String
    /// The contexts that use the whole sequence themselves, for another command or as a prefix.
    var hiding: Set<KeymapContext>
    /// For each beginning of the sequence, the contexts that know it: true if it is a command there,
    /// false if it is a prefix.
    var beginnings: [[KeymapContext: Bool]]

    /// Returns whether the keys lead to the binding, where its context is the last of these, which
    /// are given innermost first.
    ///
    /// O(contexts x length of the sequence).
    func isReached(through contexts: ArraySlice<KeymapContext>) -> Bool {
      if !hiding.isEmpty, contexts.contains(where: hiding.contains) { return false }
      return beginnings.allSatisfy { known in
        contexts.lazy.compactMap { known[$0] }.first == false
      }
    }
  }

  /// Makes a keymap.
  ///
  /// `validate()` finds tables that contradict themselves.
  public init(
    _ bindings: [KeyBinding], countingContexts: Set<KeymapContext> = [],
    innerContexts: [KeymapContext: Set<KeymapContext>] = [:],
    typingContexts: Set<KeymapContext> = []
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
    self.typingContexts = typingContexts
    self.commands = commands
    self.prefixes = prefixes
    let notations = Dictionary(bindings.map { ($0.sequence, $0.keys) }) { first, _ in first }
    var reachable: [ActionID: [Reachable]] = [:]
    for binding in bindings where !binding.sequence.isEmpty {
      let sequence = binding.sequence
      let hiding = commands.filter { context, known in
        known[sequence].map { $0 != binding } ?? (prefixes[context]?.contains(sequence) == true)
      }
      let beginnings = (1..<sequence.count).map { length in
        let beginning = Array(sequence.prefix(length))
        return Dictionary(
          uniqueKeysWithValues: commands.compactMap { context, known in
            if known[beginning] != nil { return (context, true) }
            return prefixes[context]?.contains(beginning) == true ? (context, false) : nil
          })
      }
      reachable[binding.action, default: []].append(
        Reachable(
          context: binding.context, keys: binding.keys,
          notation: notations[sequence] ?? binding.keys, hiding: Set(hiding.keys),
          beginnings: beginnings))
    }
    reachableByAction = reachable
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
  ///
  /// O(contexts x keys of the action).
  public func firstKeys(for action: ActionID, in contexts: [KeymapContext]) -> String? {
    guard let candidates = reachableByAction[action] else { return nil }
    for (index, context) in contexts.enumerated() {
      let first = candidates.first {
        $0.context == context && $0.isReached(through: contexts[...index])
      }
      if let first { return first.notation }
    }
    return nil
  }

  /// The notations of the keys that reach an action in these contexts, innermost first.
  public func keys(for action: ActionID, in contexts: [KeymapContext]) -> [String] {
    let candidates = reachableByAction[action] ?? []
    return contexts.enumerated().flatMap { index, context in
      candidates.filter { $0.context == context && $0.isReached(through: contexts[...index]) }
        .map(\.keys)
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
