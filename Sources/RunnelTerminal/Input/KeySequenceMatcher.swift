/// Turns keys into actions: it remembers the count and the keys of an incomplete sequence.
///
/// A prefix waits until a key completes it, or Esc (or `C-g`) cancels it, or its owner resets the matcher.
/// - A count consists of digits before the keys, the first not 0. The innermost context must allow
///   counts, and not bind the digit. The count is passed to the action.
/// - A key that does not continue the sequence discards it, and the count; the key is not tried as
///   the beginning of another sequence, so that no command runs by mistake.
///
/// ```
///            digit            key of a prefix
///   idle ------------> count ----------------> prefix --+ key of a prefix
///    ^ ^                 |                      |   ^---+
///    | +---- Esc, other -+                      |
///    +------- command, Esc, other key ----------+
/// ```
public struct KeySequenceMatcher: Hashable, Sendable {
  /// The greatest count; more digits do not increase it.
  public static let countMax = 1_000_000

  /// The result of a key.
  public enum Match: Hashable, Sendable {
    /// A command is complete.
    case action(ActionID, count: Int?)
    /// The key was accepted. The value is the bindings that may follow: none after a digit, or
    /// after a sequence was canceled.
    case pending([KeyBinding])
    /// The key has no meaning here; in a text field it may be text.
    ///
    /// If `isPending` was true before, a sequence was canceled, and the key must not be used.
    case unmatched(KeyStroke)
  }

  /// The keys of the sequence so far.
  public private(set) var keys: [KeyStroke] = []
  /// The count so far.
  public private(set) var count: Int?

  /// Makes a matcher without pending keys.
  public init() {}

  /// Whether there are keys or digits that wait for more.
  public var isPending: Bool { !keys.isEmpty || count != nil }

  /// The pending keys as the user typed them: `12g`; empty if there are none.
  public var pendingText: String {
    (count.map { String($0) } ?? "") + KeyBinding.notation(of: keys)
  }

  /// Forgets the pending keys.
  public mutating func reset() {
    keys = []
    count = nil
  }

  /// Takes a key.
  ///
  /// - Parameters:
  ///   - stroke: the key.
  ///   - keymap: the keymap to look it up in.
  ///   - contexts: the current contexts, innermost first.
  /// - Returns: the result of the key.
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

  /// The keys that take back a sequence.
  package static let cancelStrokes = [
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
