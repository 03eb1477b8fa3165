import Glibc
import Logging
import RunnelBase
import RunnelDatabase
import RunnelStreams
import RunnelTerminal
import RunnelTree
public import RunnelWorkspace

/// What the workspace is started with.
public struct ApplicationOptions: Sendable {
  /// The file of the database.
  public var database: String
  /// Where a server of the database may be asked who is connected.
  public var serverPlaces: [ServerPlace] = []
  /// The views file; nil to look beside the database, and else to find collections.
  public var views: String?
  /// The resources file; nil to look beside the database.
  public var resources: String?
  /// The name of the view to open first; nil for the first one.
  public var view: String?
  /// The filter of the view that is opened first; nil for none.
  public var filter: String?
  /// Whether that view follows what is new.
  public var follows = false
  /// The folder for what is remembered from one time to the next; nil to remember nothing.
  public var stateFolder: String?
  /// Whether writing is off.
  public var isReadOnly: Bool
  /// The user's configuration; nil for none.
  public var configuration: String?
  /// What is asked of the terminal, whatever the configuration says.
  public var terminal: TerminalWishes
  /// The file to which the session's actions are recorded; nil to record nothing.
  public var record: String?
  /// Whether `C-x !` ends the program with a fault, to see what a crash leaves behind.
  public var allowsCrash: Bool

  /// Makes options for a database file.
  public init(database: String) {
    self.database = database
    isReadOnly = false
    terminal = TerminalWishes()
    allowsCrash = false
  }
}

/// The workspace on a terminal: one loop on the main thread that waits for keys, for the database and
/// for signals, and paints once for all that came.
///
/// Nothing here knows the domain: events become actions, actions make state, state becomes a canvas.
public final class Application {
  /// How many messages of the database wait at most; more stay with the database.
  private static let inboxLimit = 1024
  /// The least time between two paints for what the database said.
  ///
  /// Keys are painted at once, and do not put off what comes of them.
  private static let frameMilliseconds: Int64 = 33
  /// How long the end of the workspace waits for work with files to stop.
  private static let fileWorkMilliseconds: Int64 = 2000

  private static let log = Logger(label: "runnel.workspace")

  private let screen: any Screen
  private let signals: SignalSource
  private let wakeup: Wakeup
  private let inbox: Inbox<DatabaseMessage>
  private let files: FileThreads
  /// The database; nil in a replay.
  private let database: Database?
  private let recorder: SessionRecorder?
  /// What is wrong with the configuration that the session began with; nil if nothing is.
  private let problem: (settings: Settings, text: String)?
  private let runtime: AppRuntime
  private let cache = FrameCache()
  /// Whether the last wait found that the database, a signal or the folder of the configuration
  /// has something to say.
  private var (hasMessages, hasSignals, hasFileNews) = (false, false, false)
  private let configuration: ConfigurationMonitor
  private let definitions: DefinitionMonitor
  private let wishes: TerminalWishes
  /// What the configuration asks of the terminal.
  private var terminalOptions: TerminalOptions
  /// Keeps the session; nil if none is kept.
  private var keeper: SessionKeeper?
  /// What those are told who are here for the first time.
  private let greeting: Greeting?
  /// What the workspace goes on with.
  private let session: SessionState
  private let clipboard = Clipboard()
  private let editor = ExternalEditor()
  private let browser = LinkOpener()
  private var isDirty = true
  /// The input that was read and is not handled yet.
  private var keys: ArraySlice<InputEvent> = []
  /// Whether what is to be painted may not wait: what a key did, or rows that were asked for.
  private var isUrgent = true
  /// When the screen was last painted for something that may wait.
  private var lastFrame: Int64 = 0
  private var exitCode: Int32?

  /// Runs the workspace until the user leaves it or a signal ends it.
  ///
  /// - Parameter options: what to open, and how.
  /// - Returns: the exit code: 0, or 128 and the number of the signal.
  /// - Throws: `DatabaseError`, `ConfigurationError` or `TerminalError` if it cannot start; the
  ///   terminal is then as it was.
  public static func run(_ options: ApplicationOptions) throws -> Int32 {
    // Threads inherit the mask, so this comes before any is started.
    SignalSource.blockSignals()
    // Until the loop reads them, to end must not wait for files to be read or a database to be opened.
    SignalSource.letSignalsEnd(true)
    let application = try Application(options)
    defer { application.close() }
    log.info("opened", metadata: ["database": "\(options.database)"])
    let status = application.loop()
    application.endFileWork()
    application.keeper?.writeLast(SessionState.session(application.runtime.state))
    log.info("left", metadata: ["status": "\(status)"])
    return status
  }

