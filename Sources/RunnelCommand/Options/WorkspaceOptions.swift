import ArgumentParser
import Foundation
import Glibc
import RunnelApp
import RunnelClient
import RunnelDatabase
import RunnelServer
import RunnelSync
import RunnelTerminal
import RunnelWorkspace

/// The options for the look and behavior of the workspace in the terminal.
struct WorkspaceOptions: ParsableArguments {
  /// Whether the mouse is used.
  enum Mouse: String, ExpressibleByArgument, CaseIterable {
    case on
    case off
  }

  /// The greatest number of colors.
  enum Color: String, ExpressibleByArgument, CaseIterable {
    case auto
    case never
    case sixteen = "16"
    case extended = "256"

    /// The number of colors; nil for those of the terminal.
    var depth: ColorDepth? {
      switch self {
      case .auto: nil
      case .never: ColorDepth.none
      case .sixteen: .sixteen
      case .extended: .extended
      }
    }
  }

  @Option(
    help: ArgumentHelp("The file that defines the views.", valueName: "file"), completion: .file())
  var views: String?
  @Option(
    help: ArgumentHelp(
      "The file that defines the resources: counters, logs and forms.",
      valueName: "file"), completion: .file())
  var resources: String?
  @Option(help: ArgumentHelp("The view to show first.", valueName: "name"))
  var view: String?
  @OptionGroup var listing: ListingOptions
  @Flag(
    name: [.customLong("readonly"), .customLong("read-only")], help: "Refuse every write.")
  var readonly = false
  @Option(
    help: ArgumentHelp(
      "The most bytes that a local replica keeps of data that is not shown, such as 500MB.",
      valueName: "size"),
    transform: WorkspaceOptions.cacheSize)
  var cache: Int?
  @Option(
    help: ArgumentHelp(
      "The theme; auto asks the terminal for its background color. The themes: "
        + "\(ThemeArgument.standard.joined(separator: ", ")); and those of your theme files.",
      valueName: "name"),
    completion: ThemeArgument.completion)
  var theme: ThemeArgument?
  @Option(help: "How many colors to use.")
  var color: Color?
  @Flag(help: "Use no colors.")
  var noColor = false
  @Flag(help: "Use only ASCII characters.")
  var ascii = false
  @Option(help: "Use the mouse, or leave it to the terminal.")
  var mouse: Mouse?
  @Option(
    help: ArgumentHelp("Append log messages to this file.", valueName: "file"), completion: .file())
  var log: String?
  @Option(
    help: ArgumentHelp(
      "Record the session to this file: everything that was shown and typed.",
      valueName: "file"), completion: .file())
  var record: String?
  @Option(
    help: ArgumentHelp(
      "Show a recorded session after its last action; as text if there is no terminal.",
      valueName: "file"), completion: .file())
  var replay: String?
  @Flag(help: "Start without the last session's state, and do not save this one's.")
  var noSession = false
  @Flag(help: "Forget the accounts that sign in to a server's database here when it is closed.")
  var noKeep = false
  @Flag(help: "Report what the program finds here: terminal, colors, files; then exit.")
  var check = false
  @Flag(help: "List all actions with their keys, then exit.")
  var listKeys = false
  @Flag(help: "List the keys as JSON.")
  var json = false
  @Flag(help: ArgumentHelp("Let C-x ! end the program with a fault.", visibility: .hidden))
  var allowCrash = false

  /// Prints the output of `--check` or `--list-keys`; returns false if neither was given.
  ///
  /// - Throws: `Failure` if the check found a problem.
  func tell() throws -> Bool {
    let environment = ProcessInfo.processInfo.environment
    if check {
      try SystemCheck(wishes, environment: environment).run()
    } else if listKeys {
      let file = ConfigurationFile.path(environment: environment)
        .map { ConfigurationFile(file: $0) }
      let table = KeyTable((file ?? ConfigurationFile()).settings)
      try StandardOutput.write(json ? table.json : table.text)
    }
    return check || listKeys
  }

