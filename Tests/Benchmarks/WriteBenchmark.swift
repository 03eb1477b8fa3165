import RunnelBase
import RunnelDatabase
import RunnelTree

/// What a durable write costs until its event is there, beside a row that sqlite3 commits.
struct WriteBenchmark {
  private static let writeCount = 1000

  let folder: TemporaryFolder

  func run(into report: inout Report) throws {
    let session = try DatabaseSession(file: folder.file("write.db"), environment: .live)
    let place = try Path("/message")
    _ = try session.listen(ListenerID(1), WriteBenchmark.request(place))
    let plain = try PlainSQLite(file: folder.file("write-plain.db"))
    var (ours, theirs) = (Samples(), Samples())
    for number in 0..<WriteBenchmark.writeCount {
      let message = WriteBenchmark.message(number)
      let (key, answer) = try ours.measure { try session.push(message, to: place) }
      guard answer.contains(where: { $0.event.row?.key == key }) else {
        throw BenchmarkError("A write was not told to the listener.")
      }
      let text = message.jsonText()
      try theirs.measure { try plain.insert("/message/\(key.text)", text) }
    }
    try session.close()
    try plain.close()
    report.add(
      "a durable write until its event", Format.time(ours.median),
      baseline: Format.time(theirs.median), ratio: ours.median / theirs.median, aim: .atMost(1.5))
  }

  static func request(_ place: Path) throws -> ListenRequest {
    ListenRequest(
      query: try Query(place).ordered(by: .key), paging: Paging(anchor: .last, count: 50))
  }

  static func message(_ number: Int) -> JSONValue {
    [
      "created": .number(JSONNumber(1_788_111_900_000 + Int64(number))), "from": "zoe",
      "text": .string("Could somebody bring the long ladder on Saturday? (\(number))"),
    ]
  }
}