  /// Shows a recorded session after its last action, to look around in until the user leaves it.
  ///
  /// - Returns: the exit code, as `run`.
  /// - Throws: `TerminalError` if it cannot start.
  public static func run(_ replay: SessionReplay, terminal: TerminalWishes) throws -> Int32 {
    SignalSource.blockSignals()
    SignalSource.letSignalsEnd(true)
    let application = try Application(replay, terminal)
    defer { application.close() }
    return application.loop()
  }

  private init(_ options: ApplicationOptions) throws {
    let wakeup = try Wakeup()
    self.wakeup = wakeup
    signals = try SignalSource()
    inbox = Inbox(limit: Application.inboxLimit) { wakeup.signal() }
    let files = FileThreads { wakeup.signal() }
    self.files = files
    recorder = try options.record.map { try SessionRecorder(file: $0) }
    wishes = options.terminal
    configuration = ConfigurationMonitor(file: options.configuration)
    let settings = configuration.read()
    terminalOptions = settings.settings.terminal
    let workspace = try Workspace(options, settings.settings)
    definitions = DefinitionMonitor(workspace.definitionFiles)
    try workspace.prepare(options, signals)
    // What is wrong with it is said before the screen opens.
    _ = try PlainView.filter(options.filter, now: LocalTime.now(), local: .system)
    let database = try Database(
      file: options.database, isReadOnly: options.isReadOnly, inbox: inbox,
      environment: Workspace.environment(author: workspace.me))
    self.database = database
    do {
      screen = try CursesScreen.open(
        options: wishes.applied(to: settings.settings.terminal))
    } catch {
      database.close()
      throw error
    }
    var state = AppState(
      views: workspace.views, resources: workspace.resources, databaseName: workspace.name,
      me: workspace.me, isReadOnly: options.isReadOnly, size: screen.size, now: LocalTime.now(),
      local: .system, settings: settings.settings)
    keeper = options.stateFolder.map {
      SessionKeeper(SessionFile(database: options.database, folder: $0))
    }
    greeting =
      options.isReadOnly || options.record != nil
      ? nil : options.stateFolder.flatMap { Greeting(unlessSeenIn: $0, database: options.database) }
    let remembered = keeper?.read()
    var session = remembered?.session ?? SessionState()
    session.take(options, view: workspace.name(ofTab: workspace.firstTab, session))
    self.session = session
    problem = (settings.summary(wishes.theme) ?? remembered?.problem).map {
      (settings.settings, $0)
    }
    state.settings.allowsCrash = options.allowsCrash
    if let tab = workspace.firstTab { state.open(tab) }
    runtime = AppRuntime(
      state: state, database: database, serverPlaces: options.serverPlaces,
      startFileTask: { files.start($0) },
      record: recorder.map { recorder in { recorder.record($0) } })
  }

  /// Shows a session that was recorded.
  private init(_ replay: SessionReplay, _ wishes: TerminalWishes) throws {
    let wakeup = try Wakeup()
    self.wakeup = wakeup
    signals = try SignalSource()
    let inbox = Inbox<DatabaseMessage>(limit: Application.inboxLimit) { wakeup.signal() }
    self.inbox = inbox
    let files = FileThreads { wakeup.signal() }
    self.files = files
    (database, recorder, problem, keeper, greeting) = (nil, nil, nil, nil, nil)
    session = SessionState()
    self.wishes = wishes
    configuration = ConfigurationMonitor(file: nil)
    definitions = DefinitionMonitor([])
    terminalOptions = Settings(source: replay.state.settings.configuration).terminal
    screen = try CursesScreen.open(options: wishes.applied(to: terminalOptions))
    // Whoever asks for so much at once is not answered.
    let backend = ReplayBackend { _ = inbox.post($0) }
    var state = replay.state
    // It was left then, and is to be looked at now.
    (state.effects, state.session.isLeaving) = ([], false)
    runtime = AppRuntime(state: state, database: backend, startFileTask: { files.start($0) })
    runtime.send(.tick(LocalTime.now()))
    runtime.send(.input(.resize(screen.size)))
  }

