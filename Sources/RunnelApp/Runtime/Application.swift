import Glibc
import Logging
import RunnelBase
import RunnelDatabase
import RunnelSync
import RunnelTerminal
import RunnelTree
public import RunnelWorkspace

/// The workspace in a terminal: a loop on the main thread that waits for keys, the database and
/// signals, and paints once for all events of a wait.
///
/// It knows nothing of the domain: events become actions, actions make state, and state becomes a
/// canvas.
public final class Application {
  /// The greatest number of waiting messages of the database; others wait in the database.
  private static let inboxLimit = 1024
  /// The least time between two paints for messages of the database, in milliseconds.
  ///
  /// Keys are painted at once, and do not delay the paint of their results.
  private static let frameMilliseconds: Int64 = 33
  /// The time in milliseconds that the end of the workspace waits for work on files to stop.
  private static let fileWorkMilliseconds: Int64 = 2000

  private static let log = Logger(label: "runnel.workspace")

  private let host: ApplicationHost
  private let screen: any Screen
  private let signals: SignalSource
  private let wakeup: Wakeup
  private let inbox: Inbox<DatabaseMessage>
  private let files: FileThreads
  private let origin: OriginWatch
  /// Shows who is here, and keeps the list of the user's devices.
  private let originWork: OriginWork
  /// The database, or nil in a replay.
  private let database: Database?
  /// The problem in the configuration at the start, or nil.
  private let problem: (settings: Settings, text: String)?
  private let runtime: AppRuntime
  private let cache = FrameCache()
  /// Whether the last wait found news of the database, a signal, or a change of the configuration.
  private var (hasMessages, hasSignals, hasFileNews) = (false, false, false)
  private let configuration: ConfigurationMonitor
  private let definitions: DefinitionMonitor
  private let wishes: TerminalWishes
  /// The terminal options of the configuration.
  private var terminalOptions: TerminalOptions
  /// Keeps the session in its file; nil if no session is kept.
  private var keeper: SessionKeeper?
  /// The greeting for a first-time user, or nil.
  private let greeting: Greeting?
  /// What is known of the accounts at the start; nil if the database is opened without accounts.
  private let firstFacts: AccountFacts?
  /// The session to be restored.
  private let session: SessionState
  private let clipboard = Clipboard()
  private let editor = ExternalEditor()
  private let browser = LinkOpener()
  private let notices = NoticeSender()
  private var isDirty = true
  /// The input that was read and not handled yet.
  private var keys: ArraySlice<InputEvent> = []
  /// Whether the next paint must not wait: for the effect of a key, for what became of its write, or
  /// for rows that the user waits for.
  private var isUrgent = true
  /// The time of the last paint that could wait, in milliseconds since 1970.
  private var lastFrame: Int64 = 0
  private var exitCode: Int32?

  /// Runs the workspace until the user leaves it or a signal ends it.
  ///
  /// - Parameter options: the options for starting the workspace.
  /// - Returns: The exit code: 0, or 128 plus the number of the signal.
  /// - Throws: `DatabaseError`, `ConfigurationError` or `TerminalError` if the workspace cannot
  ///   start; then the terminal is as it was.
  public static func run(_ options: ApplicationOptions) throws -> Int32 {
    // Threads inherit the mask, so signals are blocked before any thread is started.
    SignalSource.blockSignals()
    // Until the loop reads signals, they end the program at once, even while files are read or a
    // database is opened.
    SignalSource.letSignalsEnd(true)
    let host = try ApplicationHost(options)
    defer { host.close() }
    var options = options
    var application = try Application(options, host)
    while true {
      log.info("opened", metadata: ["database": "\(options.database)"])
      let status = application.loop()
      let trouble = application.end()
      if let trouble {
        log.error("closed", metadata: ["error": "\(trouble)"])
        throw trouble
      }
      // A signal ends the program in any case.
      guard status == 0, let change = application.runtime.state.session.accountChange else {
        log.info("left", metadata: ["status": "\(status)"])
        return status
      }
      do {
        let next = try options.changed(change)
        host.willSay(why: change)
        application = try Application(next, host)
        options = next
      } catch {
        // The account that was shown is shown again.
        host.trouble = "the other account cannot be shown: \(error)"
        application = try Application(options, host)
      }
    }
  }

  /// Shows a recorded session after its last action, for the user to look around.
  ///
  /// - Returns: The exit code, as for `run`.
  /// - Throws: `TerminalError` if it cannot start.
  public static func run(_ replay: SessionReplay, terminal: TerminalWishes) throws -> Int32 {
    SignalSource.blockSignals()
    SignalSource.letSignalsEnd(true)
    let host = try ApplicationHost()
    defer { host.close() }
    return try Application(replay, host, terminal).loop()
  }

