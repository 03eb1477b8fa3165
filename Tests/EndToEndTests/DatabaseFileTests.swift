import Glibc
import Testing

@Suite struct DatabaseFileTests {
  @Test func defaultIsInTheDataFolder() throws {
    let folder = try TemporaryFolder()
    let environment = ["XDG_DATA_HOME": folder.file("data")]
    #expect(try Program.run(["set", "/a", "1"], environment: environment).status == 0)
    #expect(access(folder.file("data/runnel/default.db"), F_OK) == 0)
    #expect(try Program.run(["get"], environment: environment).output == "{\"a\":1}\n")
  }

  @Test(arguments: ["", "relative/folder"])
  func dataFolderThatIsNoneGivesWayToHome(dataFolder: String) throws {
    let folder = try TemporaryFolder()
    let environment = ["XDG_DATA_HOME": dataFolder, "HOME": folder.path]
    #expect(try Program.run(["set", "/a", "1"], environment: environment).status == 0)
    #expect(access(folder.file(".local/share/runnel/default.db"), F_OK) == 0)
  }

  @Test func withoutHomeTheDatabaseMustBeNamed() throws {
    let outcome = try Program.run(["get"], environment: ["HOME": ""])
    #expect(outcome.status == 1)
    #expect(outcome.errors.contains("--database"))
  }

  @Test(arguments: [["get"], ["export"], ["watch"], ["remove", "/a"]])
  func absentFileIsNotMadeByReading(arguments: [String]) throws {
    let folder = try TemporaryFolder()
    let environment = ["XDG_DATA_HOME": folder.file("data")]
    let named = try Program.run(arguments + ["-d", folder.file("no.db")])
    let standard = try Program.run(arguments, environment: environment)
    for outcome in [named, standard] {
      #expect(outcome.status == 1)
      #expect(outcome.output.isEmpty)
      #expect(outcome.errors.contains("does not exist"))
    }
    #expect(try folder.names().isEmpty)
  }

  @Test(arguments: [
    ["set", "/a", "1"], ["push", "/a", "1"], ["update", "/a", #"{"b": 1}"#], ["import", "-", "/a"],
  ])
  func absentFileIsMadeByWriting(arguments: [String]) throws {
    let database = try TestDatabase()
    #expect(try database.run(arguments, input: "1").status == 0)
    #expect(try database.get("/a") != "null")
  }

  @Test func absentFolderIsNotMadeForANamedFile() throws {
    let folder = try TemporaryFolder()
    let outcome = try Program.run(["set", "/a", "1", "-d", folder.file("no/test.db"), "--create"])
    #expect(outcome.status == 1)
    #expect(outcome.errors.contains("cannot be opened"))
    #expect(try folder.names().isEmpty)
  }

  @Test func nameOfADatabaseInMemoryIsThatOfAFile() throws {
    let folder = try TemporaryFolder()
    // The program runs in the tests' folder, so only an absolute path is safe to write to.
    let file = folder.file(":memory:")
    #expect(try Program.run(["set", "/a", "1", "-d", file, "--create"]).status == 0)
    #expect(try Program.run(["get", "/a", "-d", file]).output == "1\n")
  }

  @Test(arguments: [["get"], ["set", "/a", "1"], ["watch"]])
  func fileThatIsNoDatabaseIsLeftAsItIs(arguments: [String]) throws {
    let folder = try TemporaryFolder()
    let text = String(repeating: "This is a letter, not a database.\n", count: 100)
    let file = try folder.write(text, to: "letter.txt")
    let outcome = try Program.run(arguments + ["-d", file])
    #expect(outcome.status == 1)
    #expect(outcome.errors.contains("no database"))
    #expect(try File(check(open(file, O_RDONLY), "open")).contents() == text)
  }

  @Test func folderIsNoDatabase() throws {
    let outcome = try Program.run(["get", "-d", "/tmp"])
    #expect(outcome.status == 1)
    #expect(outcome.errors.contains("folder"))
  }

  @Test func emptyFileIsRefusedByReading() throws {
    let folder = try TemporaryFolder()
    let outcome = try Program.run(["get", "-d", folder.write("", to: "empty.db")])
    #expect(outcome.status == 1)
    #expect(outcome.errors.contains("is empty"))
  }

  @Test(arguments: [["get"], ["set", "/a", "2"]])
  func fileOfANewerVersionIsRefused(arguments: [String]) throws {
    let database = try TestDatabase(#"{"a": 1}"#)
    let file = File(try check(open(database.file, O_WRONLY | O_CLOEXEC), "open"))
    // SQLite keeps `user_version` in the four bytes at 60, the most significant one first.
    try file.write([0, 0, 0, 99], at: 60)
    let outcome = try database.run(arguments)
    #expect(outcome.status == 1)
    #expect(outcome.errors.contains("newer"))
  }
}
