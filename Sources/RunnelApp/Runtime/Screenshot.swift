import RunnelDatabase
public import RunnelTerminal

/// A picture of the workspace, drawn by the program itself without a terminal.
public struct Screenshot {
  /// What is opened.
  public var options: ApplicationOptions
  /// The size of the screen.
  public var size: TerminalSize
  /// The keys to strike before, in the notation of the keymap: `g m`, `Enter`, `]]`.
  public var keys: String
  /// The time that the screen is drawn at, in milliseconds since 1970; nil for now.
  public var now: Int64?

  /// Describes a picture.
  public init(options: ApplicationOptions, size: TerminalSize, keys: String = "") {
    self.options = options
    self.size = size
    self.keys = keys
  }

  /// Opens the workspace, strikes the keys, and draws the screen; nothing is left running.
  ///
  /// - Throws: `DatabaseError` or `ConfigurationError` as the workspace does, and
  ///   `ConfigurationError` for keys that cannot be read.
  public func canvas() throws -> Canvas {
    guard let strokes = KeyStroke.sequence(keys) ?? (keys.isEmpty ? [] : nil) else {
      throw ConfigurationError(
        file: "--keys", line: nil, "`\(keys)` cannot be read: write keys apart, like `j j Enter`.")
    }
    let workspace = try Workspace(options)
    let time = now ?? LocalTime.now()
    let session = try DatabaseSession(
      file: options.database, isReadOnly: options.isReadOnly,
      environment: Workspace.environment(now: { time }, author: workspace.me))
    if !options.isReadOnly { try session.declareIndexes(workspace.views.flatMap(\.indexes)) }
    let state = AppState(
      views: workspace.views, resources: workspace.resources, databaseName: workspace.name,
      me: workspace.me, isReadOnly: options.isReadOnly, size: size, now: time,
      local: now == nil ? .system : .utc)
    let canvas = draw(state, SessionBackend(session), strokes, firstTab: workspace.firstTab)
    try session.close()
    return canvas
  }

  private func draw(
    _ state: AppState, _ backend: SessionBackend, _ strokes: [KeyStroke], firstTab: Int?
  ) -> Canvas {
    var state = state
    if let firstTab { state.open(firstTab) }
    let runtime = AppRuntime(state: state, database: backend)
    runtime.start()
    settle(runtime, backend)
    for stroke in strokes {
      runtime.send(.input(.key(stroke)))
      settle(runtime, backend)
    }
    return AppScreen(runtime.state, glyphs: .unicode).draw()
  }

  private func settle(_ runtime: AppRuntime, _ backend: SessionBackend) {
    while !backend.isIdle { runtime.receive(backend.answer()) }
  }
}
