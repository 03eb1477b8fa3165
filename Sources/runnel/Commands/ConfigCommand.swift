import ArgumentParser
import Foundation
import RunnelApp
import RunnelTerminal

/// `runnel config`: the user's configuration file.
struct ConfigCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "config",
    abstract: "Check, make or find the configuration file.",
    discussion: """
      The file has the theme, keys and other wishes; without it all is as usual. A mistake in it is \
      told with its line and left out, and all else holds. The workspace takes a change over as soon \
      as the file is saved.

      Examples:
        runnel config init
        runnel config check
        runnel config keys | grep page
      """,
    subcommands: [
      CheckConfigCommand.self, InitConfigCommand.self, PathOfConfigCommand.self,
      KeysOfConfigCommand.self,
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

/// `runnel config check`: tells what is wrong with the file.
struct CheckConfigCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check", abstract: "Tell what is wrong with the configuration file.",
    discussion: "Each mistake is a line: file, line, and what is expected there.")

  @Argument(help: "Another file than the one that is used.", completion: .file())
  var file: String?

  func run() throws {
    let path = try file ?? ConfigCommand.path()
    guard FileManager.default.fileExists(atPath: path) else {
      if file != nil { throw Failure("\(path) does not exist.") }
      return try StandardOutput.write("\(path) does not exist: `runnel config init` makes it.\n")
    }
    let problems = ConfigurationFile(file: path).problems
    for problem in problems { try StandardOutput.write("\(problem)\n") }
    if problems.isEmpty { return try StandardOutput.write("\(path) is in order.\n") }
    let count = problems.count == 1 ? "1 mistake" : "\(problems.count) mistakes"
    throw Failure("\(path) has \(count); what is wrong is left out, all else holds.")
  }
}

/// `runnel config init`: makes a file to begin with.
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
      throw Failure("\(path) cannot be made: \(error.localizedDescription)")
    }
    try StandardOutput.write("\(path)\n")
  }
}

/// `runnel config path`: where the file is.
struct PathOfConfigCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "path", abstract: "Print where the configuration file is, or would be.")

  func run() throws { try StandardOutput.write(try ConfigCommand.path() + "\n") }
}

/// `runnel config keys`: the table of keys as it holds now.
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
