import Foundation
import RunnelBase
import RunnelDatabase
import RunnelStore
import RunnelTerminal
import RunnelTree
import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

/// The application on a temporary database, driven by keys: no terminal, no threads, no clock.
///
/// Time stands still unless the test moves it. A second session on the same file plays another
/// process.
final class AppDriver {
  /// How often a test's editor is opened for one text.
  private static let editingRoundsMax = 20

  /// Milliseconds since 1970, as of the test.
  private final class Clock {
    var now: Int64
    init(_ now: Int64) { self.now = now }
  }

  /// What was recorded, as a file would hold it.
  private final class RecordedLines {
    var text = ActionLog.firstLine + "\n"
  }

  let backend: SynchronousBackend
  let runtime: AppRuntime
  /// What only a terminal can carry out, in order.
  private(set) var screenEffects: [Effect] = []
  /// What was put into the clipboard last.
  private(set) var clipboard = ""
  /// The program that opens links; nil if there is none.
  var browser: String? = "browse"
  /// What the user makes of a text in their editor, and the status that it ends with.
  var editor: (String) -> (text: String, status: Int32) = { ($0, 0) }
  /// What the editor showed, in order.
  private(set) var editorContents: [String] = []
  /// The recorded session so far, if it is recorded.
  var recording: String { recorded.text }
  private let levels: FakeLevels?
  private let recorded: RecordedLines
  private let cache = FrameCache()
  private let files: FileThreads
  private let fileNews: Wakeup
  private let clock: Clock
  private let other: DatabaseSession
  private let file: String
  /// The driver whose database this one shows, too; nil for one of its own.
  private let first: AppDriver?
  private let glyphs: Glyphs

  /// Opens views on a database that holds `json`, or on a copy of the file with these bytes.
  ///
  /// With an origin it is the replica of that, and `json` waits for it. With a reach the lists ask as those of
  /// services do. Beside another driver it is a second window on the same database.
  init(
    _ views: [ViewDefinition], resources: ResourceBook = ResourceBook(),
    json: JSONValue = .null, copying template: Data? = nil, beside first: AppDriver? = nil,
    origin: String? = nil,
    reach: FindReach? = nil,
    columns: Int = 80, rows: Int = 24, glyphs: Glyphs = .unicode, isReadOnly: Bool = false,
    profile: ProfileMark? = nil, isRecording: Bool = false, me: String = "zoe",
    now: Int64 = Fixture.now, local: LocalTime = .utc, restoring session: SessionState? = nil,
    startFileTask: ((FileTask) -> Void)? = nil, dataFile: String? = nil,
    levels: FakeLevels? = nil, random seed: UInt64 = 1, forgetsAccounts: Bool = false
  ) throws {
    let clock = Clock(now)
    self.clock = clock
    self.glyphs = glyphs
    self.levels = levels
    let file = first?.file ?? NSTemporaryDirectory() + "runnel-app-\(UUID().uuidString).db"
    self.file = file
    self.first = first
    if let template { try template.write(to: URL(fileURLWithPath: file)) }
    func open(_ seed: UInt64, isReadOnly: Bool = false) throws -> DatabaseSession {
      var environment = DatabaseEnvironment(
        now: { clock.now }, random: SeededRandom(seed: seed))
      environment.author = me
      environment.keepsRefusals = true
      return try DatabaseSession(file: file, isReadOnly: isReadOnly, environment: environment)
    }
    other = try open(seed)
    if let origin { try other.becomeReplica(ofOrigin: origin) }
    if json != .null { _ = try other.write(.set(.root, json)) }
    try other.declareIndexes(views.flatMap(\.indexes))
    backend = SynchronousBackend(try open(seed + 1, isReadOnly: isReadOnly))
    var state = AppState(
      views: views, resources: resources, databaseName: "test", me: me, isReadOnly: isReadOnly,
      profile: profile, size: TerminalSize(columns: columns, rows: rows), now: now, local: local)
    state.files.dataFile = dataFile
    state.session.forgetsAccounts = forgetsAccounts
    let fileNews = try Wakeup()
    let files = FileThreads { fileNews.signal() }
    (self.files, self.fileNews) = (files, fileNews)
    let lines = RecordedLines()
    recorded = lines
    runtime = AppRuntime(
      state: state, database: backend, levels: levels, random: SeededRandom(seed: seed + 2),
      startFileTask: startFileTask ?? { files.start($0) },
      record: isRecording ? { lines.text += $0.line + "\n" } : nil)
    runtime.reach = reach
    runtime.start()
    if let session { runtime.send(.restored(session)) }
    pump()
  }

  deinit {
    // Nothing is lost with a temporary file that cannot be closed or removed.
    try? backend.session.close()
    try? other.close()
    if first == nil { AppDriver.removeDatabase(file) }
  }

  /// Removes a database with all that stands beside it.
  static func removeDatabase(_ file: String) {
    for suffix in ["", "-wal", "-shm", "-notify", "-refused", ".away"] {
      // Most of them are not there.
      try? FileManager.default.removeItem(atPath: file + suffix)
    }
  }