  private func close() {
    screen.close()
    database?.close()
  }
}

// MARK: The loop

extension Application {
  private func loop() -> Int32 {
    SignalSource.letSignalsEnd(false)
    runtime.start()
    // As actions, so that a recording has them.
    if database != nil, session != SessionState() { runtime.send(.restored(session)) }
    if let greeting { runtime.send(.greeted(greeting)) }
    if let problem { runtime.send(.configured(problem.settings, problem: problem.text)) }
    while true {
      performScreenEffects()
      if let exitCode { return exitCode }
      if runtime.state.session.isLeaving { return 0 }
      let now = LocalTime.now()
      paint(now: now)
      wait(now: now)
      runtime.send(.tick(LocalTime.now()))
      readSignals()
      readConfiguration()
      readDefinitions()
      readKeys()
      readMessages()
      if let failure = recorder?.takeFailure() { runtime.send(.trouble(failure)) }
    }
  }

  private func wait(now: Int64) {
    var descriptors = [wakeup.fileDescriptor, signals.fileDescriptor]
    let input = screen.inputDescriptor
    if let input { descriptors.append(input) }
    descriptors += configuration.fileDescriptors + definitions.fileDescriptors
    var deadline = StateReducer.deadline(runtime.state) ?? .max
    if isDirty { deadline = min(deadline, now + untilFrame(now: now)) }
    if let due = keeper?.due { deadline = min(deadline, due) }
    if !keys.isEmpty { deadline = now }
    let timeout = deadline == .max ? nil : Int(max(deadline - now, 0))
    let answers = Poller.wait(descriptors, timeoutMilliseconds: timeout)
    (hasMessages, hasSignals) = (!answers[0].isEmpty, !answers[1].isEmpty)
    hasFileNews = answers.dropFirst(input == nil ? 2 : 3).contains { !$0.isEmpty }
    if timeout != nil, answers.allSatisfy(\.isEmpty) { isDirty = true }
    if let task = keeper?.begin(SessionState.session(runtime.state), now: LocalTime.now()) {
      files.start(task)
    }
    if input != nil, answers[2].contains(.hungUp) { exitCode = 128 + SIGHUP }
  }

  private func readSignals() {
    guard hasSignals else { return }
    for signal in signals.read() {
      switch signal {
      case .terminate(let number): exitCode = 128 + number
      case .hangUp: exitCode = 128 + SIGHUP
      case .interrupt: exitCode = 128 + SIGINT
      case .stop: suspend()
      case .resume:
        screen.resume()
        runtime.send(.input(.resize(screen.size)))
      case .windowChanged: runtime.send(.input(.resize(screen.updateSize())))
      }
      paintSoon()
    }
  }

  private func readConfiguration() {
    guard configuration.hasChanged(hasNews: hasFileNews, now: runtime.state.now) else { return }
    let file = configuration.read()
    terminalOptions = file.settings.terminal
    applyTerminalOptions()
    let problem = file.summary(runtime.state.settings.theme ?? wishes.theme)
    runtime.send(.configured(file.settings, problem: problem))
    paintSoon()
  }

  private func readDefinitions() {
    guard hasFileNews else { return }
    for change in definitions.changes() {
      runtime.send(
        .redefined(file: change.file, problem: change.problem, views: change.views))
      paintSoon()
    }
  }

  /// What the command line asks for goes before the configuration, and a theme chosen here before
  /// both.
  private func applyTerminalOptions() {
    var options = wishes.applied(to: terminalOptions)
    if let theme = runtime.state.settings.theme { options.theme = theme }
    screen.apply(options)
  }

  private func readKeys() {
    if keys.isEmpty { keys = screen.readEvents()[...] }
    let end = LocalTime.now() + Application.frameMilliseconds
    // What a burst did so far is painted now and then.
    while let event = keys.popFirst() {
      // To read a long paste takes a while, and what is said of it is to be seen from then on.
      if case .paste = event { runtime.send(.tick(LocalTime.now())) }
      runtime.send(.input(event))
      performScreenEffects()
      paintSoon()
      keeper?.touch(now: runtime.state.now)
      if LocalTime.now() >= end { return }
    }
  }

