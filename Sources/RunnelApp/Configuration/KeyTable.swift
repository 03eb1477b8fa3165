import RunnelBase
import RunnelTerminal
public import RunnelWorkspace

/// All actions by context with the keys that hold, for whoever reads them outside the workspace.
public struct KeyTable: Sendable {
  /// An action in one context.
  private struct Row: Hashable {
    var context: String
    var action: String
    var description: String
    var keys: [String]
  }

  private let rows: [Row]

  /// The keys of a configuration.
  public init(_ settings: Settings) {
    let standard = Commands.keymap
    var rows: [Row] = []
    for binding in standard.bindings {
      let keys = settings.keymap.bindings
        .filter { $0.action == binding.action && $0.context == binding.context }.map(\.keys)
      let row = Row(
        context: "\(binding.context)", action: "\(binding.action)",
        description: binding.description, keys: keys)
      // The bindings of one action stand together.
      if rows.last != row { rows.append(row) }
    }
    self.rows = rows
  }

  /// A line for each: context, action, what it does, and its keys, with tabs between.
  public var text: String {
    rows.map { row in
      [row.context, row.action, row.description, row.keys.joined(separator: " ")]
        .joined(separator: "\t") + "\n"
    }.joined()
  }

  /// The same as a list of objects in JSON.
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