  private init(_ options: ApplicationOptions, _ host: ApplicationHost) throws {
    self.host = host
    (wakeup, signals) = (host.wakeup, host.signals)
    let wakeup = host.wakeup
    inbox = Inbox(limit: Application.inboxLimit) { wakeup.signal() }
    let files = FileThreads { wakeup.signal() }
    self.files = files
    origin = OriginWatch { wakeup.signal() }
    // The connection may ask for a token at once.
    firstFacts = host.accounts?.begin(as: options.origin?.user)
    wishes = options.terminal
    configuration = ConfigurationMonitor(file: options.configuration)
    let settings = configuration.read()
    terminalOptions = settings.settings.terminal
    let workspace = try Workspace(options, settings.settings, isStrict: false)
    definitions = DefinitionMonitor(workspace.definitionFiles)
    try workspace.prepare(options, signals)
    // A mistake in the filter is reported before the screen is opened.
    _ = try PlainView.filter(options.filter, now: LocalTime.now(), local: .system)
    var environment = Workspace.environment(author: workspace.me)
    options.origin?.prepare(&environment)
    let database = try Database(
      file: options.database, isReadOnly: options.isReadOnly && options.origin == nil, inbox: inbox,
      environment: environment)
    self.database = database
    originWork = OriginWork(database, options, host.accounts) { wakeup.signal() }
    do {
      if let wish = options.origin {
        try origin.link(database, to: wish, host.accounts, originWork.devices)
      }
      screen = try host.openScreen(wishes.applied(to: settings.settings.terminal))
    } catch {
      database.close()
      throw error
    }
    var state = AppState(
      views: workspace.views, resources: workspace.resources,
      databaseName: options.serverName ?? workspace.name,
      me: workspace.me, isReadOnly: options.isReadOnly, profile: options.profile,
      size: screen.size, now: LocalTime.now(), local: .system, settings: settings.settings)
    keeper = options.stateFolder.map {
      SessionKeeper(SessionFile(database: options.database, folder: $0), host.claims)
    }
    greeting =
      options.isReadOnly || options.record != nil
      ? nil
      : options.stateFolder.flatMap {
        Greeting(
          unlessSeenIn: $0, of: options.serverName.map { .server($0) } ?? .file(options.database))
      }
    let remembered = keeper?.read()
    var session = remembered?.session ?? SessionState()
    session.take(options, view: workspace.name(ofTab: workspace.firstTab, session))
    self.session = session
    let spoken = workspace.problem ?? settings.summary(wishes.theme) ?? remembered?.problem
    problem = spoken.map {
      (settings.settings, $0)
    }
    state.settings.allowsCrash = options.allowsCrash
    state.session.isKept = keeper != nil
    state.session.isScratch = options.isScratch
    state.session.forgetsAccounts = options.forgetsAccounts
    state.database.services = options.origin?.services?.places ?? []
    state.files.viewsFile = workspace.savedViewsFile(options)
    state.files.dataFile = options.dataFile
    if let tab = workspace.firstTab { state.open(state.tabs.tab(atPosition: tab)) }
    runtime = AppRuntime(
      state: state, database: database, serverPlaces: options.serverPlaces,
      ownPlaces: options.origin?.ownPlaces ?? OwnPlaces(),
      levels: originWork.levels,
      startFileTask: { files.start($0) },
      record: host.recorder.map { recorder in { recorder.record($0) } })
    runtime.reach = options.origin?.services?.reach
  }

  /// Shows a recorded session.
  private init(
    _ replay: SessionReplay, _ host: ApplicationHost, _ wishes: TerminalWishes
  ) throws {
    self.host = host
    (wakeup, signals) = (host.wakeup, host.signals)
    let wakeup = host.wakeup
    let inbox = Inbox<DatabaseMessage>(limit: Application.inboxLimit) { wakeup.signal() }
    self.inbox = inbox
    let files = FileThreads { wakeup.signal() }
    self.files = files
    origin = OriginWatch {}
    originWork = OriginWork()
    (database, problem, keeper, greeting, firstFacts) = (nil, nil, nil, nil, nil)
    session = SessionState()
    self.wishes = wishes
    configuration = ConfigurationMonitor(file: nil)
    definitions = DefinitionMonitor([])
    terminalOptions = Settings(source: replay.state.settings.configuration).terminal
    screen = try host.openScreen(wishes.applied(to: terminalOptions))
    // Messages that do not fit into the inbox are dropped.
    let backend = ReplayBackend { _ = inbox.post($0) }
    var state = replay.state
    // The session had been left, but is to be shown now.
    (state.effects, state.session.isLeaving, state.session.accountChange) = ([], false, nil)
    runtime = AppRuntime(state: state, database: backend, startFileTask: { files.start($0) })
    runtime.send(.tick(LocalTime.now()))
    runtime.send(.input(.resize(screen.size)))
  }

