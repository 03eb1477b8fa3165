package import RunnelTerminal

/// The commands of one context, in the order in which help and the manual list them.
package struct CommandTable: Sendable {
  /// The hints of a place, the most useful first; those without keys or disabled are left out.
  package typealias Hints = @Sendable (AppState, AtHand) -> [CommandHint]

  package let context: KeymapContext
  /// What the help calls the place.
  package let title: String
  /// True if digits before the keys are a count.
  let takesCounts: Bool
  /// The hints where this is the innermost table with hints; nil for a table that has none.
  let hints: Hints?
  /// What the hint at the end says of the help; nil for none.
  let helpHint: String?
  let commands: [Command]
  private let indices: [ActionID: Int]

  init(
    _ context: KeymapContext, _ title: String, takesCounts: Bool = false, hints: Hints? = nil,
    helpHint: String? = "help", @CommandList commands: () -> [Command]
  ) {
    self.context = context
    self.title = title
    self.takesCounts = takesCounts
    self.hints = hints
    self.helpHint = helpHint
    self.commands = commands()
    indices = Dictionary(
      self.commands.enumerated().map { ($1.id, $0) }, uniquingKeysWith: { first, _ in first })
  }

  /// The command with an id; nil if the table has none.
  subscript(id: ActionID) -> Command? { indices[id].map { commands[$0] } }

  /// What the keymap has of the table.
  package var bindings: [KeyBinding] {
    commands.flatMap { KeyBinding.bindings(context, $0.keys, $0.id, $0.help) }
  }
}

/// Makes a list of commands of single ones and of lists.
@resultBuilder
enum CommandList {
  static func buildExpression(_ command: Command) -> [Command] { [command] }
  static func buildExpression(_ commands: [Command]) -> [Command] { commands }
  static func buildBlock(_ parts: [Command]...) -> [Command] { parts.flatMap(\.self) }
}

extension [Command] {
  /// The commands, after which the cursor goes on waiting for a row that is being read.
  var keepingAwaitedRow: [Command] { map(\.keepingAwaitedRow) }
}
