/// The Unix socket for the requests of a server's owner.
public enum AdminSocket {
  /// A place at which a server of a database file may answer.
  public struct Place: Hashable, Sendable {
    /// The path of the socket.
    public var path: String
    /// The name of the database if the server has several; otherwise nil.
    public var database: String?
  }

  /// Returns the socket of a server: `chat.admin.sock` beside `chat.db`, or `admin.sock` in a
  /// folder; nil for a store, which is in no folder.
  static func path(of databases: ServerConfiguration.Databases) -> String? {
    switch databases {
    case .file(let file, _): path(ofFile: file)
    case .folder(let folder): path(ofFolder: folder)
    case .store: nil
    }
  }

  private static func path(ofFile file: String) -> String {
    DatabaseNames.stem(of: file) + ".admin.sock"
  }

  private static func path(ofFolder folder: String) -> String {
    (folder.hasSuffix("/") ? folder : folder + "/") + "admin.sock"
  }

  /// Returns the places of possible servers of a file: of the file alone, and of its folder.
  public static func places(of file: String) -> [Place] {
    let alone = Place(path: path(ofFile: file), database: nil)
    let slash = file.lastIndex(of: "/")
    let last = slash.map { String(file[file.index(after: $0)...]) } ?? file
    let name = DatabaseNames.stem(of: last)
    guard last.hasSuffix(DatabaseNames.suffix), DatabaseNames.isValid(name) else { return [alone] }
    let folder = slash.map { String(file[...$0]) } ?? "./"
    return [alone, Place(path: path(ofFolder: folder), database: name)]
  }
}
