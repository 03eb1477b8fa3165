import RunnelBase
import RunnelStore
import RunnelTerminal

/// The last actions with what each changed in what the state comes to: for the debug view.
struct ActionTrace: Hashable, Sendable {
  /// How many actions are kept.
  static let entriesMax = 200

  /// A fact of the state that an action changed.
  struct Change: Hashable, Sendable {
    var fact: String
    var old: String
    var new: String
  }

  /// An action.
  struct Entry: Hashable, Sendable {
    /// Its number, from 1.
    var number: Int
    /// When it was reduced, in milliseconds since 1970.
    var milliseconds: Int64
    var name: String
    var changes: [Change]
  }

  /// The newest entries, oldest first.
  private(set) var entries: [Entry] = []
  /// How many actions there were.
  private(set) var count = 0

  /// Notes an action; one that is of no interest is only counted if it changed nothing.
  mutating func note(
    _ name: String, isOfInterest: Bool, at milliseconds: Int64, _ old: [StateFact],
    _ new: [StateFact]
  ) {
    count += 1
    let changes = ActionTrace.changes(old, new)
    if changes.isEmpty, !isOfInterest { return }
    entries.append(
      Entry(number: count, milliseconds: milliseconds, name: name, changes: changes))
    if entries.count > ActionTrace.entriesMax { entries.removeFirst() }
  }

  private static func changes(_ old: [StateFact], _ new: [StateFact]) -> [Change] {
    if old == new { return [] }
    var changes: [Change] = []
    for fact in new {
      let before = old.first { $0.name == fact.name }?.value ?? ""
      if before != fact.value {
        changes.append(Change(fact: fact.name, old: before, new: fact.value))
      }
    }
    for fact in old where !fact.value.isEmpty && !new.contains(where: { $0.name == fact.name }) {
      changes.append(Change(fact: fact.name, old: fact.value, new: ""))
    }
    return changes
  }
}

/// Something that is so of the state, in words.
struct StateFact: Hashable, Sendable {
  var name: String
  var value: String
}

extension AppState {
  /// What the state comes to, without its rows: what a person would compare.
  ///
  /// O(views and layers).
  var facts: [StateFact] {
    var facts = [
      StateFact(name: "view", value: tabs[active]),
      StateFact(name: "layers", value: layers.map(\.name).joined(separator: " > ")),
      StateFact(name: "keys", value: matcher.pendingText),
      StateFact(name: "message", value: toast?.toast.text ?? ""),
      StateFact(name: "size", value: "\(size.columns)x\(size.rows)"),
      StateFact(name: "waiting writes", value: writes.isEmpty ? "" : "\(writes.count)"),
      StateFact(name: "cursor", value: cursorText),
    ]
    for screen in lists where screen.isOpen {
      let name = screen.definition.name
      facts.append(StateFact(name: "\(name) rows", value: "\(screen.content.rowCount)"))
      facts.append(StateFact(name: "\(name) state", value: "\(screen.phase) \(screen.paging)"))
      let new = screen.list.newAbove.count + screen.list.newBelow.count
      facts.append(StateFact(name: "\(name) new", value: new == 0 ? "" : "\(new)"))
      facts.append(StateFact(name: "\(name) draft", value: screen.draft))
    }
    if tree.isOpen {
      facts.append(StateFact(name: "Tree rows", value: "\(tree.content.rowCount)"))
    }
    return facts
  }

  private var cursorText: String {
    let list =
      switch layers.last {
      case .record(let screen): screen.list
      case .help(let screen): screen.list
      case .debug(let screen): screen.list
      case .form, .confirm, .compose, .filter, .search, .palette, .menu, nil:
        isTree ? tree.list : lists[active].list
      }
    return switch list.cursor {
    case .row(let id): id
    case .header(let id): "header \(id)"
    case nil: ""
    }
  }
}

extension AppState.Layer {
  /// What the layer is, in words.
  fileprivate var name: String {
    switch self {
    case .record(let screen):
      screen.edit.map { "record \(screen.path), editing \($0.field.text)" }
        ?? "record \(screen.path)"
    case .form(let form): "form \(form.title)"
    case .confirm(let question): "question about \(question.subject)"
    case .help: "help"
    case .compose: "composer"
    case .filter(let screen): "filter \(screen.editor.text)"
    case .search(let screen): "search \(screen.editor.text)"
    case .debug: "debug"
    case .palette(let screen): "palette \(screen.editor.text)"
    case .menu(let screen): "menu \(screen.title)"
    }
  }
}

// MARK: The view

/// The last actions and what they changed, as of when it was opened.
struct DebugScreen: Hashable, Sendable {
  var lines: [String: StyledLine] = [:]
  var content = ListContent()
  var headings: [String: ListHeading] = [:]
  var list = ListState()

  private static let section = "actions"

  init(_ trace: ActionTrace, local: LocalTime, height: Int) {
    var ids: [String] = []
    for entry in trace.entries.reversed() {
      let id = "\(entry.number)"
      var line = StyledLine("  \(entry.number) ", .muted)
      line.append("\(local.civil(entry.milliseconds).timeText) ", .muted)
      line.append(entry.name, .strong)
      lines[id] = line
      ids.append(id)
      for (index, change) in entry.changes.enumerated() {
        let id = "\(entry.number).\(index)"
        var line = StyledLine("      \(change.fact): ", .jsonKey)
        line.append(change.old.isEmpty ? "-" : change.old, .error)
        line.append(" -> ", .muted)
        line.append(change.new.isEmpty ? "-" : change.new, .ok)
        lines[id] = line
        ids.append(id)
      }
    }
    content = ListContent(sections: [
      ListSection(id: DebugScreen.section, rows: ids, emptyText: "nothing happened yet")
    ])
    headings[DebugScreen.section] = ListHeading(
      title: StyledLine("The last actions, the newest first", .sectionHeader),
      detail: StyledLine("\(trace.entries.count) of \(trace.count)", .muted))
    list.apply(.reload, from: ListContent(), to: content, height: height)
  }
}

extension AppState {
  /// Opens the view of the last actions.
  mutating func openDebug() {
    if case .debug? = layers.last { return }
    layers.append(.debug(DebugScreen(trace, local: local, height: height)))
  }

  mutating func performInDebug(_ action: ActionID, count: Int?) {
    guard case .debug(var screen)? = layers.last else { return }
    if action == .stepBack { return closeLayer() }
    guard AppState.move(&screen.list, screen.content, height, action, count) else { return }
    layers[layers.count - 1] = .debug(screen)
  }
}
