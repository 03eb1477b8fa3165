import RunnelDatabase
public import RunnelTerminal
import RunnelWorkspace

/// A screenshot of the workspace, drawn without a terminal.
public struct Screenshot {
  /// The result of a screenshot.
  public struct Picture {
    /// The cells of the screen.
    public let canvas: Canvas
    /// The theme to show them in.
    public let theme: Theme
    /// The background that the theme is for.
    public let background: ThemeBackground
  }

  /// The options for opening the workspace.
  public var options: ApplicationOptions
  /// The size of the screen.
  public var size: TerminalSize
  /// The keys to press before, in the notation of the keymap: `g m`, `Enter`, `]]`.
  public var keys: String
  /// The time shown, in milliseconds since 1970; nil for now.
  public var now: Int64?

  /// Creates the description of a screenshot.
  public init(options: ApplicationOptions, size: TerminalSize, keys: String = "") {
    self.options = options
    self.size = size
    self.keys = keys
  }

  /// Opens the workspace, presses the keys, and draws the screen; nothing is left running.
  ///
  /// A theme that depends on the background is the dark one.
  ///
  /// - Throws: `DatabaseError` or `ConfigurationError` as the workspace does, and
  ///   `ConfigurationError` for keys that are not valid.
  public func picture() throws -> Picture {
    guard let strokes = KeyStroke.sequence(keys) ?? (keys.isEmpty ? [] : nil) else {
      throw ConfigurationError(
        file: "--keys", line: nil, "`\(keys)` cannot be read: write keys apart, like `j j Enter`.")
    }
    let settings =
      (options.configuration.map { ConfigurationFile(file: $0) } ?? ConfigurationFile()).settings
    let workspace = try Workspace(options, settings)
    let time = now ?? LocalTime.now()
    let session = try DatabaseSession(
      file: options.database, isReadOnly: options.isReadOnly,
      environment: Workspace.environment(now: { time }, author: workspace.me))
    if !options.isReadOnly { try session.declareIndexes(workspace.views.flatMap(\.indexes)) }
    let state = AppState(
      views: workspace.views, resources: workspace.resources, databaseName: workspace.name,
      me: workspace.me, isReadOnly: options.isReadOnly, size: size, now: time,
      local: now == nil ? .system : .utc, settings: settings)
    let last = try play(state, SessionBackend(session), strokes, firstTab: workspace.firstTab)
    try session.close()
    return picture(of: last, options.terminal.applied(to: settings.terminal))
  }

  private func picture(of state: AppState, _ terminal: TerminalOptions) -> Picture {
    var terminal = terminal
    terminal.theme = state.settings.theme ?? terminal.theme
    let background = terminal.baseTheme?.background ?? .dark
    let theme = terminal.theme(on: background, depth: terminal.colorDepth ?? .extended)
    let glyphs = terminal.signs == .ascii ? Glyphs.ascii : .unicode
    return Picture(
      canvas: AppScreen(state, glyphs: glyphs).draw(), theme: theme, background: background)
  }

  private func play(
    _ state: AppState, _ backend: SessionBackend, _ strokes: [KeyStroke], firstTab: Int?
  ) throws -> AppState {
    var state = state
    if let firstTab { state.open(state.tabs.tab(atPosition: firstTab)) }
    let news = try Wakeup()
    let files = FileThreads { news.signal() }
    let runtime = AppRuntime(state: state, database: backend, startFileTask: { files.start($0) })
    runtime.start()
    func settle() {
      while true {
        while !backend.isIdle { runtime.receive(backend.answer()) }
        let isOver = files.isIdle
        let reports = files.take()
        for report in reports { runtime.receive(report) }
        if isOver, reports.isEmpty { return }
        if reports.isEmpty { _ = Poller.wait([news.fileDescriptor], timeoutMilliseconds: nil) }
        news.drain()
      }
    }
    settle()
    for stroke in strokes {
      runtime.send(.input(.key(stroke)))
      settle()
    }
    return runtime.state
  }
}
