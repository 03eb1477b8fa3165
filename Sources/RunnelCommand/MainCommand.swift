import ArgumentParser
import Glibc
import RunnelApp
import RunnelDatabase
import RunnelNetwork
import RunnelPostgres
import RunnelTree

/// The program: it reads the command line, runs one command, and reports errors.
///
/// Data goes to standard output, messages to standard error. The exit status is 0 for success, 1
/// for failure, 2 for a command line that is not understood or does not fit the terminal, 3 for a
/// failure that may succeed later, and 128 plus the signal's number if interrupted.
@main
struct MainCommand: ParsableCommand {
  /// The version of the program.
  static let version = "0.1.0"

  /// The least number of files that a command must be able to open, including those for threads and
  /// signals.
  private static let descriptorsMin = 16

  static let configuration = CommandConfiguration(
    commandName: "runnel",
    abstract: "A terminal workspace for realtime collections.",
    usage: """
      runnel [<file>] [--database <file>] [--views <file>] [--view <name>] ...
      runnel <subcommand> ...
      """,
    discussion: """
      Without a command, the workspace opens in the terminal. The commands read and write the same \
      database without it; what they print is JSON.

      Examples:
        runnel tickets.json
        runnel import chat.json
        runnel get /messages --order-by created --limit-to-last 3 --pretty
        runnel watch /messages
      """,
    version: version,
    subcommands: [
      OpenCommand.self, DemoCommand.self, GetCommand.self, SetCommand.self, PushCommand.self,
      UpdateCommand.self, RemoveCommand.self, PerformCommand.self, CopyCommand.self,
      MoveCommand.self,
      HistoryCommand.self, UndoCommand.self, WatchCommand.self, ImportCommand.self,
      ExportCommand.self, DiffCommand.self, IndexCommand.self, DoctorCommand.self,
      CompactCommand.self, BackupCommand.self, RestoreCommand.self, RulesCommand.self,
      ServeCommand.self, StoreCommand.self, AccountsCommand.self, SyncCommand.self,
      LoginCommand.self, LogoutCommand.self, WhoAmICommand.self, AccountCommand.self,
      ServiceCommand.self, ConfigCommand.self,
      ScreenshotCommand.self,
      GenerateDemoCommand.self, GenerateManualCommand.self,
    ],
    defaultSubcommand: OpenCommand.self)

  static func main() {
    StandardDescriptors.fillClosed()
    // A reader that went away causes an error, not the end of the process.
    signal(SIGPIPE, SIG_IGN)
    // So does a file that must not grow.
    signal(SIGXFSZ, SIG_IGN)
    do {
      var command = try parse()
      if let shortage = OpenFiles.shortage(of: descriptorsMin) {
        throw Failure("The program cannot work: \(OpenFiles.words(shortage))")
      }
      try command.run()
    } catch {
      end(with: error)
    }
  }

  /// Parses the command, and checks that its arguments are UTF-8 and not empty.
  private static func parse() throws -> any ParsableCommand {
    let given = GivenArguments.current
    try given.checkNoneIsEmpty()
    let command: any ParsableCommand
    do {
      let words = HelpWords.reordered(given.texts)
      command = try NamedCommand.root(for: words.first).parseAsRoot(words)
    } catch {
      try given.checkTexts()
      throw error
    }
    try given.checkTexts(except: (command as? any FileNaming)?.fileNames ?? [])
    return command
  }

  /// Reports an error and ends the process.
  private static func end(with error: any Error) -> Never {
    switch error {
    case let failure as Failure: end(failure.status, saying: failure.message)
    case let stopped as Interruption.Stopped: end(.interrupted(by: stopped.signal))
    // A reader of the output that has gone away has read enough.
    case is StandardOutput.Closed: end(.success)
    case let error as DatabaseError:
      end(error.code == .locked ? .retryable : .failure, saying: error.told)
    case is TreeError: end(.failure, saying: "\(error)")
    case let error as NetworkError: end(.retryable, saying: error.message)
    case let error as PostgresError:
      end(error.isPermanent ? .failure : .retryable, saying: error.told)
    case is ConfigurationError: end(.usage, saying: "\(error)")
    default: endParsing(with: error)
    }
  }

  private static func end(_ status: ExitStatus, saying message: String? = nil) -> Never {
    if let message { StandardError.say(message) }
    Glibc.exit(status.rawValue)
  }

  /// Ends the process after an error of the parser: a request for help, or a mistake.
  private static func endParsing(with error: any Error) -> Never {
    let text = fullMessage(for: error)
    switch exitCode(for: error) {
    case .success:
      do {
        try StandardOutput.say(text + "\n")
        end(.success)
      } catch {
        end(with: error)
      }
    case .validationFailure:
      let prefix = "Error: "
      let message = text.hasPrefix(prefix) ? String(text.dropFirst(prefix.count)) : text
      end(.usage, saying: unknownCommand(for: message) ?? message + advice(for: message))
    case let code:
      end(ExitStatus(rawValue: code.rawValue), saying: text.isEmpty ? nil : "\(error)")
    }
  }

