package import RunnelTerminal

/// The commands of one context, in the order in which help and the manual list them.
package struct CommandTable: Sendable {
  /// The hints of a place, the most useful first; commands without keys and disabled ones are left
  /// out.
  package typealias Hints = @Sendable (AppState, AtHand) -> [CommandHint]

  package let context: KeymapContext
  /// The contexts that may hold behind this one, innermost first; this one hides their keys.
  let over: [KeymapContext]
  /// The heading of the table in the help.
  package let title: String
  /// Whether digits before the keys are a count.
  let takesCounts: Bool
  /// The hints of the table, used if it is the innermost table that has hints; nil if it has none.
  let hints: Hints?
  /// The words of the hint for the help, which is the last one; nil for no such hint.
  let helpHint: String?
  let commands: [Command]
  private let indices: [ActionID: Int]

  init(
    _ context: KeymapContext, _ title: String, over: [KeymapContext], takesCounts: Bool = false,
    hints: Hints? = nil,
    helpHint: String? = "help", @CommandList commands: () -> [Command]
  ) {
    self.context = context
    self.title = title
    self.over = over
    self.takesCounts = takesCounts
    self.hints = hints
    self.helpHint = helpHint
    self.commands = commands()
    indices = Dictionary(
      self.commands.enumerated().map { ($1.id, $0) }, uniquingKeysWith: { first, _ in first })
  }

  /// The command with an id, or nil if the table has none.
  subscript(id: ActionID) -> Command? { indices[id].map { commands[$0] } }

  /// The contexts of a component with this table, innermost first, if it always has the same ones.
  var contexts: [KeymapContext] { [context] + over }

  /// Whether text is typed where its commands are.
  var isForTyping: Bool { contexts.contains(.textField) }

  /// The key bindings of the table.
  package var bindings: [KeyBinding] {
    commands.flatMap { KeyBinding.bindings(context, $0.keys, $0.id, $0.help) }
  }
}

/// Builds a list of commands from single commands and lists of commands.
@resultBuilder
enum CommandList {
  static func buildExpression(_ command: Command) -> [Command] { [command] }
  static func buildExpression(_ commands: [Command]) -> [Command] { commands }
  static func buildBlock(_ parts: [Command]...) -> [Command] { parts.flatMap(\.self) }
}

extension [Command] {
  /// The same commands, but the cursor goes on waiting for a row that is being read.
  var keepingAwaitedRow: [Command] { map(\.keepingAwaitedRow) }
}
