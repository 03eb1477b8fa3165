import Glibc
import Testing

/// What the command line says to words that it does not know, names what is meant.
@Suite struct CommandWordsTests {
  private static let json =
    #"{"m":{"a":{"Taxon":"x","full name":"u v","grams":5},"b":{"Taxon":"y","full name":"w","grams":25}}}"#

  @Test(arguments: [
    (["delete", "/x"], "remove"), (["rm", "/x"], "remove"), (["ls", "/x"], "get"),
    (["mv", "/a", "/b"], "move"), (["redo"], "undo"), (["histroy", "/x"], "history"),
  ])
  func aWordThatIsNoCommandSuggestsOne(words: [String], meant: String) throws {
    let outcome = try Program.run(words)
    #expect(outcome.status == 2)
    #expect(outcome.errors.contains("\(words[0]) is no command"), "\(outcome.errors)")
    #expect(outcome.errors.contains("`runnel \(meant)`"), "\(outcome.errors)")
    #expect(!outcome.errors.contains("open"), "\(outcome.errors)")
  }

  @Test(arguments: [["doctor"], ["compact"], ["get", "/m"], ["history"]])
  func aFileInThePlaceOfAnArgumentIsNamedWithItsOption(words: [String]) throws {
    let database = try TestDatabase(Self.json)
    let outcome = try Program.run(words + [database.file])
    #expect(outcome.status == 2)
    let line = "runnel \(words.joined(separator: " ")) -d \(database.file)"
    #expect(outcome.errors.contains(line), "\(outcome.errors)")
  }

  /// Once, the command that was advised ended with another mistake.
  @Test func aFileToCompareWithIsNamedWithItsOption() throws {
    let (one, two) = (try TestDatabase(Self.json), try TestDatabase("{}"))
    let other = two.file
    for (words, line) in [
      (["/m", other], "runnel diff /m --with \(other)"),
      ([one.file, other], "runnel diff / -d \(one.file) --with \(other)"),
      (
        ["http://localhost:1/m?ns=n", other],
        "runnel diff 'http://localhost:1/m?ns=n' --with \(other)"
      ),
    ] {
      let outcome = try Program.run(["diff"] + words)
      #expect(outcome.status == 2)
      #expect(outcome.errors.contains(line), "\(outcome.errors)")
    }
    let advised = try Program.run(["diff", "/", "-d", one.file, "--with", other])
    #expect(advised.status == 1 && advised.output.contains("removed"), "\(advised.errors)")
    let twice = try Program.run(["diff", "\(one.file):/m", "-d", other])
    #expect(twice.status == 2 && twice.errors.contains("with --with instead"), "\(twice.errors)")
  }

  @Test func aFileToExportToIsWrittenByTheShell() throws {
    let outcome = try Program.run(["export", "/m", "out.json"])
    #expect(outcome.status == 2)
    #expect(outcome.errors.contains("runnel export /m > out.json"), "\(outcome.errors)")
  }

  @Test(arguments: ["/m", "m"])
  func aPlaceToUndoPointsToTheHistory(word: String) throws {
    let outcome = try Program.run(["undo", word])
    #expect(outcome.status == 2)
    #expect(outcome.errors.contains("`runnel history"), "\(outcome.errors)")
  }

  @Test func whatIsMistypedInAFilterIsSuggested() throws {
    let database = try TestDatabase(Self.json)
    for (filter, words) in [
      ("taxon:x", "did you mean Taxon?"), ("full name:w", #"did you mean "full name":?"#),
      ("grams > 20", "without blanks: size>20"),
    ] {
      let outcome = try database.run(["--plain", "--filter", filter])
      #expect(outcome.errors.contains(words), "\(outcome.errors)")
    }
    let predicate = try database.run(["get", "/m", "--where", #"full name == "w""#])
    #expect(predicate.status == 2 && predicate.errors.contains("is written `full name`"))
    #expect(try database.get("/m", "--where", #"`full name` == "w""#).contains(#""b""#))
  }

  @Test func anOrderByAFieldThatNoRecordHasIsTold() throws {
    let database = try TestDatabase(Self.json)
    let outcome = try database.run(["get", "/m", "--order-by", "gram", "--limit-to-last", "1"])
    #expect(outcome.status == 0)
    #expect(outcome.errors.contains("No record at /m has a field gram: did you mean grams?"))
    #expect(!outcome.errors.contains("index"))
    #expect(try database.run(["get", "/m", "--order-by", "grams:desc"]).errors.isEmpty)
  }

  @Test func tablesAndRecordingsAreNotTakenInSilence() throws {
    let database = try TestDatabase(Self.json)
    let table = try database.folder.write("a,b\n1,2\n", to: "t.csv")
    let imported = try database.run(["import", table, "/t"])
    #expect(imported.status == 1 && imported.errors.contains("`runnel \(table)` opens the table"))
    let recorded = try database.run(["--record", database.folder.file("s.log")])
    #expect(recorded.status == 2 && recorded.errors.contains("--record"), "\(recorded.errors)")
  }
}
