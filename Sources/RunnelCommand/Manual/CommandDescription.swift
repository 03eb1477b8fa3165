import ArgumentParser
import Foundation

/// The parser's description of a command, as far as the manual needs it.
///
/// Source: the JSON of `--experimental-dump-help`, version 0, of swift-argument-parser.
struct CommandDescription: Decodable {
  /// An argument, an option or a flag.
  struct Argument: Decodable {
    struct Name: Decodable {
      var kind: String
      var name: String

      /// The name as it is typed.
      var text: String { (kind == "long" ? "--" : "-") + name }
    }

    var kind: String
    var names: [Name]?
    var valueName: String?
    var abstract: String?
    var discussion: String?
    var defaultValue: String?
    var allValues: [String]?
    var isOptional: Bool
    var isRepeating: Bool
    var shouldDisplay: Bool
  }

  var commandName: String
  var abstract: String?
  var discussion: String?
  var arguments: [Argument]?
  var subcommands: [CommandDescription]?
  var shouldDisplay: Bool

  /// The arguments for the manual.
  var shownArguments: [Argument] { (arguments ?? []).filter(\.shouldDisplay) }

  /// The subcommands for the manual: all but `help`.
  var shownSubcommands: [CommandDescription] {
    (subcommands ?? []).filter { $0.shouldDisplay && $0.commandName != "help" }
  }

  /// The description of the whole program.
  ///
  /// - Throws: `DecodingError` if the format of the parser's description has changed.
  static func program() throws -> CommandDescription {
    struct Root: Decodable { var command: CommandDescription }
    do {
      _ = try MainCommand.parseAsRoot(["--experimental-dump-help"])
      throw Failure("the parser did not describe the commands")
    } catch let failure as Failure {
      throw failure
    } catch {
      let json = Data(MainCommand.fullMessage(for: error).utf8)
      return try JSONDecoder().decode(Root.self, from: json).command
    }
  }
}
