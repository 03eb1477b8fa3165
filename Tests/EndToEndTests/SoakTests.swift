import Foundation
import TestSupport
import Testing

/// A follower of a file into which others write for a long time.
@Suite struct SoakTests {
  private static let linesPerRound = 100
  /// The rounds after which the follower has all that it needs.
  private static let warmRounds = 2
  /// How much a follower may grow from then on, in bytes, however long it runs.
  private static let growthMax = 16 << 20

  /// A long run asks for as many rounds as it has seeds.
  private static let rounds = max(warmRounds + 1, LongRun.seeds?.count ?? 0)

  @Test func aFollowerIsToldEveryWriteAndDoesNotGrow() throws {
    let database = try TestDatabase(#"{"list":{"-":"stays"}}"#)
    let follower = try database.start(["watch", "/list"])
    #expect(try follower.readLine()?.contains("child_added") == true)
    var warmBytes = 0
    for round in 0..<SoakTests.rounds {
      let keys = try push(round, to: database)
      try expect("child_added", told: follower, round)
      let nulls = keys.map { "\($0):null" }.joined(separator: ",")
      #expect(try database.run(["update", "/list", "{\(nulls)}"]).status == 0)
      try expect("child_removed", told: follower, round)
      if round == SoakTests.warmRounds - 1 { warmBytes = try residentBytes(of: follower) }
    }
    let growth = try residentBytes(of: follower) - warmBytes
    #expect(growth <= SoakTests.growthMax, "\(growth) bytes in \(SoakTests.rounds) rounds")
    try follower.send(SIGINT)
    #expect(try follower.wait() == 130)
    #expect(try database.get("/list") == #"{"-":"stays"}"#)
    #expect(try database.run(["doctor"]).status == 0)
  }

  /// Adds records by one process; returns their keys as JSON.
  private func push(_ round: Int, to database: TestDatabase) throws -> [Substring] {
    let lines = (0..<SoakTests.linesPerRound).map { "{\"round\":\(round),\"line\":\($0)}\n" }
    let writer = try database.run(["push", "/list", "--lines"], input: lines.joined())
    #expect(writer.status == 0, "\(writer.errors)")
    return writer.output.split(separator: "\n")
  }

  private func expect(_ event: String, told follower: RunningProgram, _ round: Int) throws {
    let lines = try follower.readLines(
      countMax: SoakTests.linesPerRound, milliseconds: 30_000)
    let count = lines.count { $0.contains("\"event\":\"\(event)\"") }
    #expect(count == SoakTests.linesPerRound, "round \(round)")
  }

  /// How much memory a process has in RAM.
  private func residentBytes(of program: RunningProgram) throws -> Int {
    let figures = try String(contentsOfFile: "/proc/\(program.processID)/statm", encoding: .utf8)
    let pages = try #require(figures.split(separator: " ").dropFirst().first.flatMap { Int($0) })
    return pages * sysconf(Int32(_SC_PAGESIZE))
  }
}
