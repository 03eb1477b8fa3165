import ArgumentParser
import Glibc
import RunnelApp
import RunnelBase
import RunnelDatabase
import RunnelSync
import RunnelTree

/// The database that a command works on, and how it is opened.
struct DatabaseOptions: ParsableArguments {
  @Option(
    name: [.short, .long],
    help: ArgumentHelp(
      "The database file (default: $XDG_DATA_HOME/runnel/default.db), or a server's database: "
        + "https://HOST/?ns=NAME, or the name of a profile.", valueName: "file"),
    completion: DatabaseCompletion.all,
    transform: DatabaseOptions.fileName)
  var database: String?
  @OptionGroup var origin: OriginArguments

  init() {}

  /// Makes the options of a command that has no option for the database.
  init(database: String?, _ origin: OriginArguments) {
    self.init()
    self.database = database
    self.origin = origin
  }

  func validate() throws { try database.map(DatabaseOptions.check) }

  /// Checks that a text that is meant as the address of a server's database is one.
  ///
  /// - Throws: `ValidationError` that does not repeat the text.
  static func check(_ text: String) throws {
    guard OriginAddress.isMeant(by: text) else { return }
    do throws(TreeError) {
      _ = try OriginAddress(text)
    } catch {
      throw ValidationError(error.message)
    }
  }

  /// The option as it was given, for advice; empty for the default database.
  var words: String { database.map { " -d \($0)" } ?? "" }

  /// The first bytes of every database file.
  static let mark = Array("SQLite format 3\u{0}".utf8)

  /// The purpose for which the file is opened.
  enum Access {
    /// For reading: an absent file is an error, and nothing is created.
    case read
    /// For writing: the file must exist.
    case change
    /// For writing: an absent file is created.
    case create
    /// For writing: an absent file is created if it is the default one, which the user did not
    /// name.
    case createDefault
  }

  /// Opens the database, runs `body` on it, and closes it.
  ///
  /// The history names the author; nil stands for the user's name.
  ///
  /// - Throws: `Failure` or `DatabaseError` if it cannot be opened or closed, and what `body` throws.
  func open<Result>(
    for access: Access, author: String? = nil, _ body: (DatabaseSession) throws -> Result
  ) throws -> Result {
    var environment = DatabaseEnvironment.system
    environment.author = author ?? DatabaseEnvironment.userName
    let file = try file(for: access)
    return try NewDatabase.removingUnused(file) {
      let session = try DatabaseSession(
        file: file, isReadOnly: access == .read, environment: environment)
      let result: Result
      do {
        result = try body(session)
      } catch {
        // The first error is the one that the user must know.
        try? session.close()
        throw error
      }
      try session.close()
      return result
    }
  }

  /// Returns the server's database that is named instead of a file, or nil for a file.
  ///
  /// - Throws: `Failure` or `ConfigurationError` if the name is not clear.
  func originChoice() throws -> OriginChoice? {
    try database.flatMap { try OriginChoice($0, origin) }
  }

  /// Returns the server's database that is named instead of a file, for requests; nil for a file.
  ///
  /// - Throws: `Failure` if the credentials cannot be read, or if `access` is for writing and the
  ///   profile is read-only.
  func remote(for access: Access) throws -> RemoteDatabase? {
    guard let choice = try originChoice() else { return nil }
    if access != .read { try choice.requireWriting() }
    return try RemoteDatabase(choice, isForChange: access != .read)
  }

  /// The path of the file, after a check that it can be opened.
  ///
  /// The folder of the default file is created if a database may be created in it. `mayBeEmpty` is true
  /// if a file without bytes is no mistake, and `maker` what else makes a file that is not there.
  ///
  /// - Throws: `Failure` if there is no such file or folder, with the usage status if an option
  ///   would make it.
  func file(
    for access: Access, mayBeEmpty: Bool = false, maker: String? = nil
  ) throws -> String {
    if let origin = try originChoice() {
      let use =
        origin.address.hasServices
        ? "a Feathers server: `runnel service` calls its services, and `runnel open` shows them."
        : "a server's database: use get, set, push, update, remove, copy, diff, watch, import, export, sync or "
          + "open."
      throw Failure("This command works on files only. \(origin.name) is \(use)", status: .usage)
    }
    let makesDefault = access == .create || access == .createDefault
    let file = try database ?? DefaultDatabase.file(makesFolder: makesDefault)
    if access == .create || (database == nil && makesDefault) { return file }
    if Glibc.access(file, F_OK) == 0 {
      if !mayBeEmpty, DatabaseOptions.isEmpty(file) {
        throw DatabaseOptions.isEmptied(file, access)
      }
      return file
    }
    if errno != ENOENT { throw Failure.system("\(file) cannot be opened") }
    if access == .createDefault { throw DatabaseOptions.needsCreation(of: file) }
    let advice =
      database == nil
      ? "make it with `runnel import FILE`, or name another one with --database."
      : maker ?? "make it with `runnel import FILE --create`, or name another one."
    let start = "\(file) does not exist\(DatabaseOptions.question(for: file))"
    if database != nil, let profiles = OriginChoice.profiles(without: file) {
      throw Failure("\(start), and \(profiles). A file: \(advice)")
    }
    throw Failure("\(start): \(advice)")
  }

