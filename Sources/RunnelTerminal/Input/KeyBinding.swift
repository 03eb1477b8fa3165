/// The name of an action of the user, such as `row.down`.
///
/// Names are stable: they stand in configuration files and in help.
public struct ActionID: RawRepresentable, Hashable, Sendable {
  /// The name.
  public let rawValue: String

  /// Makes an id from a name.
  public init(rawValue: String) {
    self.rawValue = rawValue
  }

  /// Makes an id from a name.
  public init(_ name: String) {
    rawValue = name
  }
}

extension ActionID: CustomStringConvertible {
  /// The name.
  public var description: String { rawValue }
}

/// A place in which keys have their own meaning, such as a list or a text field.
public struct KeymapContext: RawRepresentable, Hashable, Sendable {
  /// The name.
  public let rawValue: String

  /// Makes a context from a name.
  public init(rawValue: String) {
    self.rawValue = rawValue
  }

  /// Makes a context from a name.
  public init(_ name: String) {
    rawValue = name
  }
}

extension KeymapContext: CustomStringConvertible {
  /// The name.
  public var description: String { rawValue }
}

/// A line of the keymap: in this context, these keys, pressed one after another, run this action.
public struct KeyBinding: Hashable, Sendable {
  /// The context in which it applies.
  public var context: KeymapContext
  /// The keys, in order; never empty in a valid keymap.
  public var sequence: [KeyStroke]
  /// The action.
  public var action: ActionID
  /// The action in a few words for a user.
  public var description: String

  /// Makes a binding.
  public init(
    context: KeymapContext, sequence: [KeyStroke], action: ActionID, description: String
  ) {
    self.context = context
    self.sequence = sequence
    self.action = action
    self.description = description
  }

  /// The bindings of several notations to one action, such as `"j", "Down", "C-n"`.
  ///
  /// For tables in the source: a notation that cannot be read stops the program.
  public static func bindings(
    _ context: KeymapContext, _ notations: [String], _ action: ActionID, _ description: String
  ) -> [KeyBinding] {
    notations.map { notation in
      guard let sequence = KeyStroke.sequence(notation) else {
        preconditionFailure("the table of keys has \(notation), which names no keys")
      }
      return KeyBinding(
        context: context, sequence: sequence, action: action, description: description)
    }
  }

  /// The notation of the keys: `gg`, `C-x C-e`, `F2`.
  public var keys: String { Self.notation(of: sequence) }

  /// Returns the notation of a sequence of keys; `KeyStroke.sequence` reads it.
  ///
  /// Two plain characters are written together, all others with spaces.
  public static func notation(of sequence: [KeyStroke]) -> String {
    let spaced = sequence.map(\.description).joined(separator: " ")
    let joined = sequence.map(\.description).joined()
    let isPair = sequence.count == 2 && joined.count == 2
    return isPair && KeyStroke.sequence(joined) == sequence ? joined : spaced
  }
}
