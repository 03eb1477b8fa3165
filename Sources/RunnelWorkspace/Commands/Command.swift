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
  /// What has to be read, and saved, before the command runs.
  let needs: Need
  let traits: Traits
  /// Whether the cursor of the view goes on waiting for a row that is being read.
  private(set) var keepsAwaitedRow = false
  /// The tabs in which the command can run.
  let tabs: TabScope
  private let ownReason: DisabledReason
  package let run: Run

  init(
    _ id: ActionID, _ title: String, _ help: String, keys: [String] = [], needs: Need,
    tabs: TabScope = .any, traits: Traits = [],
    disabled: @escaping DisabledReason = { _ in nil }, run: @escaping Run
  ) {
    self.id = id
    self.title = title
    self.help = help
    self.keys = keys
    self.needs = needs
    self.tabs = tabs
    self.traits = traits
    ownReason = disabled
    self.run = run
  }

  /// Returns the reason why the command is disabled in a state, or nil if it can run.
  func disabledReason(_ state: AppState) -> String? { tabs.reason(state) ?? ownReason(state) }

  /// Returns the same command for an inner table, with another effect; parts that are not given
  /// stay.
  ///
  /// A command without keys of its own takes the keys and the description of the outer table.
  func inner(
    _ title: String? = nil, _ help: String? = nil, keys: [String] = [], needs: Need? = nil,
    disabled: DisabledReason? = nil, run: @escaping Run
  ) -> Command {
    var command = Command(
      id, title ?? self.title, help ?? self.help, keys: keys, needs: needs ?? self.needs,
      tabs: tabs, traits: traits, disabled: disabled ?? ownReason, run: run)
    command.keepsAwaitedRow = keepsAwaitedRow
    return command
  }

  /// Returns the same command for an inner table, with the same effect.
  func inner(
    _ title: String? = nil, _ help: String? = nil, keys: [String] = [], needs: Need? = nil,
    disabled: DisabledReason? = nil
  ) -> Command {
    inner(title, help, keys: keys, needs: needs, disabled: disabled, run: run)
  }

  /// The same command, but the cursor goes on waiting for a row that is being read.
  var keepingAwaitedRow: Command {
    var command = self
    command.keepsAwaitedRow = true
    return command
  }
}

extension Command {
  /// What has to be read, and saved, before a command runs.
  package enum Need: Hashable, Sendable {
    /// Nothing: the command runs at once.
    case nothing
    /// The rows or fields that the command is about or moves through.
    case rows
    /// The record or field at hand, which has to be stored; with its part of the menu of a row, or
    /// nil if the menu has no use for the command.
    case record(RowGroup?)

    /// Whether the command is about a stored record.
    var isRecord: Bool { if case .record = self { true } else { false } }

    /// The part of the menu of a row, or nil if the command is not in it.
    var rowGroup: RowGroup? { if case .record(let group) = self { group } else { nil } }
  }

  /// The parts of the menu of a row, in their order.
  package enum RowGroup: CaseIterable, Sendable {
    case undoing, opening, changing, deleting, going, marking, copying, asking, moving
  }

  /// What else is known about a command.
  package struct Traits: OptionSet, Sendable {
    package let rawValue: Int
    package init(rawValue: Int) { self.rawValue = rawValue }

    /// It moves to an earlier row.
    static let movesUp = Traits(rawValue: 1)
    /// It moves to a later row.
    static let movesDown = Traits(rawValue: 2)
    /// It can move far; the place before it is noted, to go back to.
    static let movesFar = Traits(rawValue: 4)
    /// It can open a record; the place before it is noted then.
    static let opens = Traits(rawValue: 8)
    /// It opens a line or a form to type in.
    static let opensText = Traits(rawValue: 16)
    /// It uses the place of the record at hand, but nothing that is stored there.
    static let usesKeyOnly = Traits(rawValue: 32)
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
