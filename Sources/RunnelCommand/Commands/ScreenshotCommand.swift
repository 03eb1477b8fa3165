import ArgumentParser
import Foundation
import RunnelApp
import RunnelSync
import RunnelTerminal
import RunnelWorkspace

/// `runnel screenshot`: draws the workspace to a file, without a terminal.
struct ScreenshotCommand: ParsableCommand, FileNaming {
  static let configuration = CommandConfiguration(
    commandName: "screenshot",
    abstract: "Draw the workspace to a file, as a picture or as text.",
    discussion: """
      The picture looks as the workspace does for someone without a configuration, unless --config \
      names one: then it has its theme, keys and page size, and --theme may name the themes beside it.

      Examples:
        runnel screenshot --size 100x30 --keys "g m" --views views.yaml picture.svg
        runnel screenshot --config ~/.config/runnel/config.yaml --theme dusk picture.svg
      """)

  @Argument(
    help: "The file to make: a picture if it ends in .svg, text if not; - is standard output.",
    completion: .file())
  var file: FileName
  @Flag(name: [.short, .long], help: "Replace a file that is there without asking.")
  var force = false
  @OptionGroup var database: DatabaseOptions
  @Option(
    help: ArgumentHelp("The file that defines the views.", valueName: "file"), completion: .file())
  var views: String?
  @Option(
    help: ArgumentHelp("The file that defines the resources.", valueName: "file"),
    completion: .file())
  var resources: String?
  @Option(help: ArgumentHelp("The view to show.", valueName: "name"))
  var view: String?
  @Option(
    help: ArgumentHelp("The size in columns and rows.", valueName: "size"),
    transform: ScreenshotCommand.size)
  var size = TerminalSize(columns: 100, rows: 30)
  @Option(
    help: ArgumentHelp("The configuration file (default: none).", valueName: "file"),
    completion: .file())
  var config: String?
  @Option(
    help: ArgumentHelp(
      "The theme: \(ThemeArgument.standard.joined(separator: ", ")), or one beside --config.",
      valueName: "name"), completion: ThemeArgument.completion)
  var theme: ThemeArgument?
  @Option(help: ArgumentHelp("The keys to strike before, set apart by blanks.", valueName: "keys"))
  var keys = ""
  @Option(
    help: ArgumentHelp(
      "The time on the clock, in milliseconds since 1970; times are then in UTC (default: now).",
      valueName: "ms"))
  var at: Int64?

  var fileNames: [FileName] { [file] }

  func validate() throws {
    if let theme, theme.choice(beside: config) == nil {
      throw ValidationError(theme.advice(beside: config))
    }
  }

  func run() throws {
    // It is not repeated, as it may hold a secret.
    if file.text.map({ OriginAddress.isMeant(by: $0) }) == true {
      throw Failure(
        "The address of a server stands where the file to make is named. A screenshot shows the database of a "
          + "file (--database FILE); `runnel open` shows a server.", status: .usage)
    }
    try tellProblems()
    let output = file.isStandard ? nil : OutputFile(file)
    try output?.consent(Consent(isGiven: force))
    var options = ApplicationOptions(database: try database.file(for: .change))
    options.views = views
    options.resources = resources
    options.view = view
    options.configuration = config
    options.terminal.theme = theme?.choice(beside: config)
    var screenshot = Screenshot(options: options, size: size, keys: keys)
    screenshot.now = at
    let picture: Screenshot.Picture
    do {
      picture = try screenshot.picture()
    } catch let error as ConfigurationError {
      throw Failure("\(error)", status: .usage)
    }
    let text =
      file.bytes.suffix(4) == Array(".svg".utf8)[...]
      ? CanvasSVG(picture.canvas, theme: picture.theme, on: picture.background).text()
      : picture.canvas.textLines().map { $0 + "\n" }.joined()
    guard let output else { return try StandardOutput.write(text) }
    try output.write(Array(text.utf8))
  }

  /// Reports mistakes in the configuration, which are left out of the picture.
  private func tellProblems() throws {
    guard let config else { return }
    guard FileManager.default.fileExists(atPath: config) else {
      throw Failure("\(config) does not exist.")
    }
    let file = ConfigurationFile(file: config)
    let used = theme?.choice(beside: config) ?? file.settings.terminal.theme
    let themes = file.themes.filter { $0.theme.name == used.name }
    for problem in file.problems + themes.flatMap(\.problems) { StandardError.say("\(problem)") }
  }

  private static func size(_ text: String) throws -> TerminalSize {
    let parts = text.split(separator: "x").map { Int($0) }
    guard parts.count == 2, let columns = parts[0], let rows = parts[1],
      (1...1000).contains(columns), (1...1000).contains(rows)
    else { throw ValidationError("a size is columns and rows, like 100x30.") }
    return TerminalSize(columns: columns, rows: rows)
  }
}
