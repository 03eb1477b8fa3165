import RunnelBase
import RunnelStore
import RunnelStreams
import RunnelTerminal

/// The last actions with what each changed in what the state comes to: for the debug view.
struct ActionTrace: Hashable, Sendable {
  /// How many actions are shown; up to twice as many are kept.
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
  var entries: [Entry] { Array(kept.suffix(ActionTrace.entriesMax)) }
  /// What is kept of them: those that are too many are dropped together, as that costs what one does.
  private var kept: [Entry] = []
  /// How many actions there were.
  private(set) var count = 0
  /// What was so after the last action; nil before the first.
  private(set) var facts: [StateFact]?

  /// Notes an action; one that is of no interest is only counted if it changed nothing.
  mutating func note(
    _ name: @autoclosure () -> String, isOfInterest: Bool, at milliseconds: Int64,
    _ old: [StateFact],
    _ new: [StateFact]
  ) {
    count += 1
    facts = new
    let changes = ActionTrace.changes(old, new)
    if changes.isEmpty, !isOfInterest { return }
    kept.append(
      Entry(number: count, milliseconds: milliseconds, name: name(), changes: changes))
    if kept.count >= 2 * ActionTrace.entriesMax {
      kept.removeFirst(kept.count - ActionTrace.entriesMax)
    }
  }

  /// Counts an action that is of no interest and changed no fact, as the passing of time.
  mutating func noteNothing() { count += 1 }

  private static func changes(_ old: [StateFact], _ new: [StateFact]) -> [Change] {
    if old == new { return [] }
    var changes: [Change] = []
    for fact in new {
      let known = old.first { $0.isAboutTheSame(as: fact) }?.value
      if known == fact.value { continue }
      let (before, after) = (known?.text ?? "", fact.value.text)
      if before != after { changes.append(Change(fact: fact.name, old: before, new: after)) }
    }
    for fact in old where !new.contains(where: { $0.isAboutTheSame(as: fact) }) {
      let before = fact.value.text
      if !before.isEmpty { changes.append(Change(fact: fact.name, old: before, new: "")) }
    }
    return changes
  }
}

/// Something that is so of the state; it is put into words where it changed.
struct StateFact: Hashable, Sendable {
  /// What is the case.
  enum Value: Hashable, Sendable {
    case text(String)
    case count(Int)
    case size(TerminalSize)
    case loading(LoadState, FetchState)

    /// In words; empty where there is nothing to say.
    var text: String {
      switch self {
      case .text(let text): text
      case .count(let count): count == 0 ? "" : "\(count)"
      case .size(let size): "\(size.columns)x\(size.rows)"
      case .loading(let phase, let paging): "\(phase) \(paging)"
      }
    }
  }

  /// The view that it is about; empty for the whole.
  var subject = ""
  /// What of it.
  var aspect: String
  var value: Value

  /// Both, in words.
  var name: String { subject.isEmpty ? aspect : "\(subject) \(aspect)" }

  func isAboutTheSame(as other: StateFact) -> Bool {
    aspect == other.aspect && subject == other.subject
  }
}

extension AppState {
  /// What the state comes to, without its rows: what a person would compare.
  ///
  /// O(views and layers). It is asked for before and after each action.
  var facts: [StateFact] {
    var facts: [StateFact] = []
    facts.reserveCapacity(8 + 4 * lists.count)
    facts.append(
      StateFact(aspect: "view", value: .text(isTree ? "Tree" : lists[active].definition.name)))
    if !layers.isEmpty {
      let names = layers.map(\.name).joined(separator: " > ")
      facts.append(StateFact(aspect: "layers", value: .text(names)))
    }
    if matcher.isPending {
      facts.append(StateFact(aspect: "keys", value: .text(matcher.pendingText)))
    }
    if let toast { facts.append(StateFact(aspect: "message", value: .text(toast.toast.text))) }
    facts.append(StateFact(aspect: "size", value: .size(size)))
    facts.append(StateFact(aspect: "waiting writes", value: .count(requests.writes.count)))
    facts.append(StateFact(aspect: "cursor", value: .text(cursorText)))
    for screen in lists where screen.isOpen { facts += AppState.facts(of: screen) }
    if tree.isOpen {
      facts.append(
        StateFact(subject: "Tree", aspect: "rows", value: .count(tree.content.rowCount)))
    }
    return facts
  }

  private static func facts(of screen: ListScreen) -> [StateFact] {
    let name = screen.definition.name
    let new = screen.newAboveCount + screen.newBelowCount
    return [
      StateFact(subject: name, aspect: "rows", value: .count(screen.content.rowCount)),
      StateFact(subject: name, aspect: "state", value: .loading(screen.phase, screen.paging)),
      StateFact(subject: name, aspect: "new", value: .count(new)),
      StateFact(subject: name, aspect: "draft", value: .text(screen.draft)),
    ]
  }

  private var cursorText: String {
    let list = layers.last?.listed?.list ?? (isTree ? tree.list : lists[active].list)
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
    case .history(let screen): "history of \(screen.path)"
    case .compare(let screen): "comparison of \(screen.draft.path)"
    case .queue: "queue of writes"
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
}
