import RunnelBase
package import RunnelDatabase
import RunnelTerminal
package import RunnelTree
import RunnelWorkspace

/// A workspace without terminal and threads; its owner plays the tree, or gives it a database.
///
/// A benchmark drives it: from events of the tree to the painted frame, and nothing else.
package final class HeadlessWorkspace {
  /// The requests to the database that were not taken yet.
  private final class Requests: TreeBackend {
    var list: [DatabaseRequest] = []
    func submit(_ request: DatabaseRequest) { list.append(request) }
  }

  private let requests = Requests()
  private let database: SessionBackend?
  private let runtime: AppRuntime
  private let screen: MemoryScreen
  private let cache = FrameCache()

  /// Opens the first view of a views file.
  ///
  /// - Parameters:
  ///   - yaml: the text of the file.
  ///   - session: the database; nil if the owner gives messages to `receive`.
  ///   - now: the time, in milliseconds since 1970.
  /// - Throws: `ConfigurationError` if the file has a mistake.
  package init(views yaml: String, session: DatabaseSession? = nil, now: Int64) throws {
    screen = MemoryScreen(size: TerminalSize(columns: 100, rows: 30))
    let state = AppState(
      views: try ViewFile(yaml: yaml, name: "views").views, databaseName: "bench", me: "me",
      isReadOnly: true, size: screen.size, now: now, local: .utc)
    database = session.map { SessionBackend($0) }
    runtime = AppRuntime(
      state: state, database: database.map { $0 as any TreeBackend } ?? requests,
      // No benchmark reads or writes files.
      startFileTask: { _ in })
    runtime.start()
    settle()
  }

  /// Returns the requests since the last call, oldest first; none if there is a database.
  package func takeRequests() -> [DatabaseRequest] {
    defer { requests.list = [] }
    return requests.list
  }

  /// The number of rows in the view in front.
  package var rowCount: Int { runtime.state.tabs.lists[0].content.rowCount }

  /// Takes events of the tree, as one batch.
  package func receive(_ events: [TreeEvent], for listener: ListenerID) {
    runtime.receive([.deliveries(events.map { Delivery(listener: listener, event: $0) })])
  }

  /// Takes what the tree delivers.
  package func receive(_ deliveries: [Delivery]) {
    runtime.receive([.deliveries(deliveries)])
    settle()
  }

  /// Takes changes that others wrote into the database.
  package func catchUp() {
    if let database { runtime.receive(database.catchUp()) }
    settle()
  }

  /// Handles keys, given in the notation of the keymap.
  package func strike(_ keys: String) {
    for stroke in KeyStroke.sequence(keys) ?? [] { runtime.send(.input(.key(stroke))) }
    settle()
  }

  /// Paints a frame.
  package func paint() {
    screen.present(AppScreen(runtime.state, glyphs: screen.glyphs, cache: cache).draw())
  }

  private func settle() {
    while let database, !database.isIdle { runtime.receive(database.answer()) }
  }
}
