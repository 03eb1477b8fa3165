import Glibc
import Testing

/// Limits of the system that are reached: they are told as what they are.
@Suite struct ProcessLimitTests {
  /// Runs the program by a line of the shell, in which `$0` is the program and `$1` the database.
  private func shell(_ line: String, in database: TestDatabase) throws -> Program.Outcome {
    try Program.run(["-c", line, Program.path(), database.file], program: "/bin/sh")
  }

  @Test(arguments: 5..<18)
  func fewDescriptorsAreToldOrAreEnough(count: Int) throws {
    let database = try TestDatabase(#"{"a": 1}"#)
    for command in ["get /a", "set /b 2", "import - --merge", "watch /a"] {
      let outcome = try shell(
        #"echo '{"c":3}' | (ulimit -n \#(count); exec "$0" \#(command) -d "$1")"#, in: database)
      #expect(outcome.status == 1)
      #expect(
        outcome.errors.contains("too many open files (limit \(count)). Raise the limit")
          || outcome.errors.contains("loading shared libraries"), "\(outcome.errors)")
    }
    #expect(try database.get() == #"{"a":1}"#)
  }

  @Test(arguments: [1, 8, 64])
  func fileSizeLimitIsTold(blocks: Int) throws {
    let database = try TestDatabase()
    let made = try shell(#"ulimit -f \#(blocks); "$0" set /a 1 -d "$1" --create"#, in: database)
    #expect(made.status == 1)
    #expect(made.errors.contains("file size limit"), "\(made.errors)")
    #expect(try database.folder.names() == [])
    let other = try TestDatabase(#"{"a": 1}"#)
    let changed = try shell(#"ulimit -f 1; "$0" set /a 2 -d "$1""#, in: other)
    #expect(changed.status == 1)
    #expect(changed.errors.contains("file size limit"), "\(changed.errors)")
    #expect(try other.get() == #"{"a":1}"#)
  }

  /// Reading takes no stack for each level.
  @Test(arguments: [("[", "]"), ("{\"a\":", "}")])
  func deepValueIsRefusedOnASmallStackToo(open: String, close: String) throws {
    let database = try TestDatabase(#"{"a": 1}"#)
    for (depth, stack) in [(500, 1_024), (5_000, 192)] {
      let text =
        String(repeating: open, count: depth) + "1" + String(repeating: close, count: depth)
      let file = try database.folder.write(text, to: "deep.json")
      for command in ["set /b -", "import - --merge", "push /b -"] {
        let outcome = try shell(
          #"ulimit -s \#(stack); exec "$0" \#(command) -d "$1" < '\#(file)'"#, in: database)
        #expect([1, 2].contains(outcome.status), "\(command) \(depth): \(outcome)")
        #expect(outcome.errors.contains("deep") || outcome.errors.contains("levels"))
      }
    }
    #expect(try database.get() == #"{"a":1}"#)
  }

  @Test func fileSizeLimitOfTheOutputIsTold() throws {
    let database = try TestDatabase(#"{"a": "\#(String(repeating: "x", count: 9_000))"}"#)
    let output = database.folder.file("out")
    let outcome = try shell(
      #"ulimit -f 1; "$0" export -d "$1" > '\#(output)'"#, in: database)
    #expect(outcome.status == 1)
    #expect(outcome.errors.contains("file size limit"), "\(outcome.errors)")
  }
}
