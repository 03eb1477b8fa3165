import Testing

/// `runnel perform` as a user runs it.
@Suite struct PerformTests {
  private static let resources = """
    log: /action
    resources:
      - name: group
        path: /group/@
        counters: [{ field: count, count: message }]
      - name: message
        path: /message/$group/@
        fields: { text: { kind: text, required: true, length: [1, 5] } }
    """

  private func database() throws -> TestDatabase {
    let database = try TestDatabase(#"{"group":{"g":{"name":"G"}}}"#)
    _ = try database.folder.write(PerformTests.resources, to: "test.resources.yaml")
    return database
  }

  @Test func anOperationCountsAndLogsAndPrintsItsPath() throws {
    let database = try database()
    let outcome = try database.run(
      ["perform", "create", "/message/g", #"{"text":"hi"}"#, "--author", "ana"])
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(outcome.output.hasPrefix("\"/message/g/-"))
    #expect(try database.get("/group/g/count") == "1")
    #expect(try database.get("/action").contains(#""by":"ana""#))
    let path = String(outcome.output.dropFirst().dropLast(2))
    #expect(try database.run(["perform", "destroy", path]).status == 0)
    #expect(try database.get("/group/g/count") == "0")
  }

  @Test func aRefusalSaysWhatIsWrongAndChangesNothing() throws {
    let database = try database()
    let long = try database.run(["perform", "create", "/message/g", #"{"text":"too long"}"#])
    #expect(long.status == 1)
    #expect(long.errors.contains("`text` must be a text of 1 to 5 characters."))
    let nowhere = try database.run(["perform", "update", "/other/x", #"{"a":1}"#])
    #expect(nowhere.status == 1 && nowhere.errors.contains("No resource has a record at /other/x"))
    #expect(try database.run(["perform", "create"]).status == 2)
    #expect(try database.get("/action") == "null")
  }

  @Test func linesAreDoneOneByOneUpToTheFirstThatIsRefused() throws {
    let database = try database()
    let input = """
      {"operation":"create","path":"/message/g/a","value":{"text":"one"}}
      {"operation":"update","path":"/message/g/a","value":{"text":"two"}}
      {"operation":"update","path":"/message/g/b","value":{"text":"none"}}
      {"operation":"create","path":"/message/g/c","value":{"text":"four"}}
      """
    let outcome = try database.run(["perform", "--lines"], input: input)
    #expect(outcome.status == 1)
    #expect(outcome.output == "\"/message/g/a\"\n\"/message/g/a\"\n")
    #expect(outcome.errors.contains("Line 3 was not done"))
    #expect(try database.get("/group/g/count") == "1")
  }

  @Test func withoutAResourcesFileItSaysHowToNameOne() throws {
    let database = try TestDatabase("{}")
    _ = try database.run(["set", "/a", "1"])
    let outcome = try database.run(["perform", "destroy", "/a"])
    #expect(outcome.status == 2)
    #expect(outcome.errors.contains("--resources"))
  }
}
