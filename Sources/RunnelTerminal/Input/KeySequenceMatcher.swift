/// Turns keys into actions: remembers the count and the keys of a sequence that is not complete.
///
/// There is no timeout: a prefix waits until a key completes it or Esc (or `C-g`) takes it back.
/// - A count is digits before the keys, the first not 0, where the innermost context allows counts
///   and does not bind the digit. It goes to the action.
/// - A key that does not continue the keys before it discards them, and the count; it is not tried
///   as a beginning, so that no command runs by mistake.
///
/// ```
///            digit            key of a prefix
///   idle ------------> count ----------------> prefix --+ key of a prefix
///    ^ ^                 |                      |   ^---+
///    | +---- Esc, other -+                      |
///    +------- command, Esc, other key ----------+
/// ```
public struct KeySequenceMatcher: Hashable, Sendable {
  /// The greatest count; more digits leave it there.
  public static let countMax = 1_000_000

  /// What a key led to.
  public enum Match: Hashable, Sendable {
    /// A command is complete.
    case action(ActionID, count: Int?)
    /// The key was taken. Lists what may follow: nothing after a digit, or after a sequence was
    /// taken back.
    case pending([KeyBinding])
    /// The key means nothing here; in a text field it may be text.
    ///
    /// If `isPending` was true before, a sequence was broken off, and the key is not to be used.
    case unmatched(KeyStroke)
  }

  /// The keys of the sequence so far.
  public private(set) var keys: [KeyStroke] = []
  /// The count so far.
  public private(set) var count: Int?

  /// Makes a matcher that waits for nothing.
  public init() {}

  /// Whether keys or digits wait for more.
  public var isPending: Bool { !keys.isEmpty || count != nil }

  /// What waits, as the user typed it: `12g`; empty if nothing does.
  public var pendingText: String {
    (count.map { String($0) } ?? "") + KeyBinding.notation(of: keys)
  }

  /// Forgets what waits.
  public mutating func reset() {
    keys = []
    count = nil
  }

  /// Takes a key.
  ///
  /// - Parameters:
  ///   - stroke: the key.
  ///   - keymap: the keymap to look it up in.
  ///   - contexts: the contexts that hold, innermost first.
  /// - Returns: what the key led to.
  public mutating func feed(
    _ stroke: KeyStroke, keymap: Keymap, contexts: [KeymapContext]
  ) -> Match {
    let sequence = keys + [stroke]
    let found = keymap.lookup(sequence, in: contexts)
    if let digit = digit(stroke), keys.isEmpty, count != nil || (digit != 0 && found == .nothing),
      let context = contexts.first, keymap.countingContexts.contains(context)
    {
      count = min((count ?? 0) * 10 + digit, Self.countMax)
      return .pending([])
    }
    switch found {
    case .command(let binding):
      defer { reset() }
      return .action(binding.action, count: count)
    case .prefix:
      keys = sequence
      return .pending(keymap.bindings(for: contexts, after: sequence))
    case .nothing:
      let isTakenBack = isPending && Self.cancelStrokes.contains(stroke)
      reset()
      return isTakenBack ? .pending([]) : .unmatched(stroke)
    }
  }

  private static let cancelStrokes = [
    KeyStroke(.escape), KeyStroke(.character("g"), control: true),
  ]

  /// The number that a plain ASCII digit types.
  private func digit(_ stroke: KeyStroke) -> Int? {
    guard case .character(let character) = stroke.key, !stroke.control, !stroke.meta,
      character.isASCII
    else { return nil }
    return character.wholeNumberValue
  }
}
