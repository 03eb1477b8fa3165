import Foundation
import Glibc
import RunnelDatabase
import RunnelStreams
import RunnelTerminal
import RunnelTree
import RunnelWorkspace

/// The environment of the workspace: its views and resources, its name, and the user's name.
struct Workspace {
  /// The suffix that replaces `.db` in the name of a database to give that of its views file.
  static let viewsSuffix = ".views.yaml"
  /// The time in milliseconds before the creation of indexes is mentioned.
  private static let silentMilliseconds: Int64 = 200

  let views: [ViewDefinition]
  /// The views with a tab: those without parameters.
  var lists: [ViewDefinition] { views.filter { !$0.hasParameters } }
  let resources: ResourceBook
  let name: String
  let me: String
  /// The files that define what the workspace shows, whether they exist or not.
  let definitionFiles: [DefinitionMonitor.File]
  /// The tab to open first; nil for the first one.
  let firstTab: Int?
  /// The mistakes in the views file, and what is shown instead; nil if there are none.
  let problem: String?

  /// Reads the views file that the options name, the one beside the database, or the one that the
  /// settings name; otherwise finds collections.
  ///
  /// - Parameters:
  ///   - options: what is opened.
  ///   - settings: the user's settings.
  ///   - isStrict: whether a mistake in the views file is an error. Otherwise its other views are used,
  ///     or those that are found if it has none, and `problem` tells.
  /// - Throws: `ConfigurationError` if a file is not valid or a named view does not exist,
  ///   `DatabaseError` if the database cannot be opened.
  init(
    _ options: ApplicationOptions, _ settings: Settings = Settings(), isStrict: Bool = true
  ) throws {
    let file = options.database
    let stem = file.hasSuffix(".db") ? String(file.dropLast(3)) : file
    name = String(stem.split(separator: "/").last ?? "runnel")
    let beside = stem + Workspace.viewsSuffix
    var viewsFile = options.views ?? beside
    if options.views == nil, access(beside, R_OK) != 0, let standard = settings.views {
      viewsFile = standard
    }
    var found: ViewFile?
    var mistake: ConfigurationError?
    var leftOut: [String: ConfigurationError] = [:]
    if options.views != nil || viewsFile != beside || access(beside, R_OK) == 0 {
      do {
        let read = try Workspace.read(viewsFile, settings)
        found = read.file
        mistake = read.problem
        leftOut = read.leftOut
      } catch let error as ConfigurationError where !isStrict && options.views == nil {
        mistake = error
      }
      if let mistake, isStrict { throw mistake }
    }
    let described = options.resources ?? ResourceDefinitionFile.path(beside: file)
    definitionFiles = [
      .views(viewsFile), .resources(described ?? stem + ResourceDefinitionFile.suffix),
    ]
    resources = try described.map { try ResourceBook(file: $0) } ?? ResourceBook()
    // The rules of a server know an account by its id.
    let user = DatabaseEnvironment.userName.isEmpty ? "me" : DatabaseEnvironment.userName
    let me = options.origin?.userID ?? found?.me ?? settings.me ?? user
    self.me = me
    for view in found?.views ?? [] {
      guard let words = view.userProblem(me) else { continue }
      let error = ConfigurationError(file: viewsFile, line: nil, words)
      if isStrict { throw error }
      leftOut[view.name] = error
      found?.views.removeAll { $0.name == view.name }
      mistake = mistake ?? error
    }
    problem = mistake.map { Workspace.words(for: $0, hasOthers: found != nil) }
    let log = resources.registry.log
    let views =
      try found?.views.map {
        $0.bound(toUser: me).placed(among: options.origin?.services?.places ?? [])
      }
      ?? Workspace.discover(options, settings).filter { view in
        // The log has a view of its own, which comes last.
        log?.contains(view.source.path) != true
      }
    self.views = views + [resources.activityView].compactMap(\.self)
    do {
      firstTab = try Workspace.tab(options.view, in: self.views)
    } catch {
      // A view that is named may be there, but with a mistake.
      let name = options.view?.lowercased()
      let own = leftOut.first { $0.key.lowercased() == name }?.value
      throw own ?? (found == nil ? mistake : nil) ?? error
    }
  }

  /// Returns the name of the view that is opened first: that of a tab, or the one where the session
  /// ended; nil for the tree.
  func name(ofTab tab: Int?, _ session: SessionState) -> String? {
    let views = lists
    let last = session.tab.flatMap { name in views.firstIndex { $0.name == name } }
    let index = tab ?? last ?? 0
    return views.indices.contains(index) ? views[index].name : nil
  }

