import CPlatform
import RunnelBase
import RunnelDatabase
import RunnelTree

/// What a durable write costs until its event is there, in one session and from one to another.
struct WriteBenchmark {
  private static let writeCount = 500
  private static let waitMilliseconds: Int32 = 5000

  let demo: DemoInput
  let folder: TemporaryFolder

  func run(into report: inout Report) throws {
    let (own, plain) = try inOneSession()
    report.add(
      "a durable write until its event", own.summary, baseline: plain.summary,
      ratio: plain.median / own.median)
    report.add(
      "a write until its event in another database on the file", try betweenDatabases().summary)
  }

  private func inOneSession() throws -> (own: Samples, plain: Samples) {
    let file = folder.file("write.db")
    let session = try DatabaseSession(file: file, environment: .live)
    let place = try Path("/message")
    _ = try session.listen(ListenerID(1), request(place))
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
    return (ours, theirs)
  }

  private func request(_ place: Path) throws -> ListenRequest {
    ListenRequest(
      query: try Query(place).ordered(by: .key), paging: Paging(anchor: .last, count: 50))
  }

  private static func message(_ number: Int) -> JSONValue {
    [
      "created": .number(JSONNumber(1_788_111_900_000 + Int64(number))), "from": "zoe",
      "text": .string("Could somebody bring the long ladder on Saturday? (\(number))"),
    ]
  }

  // MARK: Two databases

  private func betweenDatabases() throws -> Samples {
    let file = folder.file("shared.db")
    let place = try Path("/message")
    let (writer, reader) = (try Mailbox(), try Mailbox())
    let writing = try Database(file: file, inbox: writer.inbox, environment: .live)
    let reading = try Database(file: file, inbox: reader.inbox, environment: .live)
    defer {
      writing.close()
      reading.close()
    }
    reading.submit(.listen(ListenerID(1), try request(place)))
    try reader.wait { if case .deliveries = $0 { true } else { false } }
    var samples = Samples()
    for number in 0..<WriteBenchmark.writeCount {
      let message = WriteBenchmark.message(number)
      try samples.measure {
        writing.submit(.push(number, place, message))
        try reader.wait { WriteBenchmark.tells(of: message, $0) }
      }
      try writer.wait { if case .written(number, _) = $0 { true } else { false } }
    }
    return samples
  }

  private static func tells(of json: JSONValue, _ message: DatabaseMessage) -> Bool {
    guard case .deliveries(let deliveries) = message else { return false }
    return deliveries.contains { $0.event.row?.node?.json == json }
  }

  /// An inbox that a thread can wait for.
  private struct Mailbox {
    let inbox: Inbox<DatabaseMessage>
    private let descriptor: Int32

    init() throws {
      let descriptor = runnel_eventfd_open()
      guard descriptor >= 0 else { throw BenchmarkError.system("eventfd") }
      self.descriptor = descriptor
      inbox = Inbox(limit: 1024) { _ = runnel_eventfd_signal(descriptor) }
    }

    /// Waits for a message; those before it are dropped.
    func wait(for isWanted: (DatabaseMessage) -> Bool) throws {
      while true {
        var answer: UInt8 = 0
        guard runnel_poll([descriptor], &answer, 1, WriteBenchmark.waitMilliseconds) > 0 else {
          throw BenchmarkError("A write was not told within five seconds.")
        }
        _ = runnel_eventfd_drain(descriptor)
        if inbox.drain().contains(where: isWanted) { return }
      }
    }
  }
}
