import ArgumentParser
import Glibc
import RunnelSync
import RunnelTree

/// A place in a tree, and maybe the name of its database: `/users`, `prod:/users`, `chat.db:/users`, or an
/// address whose path is the place.
struct DataPlace {
  static let root = DataPlace(.root, in: nil)

  var path: Path
  /// The database, as the value of `--database` would name it; nil for the database of `--database`.
  var database: String?
  /// Whether it was given without a slash at its start, as the name of a profile is.
  private(set) var isBare = false
  /// True if the argument is an address, whose path is the place.
  private(set) var isOfAddress = false

  init(_ path: Path, in database: String?) { (self.path, self.database) = (path, database) }

  /// Reads a place from an argument; `read` reads the path in it.
  ///
  /// - Throws: `ValidationError` that describes the mistake.
  init(_ text: String, _ read: (String) throws -> Path) throws {
    if OriginAddress.isMeant(by: text) {
      self.init(.root, in: try DatabaseOptions.fileName(text))
      isOfAddress = true
    } else if let colon = DataPlace.colon(in: text) {
      let name = try DatabaseOptions.fileName(String(text[..<colon]))
      self.init(try read(String(text[text.index(after: colon)...])), in: name)
    } else {
      self.init(try read(text), in: nil)
      isBare = !text.hasPrefix("/")
    }
  }

  /// Returns the index of the colon behind the name of a database, or nil.
  ///
  /// An argument that begins with a slash is a path, unless a name with a full stop stands before the colon:
  /// no key has a full stop.
  private static func colon(in text: String) -> String.Index? {
    guard let found = text.firstRange(of: ":/")?.lowerBound, found > text.startIndex else {
      return nil
    }
    let name = text[..<found]
    return name.hasPrefix("/") && !name.contains(".") ? nil : found
  }
}

extension PlaceArgument {
  /// The help for an optional place, with which its database may be named.
  static let optionalHelpWithData: ArgumentHelp =
    "The place, such as /users/ana; with its database prod:/users, chat.db:/users, or an address."
  /// The help for a required place, with which its database may be named.
  static let requiredHelpWithData: ArgumentHelp =
    "The place, such as /users/ana, or / for the root; with its database prod:/users or chat.db:/users."

  /// Reads a place, with which its database may be named.
  ///
  /// - Throws: `ValidationError` that describes the mistake.
  static func place(_ text: String) throws -> DataPlace { try DataPlace(text) { try path($0) } }

  /// Reads a place to be written, with which its database may be named.
  ///
  /// - Throws: `ValidationError` that describes the mistake.
  static func placeToWrite(_ text: String) throws -> DataPlace {
    try DataPlace(text) { try target($0) }
  }
}

extension DatabaseOptions {
  /// Returns the options for a place, which may name its database.
  ///
  /// - Throws: `Failure` if `--database` names a database too.
  func of(_ place: DataPlace) throws -> DatabaseOptions {
    if place.database != nil, database != nil {
      // The names are not repeated: an address may hold a secret.
      throw Failure("The place and --database both name a database: give one.", status: .usage)
    }
    if place.isBare, database == nil { try DatabaseOptions.checkIsNoProfile(place.path) }
    return self.for(place)
  }

  /// Throws if a place is the name of a profile, and there is no default database in which it could be.
  private static func checkIsNoProfile(_ path: Path) throws {
    guard let key = path.keys.first?.text else { return }
    let halves = key.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    let name = String(halves[0])
    guard OriginChoice.names.contains(name) else { return }
    let file = try DefaultDatabase.file(makesFolder: false)
    if access(file, F_OK) == 0 { return }
    let keys =
      halves.dropFirst().map(String.init).filter { !$0.isEmpty } + path.keys.dropFirst().map(\.text)
    throw Failure(
      "\(file) does not exist, and \(name) is a profile: \(name):/\(keys.joined(separator: "/")) is the place "
        + "in its database.", status: .usage)
  }

  /// Returns the options for a place.
  ///
  /// A place without the name of a database is in the database of `--database`, or else in that of the
  /// other place.
  func `for`(_ place: DataPlace, beside other: DataPlace? = nil) -> DatabaseOptions {
    var options = self
    options.database = place.database ?? database ?? other?.database
    return options
  }
}
