import Foundation
import Glibc
import RunnelBase
import TestSupport
import Testing

@Suite struct CrashTests {
  private static let roundCount = LongRun.seeds == nil ? 30 : 100
  private static let linesPerRound = 200

  @Test(arguments: Seeds.byChance())
  func acknowledgedWritesSurviveKills(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let database = try TestDatabase()
    var acknowledged: [String] = []
    for round in 0..<CrashTests.roundCount {
      let first = acknowledged.count
      acknowledged += try keysUntilKilled(round, in: database, &random)
      if round % 10 == 9 { try expectStored(acknowledged[first...], in: database) }
    }
    #expect(acknowledged.count > CrashTests.roundCount, "Too few writes to tell anything.")
    try expectStored(acknowledged[...], in: database)
    // What was stored and not acknowledged: at most what each writer had in its hands.
    let stored = try database.get("/list", "--shallow").split(separator: ",").count
    #expect(stored <= acknowledged.count + CrashTests.roundCount)
    #expect(try database.run(["set", "/after", "true"]).status == 0)
    #expect(try database.run(["export"]).status == 0)
    #expect(try database.run(["doctor"]).status == 0)
  }

  /// A file without bytes would look like one that lost all that it held.
  @Test(arguments: Seeds.byChance())
  func killsWhileAFileIsMadeLeaveNoEmptyFile(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    for _ in 0..<CrashTests.roundCount {
      let database = try TestDatabase()
      let program = try database.start(["push", "/list", "--lines"])
      _ = try program.readLines(countMax: 1, milliseconds: .random(in: 0...30, using: &random))
      try program.send(SIGKILL)
      #expect(try program.wait() == -SIGKILL)
      let outcome = try database.run(["set", "/after", "true"])
      #expect(outcome.status == 0, "\(outcome.errors)")
      let names = try FileManager.default.contentsOfDirectory(atPath: database.folder.path)
      #expect(names.allSatisfy { !$0.contains("making") }, "\(names)")
    }
  }

  /// Starts a writer, kills it at a random moment, and returns the keys that it acknowledged.
  private func keysUntilKilled(
    _ round: Int, in database: TestDatabase, _ random: inout SeededRandom
  ) throws -> [String] {
    let program = try database.start(["push", "/list", "--lines"])
    let lines = (0..<CrashTests.linesPerRound).map { "{\"round\":\(round),\"line\":\($0)}\n" }
    try program.write(lines.joined())
    var keys: [String] = []
    if Int.random(in: 0..<5, using: &random) == 0 {
      // While it starts, opens or makes the file.
      keys += try program.readLines(countMax: 1, milliseconds: .random(in: 0...40, using: &random))
    } else {
      let count = Int.random(in: 1...40, using: &random)
      keys += try program.readLines(countMax: count, milliseconds: 30_000)
      let end = ContinuousClock.now + .microseconds(Int.random(in: 0...2_000, using: &random))
      while ContinuousClock.now < end {}
    }
    try program.send(SIGKILL)
    #expect(try program.wait() == -SIGKILL)
    // Lines that it had written and nobody had read.
    return keys + (try program.readLines(countMax: .max, milliseconds: 0))
  }

  private func expectStored(
    _ keys: ArraySlice<String>, in database: TestDatabase
  ) throws {
    let json = try database.get("/list", "--shallow")
    let stored = Set(json.split(separator: "\"").map(String.init))
    let lost = keys.filter { !stored.contains(String($0.dropFirst().dropLast())) }
    #expect(lost.isEmpty)
  }
}