  /// Returns the file in which views are saved: not for a temporary database, and not the one that
  /// comes with the program.
  func savedViewsFile(_ options: ApplicationOptions) -> String? {
    if options.isScratch { return nil }
    for case .views(let file) in definitionFiles {
      return file == ResourceFiles.path(of: "demo/demo.views.yaml") ? nil : file
    }
    return nil
  }

  /// The first mistake in a views file, and what is shown in spite of it.
  private static func words(for mistake: ConfigurationError, hasOthers: Bool) -> String {
    var first = mistake
    first.others = []
    let more = mistake.others.isEmpty ? "" : " (and \(mistake.others.count) more)"
    return "\(first)\(more) "
      + (hasOthers ? "The other views are shown." : "Views were made for what is there.")
  }

  private static func read(
    _ file: String, _ settings: Settings
  ) throws -> ReadViews {
    do {
      return try ViewFile.reading(
        UserFile.text(of: file), name: file, pageSize: settings.pageSize)
    } catch let error as ConfigurationError {
      throw error
    } catch {
      throw ConfigurationError(
        file: file, line: nil, "The views file cannot be read: \(error.fileReason)")
    }
  }

  /// Opens the database for a moment, and finds its collections; a missing file is created.
  private static func discover(
    _ options: ApplicationOptions, _ settings: Settings
  ) throws -> [ViewDefinition] {
    let session = try session(options)
    let found = try FoundViews.find(in: session, pageSize: settings.pageSize)
    let views = options.dataFile.map { file in found.map { $0.ordered(asIn: file) } } ?? found
    try session.close()
    guard let plan = options.origin?.services else { return views }
    return plan.views(found: views, options.samples, pageSize: settings.pageSize)
  }

  /// Creates the indexes that the views need, and says so on standard error if it takes a while.
  ///
  /// - Throws: `DatabaseError` if the database cannot be opened, and (`cancelled`) if the user or
  ///   the system stopped it; then nothing was changed.
  func prepare(_ options: ApplicationOptions, _ signals: SignalSource) throws {
    if options.isReadOnly { return }
    if let file = options.dataFile {
      PartFile.removeLeft(of: ExportRunner.resolved(ExportRunner.expanded(file)))
    }
    let indexes = views.flatMap(\.indexes)
    if indexes.isEmpty { return }
    let session = try Workspace.session(options)
    let start = LocalTime.now()
    var isSaid = false
    defer { if isSaid { Workspace.say("\n") } }
    try session.declareIndexes(indexes) { rows in
      if LocalTime.now() - start > Workspace.silentMilliseconds {
        Workspace.say("\rrunnel: indexing for the views, \(rows) rows; Ctrl-C stops it")
        isSaid = true
      }
      return !signals.read().contains(where: Workspace.isEnd)
    }
    try session.close()
  }

  private static func isEnd(_ signal: TerminalSignal) -> Bool {
    switch signal {
    case .terminate, .hangUp, .interrupt: true
    case .stop, .resume, .windowChanged: false
    }
  }

  private static func say(_ text: String) {
    let bytes = Array(text.utf8)
    // An error of this message does not matter.
    _ = write(STDERR_FILENO, bytes, bytes.count)
  }

  private static func session(_ options: ApplicationOptions) throws -> DatabaseSession {
    try DatabaseSession(
      file: options.database, isReadOnly: options.isReadOnly, environment: environment())
  }

  /// Returns the environment with the clock and the random numbers of this system.
  static func environment(
    now: @escaping () -> Int64 = LocalTime.now, author: String = ""
  ) -> DatabaseEnvironment {
    var environment = DatabaseEnvironment(now: now, random: SystemRandomNumberGenerator())
    environment.author = author
    return environment
  }

  private static func tab(_ name: String?, in views: [ViewDefinition]) throws -> Int? {
    guard let name else { return nil }
    if let view = views.first(where: { $0.hasParameters && $0.name == name }) {
      throw ConfigurationError(
        file: "--view", line: nil,
        "The view `\(view.name)` is opened from a row of `\(view.origin(among: views) ?? "")`.")
    }
    let names = views.filter { !$0.hasParameters }.map(\.name) + ["Tree"]
    if let tab = names.firstIndex(where: { $0.lowercased() == name.lowercased() }) { return tab }
    throw ConfigurationError(
      file: "--view", line: nil,
      "There is no view `\(name)`. The views are: \(names.joined(separator: ", ")).")
  }
}
