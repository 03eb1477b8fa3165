import RunnelBase
import RunnelTerminal
public import RunnelWorkspace

/// All actions by context with their keys, for use outside the workspace.
public struct KeyTable: Sendable {
  /// An action in one context.
  private struct Row: Hashable {
    var context: String
    var action: String
    var description: String
    var keys: [String]
  }

  private let rows: [Row]

  /// Makes the table for the keys of a configuration.
  public init(_ settings: Settings) {
    let standard = Commands.keymap
    var rows: [Row] = []
    for binding in standard.bindings {
      let keys = settings.keymap.bindings
        .filter { $0.action == binding.action && $0.context == binding.context }.map(\.keys)
      let row = Row(
        context: "\(binding.context)", action: "\(binding.action)",
        description: binding.description, keys: keys)
      // The bindings of an action follow one another.
      if rows.last != row { rows.append(row) }
    }
    self.rows = rows
  }

  /// The table as text, one line per action: context, action, description and keys, separated by
  /// tabs.
  public var text: String {
    rows.map { row in
      [row.context, row.action, row.description, row.keys.joined(separator: " ")]
        .joined(separator: "\t") + "\n"
    }.joined()
  }

  /// The table as a JSON list of objects.
  public var json: String {
    let objects = rows.map { row -> JSONValue in
      [
        "context": .string(row.context), "action": .string(row.action),
        "description": .string(row.description), "keys": .strings(row.keys),
      ]
    }
    return JSONValue.array(objects).jsonText(pretty: true) + "\n"
  }
}
