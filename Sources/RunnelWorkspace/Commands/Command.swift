package import RunnelTerminal

/// A command: what it is called, its keys, why it is disabled if it is, and what it does.
///
/// This is the only place that says any of it. Dispatch, help, hints, the popup of keys that may
/// follow, the palette, menus, `--list-keys`, the manual and the keys of the configuration are views of
/// the tables of commands; see `Commands`.
package struct Command: Sendable {
  /// Does it; a count is a number that was typed before the keys.
  package typealias Run = @Sendable (inout AppState, _ count: Int?) -> Void
  /// The reason why it is disabled in a state; nil if it can run.
  typealias DisabledReason = @Sendable (AppState) -> String?

  package let id: ActionID
  /// What it does in a word or two, for hints.
  package let title: String
  /// What it does in a line, for help, palette, menus and the manual.
  package let help: String
  /// Its keys unless the user has others; empty for one that takes the keys of a table further out.
  package let keys: [String]
  /// True if the cursor of the view goes on waiting for a row that is being read.
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

  /// The same command as it is in an inner table: what is not given stays as it is.
  ///
  /// Without keys of its own it takes those of the outer table, which also tells what it does.
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

  /// The same command in an inner table, where it does the same.
  func inner(
    _ title: String? = nil, _ help: String? = nil, keys: [String] = [],
    disabled: DisabledReason? = nil
  ) -> Command {
    inner(title, help, keys: keys, disabled: disabled, run: run)
  }

  /// The command, after which the cursor goes on waiting for a row that is being read.
  var keepingAwaitedRow: Command {
    var command = self
    command.keepsAwaitedRow = true
    return command
  }
}

/// A hint: a command and what the hint says of it.
package struct CommandHint: Sendable {
  package let id: ActionID
  /// Nil for the title of the command.
  package let words: String?

  init(_ id: ActionID, _ words: String? = nil) {
    self.id = id
    self.words = words
  }
}