  /// Ends the work under way, keeps the session, and closes the database.
  ///
  /// Returns the error if the file was found to be damaged or gone only now.
  private func end() -> DatabaseError? {
    originWork.end()
    endFileWork()
    _ = keeper?.writeLast(SessionState.session(runtime.state))
    let trouble = database?.closeAndTell()
    // Writes that waited are decided now: what was stored is no draft any more.
    runtime.receive(inbox.drain())
    keeper?.finish(SessionState.session(runtime.state), keeping: host.claims)
    return trouble
  }
}

// MARK: The loop

extension Application {
  private func loop() -> Int32 {
    SignalSource.letSignalsEnd(false)
    runtime.start()
    // These are actions so that recordings contain them.
    if database != nil, session != SessionState() { runtime.send(.restored(session)) }
    if let firstFacts { runtime.send(.accounts(firstFacts)) }
    if let greeting { runtime.send(.greeted(greeting)) }
    if let problem { runtime.send(.configured(problem.settings, problem: problem.text)) }
    for action in host.takeFirst() { runtime.send(action) }
    while true {
      performScreenEffects()
      if let exitCode { return exitCode }
      if runtime.state.session.isEnding {
        if runtime.state.session.isLeaving { keepLast() }
        if runtime.state.session.isEnding { return 0 }
      }
      let now = LocalTime.now()
      paint(now: now)
      // What a key need not wait for comes after its frame.
      readConfiguration()
      readDefinitions()
      originWork.show(runtime.state)
      host.accountMonitor?.note(runtime.state)
      wait(now: now)
      runtime.send(.tick(LocalTime.now()))
      readSignals()
      readKeys()
      readMessages()
      if let failure = host.recorder?.takeFailure() { runtime.send(.trouble(failure)) }
    }
  }