  var state: AppState { runtime.state }
  /// The list of the active tab.
  var list: ListScreen {
    guard let list = runtime.state.tabs.frontList else {
      preconditionFailure("no list is in front")
    }
    return list
  }
  /// The record that is open on top of the view; nil if there is none.
  var record: RecordScreen? {
    for case .record(let screen) in runtime.state.layers { return screen }
    return nil
  }

  // MARK: What happens

  /// Answers what the application asked for, and what it asks for then, until it is idle.
  func pump() {
    repeat {
      while let messages = backend.answer() { runtime.receive(messages) }
    } while performScreenEffects() || receiveLevels() || receiveFileReports()
  }

  /// Takes over what the server told of its levels; false if it told nothing.
  private func receiveLevels() -> Bool {
    guard levels?.hasAnswers == true else { return false }
    runtime.receive([])
    return true
  }

  /// Takes over what work with files tells, waiting for it while a task runs; false if it is over.
  private func receiveFileReports() -> Bool {
    let isOver = files.isIdle
    let reports = files.take()
    for report in reports { runtime.receive(report) }
    if isOver || !reports.isEmpty { return !reports.isEmpty }
    _ = Poller.wait([fileNews.fileDescriptor], timeoutMilliseconds: nil)
    fileNews.drain()
    return true
  }

  /// Answers so many of the requests that wait, the oldest first.
  func answer(_ count: Int) {
    for _ in 0..<count {
      if let messages = backend.answer() { runtime.receive(messages) }
    }
    _ = performScreenEffects()
  }

  /// Plays the terminal's part; false if there was nothing to do.
  private func performScreenEffects() -> Bool {
    let effects = runtime.takeScreenEffects()
    screenEffects += effects
    for effect in effects {
      switch effect {
      case .copy(let text, let what):
        clipboard = text
        runtime.send(.copied(what: what, .sent(byteCount: text.utf8.count)))
      case .openLink(let link): runtime.send(.opened(link: link, by: browser))
      case .editOutside(let edit): runtime.send(.edited(edit, runEditor(edit)))
      default: break
      }
    }
    return !effects.isEmpty
  }

  /// What `ExternalEditor` does, with a function for the editor.
  private func runEditor(_ edit: OutsideEdit) -> ExternalEditor.Outcome {
    var round = EditRound(edit.text, refused: edit.refused)
    var content = round.firstContent
    for _ in 0..<AppDriver.editingRoundsMax {
      editorContents.append(content)
      let (left, status) = editor(content)
      switch round.finish(
        left, status: status, problem: { OutsideEdit.problem(state, with: $0, in: edit) })
      {
      case .unchanged: return .unchanged
      case .accepted(let text): return .accepted(text)
      case .kept(let reason): return .kept(file: "/tmp/edit.json", reason: reason)
      case .again(let next): content = next
      }
    }
    preconditionFailure("The editor of the test leaves a text that is refused, each time.")
  }

  /// Strikes keys one after another, and answers what each asks for before the next.
  func press(_ keys: String) {
    for stroke in strokes(keys) {
      send(.key(stroke))
      pump()
    }
  }

  /// Strikes keys and leaves what they ask for unanswered.
  func strike(_ keys: String) {
    for stroke in strokes(keys) { send(.key(stroke)) }
  }

  private func strokes(_ keys: String) -> [KeyStroke] {
    guard let strokes = KeyStroke.sequence(keys) else {
      Issue.record("not a notation of keys: \(keys)")
      return []
    }
    return strokes
  }

  /// Types text, character by character, and answers what that asks for.
  func type(_ text: String) {
    for character in text { send(.key(KeyStroke(.character(character)))) }
    pump()
  }

  /// Hands an event over as the main loop does.
  func send(_ event: InputEvent) {
    runtime.send(.tick(clock.now))
    runtime.send(.input(event))
  }

  /// The user's configuration changes.
  func configure(_ settings: Settings, problem: String?) {
    runtime.send(.configured(settings, problem: problem))
  }

  /// Something happens that no key asked for.
  func take(_ action: AppAction) {
    runtime.send(action)
    pump()
  }

  func resize(columns: Int, rows: Int) {
    send(.resize(TerminalSize(columns: columns, rows: rows)))
    pump()
  }

  /// Lets time pass.
  func wait(milliseconds: Int64) {
    clock.now += milliseconds
    runtime.send(.tick(clock.now))
  }

  /// Another process writes, and the application learns of it.
  func elsewhere(_ body: (DatabaseSession) throws -> Void) throws {
    try body(other)
    runtime.receive([.deliveries(try backend.session.catchUp())])
    runtime.receive(
      [backend.session.takePendingNews(), backend.session.takeRefusedNews()].compactMap(\.self))
    pump()
  }

