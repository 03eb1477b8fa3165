import RunnelBase
import RunnelTree
import Testing

@testable import RunnelStore

/// A store with access to a tree that the test plays: what reducers see and what is to be done.
final class TreeHarness {
  /// What reducers saw, and how far the states of two queries follow.
  struct State: Sendable {
    var actions: [any Action] = []
    var groups: ObjectsState<Group>
    var ranked: ObjectsState<Group>
  }

  static let time: Int64 = 1_788_111_900_000

  let access = TreeAccess(now: { TreeHarness.time }, random: SeededRandom(seed: 1))
  let store: Store<State>
  /// All groups.
  let query: Query
  /// The first two groups by rank.
  let ranked: Query

  init() throws {
    query = Query(try Path("/group"))
    ranked = try Query(Path("/group")).ordered(byChild: "rank").limited(to: 2, from: .first)
    let state = State(groups: ObjectsState(of: query), ranked: ObjectsState(of: ranked))
    let noting: Reducer<State> = { state, action in state.actions.append(action) }
    store = Store(
      state: state, middleware: [access.middleware()],
      reducer: combineReducers(
        noting, reducing(\.groups, by: ObjectsState.reduce),
        reducing(\.ranked, by: ObjectsState.reduce)))
  }

  /// Dispatches, and gives what reducers saw of it as text.
  func dispatch(_ action: any Action) -> [String] {
    let count = store.state.actions.count
    store.dispatch(action)
    return store.state.actions[count...].map(TreeHarness.text)
  }

  func path(_ text: String) throws -> Path { try Path(text) }
}

// MARK: As text

extension TreeHarness {
  /// An action in few words.
  static func text(_ action: any Action) -> String {
    switch action {
    case let action as RequestPending<Group>: "pending " + text(action.request)
    case let action as RequestSucceeded<Group>:
      "succeeded \(text(action.request)): \(text(action.answer))"
    case let action as RequestAcknowledged<Group>: "acknowledged " + text(action.request)
    case let action as RequestFailed<Group>:
      "failed \(text(action.request)): \(action.error.code.rawValue)"
    case let action as RequestCancelled<Group>: "cancelled " + text(action.request)
    case let action as ObjectSubscribed<Group>:
      (action.isSubscribed ? "subscribed " : "unsubscribed ") + text(action.query)
    case let action as ObjectsLoaded<Group>:
      "loaded " + action.entries.map(text).joined(separator: " ")
    case let action as ObjectAdded<Group>:
      "added \(text(action.entry)) after \(action.previous?.text ?? "-")"
    case let action as ObjectChanged<Group>: "changed " + text(action.entry)
    case let action as ObjectMoved<Group>:
      "moved \(text(action.entry)) after \(action.previous?.text ?? "-")"
    case let action as ObjectRemoved<Group>:
      "removed \(action.id) \(action.object?.name ?? "-")"
    case let action as ObjectErrored<Group>:
      "errored \(action.path): \(action.error.code.rawValue)"
    case let action as ObjectObserved<Group>: "observed \(action.path) \(text(action.event))"
    case let action as ConnectionChanged: action.isConnected ? "connected" : "disconnected"
    default: "\(type(of: action))"
    }
  }

  private static func text(_ request: RequestSummary) -> String {
    "\(request.id) \(request.kind) \(request.path)"
  }

  private static func text(_ answer: RequestSucceeded<Group>.Answer) -> String {
    switch answer {
    case .written(let awaitsOrigin): awaitsOrigin ? "written here" : "written"
    case .object(let object): object?.name ?? "nothing"
    case .objects(let entries, let malformed):
      (entries.map(text) + malformed.map { "malformed \($0.path ?? "-")" }).joined(separator: " ")
    }
  }

  private static func text(_ entry: ObjectEntry<Group>) -> String {
    "\(entry.id)=\(entry.object.name)"
  }

  private static func text(_ query: Query) -> String {
    "\(query.path)" + (query.limit.map { " first \($0.count)" } ?? "")
  }

  private static func text(_ event: ObjectObserved<Group>.Event) -> String {
    switch event {
    case .began: "began"
    case .ended: "ended"
    case .object(let group): group?.name ?? "nothing"
    }
  }
}

// MARK: What the tree says

extension TreeHarness {
  /// A row of a query: JSON that stands under a key.
  func row(_ key: String, _ json: JSONValue, in query: Query) throws -> TreeRow {
    let child = Child(key: try Key(key), node: try Node(json: json))
    return TreeRow(child, index: query.index, detail: .full)
  }

  /// What a listener is told of, in one batch.
  func deliveries(_ listener: Int, _ events: TreeEvent...) -> TreeAnswer {
    .deliveries(events.map { Delivery(listener: ListenerID(listener), event: $0) })
  }
}
