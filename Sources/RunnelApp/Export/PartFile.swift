import Glibc
import RunnelTerminal

/// The file beside the one of an export that has the rows until all are written.
enum PartFile {
  private static let suffix = ".part"

  /// The name for an export of this process.
  static func path(of file: String) -> String { "\(file).\(getpid())\(suffix)" }

  /// Removes what exports to a file have left whose processes were killed; those that still run are left
  /// alone.
  static func removeLeft(of file: String) {
    let slash = file.lastIndex(of: "/")
    let folder = slash.map { $0 == file.startIndex ? "/" : String(file[..<$0]) } ?? "."
    let name = slash.map { file[file.index(after: $0)...] } ?? file[...]
    if name.isEmpty { return }
    // One that cannot be removed is in nobody's way.
    for path in LeftFile.paths(in: folder, prefix: "\(name).", isEnd: { $0 == suffix }) {
      unlink(path)
    }
  }
}
