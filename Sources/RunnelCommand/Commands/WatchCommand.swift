import ArgumentParser
import RunnelTree

/// `runnel watch`: prints what happens at a place, as it happens, until interrupted.
struct WatchCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "watch",
    abstract: "Print what happens at a place until interrupted, a JSON object a line.",
    discussion: """
      First come the children that are there, as if they were added now. What other processes \
      write is seen too. The events are child_added, child_changed, child_moved and child_removed, \
      and value for a place that holds a single value. "previous" is the key of the child before, \
      in the order of the query, as it is after the whole write: if the write moves that child too, its \
      own event may come later. While the output takes nothing, writes are not kept one by one: \
      then comes what has come of them.

      The children that match are held in memory; --limit-to-first and --limit-to-last bound them. A \
      server's database is watched by an order, its bounds and limits: --where is for files.

      Examples:
        runnel watch /messages --no-initial
        runnel watch /messages --limit-to-last 1 --events child_added
        runnel watch /settings --events value
      """)

  @Argument(help: PlaceArgument.optionalHelpWithData, transform: PlaceArgument.place)
  var place: DataPlace = .root
  @Option(
    help: ArgumentHelp(
      "The events to print, with commas between them; value is the whole of what is watched.",
      valueName: "names"),
    completion: .list(EventName.allCases.map(\.rawValue)),
    transform: EventName.kinds)
  var events: EventKinds?
  @Flag(help: "Leave out what is there already.")
  var noInitial = false
  @OptionGroup var query: QueryOptions
  @OptionGroup var database: DatabaseOptions

  private var path: Path { place.path }

  func validate() throws { _ = try query.query(at: path) }

  func run() throws {
    if let remote = try database.of(place).remote(for: .read) {
      let request = Watcher.Request(
        query: try query.query(at: path), events: events, skipsInitial: noInitial)
      var watcher = RemoteWatcher(remote, request)
      try watcher.run()
    }
    // This must come before the database starts its thread.
    let interruption = try Interruption()
    let watcher = try interruption.whileSignalsEnd {
      try Watcher(
        file: try database.of(place).file(for: .read),
        request: Watcher.Request(
          query: try query.query(at: path), events: events, skipsInitial: noInitial),
        interruption: interruption)
    }
    defer { watcher.close() }
    try watcher.run()
  }
}

/// The events, by their names in the output and in `--events`.
enum EventName: String, CaseIterable {
  case value
  case childAdded = "child_added"
  case childChanged = "child_changed"
  case childMoved = "child_moved"
  case childRemoved = "child_removed"

  var kind: EventKinds {
    switch self {
    case .value: .value
    case .childAdded: .added
    case .childChanged: .changed
    case .childMoved: .moved
    case .childRemoved: .removed
    }
  }

  /// Reads names separated by commas.
  ///
  /// - Throws: `ValidationError` that lists the names.
  static func kinds(_ text: String) throws -> EventKinds {
    var kinds: EventKinds = []
    for name in text.split(separator: ",", omittingEmptySubsequences: false) {
      guard let event = EventName(rawValue: String(name)) else {
        let names = allCases.map(\.rawValue).joined(separator: ", ")
        throw ValidationError("'\(name)' is no event. The events are \(names).")
      }
      kinds.formUnion(event.kind)
    }
    return kinds
  }
}
