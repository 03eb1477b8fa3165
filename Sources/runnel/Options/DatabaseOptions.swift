import ArgumentParser
import Glibc
import RunnelDatabase

/// Which database a command works on, and how it is opened.
struct DatabaseOptions: ParsableArguments {
  @Option(
    name: [.short, .long],
    help: ArgumentHelp(
      "The database file (default: $XDG_DATA_HOME/runnel/default.db).", valueName: "file"),
    completion: .file(),
    transform: DatabaseOptions.fileName)
  var database: String?

  /// How the file is opened.
  enum Access {
    /// For reading: an absent file is an error and nothing is made.
    case read
    /// For writing: the file must exist.
    case change
    /// For writing: an absent file is made.
    case create
  }

  /// Opens the database, runs `body` on it, and closes it.
  ///
  /// The history names the author; nil for the user's name.
  ///
  /// - Throws: `Failure` or `DatabaseError` if it cannot be opened or closed, and what `body` throws.
  func open<Result>(
    for access: Access, author: String? = nil, _ body: (DatabaseSession) throws -> Result
  ) throws -> Result {
    var environment = DatabaseEnvironment.system
    environment.author = author ?? getenv("USER").map { String(cString: $0) } ?? ""
    let session = try DatabaseSession(
      file: try file(for: access), isReadOnly: access == .read, environment: environment)
    let result: Result
    do {
      result = try body(session)
    } catch {
      // What failed first is what the user must know.
      try? session.close()
      throw error
    }
    try session.close()
    return result
  }

  /// The path of the file, after what stands in the way of opening it was looked for.
  ///
  /// The folder of the default file is made when a database may be made in it.
  ///
  /// - Throws: `Failure` if there is no such file or folder.
  func file(for access: Access) throws -> String {
    let file = try database ?? DefaultDatabase.file(makesFolder: access == .create)
    if access == .create || Glibc.access(file, F_OK) == 0 { return file }
    if errno != ENOENT { throw Failure.system("\(file) cannot be opened") }
    throw Failure(
      "\(file) does not exist: make it with `runnel import` or `runnel set`, or name another file "
        + "with --database.")
  }

  /// The name of a file as SQLite reads it: never the name of a database in memory, or a URL.
  static func fileName(_ text: String) throws -> String {
    if text.isEmpty { throw ValidationError("name a file.") }
    return text.hasPrefix(":") || text.hasPrefix("file:") ? "./" + text : text
  }
}

/// The databases of those who name none.
enum DefaultDatabase {
  /// The path of a file in the user's data folder, which is made if asked for.
  ///
  /// Source: XDG Base Directory Specification.
  static func file(named name: String = "default.db", makesFolder: Bool) throws -> String {
    let folder = try dataFolder() + "/runnel"
    if makesFolder { try makeFolders(folder) }
    return folder + "/" + name
  }

  private static func dataFolder() throws -> String {
    // A relative path is to be ignored.
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

  /// Makes a folder and those above it; only the user may look into those that are made.
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
