import RunnelBase
import RunnelTerminal
import RunnelWorkspace
import Yams

/// Reads the keys of a configuration: other keys for actions, in all contexts or in one.
struct KeymapReader {
  /// A change, and its line.
  private struct Entry {
    var change: KeymapChange
    var line: Int?
  }

  private let standard: Keymap
  private var entries: [Entry] = []
  private var file = ""
  private(set) var problems: [ConfigurationError] = []

  init(_ standard: Keymap) { self.standard = standard }

  /// The keymap with all changes.
  var keymap: Keymap { standard.applying(entries.map(\.change)) }

  /// Reads a mapping of actions and contexts.
  mutating func read(_ keys: YAMLObject) {
    file = keys.file
    let contexts = Set(standard.bindings.map(\.context))
    for (name, node, line) in keys.members {
      let context = KeymapContext(name)
      if contexts.contains(context), node.mapping != nil {
        readContext(context, node, keys)
      } else {
        readAction(name, node, line: line, in: nil, keys)
      }
    }
    tellCollisions()
  }

  private mutating func readContext(
    _ context: KeymapContext, _ node: Yams.Node, _ keys: YAMLObject
  ) {
    do {
      let object = try keys.object(node)
      for (name, node, line) in object.members {
        readAction(name, node, line: line, in: context, object)
      }
    } catch let error as ConfigurationError {
      problems.append(error)
    } catch {
      problems.append(keys.error("\(error)"))
    }
  }

  private mutating func readAction(
    _ name: String, _ node: Yams.Node, line: Int?, in context: KeymapContext?, _ object: YAMLObject
  ) {
    let action = ActionID(name)
    let known = standard.bindings.filter { $0.action == action }.map(\.context)
    if known.isEmpty, context == nil, node.mapping != nil {
      let places = Set(standard.bindings.map(\.context.rawValue)).sorted().joined(separator: ", ")
      return tell(line, "`\(name)` is no place with keys of its own: there are \(places).")
    }
    if known.isEmpty { return tell(line, "There is no action `\(name)`: \(advice(for: name))") }
    if let context, !known.contains(context) {
      let places = Set(known.map(\.rawValue)).sorted().joined(separator: ", ")
      return tell(line, "`\(name)` is no action of `\(context)`: it is one of \(places).")
    }
    do {
      let notations = try node.sequence.map { try $0.map(object.text) } ?? [object.text(node)]
      let sequences = notations.compactMap { notation -> [KeyStroke]? in
        let sequence = KeyStroke.sequence(notation)
        if sequence == nil { tell(line, KeymapReader.unreadable(notation)) }
        return sequence
      }
      if sequences.count < notations.count { return }
      entries.append(
        Entry(
          change: KeymapChange(context: context, action: action, sequences: sequences), line: line))
    } catch let error as ConfigurationError {
      tell(error.line ?? line, "Keys are a list, such as [j, Down, C-n]; [] takes them away.")
    } catch {
      tell(line, "\(error)")
    }
  }

  /// Reports commands that cannot be typed with the new keys.
  private mutating func tellCollisions() {
    let before = Set(standard.validate())
    for problem in keymap.validate() where !before.contains(problem) {
      let actions: [ActionID] =
        switch problem {
        case .duplicate(let first, let second): [second.action, first.action]
        case .commandAndPrefix(let command, let longer): [command.action, longer.action]
        case .noKeys(let binding): [binding.action]
        }
      let entry = actions.compactMap { action in
        entries.last { $0.change.action == action }
      }.first
      tell(entry?.line, "\(problem).")
    }
  }

  /// Warnings about what no key leads to any more: commands, help, and leaving.
  var warnings: [ConfigurationError] {
    let keymap = keymap
    func keys(_ action: ActionID) -> String? { keymap.firstKeys(for: action, in: [.global]) }
    func warning(_ action: ActionID, _ way: String) -> ConfigurationError? {
      let line = entries.last { $0.change.action == action }?.line
      return line.map {
        ConfigurationError(
          file: file, line: $0, "`\(action.rawValue)` has no keys any more: \(way)")
      }
    }
    var warnings: [ConfigurationError?] = []
    let palette = keys(.paletteOpen)
    if palette == nil {
      warnings.append(
        warning(
          .paletteOpen,
          "commands cannot be typed, and actions without keys not be found. Give it one, such as `:`."
        ))
    }
    if keys(.helpOpen) == nil {
      let way =
        palette.map { "`\($0)` finds help by its name" } ?? "`runnel config keys` lists all keys"
      warnings.append(warning(.helpOpen, "\(way)."))
    }
    if keys(.viewClose) == nil, keys(.appQuit) == nil {
      let way =
        keys(.jobCancel).map { "`\($0)` twice leaves" }
        ?? palette.map { "`\($0)` finds leave by its name" }
        ?? "only the end of the terminal leaves. Give it one, such as `q`"
      warnings.append(warning(.viewClose, "\(way).") ?? warning(.appQuit, "\(way)."))
    }
    return warnings.compactMap(\.self)
  }

  private mutating func tell(_ line: Int?, _ message: String) {
    problems.append(ConfigurationError(file: file, line: line, message))
  }

  private func advice(for name: String) -> String {
    let known = Set(
      standard.bindings.map(\.action.rawValue) + standard.bindings.map(\.context.rawValue))
    if let nearest = Spelling.nearest(to: name, among: known.sorted()) {
      return "did you mean `\(nearest)`?"
    }
    return "`runnel config keys` lists all."
  }

  private static func unreadable(_ notation: String) -> String {
    "`\(notation)` names no key: write j, C-x, M-Enter, F2, or keys one after another as gg or C-x C-e."
  }
}
