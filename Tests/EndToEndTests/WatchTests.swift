import Glibc
import Testing

@Suite struct WatchTests {
  @Test func presentAndLaterChildrenAreTold() throws {
    let database = try TestDatabase(#"{"list": {"a": 1, "c": {"d": true}}}"#)
    let program = try database.start(["watch", "list"])
    #expect(
      try program.readLine()
        == #"{"event":"child_added","path":"/list/a","key":"a","previous":null,"value":1}"#)
    #expect(
      try program.readLine()
        == #"{"event":"child_added","path":"/list/c","key":"c","previous":"a","value":{"d":true}}"#)
    #expect(try database.run(["set", "/list/b", "2"]).status == 0)
    #expect(
      try program.readLine()
        == #"{"event":"child_added","path":"/list/b","key":"b","previous":"a","value":2}"#)
    #expect(try database.run(["set", "/list/c/d", "false"]).status == 0)
    #expect(
      try program.readLine()
        == #"{"event":"child_changed","path":"/list/c","key":"c","previous":"b","value":{"d":false}}"#
    )
    #expect(try database.run(["remove", "/list/a"]).status == 0)
    #expect(
      try program.readLine()
        == #"{"event":"child_removed","path":"/list/a","key":"a","value":1}"#)
    try program.send(SIGINT)
    #expect(try program.wait() == 130)
    #expect(try program.errors().isEmpty)
    #expect(try program.readLine() == nil)
  }

