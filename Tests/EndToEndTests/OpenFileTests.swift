import Foundation
import Testing

/// `runnel FILE`: databases, and files of data that become databases.
@Suite struct OpenFileTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func rows(_ arguments: String...) throws -> [String] {
    let outcome = try Program.run(arguments)
    if outcome.status != 0 { throw SystemError(call: "runnel", reason: outcome.errors) }
    return outcome.output.split(separator: "\n").map(String.init)
  }

  @Test func databaseIsOpenedByItsName() throws {
    let database = try TestDatabase(#"{"user":{"ana":{"name":"Ana"}}}"#)
    #expect(try rows(database.file) == [#"{"$key":"ana","name":"Ana"}"#])
  }

  @Test func mapOfCollectionsKeepsItsShape() throws {
    let file = try folder.write(
      #"{"tickets":{"a":{"title":"One"},"b":{"title":"Two"}},"people":{"x":{"name":"Xi"}}}"#,
      to: "data.json")
    #expect(
      try rows(file, "--view", "tickets") == [
        #"{"$key":"a","title":"One"}"#, #"{"$key":"b","title":"Two"}"#,
      ])
    #expect(try rows(file, "--view", "people") == [#"{"$key":"x","name":"Xi"}"#])
    #expect(try folder.names().contains("data.json.db"))
  }

  @Test(arguments: [
    #"[{"title":"One"},{"title":"Two"}]"#,
    #"{"0":{"title":"One"},"1":{"title":"Two","n":{"a":1}}}"#,
  ])
  func listOfRecordsIsNamedAfterTheFile(json: String) throws {
    let file = try folder.write(json, to: "tickets.json")
    let rows = try rows(file, "--view", "tickets")
    #expect(rows.count == 2)
    #expect(rows.first == #"{"$key":"0","title":"One"}"#)
  }

  @Test func hiddenMembersMayHaveAnyName() throws {
    let file = try folder.write(
      #"{"e":{"c$":1},"e":{"a":{"n":1}},"x":2}"#, to: "hidden.json")
    #expect(try rows(file, "--view", "e") == [#"{"$key":"a","n":1}"#])
  }

  @Test func namesThatWouldBeOneKeyAreRefusedWithTheirPlace() throws {
    let file = try folder.write(#"{"a":{"k.":1,"k%2E":2}}"#, to: "clash.json")
    let outcome = try Program.run([file])
    #expect(outcome.status == 1)
    #expect(outcome.errors.contains(#"the names "k." and "k%2E" in /a would be one key, k%2E"#))
    #expect(try !folder.names().contains("clash.json.db"))
  }

  @Test func recordsWithOneKeyAreRefusedWithTheirLines() throws {
    for name in ["twice.csv", "twice.jsonl"] {
      let text =
        name.hasSuffix("csv")
        ? "$key,b\nk,1\nk,2\n" : "\n{\"$key\":\"k\",\"b\":1}\n{\"$key\":\"k\",\"b\":2}\n"
      let outcome = try Program.run([try folder.write(text, to: name)])
      #expect(outcome.status == 1)
      #expect(
        outcome.errors.contains("line 2 and line 3 have the same key, k"), "\(outcome.errors)")
      #expect(try !folder.names().contains(name + ".db"))
    }
  }

  @Test(arguments: ["list.json", "list.jsonl", "list.csv"])
  func byteOrderMarkIsNoPartOfTheData(name: String) throws {
    let texts = ["list.json": #"[{"a":1}]"#, "list.jsonl": #"{"a":1}"#, "list.csv": "a\n1\n"]
    let file = try folder.write("\u{FEFF}" + (texts[name] ?? ""), to: name)
    #expect(try rows(file) == [#"{"$key":"0","a":1}"#])
  }

  @Test func linesAndTablesAreListsOfRecords() throws {
    let lines = try folder.write("{\"a\":1}\n{\"a\":2}\n", to: "log.jsonl")
    #expect(try rows(lines) == [#"{"$key":"0","a":1}"#, #"{"$key":"1","a":2}"#])
    let table = try folder.write("name,age\nAna,30\nBo,41\n", to: "people.csv")
    #expect(
      try rows(table) == [
        #"{"$key":"0","age":30,"name":"Ana"}"#, #"{"$key":"1","age":41,"name":"Bo"}"#,
      ]
    )
  }

  @Test func whatIsReadInAnotherWayIsTold() throws {
    let table = try folder.write("name;;\nAna;30;\n", to: "people.csv")
    let opened = try Program.run([table])
    #expect(opened.output == "{\"$key\":\"0\",\"column 2\":30,\"name\":\"Ana\"}\n")
    #expect(opened.errors.contains("is called \"column 2\""))
    #expect(try Program.run([table]).errors.isEmpty, "it is said once")
    let texts = ["x.json": #"[{"a":1,"tags":[]}]"#, "y.jsonl": #"{"tags":{},"a":1}"#]
    for (name, text) in texts {
      let file = try folder.write(text, to: name)
      let outcome = try Program.run([file])
      #expect(outcome.status == 0)
      #expect(
        outcome.errors.contains("1 empty list or object ([] or {}) in tags is not kept"),
        "\(outcome.errors)")
    }
  }

  @Test func numberThatIsRoundedIsTold() throws {
    let texts = [
      "x.json": #"[{"n":9223372036854775809}]"#, "y.jsonl": #"{"n":0.12345678901234567891}"#,
    ]
    for (name, text) in texts {
      let outcome = try Program.run([try folder.write(text, to: name)])
      #expect(outcome.errors.contains("1 number has more digits"), "\(outcome.errors)")
    }
  }

  @Test(
    arguments: ["e.csv", "e.json", "e.jsonl"], [[], ["--create"], ["--scratch"]] as [[String]])
  func emptyFileOfDataIsNoDatabase(name: String, options: [String]) throws {
    let file = try folder.write("", to: name)
    let outcome = try Program.run([file] + options)
    #expect(outcome.status == 2)
    #expect(outcome.errors.contains("is empty: there is no record in it"), "\(outcome.errors)")
    #expect(try String(contentsOfFile: file, encoding: .utf8).isEmpty)
    #expect(try folder.names() == [name])
  }

  @Test func namesThatNoKeyMayHaveAreWrittenAsInAddresses() throws {
    let file = try folder.write(
      #"{"hosts":{"a.example":{"port":80},"b":{"port":443}},"x":{"":1}}"#, to: "settings.json")
    let outcome = try Program.run([file, "--view", "hosts"])
    #expect(outcome.status == 0)
    #expect(outcome.errors.contains("2 names hold signs that no key may have"))
    #expect(outcome.output.contains(#""$key":"a%2Eexample""#))
  }

  @Test func oneNameThatNoKeyMayHaveIsOne() throws {
    let file = try folder.write(#"{"hosts":{"a.example":{"port":80}}}"#, to: "one.json")
    let told = try Program.run([file]).errors
    #expect(told.contains("1 name holds signs that no key may have"), "\(told)")
  }

  @Test func whatWasWrittenIsThereTheNextTime() throws {
    let file = try folder.write(#"[{"title":"One"}]"#, to: "tickets.json")
    #expect(try rows(file).count == 1)
    let set = try Program.run(["set", "/tickets/9", #"{"title":"New"}"#, "-d", file + ".db"])
    #expect(set.status == 0)
    #expect(try rows(file).count == 2)
    #expect(try String(contentsOfFile: file, encoding: .utf8) == #"[{"title":"One"}]"#)
  }

  @Test func fileThatIsGoneIsFoundInItsDatabase() throws {
    let file = try folder.write(#"[{"title":"One"}]"#, to: "gone.json")
    #expect(try rows(file).count == 1)
    try FileManager.default.removeItem(atPath: file)
    let told = try Program.run([file])
    #expect(told.status == 2)
    #expect(told.errors.contains("gone.json does not exist any more"), "\(told.errors)")
    #expect(told.errors.contains("`runnel \(file).db` opens that"), "\(told.errors)")
    #expect(try rows(file + ".db").count == 1)
  }

  /// Opens a file at a terminal where this is typed, and returns the rows that are printed.
  private func rows(
    _ file: String, answering answer: String, status: Int32 = 0
  ) throws -> (rows: Int, errors: String) {
    let terminal = try PseudoTerminal()
    let program = try RunningProgram([file], .init(input: .file(terminal.programEnd)))
    try program.answer(answer, at: terminal)
    var count = 0
    while try program.readLine() != nil { count += 1 }
    #expect(try program.wait() == status)
    return (count, try program.errors())
  }

  @Test func changedFileIsReadAgainOnRequest() throws {
    let file = try folder.write(#"[{"title":"One"}]"#, to: "tickets.json")
    #expect(try rows(file).count == 1)
    _ = try folder.write(#"[{"title":"One"},{"title":"Two"}]"#, to: "tickets.json")
    let told = try Program.run([file])
    #expect(told.status == 0 && told.errors.contains("was changed after it was read"))
    #expect(told.output.split(separator: "\n").count == 1)
    #expect(!told.errors.contains("delete"), "the edits in the database are not given away")
    let declined = try rows(file, answering: "n\n")
    #expect(declined.rows == 1 && declined.errors.contains("Read it again?"))
    let remark = try Program.run([file]).errors
    #expect(remark.contains("was not read again") && remark.contains("--read-again` reads it"))
    #expect(!remark.contains("Move that away"))
    let again = try Program.run([file, "--read-again"])
    #expect(again.status == 0 && again.output.split(separator: "\n").count == 2)
    #expect(try Program.run([file]).errors.isEmpty, "it is what the file holds")
    let undone = try Program.run(["undo", "-d", file + ".db"])
    #expect(undone.status == 0, "\(undone.errors)")
    #expect(try Program.run([file]).output.split(separator: "\n").count == 1)
    _ = try folder.write(#"[{"title":"1"},{"title":"2"},{"title":"3"}]"#, to: "tickets.json")
    #expect(try rows(file, answering: "y\n").rows == 3)
    #expect(try Program.run([file]).errors.isEmpty)
  }

  @Test func onlyFilesOfDataAreReadAgain() throws {
    let file = try folder.write(#"[{"title":"One"}]"#, to: "tickets.json")
    #expect(try Program.run([file, "--read-again"]).status == 0, "the database is made")
    for arguments in [[file + ".db", "--read-again"], [file, "--scratch", "--read-again"]] {
      let refused = try Program.run(arguments)
      #expect(refused.status != 0 && refused.errors.contains("--read-again"), "\(refused.errors)")
    }
  }

  @Test func changedFileThatCannotBeReadChangesNothing() throws {
    let file = try folder.write(#"[{"id":0},{"id":1}]"#, to: "k.json")
    #expect(try rows(file).count == 2)
    let database = ["-d", file + ".db"]
    #expect(try Program.run(["set", "/k/1/name", #""mine""#] + database).status == 0)
    let before = try Program.run(["get", "/"] + database).output
    _ = try folder.write(#"[{"id":1,"name":"#, to: "k.json")
    let told = try rows(file, answering: "y\n", status: 1)
    #expect(told.errors.contains("is not JSON"), "\(told.errors)")
    #expect(try Program.run(["get", "/"] + database).output == before)
  }

  @Test func oneUndoBringsBackWhatStoodBeforeTheFileWasReadAgain() throws {
    let file = try folder.write(#"[{"id":0},{"id":1}]"#, to: "k.json")
    #expect(try rows(file).count == 2)
    let database = ["-d", file + ".db"]
    let before = try Program.run(["get", "/"] + database).output
    _ = try folder.write(#"[{"id":0},{"id":1},{"id":2}]"#, to: "k.json")
    #expect(try rows(file, answering: "y\n").rows == 3)
    #expect(try Program.run(["undo"] + database).status == 0)
    #expect(try Program.run(["get", "/"] + database).output == before)
  }

  @Test(arguments: ["write", "read", "nothing"])
  func changeIsNoticedWhateverTouchesTheDatabaseAfterIt(touch: String) throws {
    let file = try folder.write("Name,Qty\nAnn,1\nBo,2\n", to: "ma.csv")
    #expect(try rows(file).count == 2)
    _ = try folder.write("Name,Qty\nAnn,1\nBo,2\nEve,3\n", to: "ma.csv")
    let commands = ["write": ["set", "/ma/0/Qty", "9"], "read": ["get", "/ma/0/Qty"]]
    if let command = commands[touch] {
      #expect(try Program.run(command + ["-d", file + ".db"]).status == 0)
    }
    // A file with an older time may stand in its place: `cp -p`.
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSince1970: 1000)], ofItemAtPath: file)
    for _ in 0..<2 {
      #expect(try Program.run([file]).errors.contains("was changed after it was read"))
    }
    #expect(try rows(file, answering: "y\n").rows == 3)
  }

  @Test func fileThatWasOnlyTouchedIsNotAskedAbout() throws {
    let file = try folder.write("Name,Qty\nAnn,1\n", to: "ma.csv")
    #expect(try rows(file).count == 1)
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSinceNow: 500)], ofItemAtPath: file)
    #expect(try Program.run([file]).errors.isEmpty)
  }

  @Test func scratchLeavesNothingBehind() throws {
    let file = try folder.write(#"[{"title":"One"}]"#, to: "tickets.json")
    let outcome = try Program.run(
      [file, "--scratch"], environment: ["TMPDIR": folder.file("")])
    #expect(outcome.output == "{\"$key\":\"0\",\"title\":\"One\"}\n")
    #expect(try folder.names() == ["tickets.json"])
  }

  @Test func mistakesInDataAreToldWithTheirPlace() throws {
    let json = try folder.write("[{\"a\":1},\n{\"a\":]", to: "bad.json")
    let lines = try folder.write("{\"a\":1}\nnonsense\n", to: "bad.jsonl")
    for (file, words) in [(json, "line 2"), (lines, "line 2: not JSON")] {
      let outcome = try Program.run([file])
      #expect(outcome.status == 1)
      #expect(outcome.errors.contains(words), "\(outcome.errors)")
    }
    #expect(try folder.names() == ["bad.json", "bad.jsonl"], "no database is left")
  }

  @Test(arguments: [
    (["imprt"], "Did you mean `runnel import`?"),
    (["imprt", "x.json"], "Did you mean `runnel import`?"),
    (["FROBNICATE"], "no command and no file"), (["ticket.json"], "does not exist"),
    (["new.db"], "--create makes a database"), (["x.txt", "--scratch"], "does not exist"),
  ])
  func unknownWordsGetAdvice(arguments: [String], words: String) throws {
    let outcome = try Program.run(arguments)
    #expect(outcome.status == 2)
    #expect(outcome.errors.contains(words), "\(outcome.errors)")
  }

  @Test func nearFileIsSuggested() throws {
    _ = try folder.write("[]", to: "tickets.json")
    let outcome = try Program.run([folder.file("tickest.json")])
    #expect(outcome.status == 2)
    #expect(outcome.errors.contains("did you mean tickets.json?"))
  }

  @Test func fileOfAnotherKindIsNotTouched() throws {
    let file = try folder.write("hello", to: "notes.txt")
    let outcome = try Program.run([file])
    #expect(outcome.status == 2)
    #expect(outcome.errors.contains("is no database"))
    #expect(try folder.names() == ["notes.txt"])
  }
}