  /// The origin of a replica refuses a write that waits, which another process hears.
  func reject(_ id: Int64, _ reason: String) throws {
    if !other.connectionInfo.isConnected { _ = try other.connectOrigin() }
    _ = try other.receive(.rejected(id: id, TreeError(.permissionDenied, reason)))
    try hear()
  }

  /// The application learns what another process did, and heard of the origin.
  func hear() throws {
    let deliveries = DatabaseMessage.deliveries(try backend.session.catchUp())
    let refusals = backend.session.takeOriginOutput().completions.compactMap { completion in
      if case .rejected(let id, let error) = completion {
        DatabaseMessage.rejected(nil, write: id, error)
      } else {
        nil as DatabaseMessage?
      }
    }
    let news = [backend.session.takePendingNews(), backend.session.takeRefusedNews()]
    runtime.receive([deliveries] + refusals + news.compactMap(\.self))
    pump()
  }

  /// The refused writes that the database keeps.
  func keptRefusals() throws -> [KeptRefusal] { try other.refusedWrites() }

  /// Another process writes, and again before what the application asks for then is answered.
  func elsewhere(
    _ body: (DatabaseSession) throws -> Void, meanwhile: (DatabaseSession) throws -> Void
  ) throws {
    try body(other)
    runtime.receive([.deliveries(try backend.session.catchUp())])
    try meanwhile(other)
    pump()
  }

  /// Another process writes, and the application does not learn of it yet.
  func elsewhereUnseen(_ body: (DatabaseSession) throws -> Void) throws { try body(other) }

  /// Somebody deletes the file, and the application does not learn of it yet.
  func loseFile() throws { try FileManager.default.removeItem(atPath: file) }

  /// Somebody cuts the log off.
  func cutLogOff() throws {
    try FileHandle(forWritingTo: URL(fileURLWithPath: file + "-wal")).truncate(atOffset: 0)
  }

  /// Somebody moves the file away, without what belongs to it.
  func moveFileAway() throws {
    try FileManager.default.moveItem(atPath: file, toPath: file + ".away")
  }

  /// Somebody moves the file back.
  func moveFileBack() throws {
    try FileManager.default.moveItem(atPath: file + ".away", toPath: file)
  }

  /// Somebody changes the time of the file that was moved away, as writing it does.
  func touchFileAway() throws {
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSince1970: 1)], ofItemAtPath: file + ".away")
  }

  /// The application looks at what became of the file.
  func notice() {
    runtime.receive(backend.session.news())
    pump()
  }

  /// Another process sets a value.
  func set(_ path: String, _ json: JSONValue) throws {
    try elsewhere { _ = try $0.write(.set(try Path(path), json)) }
  }

  /// Another process removes a node.
  func remove(_ path: String) throws {
    try elsewhere { _ = try $0.write(.remove(try Path(path))) }
  }

  // MARK: What is to be seen

  /// What is stored at a place, as another process reads it.
  func stored(_ path: String) throws -> JSONValue { try other.node(at: try Path(path)).json }

  /// The screen, drawn as the main loop draws it.
  ///
  /// What is kept from the frame before must make no difference.
  var canvas: Canvas {
    let canvas = drawnWithCache
    #expect(canvas == AppScreen(runtime.state, glyphs: glyphs).draw())
    return canvas
  }

  /// The screen, drawn from what is kept: if the main loop would, without the lines of the frame
  /// first.
  private var drawnWithCache: Canvas {
    let frame = AppScreen(runtime.state, glyphs: glyphs, cache: cache)
    guard var canvas = frame.drawBeforeFrameLines() else { return frame.draw() }
    frame.drawFrameLines(into: &canvas)
    return canvas
  }

  /// The lines of the screen, without trailing blanks.
  var screen: [String] { canvas.textLines() }

  /// The letters of the roles of the cells, line by line.
  var roles: [String] { canvas.roleLines() }

  /// The lines of the list, the tree or the record.
  var body: [String] {
    let area = runtime.state.layout.body
    return Array(screen[area.row..<area.endRow])
  }

  /// The line in which a record is composed.
  var composeLine: String { screen[runtime.state.layout.composer.endRow - 1] }

  /// The rule above it, which says what is wrong.
  var composeRule: String { screen[runtime.state.layout.composer.row] }

  /// The last line.
  var status: String { screen.last ?? "" }

  /// What the toast says; empty if there is none.
  var toast: String { runtime.state.toast?.toast.text ?? "" }

  /// The line that the cursor is on.
  var cursorLine: String {
    let hasViews = !runtime.state.layout.views.isEmpty
    let lines = body.map { line in
      guard hasViews, let end = line.firstIndex(where: { $0 == "│" || $0 == "|" }) else {
        return line
      }
      return String(line[line.index(after: end)...])
    }
    return lines.first { $0.hasPrefix(">") } ?? ""
  }

  /// The index in the body of the line that contains a text; nil if none does.
  func line(of text: String) -> Int? { body.firstIndex { $0.contains(text) } }
}
