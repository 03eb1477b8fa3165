import ArgumentParser
import Glibc
import RunnelBase
import RunnelDatabase
import RunnelWorkspace

/// The place that the argument of `runnel open` names.
enum OpenedPlace {
  case origin(OriginChoice)
  /// A database file, which may not exist yet.
  case database(String)
  /// A file with data, which is opened as a database made of it.
  case data(DataDocument)

  /// The bytes at the beginning of a file that tell what it is.
  private static let beginningBytes = 16

  /// Finds out what the argument means: an address, the name of a profile, or else a file.
  ///
  /// - Parameters:
  ///   - argument: the argument.
  ///   - origin: the options for access to a server's database.
  ///   - creates: whether a database that does not exist is to be made.
  /// - Throws: `Failure` of usage if it names no file that can be opened, or both a file and a profile;
  ///   `ConfigurationError` for a profile with a mistake.
  init(_ argument: String, _ origin: OriginArguments, creates: Bool) throws {
    if let choice = try OriginChoice(argument, origin) {
      self = .origin(choice)
      return
    }
    let format = ImportPlan.format(ofFile: argument)
    switch try OpenedPlace.beginning(of: argument) {
    case nil where creates && format == nil:
      self = .database(try DatabaseOptions.fileName(argument))
    case nil: throw OpenedPlace.unknown(argument, isData: format != nil)
    case []? where format != nil: throw OpenedPlace.empty(argument)
    case DatabaseOptions.mark?, []?:
      self = .database(try DatabaseOptions.fileName(argument))
    case _?:
      guard let format else {
        throw Failure(
          "\(FileName.shown(Array(argument.utf8))) is no database, and its name does not tell what "
            + "is in it: files that end in .json, .jsonl or .csv are opened as lists.",
          status: .usage)
      }
      self = .data(DataDocument(file: argument, format: format))
    }
  }

  /// The first bytes of a file; nil if there is no file.
  private static func beginning(of file: String) throws -> [UInt8]? {
    let shown = FileName.shown(Array(file.utf8))
    // A named pipe without a writer must not block.
    let descriptor = Glibc.open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    if descriptor < 0 {
      if errno == ENOENT || errno == ENOTDIR { return nil }
      throw Failure.system("\(shown) cannot be read")
    }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw Failure.system("\(shown) cannot be read") }
    if status.st_mode & S_IFMT == S_IFDIR {
      throw Failure("\(shown) is a folder: name a file in it.", status: .usage)
    }
    if let other = FileKind.words(status.st_mode & S_IFMT) {
      throw Failure("\(shown) is \(other): name a file.", status: .usage)
    }
    var bytes = [UInt8](repeating: 0, count: beginningBytes)
    let count = read(descriptor, &bytes, bytes.count)
    if count < 0 { throw Failure.system("\(shown) cannot be read") }
    return Array(bytes.prefix(count))
  }

  /// The failure for a file of data without data.
  private static func empty(_ argument: String) -> Failure {
    let shown = FileName.shown(Array(argument.utf8))
    return Failure(
      "\(shown) is empty: there is no record in it to open. Write some into it first; `runnel NAME.db "
        + "--create` makes a database.", status: .usage)
  }

  /// The failure for an argument that names no file.
  private static func unknown(_ argument: String, isData: Bool) -> Failure {
    let shown = FileName.shown(Array(argument.utf8))
    let question = DatabaseOptions.question(for: argument)
    let database = DataDocument.database(of: argument)
    if isData, access(database, R_OK) == 0 {
      let quoted = ShellText.quoted(database)
      return Failure(
        "\(shown) does not exist any more. What was read of it, and written since, is in "
          + "\(FileName.shown(Array(database.utf8))): `runnel \(quoted)` opens that, and `:export` or `runnel "
          + "export -d \(quoted)` writes a file of it again.", status: .usage)
    }
    if isData {
      return Failure(
        "\(shown) does not exist\(question): name a file that is there.", status: .usage)
    }
    if argument.contains(where: { $0 == "/" || $0 == "." }) {
      return Failure(
        "\(shown) does not exist\(question): --create makes a database of this name.",
        status: .usage)
    }
    if let advice = CommandAdvice(for: argument) {
      return Failure("\(shown) is no command and no file. \(advice.sentence)", status: .usage)
    }
    return Failure(
      "\(shown) is no command and no file\(question). `runnel help` lists the commands; `runnel FILE` "
        + "opens a database, or a .json, .jsonl or .csv file.", status: .usage)
  }
}

/// Advice for a word in the place of a command.
struct CommandAdvice {
  /// The command that was probably meant.
  let name: String

  /// The commands that are shown to users.
  private static var names: [String] {
    MainCommand.configuration.subcommands.compactMap { command in
      command.configuration.shouldDisplay ? command._commandName : nil
    }
  }

  /// What else is to be said of the word; empty for most.
  private let note: String

  /// The commands for words of other programs.
  private static let meanings: [String: String] = [
    "delete": "remove", "del": "remove", "rm": "remove", "drop": "remove", "clear": "remove",
    "ls": "get", "list": "get", "cat": "get", "show": "get", "print": "get", "read": "get",
    "find": "get", "query": "get", "select": "get", "dump": "export", "save": "export",
    "mv": "move", "rename": "move", "cp": "copy", "add": "push", "insert": "push", "append": "push",
    "put": "set", "write": "set", "patch": "update", "edit": "update", "load": "import",
    "log": "history", "changes": "history", "revert": "undo", "redo": "undo", "tail": "watch",
    "listen": "watch", "follow": "watch", "check": "doctor", "fsck": "doctor", "verify": "doctor",
    "repair": "doctor", "vacuum": "compact", "shrink": "compact", "server": "serve",
    "start": "serve",
  ]
  private static let notes = [
    "redo": " It undoes an undoing too, by the number that `runnel history` shows."
  ]

  /// Finds the command that a word stands for, or is nearest to; nil if the word is a command, an option,
  /// or like none.
  init?(for word: String?) {
    let names = CommandAdvice.names
    guard let word, !word.hasPrefix("-"), !names.contains(word) else { return nil }
    let meant = CommandAdvice.meanings[word.lowercased()]
    guard let name = meant ?? Spelling.nearest(to: word, among: names) else { return nil }
    self.name = name
    note = CommandAdvice.notes[word.lowercased()] ?? ""
  }

  var sentence: String { "Did you mean `runnel \(name)`?\(note)" }
}