  /// The message for a first word that is no command and nothing to open, with more words behind it;
  /// nil for any other mistake.
  ///
  /// The parser takes all of them for arguments of `open`.
  private static func unknownCommand(for message: String) -> String? {
    guard message.contains("nexpected argument"),
      let word = GivenArguments.current.texts.first,
      !word.hasPrefix("-"), !word.contains("/"), !word.contains("."), access(word, F_OK) != 0,
      !OriginChoice.names.contains(word),
      !configuration.subcommands.contains(where: { $0._commandName == word })
    else { return nil }
    let sentence = CommandAdvice(for: word)?.sentence ?? "`runnel help` lists the commands."
    return "\(FileName.shown(Array(word.utf8))) is no command. \(sentence)"
  }

  /// Advice if a database file stands where none is expected; nil otherwise.
  private static func adviceOnFile(for message: String) -> String? {
    let words = GivenArguments.current.texts
    guard message.contains("nexpected argument") || message.contains(" is invalid for '<"),
      let command = words.first,
      takesDatabase(words),
      !words.contains(where: { $0 == "-d" || $0.hasPrefix("--database") })
    else { return nil }
    let file = words.dropFirst().first { word in
      message.contains("'\(word)'") && !word.hasPrefix("-")
        && (word.hasSuffix(".db") || access(word, F_OK) == 0)
    }
    guard let file else { return nil }
    if command == DiffCommand._commandName { return adviceOnCompared(file, words) }
    let others = words.filter { $0 != file } + ["-d", file]
    let line = others.map { ShellText.quoted(FileName.shown(Array($0.utf8))) }
    return "\nThe database is named with -d: runnel \(line.joined(separator: " "))"
  }

  /// True if the command that some words begin with has the option of the database.
  private static func takesDatabase(_ words: [String]) -> Bool {
    guard var command = configuration.subcommands.first(where: { $0._commandName == words.first })
    else { return false }
    let below = words.dropFirst().first
    if let found = command.configuration.subcommands.first(where: { $0._commandName == below }) {
      command = found
    }
    return command.helpMessage().contains("--database")
  }

  /// Advice if a file stands where `diff` expects a place; nil if nothing stands beside it.
  private static func adviceOnCompared(_ file: String, _ words: [String]) -> String? {
    let others = words.filter { $0 != file }
    guard let beside = others.dropFirst().first(where: { !$0.hasPrefix("-") }),
      !words.contains(where: { $0.hasPrefix("--with") })
    else { return nil }
    let isFile = beside.hasSuffix(".db") || access(beside, F_OK) == 0 && !beside.hasPrefix("/")
    let rest = others.dropFirst().filter { !isFile || $0 != beside }
    let line =
      isFile
      ? [others[0], "/", "-d", file, "--with", beside] + rest
      : [others[0]] + rest + ["--with", file]
    let shown = line.map { ShellText.quoted(FileName.shown(Array($0.utf8))) }
    return "\nA file to compare with is named with --with: runnel \(shown.joined(separator: " "))"
  }

  /// Advice if `export` was given a file to write to; nil otherwise.
  private static func adviceOnOutput(for message: String) -> String? {
    let words = GivenArguments.current.texts
    guard words.first == "export", message.contains("nexpected argument"),
      let file = words.dropFirst().last(where: { message.contains("'\($0)'") && !$0.hasPrefix("-") }
      )
    else { return nil }
    let others = words.filter { $0 != file }.map {
      ShellText.quoted(FileName.shown(Array($0.utf8)))
    }
    let shown = ShellText.quoted(FileName.shown(Array(file.utf8)))
    return "\nIt writes to standard output: runnel \(others.joined(separator: " ")) > \(shown)"
  }

  /// Additional advice if a negative number was given where options are expected, or if options
  /// stand before the command.
  private static func advice(for message: String) -> String {
    // A command behind an option is taken for an argument of `open`.
    let hasWordTooMany = ["nexpected argument", "exclude each other"].contains(
      where: message.contains)
    if hasWordTooMany, let advice = adviceOnOrder { return advice }
    let word = GivenArguments.current.texts.first
    if let advice = CommandAdvice(for: word), let word, access(word, F_OK) != 0,
      !OriginChoice.names.contains(word)
    {
      return "\n\(FileName.shown(Array(word.utf8))) is no command. \(advice.sentence)"
    }
    if let advice = adviceOnFile(for: message) ?? adviceOnOutput(for: message) { return advice }
    let start = "Unknown option '-"
    guard message.hasPrefix(start), message.dropFirst(start.count).first?.isNumber == true else {
      return ""
    }
    return "\nA negative number stands after two dashes: runnel set /place -- -5"
  }

  /// Advice if the command line begins with options and names a command behind them; nil otherwise.
  private static var adviceOnOrder: String? {
    let arguments = GivenArguments.current.texts
    guard arguments.first?.hasPrefix("-") == true else { return nil }
    let names = Set(configuration.subcommands.compactMap { $0._commandName })
    guard let name = arguments.first(where: names.contains) else { return nil }
    return "\nThe command comes first, and its options behind it: runnel \(name) ... "
      + (arguments.first ?? "")
  }
}
