package import RunnelBase
import RunnelStore
package import RunnelStreams
package import RunnelTerminal

/// The last actions, with the facts of the state that each changed, for the view of the last
/// actions.
package struct ActionTrace: Hashable, Sendable {
  /// The number of actions shown; up to twice as many are kept.
  static let entriesMax = 200

  /// A fact of the state that an action changed.
  package struct Change: Hashable, Sendable {
    var fact: String
    package var old: String
    package var new: String

    package init(fact: String, old: String, new: String) {
      self.fact = fact
      self.old = old
      self.new = new
    }
  }

  /// An action.
  package struct Entry: Hashable, Sendable {
    /// The number of the action, from 1.
    package var number: Int
    /// The time when the action was reduced, in milliseconds since 1970.
    package var milliseconds: Int64
    package var name: String
    package var changes: [Change]

    package init(number: Int, milliseconds: Int64, name: String, changes: [Change]) {
      self.number = number
      self.milliseconds = milliseconds
      self.name = name
      self.changes = changes
    }
  }

  /// The newest entries, oldest first.
  package var entries: [Entry] { Array(kept.suffix(ActionTrace.entriesMax)) }
  /// The kept entries; surplus ones are dropped in batches, which is cheap.
  private var kept: [Entry] = []
  /// The number of all actions.
  package private(set) var count = 0
  /// The facts after the last action; nil before the first.
  private(set) var facts: [StateFact]?

  /// Notes an action; an action of no interest that changed nothing is only counted.
  package mutating func note(
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

  /// Counts an action of no interest that changed no fact, such as the passing of time.
  mutating func noteNothing() { count += 1 }

  /// Returns the change of a fact, or nil if its text is the same as before.
  private static func change(from known: StateFact.Value?, to fact: StateFact) -> Change? {
    if known == fact.value { return nil }
    let (before, after) = (known?.text ?? "", fact.value.text)
    return before == after ? nil : Change(fact: fact.name, old: before, new: after)
  }

  private static func changes(_ old: [StateFact], _ new: [StateFact]) -> [Change] {
    // Most actions leave the facts in the same order, and change the value of one or two.
    if old.count == new.count, old.indices.allSatisfy({ old[$0].isAboutTheSame(as: new[$0]) }) {
      var changes: [Change] = []
      for index in new.indices where old[index].value != new[index].value {
        if let change = change(from: old[index].value, to: new[index]) { changes.append(change) }
      }
      return changes
    }
    var changes: [Change] = []
    for fact in new {
      let known = old.first { $0.isAboutTheSame(as: fact) }?.value
      if let change = change(from: known, to: fact) { changes.append(change) }
    }
    for fact in old where !new.contains(where: { $0.isAboutTheSame(as: fact) }) {
      let before = fact.value.text
      if !before.isEmpty { changes.append(Change(fact: fact.name, old: before, new: "")) }
    }
    return changes
  }
}

/// A fact about the state, which is put into words only if it changed.
package struct StateFact: Hashable, Sendable {
  /// The value of a fact.
  package enum Value: Hashable, Sendable {
    case text(String)
    case count(Int)
    case size(TerminalSize)
    case loading(LoadState, FetchState)

    /// The value in words; empty if there is nothing to say.
    package var text: String {
      switch self {
      case .text(let text): text
      case .count(let count): count == 0 ? "" : "\(count)"
      case .size(let size): "\(size.columns)x\(size.rows)"
      case .loading(let phase, let paging): "\(phase) \(paging)"
      }
    }
  }

  /// The view that the fact is about; empty for the whole state.
  var subject = ""
  /// The aspect of the subject.
  var aspect: String
  package var value: Value

  /// The subject and the aspect, in words.
  package var name: String { subject.isEmpty ? aspect : "\(subject) \(aspect)" }

  func isAboutTheSame(as other: StateFact) -> Bool {
    aspect == other.aspect && subject == other.subject
  }
}

extension ActionTrace {
  /// Returns the facts about the state, without its rows.
  ///
  /// O(views and layers). The trace asks for them before and after each action.
  static func facts(_ state: AppState) -> [StateFact] {
    var facts: [StateFact] = []
    facts.reserveCapacity(8 + 4 * state.tabs.lists.count)
    facts.append(
      StateFact(
        aspect: "view", value: .text(state.tabs.frontList?.definition.name ?? "Tree"))
    )
    if !state.layers.isEmpty {
      let names = state.layers.map(\.component.summary).joined(separator: " > ")
      facts.append(StateFact(aspect: "layers", value: .text(names)))
    }
    if state.input.matcher.isPending {
      facts.append(StateFact(aspect: "keys", value: .text(state.input.matcher.pendingText)))
    }
    if let toast = state.toast {
      facts.append(StateFact(aspect: "message", value: .text(toast.toast.text)))
    }
    facts.append(StateFact(aspect: "size", value: .size(state.size)))
    facts.append(StateFact(aspect: "waiting writes", value: .count(state.requests.writes.count)))
    facts.append(StateFact(aspect: "cursor", value: .text(cursorText(state))))
    for index in state.tabs.lists.indices where state.tabs.lists[index].reach.isOpen {
      append(&facts, ofList: index, state.tabs)
    }
    if state.tabs.tree.isOpen {
      facts.append(
        StateFact(subject: "Tree", aspect: "rows", value: .count(state.tabs.tree.content.rowCount)))
    }
    return facts
  }

  private static func append(_ facts: inout [StateFact], ofList index: Int, _ tabs: Tabs) {
    // A list is not copied to look at a few of its parts.
    let name = tabs.lists[index].definition.name
    let new = tabs.lists[index].newAboveCount + tabs.lists[index].newBelowCount
    let (phase, paging) = (tabs.lists[index].reach.phase, tabs.lists[index].reach.paging)
    let count = tabs.lists[index].content.rowCount
    facts.append(StateFact(subject: name, aspect: "rows", value: .count(count)))
    facts.append(StateFact(subject: name, aspect: "state", value: .loading(phase, paging)))
    facts.append(StateFact(subject: name, aspect: "new", value: .count(new)))
    facts.append(
      StateFact(subject: name, aspect: "draft", value: .text(tabs.lists[index].line.draft)))
  }

  private static func cursorText(_ state: AppState) -> String {
    let list =
      state.layers.last?.listed?.list
      ?? (state.tabs.frontList?.list ?? state.tabs.tree.list)
    return switch list.cursor {
    case .row(let id): id
    case .header(let id): "header \(id)"
    case nil: ""
    }
  }
}

// MARK: The view

/// The view of the last actions and their changes, as of the time when it was opened.
package struct DebugScreen: Hashable, Sendable {
  var lines: [String: StyledLine] = [:]
  package var content = ListContent()
  var headings: [String: ListHeading] = [:]
  package var list = ListState()

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

extension ActionTrace {
  /// Opens the view of the last actions.
  static func openDebug(_ state: inout AppState) {
    if case .debug? = state.layers.last { return }
    state.layers.append(
      .debug(DebugScreen(state.session.trace, local: state.settings.local, height: state.height)))
  }
}