  func validate() throws {
    if theme?.choice(beside: configurationPath) == nil, let theme {
      throw ValidationError(theme.advice(beside: configurationPath))
    }
    if json, !listKeys {
      throw ValidationError(
        "--json needs --list-keys; rows are JSON if the output is not a terminal.")
    }
    if listing.rows != nil, !listing.isPlain {
      throw ValidationError("--rows is for listings: add --plain, or pipe the output to a program.")
    }
  }

  /// Throws if a file to be written is a database or belongs to one, or is there already and the user does
  /// not want it replaced.
  private func checkFiles() throws {
    for (option, file) in [("--record", record), ("--log", log)] {
      guard let file, OutputFile(FileName(bytes: Array(file.utf8))).isOfDatabase else { continue }
      throw Failure(
        "\(option): \(file) is a database, or belongs to one. Name another file.", status: .usage)
    }
    // Messages are added to a log, but a recording replaces what was there.
    if let record, StandardInput.isTerminal {
      try OutputFile(FileName(bytes: Array(record.utf8))).consent(Consent(isGiven: false))
    }
  }

  /// Lists a view of a database file on standard output.
  func list(_ file: String) throws {
    try checkFiles()
    var options = options(file)
    options.isReadOnly = true
    do {
      try LogFile.start(log)
      try PlainRunner(options: options, request: listing.request(isASCII: ascii)).run()
    } catch let error as ConfigurationError {
      throw Failure("\(error)", status: .usage)
    }
  }

  /// Shows the session that `--replay` names; returns false if it names none.
  ///
  /// - Throws: `Failure` if the session cannot be read.
  func showReplay() throws -> Bool {
    guard let replay else { return false }
    do {
      let session = try SessionReplay(file: replay)
      if StandardInput.isTerminal, StandardOutput.isTerminal {
        let status = try Application.run(session, terminal: wishes)
        if status != 0 { Glibc.exit(status) }
      } else {
        let lines = session.canvas().textLines().map { $0 + "\n" }.joined()
        try StandardOutput.write(lines)
        StandardError.say("\(replay): \(session.summary).")
      }
    } catch let error as TerminalError {
      throw Failure(error.message, status: .usage)
    } catch let error as ConfigurationError {
      throw Failure("\(error)", status: .failure)
    }
    return true
  }

  private var wishes: TerminalWishes {
    var wishes = TerminalWishes()
    wishes.theme = theme?.choice(beside: configurationPath)
    wishes.colorDepth = noColor ? ColorDepth.none : color?.depth
    wishes.signs = ascii ? .ascii : nil
    wishes.usesMouse = mouse.map { $0 == .on }
    return wishes
  }

  /// Checks that nothing is to be recorded where rows are written and no session takes place.
  ///
  /// - Throws: `Failure` otherwise.
  func checkRecording() throws {
    guard record != nil, listing.isPlain else { return }
    throw Failure(
      "--record records what is shown and typed in a terminal: the output is none here, or --plain is "
        + "given.", status: .usage)
  }

  /// Checks that the workspace can be opened in a terminal.
  ///
  /// - Throws: `Failure` if there is no terminal.
  func checkTerminal() throws {
    guard StandardInput.isTerminal else {
      throw Failure(
        "The workspace needs a terminal for its keys; --plain, get, export and watch need none",
        status: .usage)
    }
  }

  /// Opens the workspace on a server's database, and ends the process with its exit code.
  ///
  /// The local replica is shown at once, before the server responds.
  func open(_ origin: OriginChoice) throws {
    let before = noKeep ? OthersWrites(origin).entries.map(\.file) : []
    let temporary = noKeep ? try TemporaryAccounts() : nil
    defer { temporary?.remove() }
    let status = try show(origin, temporary)
    if let temporary {
      OthersWrites.sayLeft(since: before, of: try? temporary.home(origin), origin)
    }
    // The end of the process runs nothing that is deferred.
    temporary?.remove()
    if status != 0 { Glibc.exit(status) }
  }

