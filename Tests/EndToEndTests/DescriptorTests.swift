import Glibc
import Testing

/// Standard descriptors that are closed or full, and signals while the program starts.
@Suite struct DescriptorTests {
  /// Runs the program by a line of the shell, in which `$0` is the program and `$1` the database.
  private func shell(_ line: String, in database: TestDatabase) throws -> Program.Outcome {
    try Program.run(["-c", line, Program.path(), database.file], program: "/bin/sh")
  }

  @Test(arguments: [
    "import - --replace", "push /list --lines", "push /list", "set /a", "update /a",
  ])
  func closedInputIsAnError(command: String) throws {
    let database = try TestDatabase(#"{"a": {"b": 1}}"#)
    let outcome = try shell(#"exec "$0" \#(command) -d "$1" <&-"#, in: database)
    #expect(outcome.status == 1)
    #expect(outcome.errors.contains("Standard input is closed"), "\(outcome.errors)")
    #expect(try database.get("/") == #"{"a":{"b":1}}"#)
  }

  @Test func closedOutputIsAnError() throws {
    let database = try TestDatabase(#"{"a": 1}"#)
    let outcome = try shell(#"exec "$0" get / -d "$1" >&-"#, in: database)
    #expect(outcome.status == 1)
    #expect(outcome.errors.contains("Standard output is closed"), "\(outcome.errors)")
  }

  @Test func databaseTakesNoPlaceOfAClosedDescriptor() throws {
    let database = try TestDatabase(#"{"a": 1}"#)
    let outcome = try shell(#"exec "$0" set /b 2 -d "$1" <&- >&- 2>&-"#, in: database)
    #expect(outcome.status == 0)
    #expect(try database.get("/") == #"{"a":1,"b":2}"#)
  }

  @Test func pushThatCannotPrintSaysWhatItAdded() throws {
    let database = try TestDatabase()
    let line = #"exec "$0" push /list '"x"' --create -d "$1" >/dev/full"#
    let outcome = try shell(line, in: database)
    #expect(outcome.status == 1)
    let keys = try database.get("/list", "--shallow")
    let key = try #require(keys.split(separator: "\"").dropFirst().first)
    #expect(outcome.errors.contains("The value was added"), "\(outcome.errors)")
    #expect(outcome.errors.contains("\"\(key)\""), "\(outcome.errors)")
  }

  @Test func pushOfLinesThatCannotPrintSaysWhatItAdded() throws {
    let database = try TestDatabase()
    let line = #"printf '1\n2\n' | "$0" push /list --lines --create -d "$1" >/dev/full"#
    let outcome = try shell(line, in: database)
    #expect(outcome.status == 1)
    #expect(outcome.errors.contains("Line 1 was added"), "\(outcome.errors)")
    let keys = try database.get("/list", "--shallow").split(separator: "\"")
    #expect(keys.count == 3, "one key between braces")
    #expect(outcome.errors.contains("\"\(keys[1])\""), "\(outcome.errors)")
  }
}
