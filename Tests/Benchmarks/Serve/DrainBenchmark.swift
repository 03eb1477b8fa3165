import Glibc
import RunnelApp
import RunnelBase
import RunnelDatabase
import RunnelNetwork
import RunnelServices
import RunnelServicesNetwork
import RunnelServicesTree
import RunnelTree
import RunnelWorkspace

/// How fast records that were created without a connection reach a server's service, beside the rate at which the
/// server answers creations to one connection that does nothing else.
struct DrainBenchmark {
  private static let createCount = 10_000
  /// The number of calls that a replica has under way at most.
  private static let windowCount = 16

  let folder: TemporaryFolder

  func run(into report: inout Report) throws {
    let served = try ServedChild(
      file: folder.file("drain.db"), ["--services", "things", "--services", "others"])
    let count = Double(DrainBenchmark.createCount)
    let bare = count / (try bareSeconds(served.port))
    let replica = folder.file("drain-replica.db")
    defer { folder.removeDatabase(replica) }
    let (taken, port) = (Taken(), served.port)
    try Waiting.run { taken.seconds = try await DrainBenchmark.drain(replica, port) }
    let rate = count / taken.seconds
    report.add(
      "creations a second, of 10,000 that waited", DrainBenchmark.text(rate),
      baseline: DrainBenchmark.text(bare) + " of one connection", ratio: rate / bare,
      aim: .atLeast(0.7))
    try served.end()
  }

  /// The result of work for which a thread waits.
  private final class Taken: @unchecked Sendable {
    // Written before the wait ends, and read after it.
    var seconds = 0.0
  }

  private static func text(_ rate: Double) -> String {
    Format.decimal(rate, digits: 0) + " writes/s"
  }

  private static func record(_ number: Int) -> JSONValue {
    ["text": .string("words of the record \(number)"), "rank": .number(JSONNumber(Int64(number)))]
  }

  /// The seconds that the server takes for as many creations.
  private func bareSeconds(_ port: Int) throws -> Double {
    let client = try LoopbackConnection(port: port)
    try ServedServicesBenchmark.openSession(client)
    let start = Timing.now
    for first in stride(from: 0, to: DrainBenchmark.createCount, by: DrainBenchmark.windowCount) {
      let end = min(first + DrainBenchmark.windowCount, DrainBenchmark.createCount)
      for number in first..<end {
        let call = #"4207["create","others",\#(DrainBenchmark.record(number).jsonText())]"#
        try client.send(LoopbackConnection.frame(Array(call.utf8)))
      }
      // The event and the answer of each.
      for _ in 0..<(end - first) * 2 { _ = try client.readFrame() }
    }
    return Timing.seconds(since: start)
  }

  private enum Input: Sendable {
    case answered(Int, Result<JSONValue, FeathersError>)
    case event(ServiceEventRecord)
  }

  /// Sends what waits in a new replica; returns the seconds from the connection to the last answer.
  private static func drain(_ file: String, _ port: Int) async throws -> Double {
    let session = try DatabaseSession(file: file, environment: .live)
    try session.becomeReplica(ofOrigin: "feathers+http://localhost:\(port)/")
    for number in 0..<createCount {
      let digits = String(number)
      let key = "-O" + String(repeating: "0", count: 18 - digits.count) + digits
      _ = try session.write(.set(try Path("/things/\(key)"), record(number)))
    }
    guard let address = WebAddress("http://localhost:\(port)") else {
      throw BenchmarkError("The server has no address.")
    }
    let app = Feathers(provider: SocketProvider(address))
    defer { app.close() }
    let (bells, bell) = AsyncStream.makeStream(
      of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let inbox = Inbox<Input>(limit: .max) { bell.yield() }
    let service = app.service("things")
    // The connection is there when the clock starts.
    _ = try await service.find(ServiceQuery().limit(1))
    var listeners: [ServiceListener] = []
    var origin = ServiceOrigin()
    func carryOut(_ effects: [ServiceOrigin.Effect]) throws {
      for effect in effects {
        switch effect {
        case .call(let number, _, let request):
          Task {
            do throws(FeathersError) {
              let answer = try await service.request(request).json
              _ = inbox.post(.answered(number, .success(answer)))
            } catch {
              _ = inbox.post(.answered(number, .failure(error)))
            }
          }
        case .tell(let messages):
          _ = try session.receive(messages)
          try send()
        case .save(let sent): try keep(sent, beside: file)
        case .listen:
          listeners += [ServiceEvent.created, .updated, .patched, .removed].map {
            service.on($0) { _ = inbox.post(.event($0)) }
          }
        case .signedOut(let text), .note(let text): Output.note(text)
        case .asked, .declined, .limited, .troubled, .doubled: break
        }
      }
    }
    func send() throws {
      while true {
        let commands = session.takeOriginOutput().commands
        if commands.isEmpty { return }
        try carryOut(origin.send(commands, now: LocalTime.now()))
      }
    }
    let start = Timing.now
    origin.connected(pending: Set(session.pendingWrites.map(\.id)))
    _ = try session.connectOrigin(originTime: LocalTime.now())
    try send()
    var answeredCount = 0
    for await _ in bells {
      // As the workspace does: the events that have come, then the answers.
      let inputs = inbox.drain()
      let events = inputs.compactMap { input in
        if case .event(let record) = input { (record.path, record.event, record.data) } else { nil }
      }
      let answers = inputs.compactMap { input in
        if case .answered(let number, let answer) = input { (number, answer) } else { nil }
      }
      try carryOut(origin.take(events, now: LocalTime.now()))
      try carryOut(origin.answered(answers, now: LocalTime.now()))
      for (_, answer) in answers { if case .success = answer { answeredCount += 1 } }
      if answeredCount >= createCount, session.pendingWrites.isEmpty { break }
    }
    let seconds = Timing.seconds(since: start)
    listeners.forEach { $0.cancel() }
    try session.close()
    return seconds
  }

  /// Keeps on disk what was sent, as the workspace does.
  private static func keep(_ sent: SentWrites, beside file: String) throws {
    let path = file + "-sent"
    guard let target = fopen(path + ".new", "w") else { throw BenchmarkError.system("open") }
    let text = sent.json.jsonText()
    guard fputs(text, target) >= 0, fflush(target) == 0, fdatasync(fileno(target)) == 0 else {
      fclose(target)
      throw BenchmarkError.system("write")
    }
    fclose(target)
    if rename(path + ".new", path) != 0 { throw BenchmarkError.system("rename") }
  }
}
