import Foundation
import Testing

/// What `make test` prints and ends with, whatever becomes of the processes that run the tests.
///
/// Instead of the tests a script is run that writes the events of two suites, `A.One` and `A.Two`, with
/// a test each.
@Suite struct TestRunnerTests {
  private static let top = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().path

  /// How a process of tests goes on after its first test has passed.
  enum Course: String {
    case passes = #"started A.Two b; ended A.Two b pass; echo "✔ Test b() passed.""#
    case fails = #"""
      started A.Two b; ended A.Two b fail
      echo "✘ Test b() recorded an issue at B.swift:1:1: 1 == 2"; echo "↳ not so"
      echo "✔ Test c() passed."; exit 1
      """#
    case dies = "started A.Two b; echo 'Fatal error: gone'; kill -SEGV $$"
    case diesBetween = "kill -KILL $$"
    case endsBadly = "started A.Two b; ended A.Two b pass; echo 'leaked'; exit 7"
    case neverEnds = "started A.Two b; exec sleep 60"
  }

  private func run(
    _ course: Course?, pattern: String = ".", seconds: String = "60"
  ) throws -> Program.Outcome {
    let folder = try TemporaryFolder()
    let script = #"""
      #!/bin/sh
      case "$*" in *--list-tests*) echo "A.One/a()"; echo "A.Two/b()"; exit 0;; esac
      events=$(echo "$*" | sed 's/.*--event-stream-output-path //')
      id() { echo "$1\\/$2()\\/$2.swift:1:1"; }
      planned() { printf '{"kind":"test","payload":{"id":"%s","kind":"function"}}\n' "$(id $1 $2)"; }
      started() { event testStarted "$(id $1 $2)" default; }
      ended() { event testEnded "$(id $1 $2)" $3; }
      event() {
        printf '{"kind":"event","payload":{"instant":{"absolute":%s,"since1970":1},"kind":"%s",' 7.5 $1
        printf '"messages":[{"symbol":"%s","text":"x"}],"testID":"%s"}}\n' $3 "$2"
      } >>"$events"
      { planned A.One a; planned A.Two b; } >"$events"
      started A.One a; ended A.One a pass; echo "✔ Test a() passed."
      \#(course?.rawValue ?? "")
      """#
    let tests = try folder.write(
      course == nil
        ? "#!/bin/sh\ncase \"$*\" in *list*) echo A.One/a\\(\\);; *) exit 3;; esac" : script,
      to: "tests")
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: tests)
    let environment = [
      "TESTS": tests, "FOLDER": folder.file("run"), "TEST_SECONDS_MAX": seconds, "JOBS": "2",
    ]
    return try Program.run(
      [pattern], environment: environment, program: TestRunnerTests.top + "/.make/tests")
  }

  private func lastLine(_ outcome: Program.Outcome) -> Substring? {
    outcome.output.split(separator: "\n").last
  }

  @Test func testsThatPassAreALineForEachSuite() throws {
    let outcome = try run(.passes)
    #expect(outcome.status == 0)
    #expect(lastLine(outcome) == "2 passed, 0 failed")
    for suite in ["One", "Two"] {
      let line = outcome.output.split(separator: "\n").first { $0.hasSuffix("A: \(suite)") }
      #expect(line?.hasPrefix("ok ") == true, "\(outcome.output) \(outcome.errors)")
    }
    #expect(!outcome.output.contains("✔"))
  }

  @Test func aTestThatFailsIsPrintedWholeAndOthersAreNot() throws {
    let outcome = try run(.fails)
    #expect(outcome.status != 0)
    #expect(lastLine(outcome) == "1 passed, 1 failed")
    #expect(
      outcome.output.contains("✘ Test b() recorded an issue at B.swift:1:1: 1 == 2\n↳ not so\n"))
    #expect(!outcome.output.contains("✔"))
  }

  @Test(arguments: [Course.dies, .diesBetween])
  func aProcessThatDiesOfASignalHasFailed(course: Course) throws {
    let outcome = try run(course)
    #expect(outcome.status != 0)
    #expect(lastLine(outcome) == "1 passed, 1 failed")
    #expect(outcome.output.contains("did not end: A.Two b()"), "\(outcome.output)")
    #expect(outcome.output.contains("died of signal"))
    #expect(outcome.output.contains("Fatal error: gone") == (course == .dies))
  }

  @Test func aProcessThatEndsBadlyAfterItsTestsHasFailed() throws {
    let outcome = try run(.endsBadly)
    #expect(outcome.status != 0)
    #expect(lastLine(outcome) == "2 passed, 1 failed")
    #expect(outcome.output.contains("ended with status 7"))
    #expect(outcome.output.contains("leaked"))
  }

  @Test func aProcessThatTakesTooLongIsStoppedAndHasFailed() throws {
    let outcome = try run(.neverEnds, seconds: "0.2")
    #expect(outcome.status != 0)
    #expect(lastLine(outcome) == "1 passed, 1 failed")
    #expect(outcome.output.contains("was stopped after its time"))
  }

  @Test func aProcessThatSaysNothingHasFailed() throws {
    let outcome = try run(nil)
    #expect(outcome.status != 0)
    #expect(lastLine(outcome) == "0 passed, 1 failed")
  }

  /// A suite is called as its file; a line for one that is gone would have no effect.
  @Test func theSuitesThatAreToBeginExist() throws {
    let text = try String(
      contentsOfFile: TestRunnerTests.top + "/.make/tests-long", encoding: .utf8)
    let names = text.split(separator: "\n").filter { !$0.hasPrefix("#") }
    let tests = TestRunnerTests.top + "/Tests"
    let files = Set(
      try #require(FileManager.default.subpaths(atPath: tests)).map {
        ($0 as NSString).lastPathComponent
      })
    #expect(Set(names).count == names.count && !names.isEmpty)
    for name in names {
      let file = String(name.split(separator: ".").last ?? "") + ".swift"
      #expect(files.contains(file), "\(name)")
    }
  }

  @Test func aPatternThatFitsNoSuiteFails() throws {
    let outcome = try run(.passes, pattern: "Three")
    #expect(outcome.status != 0)
    #expect(lastLine(outcome) == "0 passed, 1 failed")
    #expect(outcome.errors.contains("Three"))
  }
}
