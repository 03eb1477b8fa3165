package import RunnelTerminal

/// All tables of commands, and what follows from them.
package enum Commands {
  /// The tables in the order of `--list-keys` and the manual: views, layers, and what they share.
  static let tables: [CommandTable] =
    [
      ResourceCommands.activity, ResourceCommands.toggle, ResourceCommands.resource,
      ListCommands.table, TreeCommands.table, ViewsCommands.table, DetailCommands.table,
    ] + Layer.tables + [
      MovingCommands.table, GlobalCommands.table, GlobalCommands.crash, TypingCommands.fields,
      TypingCommands.input, TypingCommands.textField,
    ]

  private static let byContext: [KeymapContext: CommandTable] = Dictionary(
    uniqueKeysWithValues: tables.map { ($0.context, $0) })

  /// The table of a context; nil if it has none.
  package static func table(_ context: KeymapContext) -> CommandTable? { byContext[context] }

  /// The command that an id is in these contexts, which are given innermost first; nil if it is none.
  ///
  /// O(contexts).
  package static func command(_ id: ActionID, in contexts: [KeymapContext]) -> Command? {
    for context in contexts {
      if let command = byContext[context]?[id] { return command }
    }
    return nil
  }

  // MARK: Keys

  /// The keys of all commands, unless the user has others.
  package static let keymap = Keymap(
    tables.flatMap(\.bindings),
    countingContexts: Set(tables.filter(\.takesCounts).map(\.context)),
    innerContexts: innerContexts)

  /// Which contexts of commands go before others, so that a user's key for what is in many places is
  /// not hidden by what a place has it for.
  private static let innerContexts: [KeymapContext: Set<KeymapContext>] = {
    let records: Set<KeymapContext> = [.resource, .toggle, .activity]
    let places = records.union([
      .clients, .collection, .tree, .record, .history, .compare, .queue, .views, .value,
    ])
    return [
      .global: places.union([.list]), .list: places, .collection: records, .tree: records,
      .record: records,
    ]
  }()
}

// MARK: - Running

extension Commands {
  /// Runs a command of the contexts that hold now, or says why it is disabled.
  static func perform(
    _ state: inout AppState, _ id: ActionID, count: Int?, in contexts: [KeymapContext]
  ) {
    guard let command = command(id, in: contexts) else { return }
    if state.refuses(command.disabledReason(state)) { return }
    if !command.keepsAwaitedRow, state.layers.isEmpty, state.pane != .views {
      ListScreen.forgetAwaitedRow(&state)
    }
    command.run(&state, count)
  }
}

extension AppState {
  /// Runs a command where the keys go now, or says why it is disabled.
  package mutating func perform(_ id: ActionID, count: Int?) {
    Commands.perform(&self, id, count: count, in: contexts)
  }

  /// The reason why a command is disabled in the place below palette, menus and help; nil if it can run.
  func disabledReason(_ id: ActionID) -> String? {
    if let layer = layers.last, layer.component.offersCommandsBelow {
      return below.disabledReason(id)
    }
    return Commands.command(id, in: contexts)?.disabledReason(self)
  }

  /// Says the reason why something is disabled; false if there is none.
  mutating func refuses(_ reason: String?) -> Bool {
    guard let reason else { return false }
    say(reason == reasonReadOnly ? .warning : .info, reason)
    return true
  }
}

extension ListScreen {
  /// The cursor of the view in front waits no longer for a row that is being read.
  static func forgetAwaitedRow(_ state: inout AppState) {
    state.tabs.tree.wanted = nil
    if !state.tabs.isTree { state.tabs.front.wantedRow = nil }
  }
}
