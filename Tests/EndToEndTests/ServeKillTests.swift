import Foundation
import RunnelBase
import TestSupport
import Testing

/// A server that is killed again and again under 64 writers: what it acknowledged is there, nothing is done
/// twice, and the clients' onDisconnect writes are done once.
@Suite struct ServeKillTests {
  private static let writerCount = 64
  private static let killCount = LongRun.seeds == nil ? 10 : 30
  /// How many writes a writer adds in a round; what was not answered is sent again besides.
  private static let newWriteCount = 3

  @Test(arguments: Seeds.byChance())
  func writesAreDoneOnceHoweverOftenTheServerIsKilled(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let database = try TestDatabase("{\"a\":1}")
    var writers = (0..<ServeKillTests.writerCount).map { CountingWriter(name: "w\($0)") }
    for round in 0..<ServeKillTests.killCount {
      let served = try Served([database.file, "--no-access-log"])
      let clients = try connections(to: served)
      for index in writers.indices {
        try clients[index].sendText(writers[index].farewell(round))
        writers[index].add(ServeKillTests.newWriteCount)
        try writers[index].send(on: clients[index])
      }
      // So many answers are read before the kill; the others may have been on their way.
      for index in writers.indices {
        let count = Int.random(in: 0...4, using: &random)
        try writers[index].takeAnswers(clients[index], countMax: count)
      }
      try served.program.send(SIGKILL)
      for index in writers.indices { try writers[index].takeAnswers(clients[index]) }
      #expect(try served.program.wait() == -SIGKILL)
    }
    try finish(&writers, database)
    try check(writers, database)
  }

  private func connections(to served: Served) throws -> [RawClient] {
    try (0..<ServeKillTests.writerCount).map { _ in
      let client = try served.client()
      try client.openSocket()
      _ = try client.readMessage()
      return client
    }
  }

  /// Has everything answered that was not.
  private func finish(_ writers: inout [CountingWriter], _ database: TestDatabase) throws {
    let served = try Served([database.file, "--no-access-log"])
    let clients = try connections(to: served)
    for index in writers.indices { try writers[index].send(on: clients[index]) }
    for index in writers.indices {
      try writers[index].takeAnswers(clients[index])
      #expect(writers[index].unanswered.isEmpty)
    }
    try served.program.send(SIGTERM)
    #expect(try served.program.wait() == 0)
  }

  private func check(_ writers: [CountingWriter], _ database: TestDatabase) throws {
    let counts = try JSONValue(parsing: database.get("/count"))
    let gone = try JSONValue(parsing: database.get("/gone"))
    for writer in writers {
      writer.check(counts: counts, gone: gone, roundCount: ServeKillTests.killCount)
    }
    #expect(try database.run(["doctor"]).status == 0)
  }
}
