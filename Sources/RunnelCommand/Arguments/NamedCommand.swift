import ArgumentParser

/// The program as the parser sees it when the first word names a command.
///
/// The parser looks for arguments of a default command at each step, which takes a third of the time
/// until a command runs. There is no need for that here.
struct NamedCommand: ParsableCommand {
  static let configuration = {
    var configuration = MainCommand.configuration
    configuration.defaultSubcommand = nil
    return configuration
  }()

  /// The type to parse the words with, without the name of the program.
  static func root(for word: String?) -> any ParsableCommand.Type {
    let isNamed = configuration.subcommands.contains { $0._commandName == word }
    return isNamed ? NamedCommand.self : MainCommand.self
  }
}