  @Test func membersOfAValueStandInTheOrderOfTheQuery() throws {
    let database = try TestDatabase(#"{"list": {"a": {"n": 3}, "b": {"n": 1}, "c": {"n": 2}}}"#)
    let program = try database.start(["watch", "/list", "--order-by", "n", "--events", "value"])
    #expect(
      try program.readLine()
        == #"{"event":"value","path":"/list","value":{"b":{"n":1},"c":{"n":2},"a":{"n":3}}}"#)
    try program.send(SIGINT)
    #expect(try program.wait() == 130)
  }

  @Test(arguments: [(SIGINT, 130), (SIGTERM, 143), (SIGHUP, 129)] as [(Int32, Int32)])
  func signalEndsItWithItsStatus(signal: Int32, status: Int32) throws {
    let database = try TestDatabase(#"{"a": 1}"#)
    let program = try database.start(["watch"])
    #expect(try program.readLine() != nil)
    try program.send(signal)
    #expect(try program.wait() == status)
  }

  @Test func rootTellsItsValueWhileItHasNoChildren() throws {
    let database = try TestDatabase("1")
    let program = try database.start(["watch"])
    #expect(try program.readLine() == #"{"event":"value","path":"/","value":1}"#)
    for round in 1...2 {
      let children = #"{"a":\#(round),"b":2}"#
      #expect(try database.run(["set", "/", children, "--force"]).status == 0)
      #expect(try program.readLine()?.contains(#""path":"/a","key":"a""#) == true)
      #expect(try program.readLine()?.contains(#""path":"/b","key":"b""#) == true)
      #expect(try database.run(["set", "/a", "5"]).status == 0)
      #expect(try program.readLine()?.contains("child_changed") == true)
      #expect(try database.run(["set", "/", "\(round + 7)", "--force"]).status == 0)
      #expect(try program.readLine()?.contains("child_removed") == true)
      #expect(try program.readLine()?.contains("child_removed") == true)
      #expect(
        try program.readLine() == #"{"event":"value","path":"/","value":\#(round + 7)}"#)
    }
    #expect(try database.run(["remove", "/", "--force"]).status == 0)
    #expect(try program.readLine() == #"{"event":"value","path":"/","value":null}"#)
    try program.send(SIGINT)
    #expect(try program.wait() == 130)
  }

  @Test func placeWithoutChildrenTellsItsValue() throws {
    let database = try TestDatabase(#"{"a": 1}"#)
    let program = try database.start(["watch", "/a"])
    #expect(try program.readLine() == #"{"event":"value","path":"/a","value":1}"#)
    #expect(try database.run(["set", "/a", #""two""#]).status == 0)
    #expect(try program.readLine() == #"{"event":"value","path":"/a","value":"two"}"#)
    #expect(try database.run(["set", "/a", #"{"b": 3}"#]).status == 0)
    #expect(
      try program.readLine()
        == #"{"event":"child_added","path":"/a/b","key":"b","previous":null,"value":3}"#)
    #expect(try database.run(["set", "/a", "4"]).status == 0)
    #expect(
      try program.readLine() == #"{"event":"child_removed","path":"/a/b","key":"b","value":3}"#)
    #expect(try program.readLine() == #"{"event":"value","path":"/a","value":4}"#)
    #expect(try database.run(["remove", "/a"]).status == 0)
    #expect(try program.readLine() == #"{"event":"value","path":"/a","value":null}"#)
  }

  @Test func valueEventsCarryTheWholeValue() throws {
    let database = try TestDatabase(#"{"a": {"b": 1}}"#)
    let program = try database.start(["watch", "/a", "--events", "value"])
    #expect(try program.readLine() == #"{"event":"value","path":"/a","value":{"b":1}}"#)
    #expect(try database.run(["set", "/a/c", "2"]).status == 0)
    #expect(try program.readLine() == #"{"event":"value","path":"/a","value":{"b":1,"c":2}}"#)
    #expect(try database.run(["remove", "/a"]).status == 0)
    #expect(try program.readLine() == #"{"event":"value","path":"/a","value":null}"#)
  }

  @Test func onlyTheNamedEventsAreTold() throws {
    let database = try TestDatabase(#"{"a": {"b": 1}}"#)
    let program = try database.start(
      ["watch", "/a", "--events", "child_removed,child_changed", "--order-by", "$value"])
    // The events of `b` tell nothing of its arrival, which came first.
    let ready = try database.start(["watch", "/a"])
    #expect(try ready.readLine() != nil)
    try Self.set("/a/b", "2", in: database, untilHeardBy: program)
    #expect(try database.run(["set", "/a/c", "5"]).status == 0)
    #expect(try database.run(["remove", "/a/b"]).status == 0)
    #expect(
      try program.readLine() == #"{"event":"child_removed","path":"/a/b","key":"b","value":2}"#)
  }

  @Test func initialEventsAreLeftOutOnRequest() throws {
    let database = try TestDatabase(#"{"a": {"b": 1}}"#)
    let program = try database.start(["watch", "/a", "--no-initial"])
    try Self.set("/a/b", "2", in: database, untilHeardBy: program)
  }

  /// Sets a place, by turns to another value and to this one, until a line tells of it: only then is
  /// it sure that the program had begun to listen.
  private static func set(
    _ path: String, _ value: String, in database: TestDatabase,
    untilHeardBy program: RunningProgram
  ) throws {
    var line: String?
    for turn in 0..<100 where line == nil {
      let written = turn % 2 == 0 ? value : "\"other\""
      #expect(try database.run(["set", path, written]).status == 0)
      line = try program.readLines(countMax: 1, milliseconds: 50).first
      #expect(line?.contains("child_added") != true)
    }
    #expect(line?.contains(#""event":"child_changed""#) == true)
    // A value of its own tells which line is the last of these.
    #expect(try database.run(["set", path, "\"last\""]).status == 0)
    while try program.readLine()?.contains("\"last\"") == false {}
    #expect(try database.run(["set", path, value]).status == 0)
    #expect(try program.readLine()?.hasSuffix("\"value\":\(value)}") == true)
  }

  @Test func limitedWindowSlides() throws {
    let database = try TestDatabase(#"{"a": {"x": {"n": 1}, "y": {"n": 2}, "z": {"n": 3}}}"#)
    let program = try database.start(
      ["watch", "/a", "--order-by", "n", "--limit-to-last", "2"])
    let initial = try (0..<2).map { _ in try #require(try program.readLine()) }
    #expect(initial.map { $0.contains(#""key":"y""#) } == [true, false])
    #expect(try database.run(["set", "/a/x/n", "9"]).status == 0)
    #expect(
      try program.readLine()
        == #"{"event":"child_removed","path":"/a/y","key":"y","value":{"n":2}}"#)
    #expect(
      try program.readLine()
        == #"{"event":"child_added","path":"/a/x","key":"x","previous":"z","value":{"n":9}}"#)
    #expect(try database.run(["set", "/a/z/n", "10"]).status == 0)
    #expect(
      try program.readLine()
        == #"{"event":"child_moved","path":"/a/z","key":"z","previous":"x","value":{"n":10}}"#)
    #expect(
      try program.readLine()
        == #"{"event":"child_changed","path":"/a/z","key":"z","previous":"x","value":{"n":10}}"#)
  }

  @Test func rootIsWatchedByDefault() throws {
    let database = try TestDatabase("5")
    let program = try database.start(["watch"])
    #expect(try program.readLine() == #"{"event":"value","path":"/","value":5}"#)
    #expect(try database.run(["set", "/a", "1"]).status == 0)
    #expect(
      try program.readLine()
        == #"{"event":"child_added","path":"/a","key":"a","previous":null,"value":1}"#)
  }

  @Test func readerThatStopsReadingDoesNotKeepASignalWaiting() throws {
    let database = try TestDatabase()
    let text = "\"" + String(repeating: "x", count: 500_000) + "\""
    #expect(try database.run(["set", "/a"], input: text).status == 0)
    let program = try database.start(["watch"])
    #expect(try program.waitForOutput())
    try program.send(SIGTERM)
    #expect(try program.wait() == 143)
  }

  @Test func readerThatGoesAwayLaterEndsItQuietly() throws {
    let database = try TestDatabase(#"{"a": 1}"#)
    let program = try database.start(["watch"])
    #expect(try program.readLine() != nil)
    program.closeOutput()
    #expect(try program.wait() == 0)
    #expect(try program.errors().isEmpty)
  }

  /// The pipe holds one of the values; what is written meanwhile is not kept write by write.
  @Test(arguments: ["value", "child_changed"])
  func whileNobodyReadsOnlyWhatHasComeOfTheWritesIsKept(event: String) throws {
    let database = try TestDatabase(#"{"a": {"b": "first"}}"#)
    let program = try database.start(["watch", "/", "--events", event, "--no-initial"])
    let text = String(repeating: "x", count: 50_000)
    // Only then is it sure that the program had begun to listen.
    var isListening = false
    for turn in 0..<100 where !isListening {
      #expect(try database.run(["set", "/a/b", "\(turn)"]).status == 0)
      isListening = try program.waitForOutput(milliseconds: 50)
    }
    let count = 40
    for number in 0..<count {
      #expect(try database.run(["set", "/a/b", #""\#(number)\#(text)""#]).status == 0)
    }
    #expect(try database.run(["set", "/a/b", #""last""#]).status == 0)
    var told = 0
    while let line = try program.readLine(), !line.contains("last") {
      if line.contains(text) { told += 1 }
    }
    #expect(told < count / 2)
    try program.send(SIGTERM)
    #expect(try program.wait() == 143)
  }

  @Test func everyLineOfAQuickWriterIsTold() throws {
    let database = try TestDatabase(#"{"other": 1}"#)
    let program = try database.start(["watch", "/list", "--events", "child_added,value"])
    #expect(try program.readLine() == #"{"event":"value","path":"/list","value":null}"#)
    let count = 200
    let input = (0..<count).map { "\($0)\n" }.joined()
    #expect(try database.run(["push", "/list", "--lines"], input: input).status == 0)
    var told: [Int] = []
    while told.count < count {
      let line = try #require(try program.readLine())
      guard line.hasPrefix(#"{"event":"child_added""#) else { continue }
      let value = try #require(line.split(separator: ":").last?.dropLast())
      told.append(try #require(Int(value)))
    }
    #expect(told == Array(0..<count))
  }
}
