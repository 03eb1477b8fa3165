/// The Unix socket at which the owner of a server asks it.
public enum AdminSocket {
  /// Where a server of a database file may be asked.
  public struct Place: Hashable, Sendable {
    /// The path of the socket.
    public var path: String
    /// The name of the database, where the server has several; nil where it has one.
    public var database: String?
  }

  /// The socket of a server: `chat.admin.sock` beside `chat.db`, `admin.sock` in a folder.
  static func path(of databases: ServerConfiguration.Databases) -> String {
    switch databases {
    case .file(let file, _): DatabaseNames.stem(of: file) + ".admin.sock"
    case .folder(let folder): (folder.hasSuffix("/") ? folder : folder + "/") + "admin.sock"
    }
  }

  /// Where servers may be asked that serve a file: alone, or with the others of its folder.
  public static func places(of file: String) -> [Place] {
    let alone = Place(path: path(of: .file(file, name: nil)), database: nil)
    let slash = file.lastIndex(of: "/")
    let last = slash.map { String(file[file.index(after: $0)...]) } ?? file
    let name = DatabaseNames.stem(of: last)
    guard last.hasSuffix(DatabaseNames.suffix), DatabaseNames.isValid(name) else { return [alone] }
    let folder = slash.map { String(file[...$0]) } ?? "./"
    return [alone, Place(path: path(of: .folder(folder)), database: name)]
  }
}
