package import RunnelTerminal

/// A command: its name, its keys, the reason why it is disabled, and what it does.
///
/// Each fact about a command is defined only here. Dispatch, help, hints, the popup of the keys
/// that may follow, the palette, menus, `--list-keys`, the manual and the keys of the configuration
/// are views of the tables of commands; see `Commands`.
package struct Command: Sendable {
  /// Runs the command; a count is a number that was typed before the keys.
  package typealias Run = @Sendable (inout AppState, _ count: Int?) -> Void
  /// The reason why the command is disabled in a state, or nil if it can run.
  typealias DisabledReason = @Sendable (AppState) -> String?

  package let id: ActionID
  /// A title of a word or two, for hints.
  package let title: String
  /// A description in one line, for help, palette, menus and the manual.
  package let help: String
  /// The default keys; empty for a command that takes the keys of an outer table.
  package let keys: [String]
  /// Whether the cursor of the view goes on waiting for a row that is being read.
  private(set) var keepsAwaitedRow = false
  let disabledReason: DisabledReason
  package let run: Run

  init(
    _ id: ActionID, _ title: String, _ help: String, keys: [String] = [],
    disabled: @escaping DisabledReason = { _ in nil }, run: @escaping Run
  ) {
    self.id = id
    self.title = title
    self.help = help
    self.keys = keys
    disabledReason = disabled
    self.run = run
  }

  /// Returns the same command for an inner table, with another effect; parts that are not given
  /// stay.
  ///
  /// A command without keys of its own takes the keys and the description of the outer table.
  func inner(
    _ title: String? = nil, _ help: String? = nil, keys: [String] = [],
    disabled: DisabledReason? = nil, run: @escaping Run
  ) -> Command {
    var command = Command(
      id, title ?? self.title, help ?? self.help, keys: keys, disabled: disabled ?? disabledReason,
      run: run)
    command.keepsAwaitedRow = keepsAwaitedRow
    return command
  }

  /// Returns the same command for an inner table, with the same effect.
  func inner(
    _ title: String? = nil, _ help: String? = nil, keys: [String] = [],
    disabled: DisabledReason? = nil
  ) -> Command {
    inner(title, help, keys: keys, disabled: disabled, run: run)
  }

  /// The same command, but the cursor goes on waiting for a row that is being read.
  var keepingAwaitedRow: Command {
    var command = self
    command.keepsAwaitedRow = true
    return command
  }
}

/// A hint: a command, and the words that describe it.
package struct CommandHint: Sendable {
  package let id: ActionID
  /// The words of the hint, or nil for the title of the command.
  package let words: String?

  init(_ id: ActionID, _ words: String? = nil) {
    self.id = id
    self.words = words
  }
}
