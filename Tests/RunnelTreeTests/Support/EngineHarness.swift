import RunnelBase
import RunnelTree

/// A tree in memory with an engine over it; says in short text what each listener is told.
///
/// Texts: `added b(a)=2` (key, previous key, value), `removed a=1`, `moved a(null)=1`,
/// `changed a(null)=1`, `value={"a":1}`, `page more`, `page end`.
struct EngineHarness {
  private(set) var tree = MemoryTree()
  var engine = TreeEngine()
  private var listenerCount = 0

  init(_ root: String = "null") throws { tree = MemoryTree(try node(root)) }

  /// Registers a listener; returns its name and what it is told at first.
  mutating func listen(
    _ query: Query, paging: Paging? = nil, detail: TreeRow.Detail = .full,
    events: EventKinds = .all
  ) throws -> (ListenerID, [String]) {
    listenerCount += 1
    let listener = ListenerID(listenerCount)
    let request = ListenRequest(query: query, paging: paging, detail: detail, events: events)
    let deliveries = try engine.listen(listener, request, reader: tree)
    engine.checkInvariants()
    return (listener, deliveries.map(\.event.text))
  }

  mutating func set(_ path: String, _ json: String) throws -> [String] {
    try write(.set(Path(path), JSONValue(parsing: json)))
  }

  mutating func update(_ path: String, _ json: String) throws -> [String] {
    guard case .object(let members) = try JSONValue(parsing: json) else {
      preconditionFailure("An update is an object.")
    }
    return try write(.update(Path(path), members))
  }

  mutating func extend(_ listener: ListenerID, by count: Int) throws -> [String] {
    let deliveries = try engine.extend(listener, by: count, reader: tree)
    engine.checkInvariants()
    return deliveries.map(\.event.text)
  }

  mutating func write(_ write: Write) throws -> [String] {
    try deliveries(write).map(\.event.text)
  }

  /// Carries out a write as a database does: the whole state first, then the events.
  mutating func deliveries(_ write: Write) throws -> [Delivery] {
    let parts = try write.assignments(now: 1_700_000_000_000, reader: tree)
    for part in parts { tree.perform(part) }
    let result = try engine.apply(touched: parts.map(\.path), reader: tree)
    engine.checkInvariants()
    return result
  }
}

extension TreeEvent {
  /// The event in short; see `EngineHarness`.
  var text: String {
    switch self {
    case .childAdded(let row, let previous): "added \(row.text(after: previous))"
    case .childChanged(let row, let previous): "changed \(row.text(after: previous))"
    case .childMoved(let row, let previous): "moved \(row.text(after: previous))"
    case .childRemoved(let row): "removed \(row.key)=\(row.contentText)"
    case .value(let node): "value=\(node.exportJSON.jsonText())"
    case .page(let hasMore): hasMore ? "page more" : "page end"
    case .pending(let state): state.text
    case .answered: "answered"
    }
  }
}

extension PendingState {
  /// `settled`, `pending a b`, or `pending whole a b`.
  fileprivate var text: String {
    if isSettled { return "settled" }
    let whole = isWhole ? ["whole"] : []
    return (["pending"] + whole + children.sorted().map(\.text)).joined(separator: " ")
  }
}

extension TreeRow {
  fileprivate func text(after previous: Key?) -> String {
    "\(key)(\(previous?.text ?? "null"))=\(contentText)"
  }

  fileprivate var contentText: String {
    switch content {
    case .node(let node): node.exportJSON.jsonText()
    case .summary(let summary):
      switch summary.kind {
      case .empty: "empty"
      case .leaf(let leaf): leaf.json.jsonText()
      case .children(let count): "<\(count)>"
      }
    }
  }
}

/// The node that a JSON text in the export format describes.
func node(_ json: String) throws -> Node { try Node(json: JSONValue(parsing: json)) }

/// The keys of a text, separated by spaces.
func keys(_ text: String) throws -> [Key] {
  try text.split(separator: " ").map { try Key(String($0)) }
}
