import Glibc
import RunnelBase
import TestSupport
import Testing

/// Counters after the end of programs that were performing operations.
@Suite struct ResourceCrashTests {
  private static let roundCount = LongRun.seeds == nil ? 10 : 30
  private static let resources = """
    log: /action
    resources:
      - name: group
        path: /group/@
        counters: [{ field: message_count, count: message }]
      - name: message
        path: /message/$group/@
        fields: { text: { kind: text, required: true } }
        counters: [{ field: like_count, count: like }]
        destroy-with: [{ owner: group }]
      - name: like
        path: /like/$group/$message/$user
        destroy-with: [{ owner: message }]
    """

  @Test(arguments: Seeds.byChance())
  func countersEqualCountsAfterKills(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let database = try TestDatabase(#"{"group":{"g":{"message_count":0,"name":"G"}}}"#)
    let file = try database.folder.write(ResourceCrashTests.resources, to: "r.yaml")
    var acknowledged = 0
    for round in 0..<ResourceCrashTests.roundCount {
      // Two write at once, and both are killed in the middle of it.
      let programs = try (0..<2).map { writer in
        let program = try database.start(["perform", "--lines", "--resources", file])
        try program.write(operations(round, writer, &random))
        return program
      }
      for program in programs {
        let count = Int.random(in: 1...20, using: &random)
        acknowledged += try program.readLines(countMax: count, milliseconds: 30_000).count
      }
      for program in programs {
        try program.send(SIGKILL)
        #expect(try program.wait() == -SIGKILL)
        acknowledged += try program.readLines(countMax: .max, milliseconds: 0).count
      }
      let doctor = try database.run(["doctor", "--resources", file])
      #expect(doctor.status == 0, "round \(round): \(doctor.output) \(doctor.errors)")
    }
    #expect(acknowledged > ResourceCrashTests.roundCount, "Too few operations to tell anything.")
    let messages = try members(database, "/message/g")
    #expect(try database.get("/group/g/message_count") == "\(messages.count)")
    for message in messages {
      let likes = try members(database, "/like/g/\(message.name)")
      #expect(message.value["like_count"] == .number(JSONNumber(Int64(likes.count))))
    }
    // Each change is logged in the write that does it: nothing was done that is not in the log.
    let log = try members(database, "/action").map(\.value)
    let kinds = log.filter { $0["resource"] == "message" }.map { $0["operation"] }
    let created = kinds.count { $0 == "create" }
    let destroyed = kinds.count { $0 == "destroy" }
    #expect(created - destroyed == messages.count)
  }

  private func members(_ database: TestDatabase, _ path: String) throws -> [JSONMember] {
    guard case .object(let members) = try JSONValue(parsing: database.get(path)) else { return [] }
    return members
  }

  /// Operations on the messages of a few keys and their likes, a line each.
  private func operations(
    _ round: Int, _ writer: Int, _ random: inout SeededRandom
  ) -> String {
    var lines = ""
    for number in 0..<200 {
      let message = "m\(Int.random(in: 0..<6, using: &random))"
      switch Int.random(in: 0..<10, using: &random) {
      case 0..<5:
        lines += ResourceCrashTests.line(
          "toggle", "/like/g/\(message)/u\(Int.random(in: 0..<3, using: &random))",
          "{\"at\":\(number)}")
      case 5..<8:
        lines += ResourceCrashTests.line(
          "create-or-update", "/message/g/\(message)",
          "{\"text\":\"\(round) \(writer) \(number)\"}")
      default: lines += ResourceCrashTests.line("destroy", "/message/g/\(message)", "null")
      }
    }
    return lines
  }

  private static func line(_ operation: String, _ path: String, _ value: String) -> String {
    "{\"operation\":\"\(operation)\",\"path\":\"\(path)\",\"value\":\(value)}\n"
  }
}
