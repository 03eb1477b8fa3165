package import RunnelTerminal

/// All tables of commands, and the keymap made of them.
package enum Commands {
  /// The tables in the order of `--list-keys` and the manual: views, layers, and shared tables.
  static let tables: [CommandTable] =
    [
      ResourceCommands.activity, ResourceCommands.toggle, ResourceCommands.resource,
      CellCommands.table, ListCommands.table, TreeCommands.table, ViewsCommands.table,
      DetailCommands.table,
    ] + Layer.tables + [
      MovingCommands.table, GlobalCommands.table, GlobalCommands.crash, TypingCommands.fields,
      TypingCommands.input, TypingCommands.textField,
    ]

  private static let byContext: [KeymapContext: CommandTable] = Dictionary(
    uniqueKeysWithValues: tables.map { ($0.context, $0) })

  /// Returns the table of a context, or nil if it has none.
  package static func table(_ context: KeymapContext) -> CommandTable? { byContext[context] }

  /// Returns the command with an id in these contexts, given innermost first, or nil if there is
  /// none.
  ///
  /// O(contexts).
  package static func command(_ id: ActionID, in contexts: [KeymapContext]) -> Command? {
    for context in contexts {
      if let command = byContext[context]?[id] { return command }
    }
    return nil
  }

  // MARK: Keys

  /// The default keys of all commands.
  package static let keymap = Keymap(
    tables.flatMap(\.bindings),
    countingContexts: Set(tables.filter(\.takesCounts).map(\.context)),
    innerContexts: innerContexts, typingContexts: typingContexts)

  /// The contexts in which text is typed.
  private static let typingContexts = Set(tables.filter(\.isForTyping).map(\.context))

  /// The contexts that take precedence over each context, as the tables say.
  ///
  /// If the user binds a key in a general context, the commands of these contexts lose the key, so
  /// that they do not hide the user's binding. Where text is typed, they keep it.
  static let innerContexts: [KeymapContext: Set<KeymapContext>] = {
    var inner: [KeymapContext: Set<KeymapContext>] = [:]
    for table in tables where !table.isForTyping {
      for context in table.over { inner[context, default: []].insert(table.context) }
    }
    return inner
  }()
}

extension Commands {
  /// The bindings that are reached in a state, innermost first; after those of each context its actions whose keys the
  /// user took away, without keys.
  static func bindings(in state: AppState) -> [KeyBinding] {
    let keymap = state.settings.keymap
    func named(_ binding: KeyBinding) -> KeyBinding {
      var named = binding
      (named.sequence, named.description) = ([], "")
      return named
    }
    let bound = Set(keymap.bindings.map(named))
    let contexts = state.contexts
    let reached = keymap.bindings(for: contexts)
    let without = Commands.keymap.bindings.filter { !bound.contains(named($0)) }
    return contexts.flatMap { context in
      reached.filter { $0.context == context }
        + without.filter { $0.context == context }.map { binding in
          KeyBinding(
            context: context, sequence: [], action: binding.action, description: binding.description
          )
        }
    }
  }
}

// MARK: - Running

extension Commands {
  /// Runs a command of the given contexts, or says why it is disabled.
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
  /// Runs a command in the contexts that have the keys now, or says why it is disabled.
  package mutating func perform(_ id: ActionID, count: Int?) {
    Commands.perform(&self, id, count: count, in: contexts)
  }

  /// Returns the reason why a command is disabled, or nil if it can run; if a palette, a menu or
  /// the help is in front, it asks for the place below.
  func disabledReason(_ id: ActionID) -> String? {
    if let layer = layers.last, layer.component.offersCommandsBelow {
      return below.disabledReason(id)
    }
    return Commands.command(id, in: contexts)?.disabledReason(self)
  }

  /// Shows the reason why something is disabled, and returns true; returns false if there is none.
  mutating func refuses(_ reason: String?) -> Bool {
    guard let reason else { return false }
    say(reason == reasonReadOnly ? .warning : .info, reason)
    return true
  }
}

extension ListScreen {
  /// Makes the cursor of the view in front stop waiting for a row that is being read.
  static func forgetAwaitedRow(_ state: inout AppState) {
    state.tabs.tree.wanted = nil
    state.tabs.changeFrontList { $0.goal.want(row: nil) }
  }
}
