/// Other keys for an action, as a user's configuration asks for.
public struct KeymapChange: Hashable, Sendable {
  /// Where they hold; nil for every context in which the action has keys.
  public var context: KeymapContext?
  /// What they do.
  public var action: ActionID
  /// The keys, each as the strokes of a sequence; none unbinds the action.
  public var sequences: [[KeyStroke]]

  /// Makes a change.
  public init(context: KeymapContext? = nil, action: ActionID, sequences: [[KeyStroke]]) {
    self.context = context
    self.action = action
    self.sequences = sequences
  }
}

extension Keymap {
  /// The keymap with changes, of which the last one for an action in a context counts.
  ///
  /// Each action keeps its contexts, its place in the table and its description. Keys that a change
  /// gives to an action are taken from those that had them in the same context, or in one that goes
  /// before it, unless a change gave them, too: see `validate()` for what collides then. Changes of actions without a binding in
  /// their context are ignored. O(bindings) for each change.
  public func applying(_ changes: [KeymapChange]) -> Keymap {
    var homes: [Home: [[KeyStroke]]] = [:]
    let known = Set(bindings.map(Home.init))
    for change in changes {
      for home in known where home.action == change.action {
        if change.context == nil || change.context == home.context {
          homes[home] = change.sequences
        }
      }
    }
    var taken: [KeymapContext: Set<[KeyStroke]>] = [:]
    for (home, sequences) in homes {
      let contexts = innerContexts[home.context, default: []].union([home.context])
      for context in contexts { taken[context, default: []].formUnion(sequences) }
    }
    var done: Set<Home> = []
    let changed = bindings.flatMap { binding -> [KeyBinding] in
      let home = Home(binding)
      guard let sequences = homes[home] else {
        return taken[home.context]?.contains(binding.sequence) == true ? [] : [binding]
      }
      guard done.insert(home).inserted else { return [] }
      return sequences.map { sequence in
        var binding = binding
        binding.sequence = sequence
        return binding
      }
    }
    return Keymap(
      changed, countingContexts: countingContexts, innerContexts: innerContexts)
  }

  /// Where an action has its keys.
  private struct Home: Hashable {
    var context: KeymapContext
    var action: ActionID

    init(_ binding: KeyBinding) {
      context = binding.context
      action = binding.action
    }
  }
}
