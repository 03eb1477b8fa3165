import Foundation
import RunnelBase
import TestSupport
import Testing

/// A server that is killed again and again under 64 writers: what it acknowledged is there, nothing is done
/// twice, and the clients' onDisconnect writes are done once.
@Suite struct ServeKillTests {
  private static let writerCount = 64
  private static let killCount = 30
  /// How many writes a writer adds in a round; what was not answered is sent again besides.
  private static let newWriteCount = 3
  /// The numbers of the requests that leave something to be done are the rounds from here on.
  private static let farewellStart = 1_000_000

  /// A client that sends what was not answered again, under the same name.
  private struct Writer {
    let name: String
    var sent = 0
    var unanswered: [Int] = []
    /// The rounds whose farewell was acknowledged.
    var farewells: Set<Int> = []

    func message(_ number: Int) -> String {
      """
      {"t":"d","d":{"r":\(number),"a":"p","b":{"p":"/count/\(name)",\
      "d":{".sv":{"increment":1}},"w":["\(name)",\(number)]}}}
      """
    }

    /// What is done when the connection of a round ends.
    func farewell(_ round: Int) -> String {
      """
      {"t":"d","d":{"r":\(ServeKillTests.farewellStart + round),"a":"o","b":{"p":"/gone/\(name)/r\(round)",\
      "d":{".sv":{"increment":1}}}}}
      """
    }

    mutating func take(_ answer: String) throws {
      let data = try JSONValue(parsing: answer)["d"]
      guard data?["b"]?["s"] == "ok", let number = data?["r"]?.int else { return }
      if number >= ServeKillTests.farewellStart {
        farewells.insert(number - ServeKillTests.farewellStart)
      } else {
        unanswered.removeAll { $0 == number }
      }
    }
  }

  @Test(arguments: Seeds.byChance())
  func writesAreDoneOnceHoweverOftenTheServerIsKilled(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let database = try TestDatabase("{\"a\":1}")
    var writers = (0..<ServeKillTests.writerCount).map { Writer(name: "w\($0)") }
    for round in 0..<ServeKillTests.killCount {
      let served = try Served([database.file, "--no-access-log"])
      let clients = try connections(to: served)
      for index in writers.indices {
        try clients[index].sendText(writers[index].farewell(round))
        for _ in 0..<ServeKillTests.newWriteCount {
          writers[index].sent += 1
          writers[index].unanswered.append(writers[index].sent)
        }
        try send(writers[index], on: clients[index])
      }
      // So many answers are read before the kill; the others may have been on their way.
      for index in writers.indices {
        let count = Int.random(in: 0...4, using: &random)
        try takeAnswers(&writers[index], clients[index], countMax: count)
      }
      try served.program.send(SIGKILL)
      for index in writers.indices { try takeAnswers(&writers[index], clients[index]) }
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

  private func send(_ writer: Writer, on client: RawClient) throws {
    for number in writer.unanswered { try client.sendText(writer.message(number)) }
  }

  /// Has everything answered that was not.
  private func finish(_ writers: inout [Writer], _ database: TestDatabase) throws {
    let served = try Served([database.file, "--no-access-log"])
    let clients = try connections(to: served)
    for index in writers.indices { try send(writers[index], on: clients[index]) }
    for index in writers.indices {
      try takeAnswers(&writers[index], clients[index])
      #expect(writers[index].unanswered.isEmpty)
    }
    try served.program.send(SIGTERM)
    #expect(try served.program.wait() == 0)
  }

  private func check(_ writers: [Writer], _ database: TestDatabase) throws {
    let counts = try JSONValue(parsing: database.get("/count"))
    let gone = try JSONValue(parsing: database.get("/gone"))
    for writer in writers {
      #expect(counts[writer.name]?.int == writer.sent, "\(writer.name)")
      for round in 0..<ServeKillTests.killCount {
        // One whose answer did not arrive may have been kept, or not.
        let count = gone[writer.name]?["r\(round)"]?.int ?? 0
        #expect(count <= 1, "\(writer.name), round \(round)")
        if writer.farewells.contains(round) { #expect(count == 1, "\(writer.name) \(round)") }
      }
    }
    #expect(try database.run(["doctor"]).status == 0)
  }

  /// Takes so many answers, or all that come until the connection ends or nothing is unanswered.
  private func takeAnswers(
    _ writer: inout Writer, _ client: RawClient, countMax: Int = .max
  ) throws {
    var count = 0
    while count < countMax, !writer.unanswered.isEmpty {
      // The server may be gone.
      guard let answer = try? client.readMessage() else { return }
      try writer.take(answer)
      count += 1
    }
  }
}
