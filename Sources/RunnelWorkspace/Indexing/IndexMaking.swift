package import RunnelBase
import RunnelTerminal
package import RunnelTree

/// An index that is being made for the order of a list, which takes a while for many rows.
package struct IndexMaking: Hashable, Sendable {
  /// How far it is, or how it ended.
  package enum Report: Hashable, Sendable {
    /// The number of rows that are in the index so far.
    case progress(rows: Int)
    case done
    /// The user stopped it, and no index was made.
    case stopped
    /// It failed for this reason, and no index was made.
    case failed(String)
  }

  package let definition: IndexDefinition
  /// The path of the list.
  let path: Path
  let view: Int
  /// The time when it began, in milliseconds since 1970.
  let startedAt: Int64

  /// The order in words.
  private var words: String { "\(definition.order) in \(path)" }
}

// MARK: Making

extension IndexMaking {
  /// The command that makes an index for the order of the list in front.
  static let command = Command(
    .indexMake, "make index", "make an index for the order of the list", keys: ["gI"],
    needs: .nothing,
    disabled: { reasonNotMade($0) }
  ) { state, _ in start(&state) }

  private static func start(_ state: inout AppState) {
    guard let view = state.tabs.front.view, let screen = state.tabs.frontList else { return }
    let path = screen.definition.source.path
    if state.database.origin != nil, let line = ruleLine(of: screen.definition.source.order) {
      let what = "line \(line) for the rules of \(path) at the server"
      return state.effects.append(.copy(line, what: what))
    }
    guard
      let definition = IndexDefinition(
        pattern: path.description, serving: screen.definition.source.order)
    else { return }
    state.files.indexing = IndexMaking(
      definition: definition, path: path, view: view, startedAt: state.now)
    state.effects.append(.makeIndex(definition))
  }

  /// The line that declares an index for an order in the rules of a server; nil for an order that needs none,
  /// or that servers do not have.
  static func ruleLine(of order: QueryIndex) -> String? {
    switch order.forward {
    case .value: #"".indexOn": [".value"]"#
    case .child(let path):
      #"".indexOn": ["\#(path.keys.map(\.text).joined(separator: "/"))"]"#
    case .key, .priority, .compound: nil
    }
  }

  /// The reason why no index can be made for the list in front, or nil if one can.
  static func reasonNotMade(_ state: AppState) -> String? {
    guard let screen = state.tabs.frontList else { return "keys need no index" }
    if state.files.indexing != nil {
      return SharedCommands.reasonUnderWay("an index is being made")
    }
    let order = screen.definition.source.order
    if order.forward == .key { return "keys need no index" }
    if state.database.origin != nil {
      return ruleLine(of: order) == nil ? "servers have no indexes for this order" : nil
    }
    if screen.arrangement.indexedOrders?.contains(order.forward.description) == true {
      return "there is an index for this order"
    }
    return state.reasonReadOnly
  }

  /// Stops the making of an index; returns false if none is made.
  static func stop(_ state: inout AppState) -> Bool {
    if state.files.indexing == nil { return false }
    state.effects.append(.stopIndex)
    return true
  }

  /// Takes a report.
  static func take(_ state: inout AppState, _ report: Report) {
    guard let making = state.files.indexing else { return }
    switch report {
    case .progress(let rows):
      guard state.now - making.startedAt >= ImportReading.quietMilliseconds else { return }
      return state.say(
        .info, "making an index of \(making.words): \(rows) rows" + Importing.stopHint(state))
    case .done:
      state.say(.info, "made an index of \(making.words): a list in this order reads only its page")
      state.ask(.orders(making.path), for: .orders(view: making.view))
    case .stopped: state.say(.info, "no index was made")
    case .failed(let reason): state.say(.error, "no index was made: \(reason)")
    }
    state.files.indexing = nil
  }
}

extension ActionID {
  static let indexMake = ActionID("index.make")
}

// MARK: Recording

extension IndexMaking.Report {
  /// The report as JSON, for recorded sessions.
  package var json: JSONValue {
    switch self {
    case .progress(let rows): .number(JSONNumber(Int64(rows)))
    case .done: "done"
    case .stopped: "stopped"
    case .failed(let reason): ["failed": .string(reason)]
    }
  }

  /// Reads a report that `json` wrote; nil if the JSON is something else.
  package init?(_ json: JSONValue) {
    switch json {
    case "done": self = .done
    case "stopped": self = .stopped
    default:
      if let rows = json.int {
        self = .progress(rows: rows)
      } else if let reason = json["failed"]?.string {
        self = .failed(reason)
      } else {
        return nil
      }
    }
  }
}
