import Foundation
import Testing

/// Pipes, folders and devices where a file is expected: each is refused at once.
@Suite struct FileKindTests {
  /// The command lines that name a file, which `FILE` stands for.
  private static let commands = [
    "get -d FILE", "set /a 1 -d FILE", "set /a 1 -d FILE --create", "doctor -d FILE",
    "compact -d FILE", "watch /a -d FILE", "demo --plain -d FILE", "open --plain -d FILE",
    "open --plain --views FILE -d DB", "open --plain --resources FILE -d DB",
    "doctor --resources FILE -d DB", "open --plain --replay FILE", "config check FILE",
    "diff / --with FILE -d DB", "rules check FILE", "rules test FILE",
    "import FILE -d DB --merge",
  ]

  private func expectRefusal(_ kind: String, of file: String) throws {
    let database = try TestDatabase(#"{"a": {"b": {"c": 1}}}"#)
    for command in Self.commands {
      let words = command.split(separator: " ").map {
        $0 == "FILE" ? file : $0 == "DB" ? database.file : String($0)
      }
      let outcome = try Program.run(words)
      #expect(outcome.status > 0, "\(command)")
      let errors = outcome.errors + outcome.output
      #expect(errors.contains(file) && errors.contains(kind), "\(command): \(errors)")
    }
    #expect(try database.get() == #"{"a":{"b":{"c":1}}}"#)
  }

  @Test func namedPipesAreRefused() throws {
    let folder = try TemporaryFolder()
    try check(mkfifo(folder.file("pipe"), 0o600), "mkfifo")
    try expectRefusal("is a pipe", of: folder.file("pipe"))
  }

  @Test func foldersAreRefused() throws {
    let folder = try TemporaryFolder()
    try expectRefusal("is a folder", of: folder.path)
  }

  @Test(arguments: ["/dev/null", "/dev/zero", "/dev/urandom"])
  func devicesAreRefused(device: String) throws {
    try expectRefusal("is a device", of: device)
  }

  @Test(arguments: ["/dev/zero", "/dev/urandom"])
  func inputWithoutAnEndIsRefusedAtItsFirstBytes(device: String) throws {
    let database = try TestDatabase(#"{"a": 1}"#)
    for command in [["import", "-", "--merge"], ["set", "/b"], ["push", "/c"]] {
      let input = try File(closingOnExec: check(open(device, O_RDONLY), "open"))
      let program = try database.start(command, .init(input: .file(input)))
      #expect(try program.wait() == 1)
      #expect(try program.errors().contains("JSON"))
    }
  }

  @Test func aPipeThatIsWrittenIsRead() throws {
    let database = try TestDatabase(#"{"a": 1}"#)
    let line = #"echo '{"b":2}' | "$0" import /dev/stdin --merge -d "$1""#
    let outcome = try Program.run(
      ["-c", line, Program.path(), database.file], program: "/bin/sh")
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(try database.get() == #"{"a":1,"b":2}"#)
  }
}