  /// Shows a server's database, with the accounts that are kept or with temporary ones; returns the exit
  /// code.
  private func show(_ origin: OriginChoice, _ temporary: TemporaryAccounts?) throws -> Int32 {
    var wish = try origin.wish()
    if let temporary, wish.accounts != nil {
      (wish.accounts, wish.user) = (try temporary.home(origin), nil)
    }
    let profile = origin.profile
    // A device whose accounts are forgotten could not be removed from their lists later.
    (wish.presence, wish.devices) = (profile?.presence, temporary == nil ? profile?.devices : nil)
    let file = try wish.replica(environment: ProcessInfo.processInfo.environment)
    if let bytes = cache ?? profile?.cacheBytesMax { wish.cacheBytesMax = bytes }
    (wish.rulesFile, wish.keep) = (profile?.rulesFile, profile?.keep ?? [])
    wish.programVersion = MainCommand.version
    var mark = profile?.mark
    mark?.omitsDevices = temporary != nil && profile?.devices != nil
    mark?.methods = try origin.methodOffers()
    let samples = try wish.services.map { try ServiceSamples(file).read($0) } ?? []
    return try run(file) { options in
      (options.origin, options.profile, options.samples) = (wish, mark, samples)
      options.forgetsAccounts = temporary != nil && wish.accounts != nil
      options.views = views ?? profile?.views
      options.isReadOnly = readonly || profile?.mark.isReadOnly == true
    }
  }

  /// Opens the workspace on a namespace of a store, and ends the process with its exit code.
  func open(_ gate: StoreGate) throws {
    var wish = gate.wish
    if let cache { wish.cacheBytesMax = cache }
    let file = try wish.replica(environment: ProcessInfo.processInfo.environment)
    let status = try serving(gate, wish, file)
    if status != 0 { Glibc.exit(status) }
  }

  private func serving(_ gate: StoreGate, _ wish: OriginWish, _ file: String) throws -> Int32 {
    defer { gate.stop() }
    return try run(file) { options in
      try gate.start()
      (options.origin, options.remarks) = (wish, gate.remarks)
    }
  }

  private static func cacheSize(_ text: String) throws -> Int {
    guard let bytes = ByteSize.bytes(text) else {
      throw ValidationError("give \(ByteSize.help).")
    }
    return bytes
  }

  /// Opens the workspace on a database file, which says remarks on its making first, and ends the process
  /// with its exit code.
  func open(_ file: String, saying remarks: [String] = []) throws {
    let status = try run(file) { $0.remarks = remarks }
    if status != 0 { Glibc.exit(status) }
  }

  /// Opens the workspace on a temporary database, removes it, and ends the process with the exit code.
  func open(scratch database: ScratchDatabase, saying remarks: [String]) throws {
    let status = try run(database.file) {
      ($0.isScratch, $0.stateFolder, $0.remarks) = (true, nil, remarks)
    }
    database.remove()
    if status != 0 { Glibc.exit(status) }
  }

  /// Runs the workspace on a database file with the options of the command line, which `change`
  /// completes; returns the exit code.
  private func run(
    _ file: String, _ change: (inout ApplicationOptions) throws -> Void = { _ in }
  ) throws -> Int32 {
    try checkFiles()
    do {
      try LogFile.start(log)
      var options = options(file)
      try change(&options)
      return try Application.run(options)
    } catch let error as TerminalError {
      throw Failure(error.message + "; --plain lists a view without one", status: .usage)
    } catch let error as ConfigurationError {
      throw Failure("\(error)", status: .usage)
    }
  }

  private func options(_ file: String) -> ApplicationOptions {
    var options = ApplicationOptions(database: file)
    options.serverPlaces = AdminSocket.places(of: file).map {
      ServerPlace(socket: $0.path, database: $0.database)
    }
    options.views = views
    options.resources = resources
    options.view = view
    options.filter = listing.filter
    options.follows = listing.follow
    options.record = record
    options.isReadOnly = readonly
    options.allowsCrash = allowCrash
    options.configuration = configurationPath
    options.stateFolder =
      noSession ? nil : UserFolders.state(ProcessInfo.processInfo.environment)
    options.terminal = wishes
    return options
  }

  private var configurationPath: String? {
    ConfigurationFile.path(environment: ProcessInfo.processInfo.environment)
  }
}
