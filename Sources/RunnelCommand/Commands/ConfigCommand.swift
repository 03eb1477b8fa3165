import ArgumentParser
import Foundation
import RunnelApp
import RunnelPostgres
import RunnelTerminal
import RunnelWorkspace

/// `runnel config`: the user's configuration file.
struct ConfigCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "config",
    abstract: "Check, make or find the configuration file and themes.",
    discussion: """
      The file has the theme, keys and other wishes; without it all is as usual. Themes of your own \
      are files in the folder themes beside it: themes/NAME.yaml. A mistake in them is told with its \
      line and left out, and all else holds. The workspace takes a change over as soon as a file is \
      saved.

      Examples:
        runnel config init
        runnel config check
        runnel config keys | grep page
        runnel config roles
      """,
    subcommands: [
      CheckConfigCommand.self, InitConfigCommand.self, PathOfConfigCommand.self,
      KeysOfConfigCommand.self, RolesOfConfigCommand.self,
    ])

  /// The path of the file.
  ///
  /// - Throws: `Failure` if there is no place for it.
  static func path() throws -> String {
    if let path = ConfigurationFile.path(environment: ProcessInfo.processInfo.environment) {
      return path
    }
    throw Failure("HOME is not set, so there is no place for a configuration file.")
  }
}

/// `runnel config check`: reports mistakes in the file.
struct CheckConfigCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check",
    abstract: "Tell what is wrong with the configuration file and the themes.",
    discussion: """
      Each mistake is a line: file, line, and what is expected there. Colors that are hard to read, as \
      far as that can be computed, are warnings.
      """)

  @Argument(help: "Another file than the one that is used.", completion: .file())
  var file: String?

  func run() throws {
    let path = try file ?? ConfigCommand.path()
    let exists = FileManager.default.fileExists(atPath: path)
    if !exists, file != nil { throw Failure("\(path) does not exist.") }
    let configuration = ConfigurationFile(file: path)
    let problems =
      configuration.problems + CheckConfigCommand.faultsOfStores(configuration, path)
      + configuration.themes.flatMap(\.problems)
    for problem in problems { try StandardOutput.say("\(problem)\n") }
    for warning in configuration.warnings {
      try StandardOutput.say("\(warning.warningText)\n")
    }
    if problems.isEmpty { return try tellOrder(of: path, exists, configuration.themes.count) }
    let count = problems.count == 1 ? "1 mistake" : "\(problems.count) mistakes"
    let what = configuration.themes.isEmpty ? "\(path) has" : "\(path) and its themes have"
    throw Failure("\(what) \(count); what is wrong is left out, all else holds.")
  }

  /// What is wrong with the connection strings of stores, as far as libpq is installed.
  private static func faultsOfStores(
    _ configuration: ConfigurationFile, _ path: String
  ) -> [ConfigurationError] {
    let faults = configuration.stores.compactMap { name, text -> ConfigurationError? in
      let fault =
        PostgresPlace.isName(name)
        ? PostgresPlace(text).fault
        : "a name of a store has letters, digits, -, _ and ., 64 at most"
      return fault.map {
        ConfigurationError(
          file: path, line: configuration.storeLines[name], "the store \(name): \($0)")
      }
    }
    return faults.sorted { ($0.line ?? 0) < ($1.line ?? 0) }
  }

  private func tellOrder(of path: String, _ exists: Bool, _ count: Int) throws {
    let themes = count == 0 ? "" : count == 1 ? ", and 1 theme" : ", and \(count) themes"
    try StandardOutput.say(
      exists
        ? "\(path)\(themes) \(count == 0 ? "is" : "are") in order.\n"
        : "\(path) does not exist\(themes.isEmpty ? "" : "\(themes) are in order"): "
          + "`runnel config init` makes it.\n")
  }
}

/// `runnel config init`: makes a configuration file.
struct InitConfigCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "init", abstract: "Make a configuration file, with every setting commented out.",
    discussion: "A file that is there is never changed.")

  func run() throws {
    let path = try ConfigCommand.path()
    let url = URL(fileURLWithPath: path)
    if FileManager.default.fileExists(atPath: path) {
      throw Failure("\(path) is there already: edit it.")
    }
    do {
      try FileManager.default.createDirectory(
        at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data(ConfigurationFile.template.utf8).write(to: url, options: .withoutOverwriting)
    } catch {
      throw Failure("\(path) cannot be made: \(error.fileReason)")
    }
    try StandardOutput.write("\(path)\n")
  }
}

/// `runnel config path`: prints the place of the file.
struct PathOfConfigCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "path", abstract: "Print where the configuration file is, or would be.")

  func run() throws { try StandardOutput.write(try ConfigCommand.path() + "\n") }
}

/// `runnel config keys`: the current table of keys.
struct KeysOfConfigCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "keys",
    abstract: "List all actions by context, with the keys that you gave them.",
    discussion:
      "Each line has the context, the action, what it does, and its keys, with tabs between.")

  @Flag(help: "List them as JSON.")
  var json = false

  func run() throws {
    let table = KeyTable(ConfigurationFile(file: try ConfigCommand.path()).settings)
    try StandardOutput.write(json ? table.json : table.text)
  }
}

/// `runnel config roles`: the color roles of themes, and how they look.
struct RolesOfConfigCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "roles",
    abstract: "List all roles that themes name, with their colors.",
    discussion: """
      Each line has the role, the colors of the text and behind it with 256 colors, and the \
      attributes, with tabs between; default is the terminal's own color.
      """)

  @Option(
    help: ArgumentHelp("Another theme than that of the configuration.", valueName: "name"),
    completion: ThemeArgument.completion)
  var theme: ThemeArgument?

  func validate() throws {
    let path = try? ConfigCommand.path()
    if let theme, theme.choice(beside: path) == nil {
      throw ValidationError(theme.advice(beside: path))
    }
  }

  func run() throws {
    let path = try ConfigCommand.path()
    var options = ConfigurationFile(file: path).settings.terminal
    options.theme = theme?.choice(beside: path) ?? options.theme
    try StandardOutput.write(RoleTable(options).text)
  }
}