  private func readMessages() {
    guard hasMessages, wakeup.drain() else { return }
    // What somebody waits for does not wait for the next frame too.
    if runtime.state.tabs.isWaiting { isUrgent = true }
    runtime.receive(inbox.drain())
    for report in files.take() { receive(report) }
    isDirty = true
  }

  private func receive(_ report: FileReport) {
    guard case .kept(let problem) = report else { return runtime.receive(report) }
    if let problem = keeper?.end(problem) { runtime.send(.trouble(problem)) }
  }

  /// Stops what writes a file, so that no half of one is left; waits for it for a moment.
  private func endFileWork() {
    runtime.stopFileWork()
    let end = LocalTime.now() + Application.fileWorkMilliseconds
    while !files.isIdle, LocalTime.now() < end {
      _ = Poller.wait([wakeup.fileDescriptor], timeoutMilliseconds: Int(end - LocalTime.now()))
      wakeup.drain()
      // Whoever waits for room in the inbox gets it.
      _ = files.take()
    }
  }

  /// What a key did is painted at once.
  private func paintSoon() {
    isDirty = true
    isUrgent = true
  }

  private func paint(now: Int64) {
    guard isDirty, isUrgent || untilFrame(now: now) == 0 else { return }
    if !isUrgent { lastFrame = now }
    let frame = AppScreen(runtime.state, glyphs: screen.glyphs, cache: cache)
    if isUrgent, var canvas = frame.drawBeforeFrameLines() {
      // What a key did is seen before it is found out what can be done now.
      screen.present(canvas)
      frame.drawFrameLines(into: &canvas)
      screen.present(canvas)
    } else {
      screen.present(frame.draw())
    }
    (isDirty, isUrgent) = (false, false)
  }

  /// How long a frame that may wait has to; nothing if the clock was set back.
  private func untilFrame(now: Int64) -> Int64 {
    let passed = now - lastFrame
    return 0..<Application.frameMilliseconds ~= passed
      ? Application.frameMilliseconds - passed : 0
  }

  private func performScreenEffects() {
    // What comes of an effect may ask for another one.
    while true {
      let effects = runtime.takeScreenEffects()
      if effects.isEmpty { return }
      for effect in effects { perform(effect) }
    }
  }

  private func perform(_ effect: Effect) {
    switch effect {
    case .copy(let text, let what):
      runtime.send(.copied(what: what, clipboard.copy(text, to: screen)))
    case .openLink(let link): runtime.send(.opened(link: link, by: browser.open(link)))
    case .theme: applyTerminalOptions()
    case .editOutside(let edit): editOutside(edit)
    case .suspend: suspend()
    case .redraw: screen.redraw()
    case .crash: fatalError("This crash was asked for with C-x !: the terminal must be intact.")
    default: break
    }
  }

  private func editOutside(_ edit: OutsideEdit) {
    let outcome = editor.edit(edit.text, refused: edit.refused, screen: screen) { text in
      OutsideEdit.problem(runtime.state, with: text, in: edit)
    }
    runtime.send(.tick(LocalTime.now()))
    runtime.send(.input(.resize(screen.size)))
    runtime.send(.edited(edit, outcome))
    paintSoon()
  }

  private func suspend() {
    screen.suspend()
    SignalSource.stopProcess()
    screen.resume()
    runtime.send(.input(.resize(screen.size)))
    paintSoon()
  }
}

extension Tabs {
  /// True while the screen says that rows are on their way.
  fileprivate var isWaiting: Bool {
    if isTree {
      return tree.expanded.values.contains { $0.phase == .loading || $0.paging == .fetching }
    }
    return front.phase == .loading || front.paging == .fetching
      || front.newer == .fetching
  }
}

extension SessionState {
  /// The session with what the command line asks for.
  mutating func take(_ options: ApplicationOptions, view name: String?) {
    if options.view != nil { tab = nil }
    guard let name else { return }
    if let filter = options.filter { views[name, default: View()].filter = filter }
    if options.follows { views[name, default: View()].isFollowing = true }
  }
}
