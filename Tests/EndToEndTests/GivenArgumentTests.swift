import Glibc
import Testing

/// What the shell gives that nobody meant: empty words, and bytes that are no UTF-8.
@Suite struct GivenArgumentTests {
  @Test(arguments: [
    ["set", "", "1"], ["remove", "-f", ""], ["get", ""], ["export", ""], ["watch", ""],
    ["push", "", "1"], ["update", "", "{}"], ["copy", "/a", ""], ["copy", "", "/b"],
    ["move", "", "/b"], ["diff", "", "/b"], ["history", ""], ["import", ""], ["import", "-", ""],
    ["index", "add", "", "x"], ["index", "add", "/a", ""], ["perform", "update", "", "{}"],
    ["get", "--where", ""], ["get", "--where="], ["get", "-d="], ["get", "--order-by", ""],
    ["get", "--order-by="],
    ["get", "--start-at", ""], ["get", "--format", ""], ["watch", "--events", ""],
    ["--views", ""], ["--views="], ["--view", ""], ["--resources", ""], ["--theme", ""],
    ["--filter", ""], ["--log", ""], ["--record", ""], ["--replay", ""], ["screenshot", ""],
    ["screenshot", "-", "--keys", ""], ["screenshot", "-", "--config="], ["config", "check", ""],
    ["config", "roles", "--theme", ""], ["doctor", "--resources", ""], ["undo", ""],
    ["perform", "update", "/a", "{}", "--author", ""], ["set", "--", "", "1"], [""],
  ])
  func emptyWordIsAMistake(arguments: [String]) throws {
    let database = try TestDatabase(#"{"a": {"b": 1}, "c": 2}"#)
    let outcome = try database.run(arguments)
    #expect(outcome.status == 2)
    #expect(outcome.output.isEmpty)
    #expect(outcome.errors.contains("empty"))
    #expect(try database.get() == #"{"a":{"b":1},"c":2}"#)
  }

  /// A compiler of C that makes a library; nil if there is none here.
  private static let compiler: String? = {
    let places: [String] = ["/usr/bin/cc", "/usr/bin/clang", "/usr/bin/gcc"]
    return places.first { access($0, X_OK) == 0 }
  }()

  @Test(.enabled(if: GivenArgumentTests.compiler != nil))
  func aLibraryThatChangesTheEnvironmentBeforeTheProgramBeginsTakesNoWords() throws {
    let database = try TestDatabase(#"{"a": 1}"#)
    let source = try database.folder.write(
      """
      #include <stdlib.h>
      __attribute__((constructor)) static void begin(void) { setenv("RUNNEL_ANOTHER", "1", 1); }
      """, to: "begin.c")
    let library = database.folder.file("begin.so")
    let made = try Program.run(
      ["-shared", "-fPIC", "-o", library, source], program: Self.compiler)
    try #require(made.status == 0, "\(made.errors)")
    let preload = ["LD_PRELOAD": library]
    let outcome = try Program.run(["get", "/a", "-d", database.file], environment: preload)
    #expect(outcome.status == 0 && outcome.output == "1\n", "\(outcome.errors)")
    let mistake = try Program.run(["get", "-d="], environment: preload)
    #expect(mistake.status == 2 && mistake.errors.contains("the value of -d is empty"))
  }

  @Test func emptyPathTellsHowTheRootIsWritten() throws {
    let outcome = try TestDatabase().run(["set", "", "1"])
    #expect(outcome.errors.contains("the word after set is empty"))
    #expect(outcome.errors.contains("The root of the tree is written /"))
  }

  @Test func emptyDatabaseNameIsAMistake() throws {
    for words in [
      ["get", "-d", ""], ["get", "--database="], ["set", "/a", "1", "-d", "", "--create"],
    ] {
      #expect(try Program.run(words).status == 2)
    }
  }

  /// Runs the program through a shell, which can make any bytes: `words` are those of a shell.
  private func shell(_ words: String, in folder: TemporaryFolder) throws -> Program.Outcome {
    try Program.run(
      ["-c", "cd '\(folder.path)' && exec '\(try Program.path())' \(words)"], program: "/bin/sh")
  }

  @Test(arguments: [
    (#"set "$(printf '/k\377')" 1"#, "0xFF", "argument 2"),
    (#"set /a "$(printf '"\200"')""#, "0x80", "argument 3"),
    (#"remove "$(printf '/\303')""#, "0xC3", "argument 2"),
    (#"get --where "$(printf 'a == "\355\240\200"')""#, "0xED", "argument 3"),
    (#"get "--order-by=$(printf 'x\300\257')""#, "0xC0", "argument 2"),
    (#"set /a 1 -d "$(printf 'x\377.db')" --create"#, "0xFF", "argument 5"),
    (#""$(printf '\376')""#, "0xFE", "argument 1"),
    (#"--views "$(printf 'v\377.yaml')""#, "0xFF", "argument 2"),
    (#"import "$(printf 'i\377.json')" "$(printf '/\377')""#, "0xFF", "argument 3"),
  ])
  func bytesThatAreNoUTF8AreRefused(words: String, byte: String, place: String) throws {
    let folder = try TemporaryFolder()
    let outcome = try shell(words, in: folder)
    #expect(outcome.status == 2)
    #expect(outcome.errors.contains(byte))
    #expect(outcome.errors.contains(place))
    #expect(try folder.names().isEmpty)
  }

  @Test func twoKeysStayTwo() throws {
    let database = try TestDatabase(#"{"k\ufffd": 1}"#)
    let outcome = try shell(#"set "$(printf '/k\377')" 2 -d test.db"#, in: database.folder)
    #expect(outcome.status == 2)
    #expect(try database.get() == "{\"k\u{FFFD}\":1}")
  }

  @Test func fileIsReadByTheBytesOfItsName() throws {
    let database = try TestDatabase()
    let words = #"import "$(printf 'i\377.json')" -d test.db --create"#
    let made = #"$(printf '{"a":1}' > "$(printf 'i\377.json')")"#
    let outcome = try shell(words + " " + made, in: database.folder)
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(try database.get() == #"{"a":1}"#)
    let diff = try shell(
      #"diff / --with "$(printf 'i\377.json')" -d test.db"#, in: database.folder)
    #expect(diff.status == 0 && diff.output.isEmpty)
    let none = try shell(#"import "$(printf 'no\376')" -d test.db"#, in: database.folder)
    #expect(none.status == 1)
    #expect(none.errors.contains(#"no\xFE cannot be read"#))
  }
}
