import Glibc
import Testing

/// A database in a folder that may not be written, as on a medium for reading only.
@Suite(.enabled(if: OtherUser.isPossible, "The program is where others may not look."))
struct ReadOnlyMediumTests {
  private let database: TestDatabase
  private let folder: TemporaryFolder
  private var file: String { folder.file("a b%.db") }

  init() throws {
    database = try TestDatabase(#"{"people": {"ana": {"age": 41}}}"#)
    folder = try TemporaryFolder()
    #expect(rename(database.file, folder.file("a b%.db")) == 0)
    #expect(chmod(folder.file("a b%.db"), 0o444) == 0)
    #expect(chmod(folder.path, 0o555) == 0)
  }

  @Test(arguments: [
    ["get", "/people/ana/age"], ["export", "/people/ana/age"],
    ["--plain", "--readonly", "--view", "people"],
  ])
  func isRead(arguments: [String]) throws {
    let outcome = try runAsUser(arguments)
    #expect(outcome.errors == "")
    #expect(outcome.status == 0)
    #expect(outcome.output.contains("41"))
    #expect(try folder.names() == ["a b%.db"])
  }

  @Test func isNotWritten() throws {
    let outcome = try runAsUser(["set", "/people/ana/age", "42"])
    #expect(outcome.status == 1)
    #expect(outcome.errors.contains("may not be written"))
    #expect(try runAsUser(["get", "/people/ana/age"]).output == "41\n")
  }

  private func runAsUser(_ arguments: [String]) throws -> Program.Outcome {
    try OtherUser.run([Program.path()] + arguments + ["-d", file])
  }
}

/// Somebody whom the rights of files hold back: the user, if that is not root.
private enum OtherUser {
  static var isPossible: Bool {
    guard let program = try? Program.path() else { return false }
    return (try? run(["/usr/bin/test", "-x", program]))?.status == 0
  }

  /// Runs a program by its path.
  static func run(_ words: [String]) throws -> Program.Outcome {
    if getuid() != 0 { return try Program.run(Array(words.dropFirst()), program: words[0]) }
    let nobody = ["--reuid=65534", "--regid=65534", "--clear-groups"]
    return try Program.run(nobody + words, program: "/usr/bin/setpriv")
  }
}