  private func wait(now: Int64) {
    var descriptors = [wakeup.fileDescriptor, signals.fileDescriptor]
    let input = screen.inputDescriptor
    if let input { descriptors.append(input) }
    descriptors += configuration.fileDescriptors + definitions.fileDescriptors + host.descriptors
    var deadline = StateReducer.deadline(runtime.state) ?? .max
    if isDirty { deadline = isUrgent ? now : min(deadline, now + untilFrame(now: now)) }
    if let task = keeper?.begin(SessionState.session(runtime.state), now: LocalTime.now()) {
      files.start(task)
    }
    if let due = keeper?.deadline { deadline = min(deadline, due) }
    if !keys.isEmpty { deadline = now }
    let timeout = deadline == .max ? nil : Int(max(deadline - now, 0))
    let answers = Poller.wait(descriptors, timeoutMilliseconds: timeout)
    (hasMessages, hasSignals) = (!answers[0].isEmpty, !answers[1].isEmpty)
    hasFileNews = answers.dropFirst(input == nil ? 2 : 3).contains { !$0.isEmpty }
    if timeout != nil, answers.allSatisfy({ $0.isEmpty }) { isDirty = true }
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

  /// Applies the terminal options of the configuration, those of the command line, and the theme chosen here.
  private func applyTerminalOptions() {
    var options = wishes.applied(to: terminalOptions)
    if let theme = runtime.state.settings.theme { options.theme = theme }
    screen.apply(options)
  }

  private func readKeys() {
    if keys.isEmpty { keys = screen.readEvents()[...] }
    let end = LocalTime.now() + Application.frameMilliseconds
    // The effects of a long burst of keys are painted from time to time.
    while let event = keys.popFirst() {
      // A long paste takes a while to read, and a message about it is to be seen from then on.
      if case .paste = event { runtime.send(.tick(LocalTime.now())) }
      runtime.send(.input(event))
      performScreenEffects()
      paintSoon()
      if runtime.state.input.refusesText { dropBurst() }
      keeper?.touch(now: runtime.state.now)
      origin.attend(now: runtime.state.now)
      if LocalTime.now() >= end { return }
    }
  }

  /// Drops the keys that were struck in one go with a key that opened no line: they were meant as text.
  private func dropBurst() {
    func isKey(_ event: InputEvent) -> Bool { if case .key = event { true } else { false } }
    keys = keys.drop(while: isKey)
    if keys.isEmpty { keys = screen.readEvents().drop(while: isKey) }
  }

  private func readMessages() {
    guard hasMessages, wakeup.drain() else { return }
    // Rows that the user waits for are painted without waiting for the next frame.
    if runtime.state.tabs.isWaiting { isUrgent = true }
    let typed = Drafts.writingCount(runtime.state)
    // So is what became of a key: the row that it wrote, and that nothing waits for the server.
    let messages = inbox.drain()
    if let facts = origin.moves(runtime.state.database.origin) { runtime.send(.origin(facts)) }
    if runtime.receive(messages) { isUrgent = true }
    if Drafts.writingCount(runtime.state) < typed { keeper?.hasten(now: LocalTime.now()) }
    for report in files.take() { receive(report) }
    for action in origin.news() { runtime.send(action) }
    for action in originWork.news(runtime.state.database.accounts) { runtime.send(action) }
    if let news = host.accounts?.news() {
      if let facts = news.facts { runtime.send(.accounts(facts)) }
      for (id, answer) in news.answers { runtime.send(.answered(id, answer)) }
    }
    isDirty = true
  }

  private func receive(_ report: FileReport) {
    guard case .kept(let problem) = report else { return runtime.receive(report) }
    keeper?.end(problem, now: LocalTime.now())
    tellSession(problem)
  }

  /// Writes the session before the program ends; a failure may keep the program from ending.
  private func keepLast() {
    guard runtime.state.session.isKept, keeper != nil else { return }
    tellSession(keeper?.writeLast(SessionState.session(runtime.state)))
  }

  /// Tells the state that the session can be kept no more, or again.
  private func tellSession(_ problem: String?) {
    if runtime.state.session.isKept != (problem == nil) {
      runtime.send(.sessionKept(problem: problem))
    }
  }

  /// Stops work on files, so that no partial file is left, and waits for its end for a moment.
  private func endFileWork() {
    runtime.stopFileWork()
    let end = LocalTime.now() + Application.fileWorkMilliseconds
    while !files.isIdle, LocalTime.now() < end {
      _ = Poller.wait([wakeup.fileDescriptor], timeoutMilliseconds: Int(end - LocalTime.now()))
      wakeup.drain()
      // Taking the reports makes room in the inbox for waiting threads.
      _ = files.take()
    }
  }

  /// Notes that the effect of a key is to be painted at once.
  private func paintSoon() {
    isDirty = true
    isUrgent = true
  }

  private func paint(now: Int64) {
    guard isDirty, isUrgent || untilFrame(now: now) == 0 else { return }
    if !isUrgent { lastFrame = now }
    let frame = AppScreen(runtime.state, glyphs: screen.glyphs, cache: cache)
    if isUrgent, var canvas = frame.drawBeforeFrameLines() {
      // The effect of a key is shown before the hints are computed.
      screen.present(canvas)
      frame.drawFrameLines(into: &canvas)
      screen.present(canvas)
    } else {
      screen.present(frame.draw())
    }
    (isDirty, isUrgent) = (false, false)
  }

  /// The time in milliseconds until the next frame that can wait; 0 if the clock was set back.
  private func untilFrame(now: Int64) -> Int64 {
    let rest = Application.frameMilliseconds - (now - lastFrame)
    return 1...Application.frameMilliseconds ~= rest ? rest : 0
  }

  private func performScreenEffects() {
    // Carrying out an effect may lead to another one.
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
    case .notify(let notice): notices.send(notice, to: screen)
    case .openLink(let link): runtime.send(.opened(link: link, by: browser.open(link)))
    case .sendAgain(let write): origin.sendAgain(write)
    case .reconnect: origin.reconnect()
    case .readOrigin: origin.readAgain()
    case .measureLatency: origin.measureLatency()
    case .account(let id, let request):
      guard let accounts = host.accounts else {
        let refusal = Refusal("this is a replay: no account is used")
        return runtime.send(.answered(id, .refused(refusal)))
      }
      accounts.start(id, request)
    case .device, .callMethod, .explain:
      if let answer = originWork.start(effect) { runtime.send(answer) }
    case .stopAccount(let id): host.accounts?.stop(id)
    case .theme: applyTerminalOptions()
    case .editOutside(let edit): editOutside(edit)
    case .suspend: suspend()
    case .redraw: screen.redraw()
    case .crash: fatalError("This crash was asked for with C-x !: the terminal must be intact.")
    default: assertionFailure("The runtime handed on an effect that the screen does not carry out.")
    }
  }

  private func editOutside(_ edit: OutsideEdit) {
    let outcome = editor.edit(edit.text, refused: edit.refused, screen: screen) { text in
      OutsideEdit.problem(runtime.state, with: text, in: edit)
    }
    runtime.send(.tick(LocalTime.now()))
    runtime.send(.input(.resize(screen.size)))
    runtime.send(.edited(edit, outcome))
    keeper?.hasten(now: LocalTime.now())  // The editor's file is gone: the text is nowhere else.
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