  /// True if a file has no bytes: it is new, or everything in it was lost.
  private static func isEmpty(_ file: String) -> Bool {
    var status = stat()
    return stat(file, &status) == 0 && status.st_mode & S_IFMT == S_IFREG && status.st_size == 0
  }

  /// Returns the failure for a file without bytes, which may have held data.
  private static func isEmptied(_ file: String, _ access: Access) -> Failure {
    if !isEmpty(file + "-wal"), Glibc.access(file + "-wal", F_OK) == 0 {
      return Failure(
        "\(file) is empty, but its log is not: \(file)-wal holds what was written last. Keep both. If "
          + "you have a copy of the file from before, put it back; `runnel doctor --salvage NEW -d "
          + "\(file)` makes a new database of what the log holds.")
    }
    let words = "\(file) is empty: it has no bytes, so there is no database in it. "
    let advice = "If it held data, restore it from a backup, a copy or an export; "
    if access == .createDefault {
      return Failure(
        words + advice + "if it is new, --create makes a database in it.", status: .usage)
    }
    return Failure(
      words + advice + "if it is new, `runnel import FILE --create` makes a database in it.")
  }

  /// Returns the failure for a file that would have been created, whose name may be mistyped.
  static func needsCreation(of file: String) -> Failure {
    Failure(
      "\(file) does not exist\(question(for: file)): --create makes it.", status: .usage)
  }

  /// The question whether another file or a profile was meant; empty if no name is near.
  static func question(for file: String) -> String {
    let near = NearFile(to: file).question
    return near.isEmpty ? OriginChoice.question(for: file) : near
  }

  /// Returns the name of a database's file, or the address of a server; throws for a text that can
  /// be neither.
  static func fileName(_ text: String) throws -> String {
    if text.isEmpty { throw ValidationError("name a file.") }
    // An address may hold a secret, which the error of a transform would print.
    if OriginAddress.isMeant(by: text) { return text }
    if text.hasSuffix("/") { throw ValidationError("\(text) names a folder: name a file.") }
    return text
  }
}

/// The option that lets a command create the database that it writes.
struct CreationOptions: ParsableArguments {
  /// The sentence about the option in the discussion of a command.
  static let help = "A database that --database names must exist, or be made with --create."

  @Flag(help: "Make the database if it does not exist; the default one is made in any case.")
  var create = false

  /// The purpose for which the command opens the file.
  var access: DatabaseOptions.Access { create ? .create : .createDefault }
}

/// The file with a name similar to one that does not exist, in the same folder.
struct NearFile {
  /// The most names of a folder that are compared.
  private static let namesMax = 10_000
  /// The suffixes of files that belong to a database and are not databases.
  private static let besides = [
    "-wal", "-shm", "-notify", "-link", "-link-state", "-journal", "-refused",
  ]

  private let name: String?

  init(to file: String) {
    let start = file.lastIndex(of: "/").map { file.index(after: $0) } ?? file.startIndex
    let folder = start == file.startIndex ? "." : String(file[..<start])
    name = Spelling.nearest(to: String(file[start...]), among: NearFile.names(in: folder))
  }

  /// The question whether that file was meant; empty if there is no such file.
  var question: String {
    name.map { " (did you mean \(ControlCharacters.escapedLine($0))?)" } ?? ""
  }

  private static func names(in folder: String) -> [String] {
    guard let directory = opendir(folder) else { return [] }
    defer { closedir(directory) }
    var names: [String] = []
    while names.count < namesMax, let entry = readdir(directory) {
      let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
        String(validating: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      if let name, !besides.contains(where: name.hasSuffix) { names.append(name) }
    }
    return names.sorted()
  }
}

/// The default database, for commands that name none.
enum DefaultDatabase {
  /// The path of a file in the user's data folder, which is made on request.
  ///
  /// Source: XDG Base Directory Specification.
  static func file(named name: String = "default.db", makesFolder: Bool) throws -> String {
    let folder = try dataFolder() + "/runnel"
    if makesFolder { try makeFolders(folder) }
    return folder + "/" + name
  }

  private static func dataFolder() throws -> String {
    // The specification says that a relative path is ignored.
    if let folder = variable("XDG_DATA_HOME"), folder.hasPrefix("/") { return folder }
    guard let home = variable("HOME") else {
      throw Failure("HOME is not set, so there is no default database: name one with --database.")
    }
    return home + "/.local/share"
  }

  private static func variable(_ name: String) -> String? {
    guard let value = getenv(name).map({ String(cString: $0) }), !value.isEmpty else { return nil }
    return value
  }

  /// Creates a folder and those above it; only the user may open the new ones.
  private static func makeFolders(_ folder: String) throws {
    if access(folder, F_OK) == 0 { return }
    if let slash = folder.lastIndex(of: "/"), slash > folder.startIndex {
      try makeFolders(String(folder[..<slash]))
    }
    if mkdir(folder, 0o700) != 0, errno != EEXIST {
      throw Failure.system("\(folder) cannot be made")
    }
  }
}
