import RunnelApp
import RunnelBase
import RunnelDatabase
import RunnelServices
import RunnelServicesTree
import RunnelTree

/// What the workspace's list of 10,000 records of a service costs under 1,000 events a second, from the event to the
/// painted frame: the origin, the replica in its file, the list and the canvas; and how often the service is asked.
///
/// The clock is that of the events: 20 of them are a frame, and 50 frames a second.
struct ServiceOriginBenchmark {
  private static let openCount = 10_000
  private static let seconds = 20
  private static let start: Int64 = 1_788_000_000_000

  let folder: TemporaryFolder

  func run(into report: inout Report) throws {
    for isFiltered in [true, false] {
      let file = folder.file("live-find-\(isFiltered).db")
      defer { folder.removeDatabase(file) }
      let list = try WatchedList(file, isFiltered: isFiltered)
      var samples = Samples()
      for frame in 1...EventStorm.framesPerSecond * ServiceOriginBenchmark.seconds {
        let events = list.storm.frame().map {
          (path: "things", event: $0.event, record: $0.record)
        }
        try samples.measure { try list.take(events, frame) }
      }
      let words = isFiltered ? "10,000 records that fit a condition" : "10,000 of 20,000 records"
      report.add(
        "a painted frame with 20 events, \(words) of a service", samples.summary,
        value: samples.quantile(0.99), aim: .below(0.05, "50 ms, 99 of 100"))
      report.add(
        "  questions to the service in a second, at most", "\(list.counts.most)",
        baseline: "\(list.counts.total) in \(ServiceOriginBenchmark.seconds) s",
        value: Double(list.counts.most), aim: .atMost(2))
      try list.close()
    }
  }

  /// A list of the workspace on a replica, and the service that it shows.
  private final class WatchedList {
    var storm = EventStorm(openCount: openCount)
    private(set) var counts = FindCounts()
    private let session: DatabaseSession
    private let workspace: HeadlessWorkspace
    private var origin = ServiceOrigin()
    private var frame = 0

    init(_ file: String, isFiltered: Bool) throws {
      session = try DatabaseSession(file: file, environment: .live)
      try session.becomeReplica(ofOrigin: "feathers+http://bench/")
      workspace = try HeadlessWorkspace(
        views: """
          views:
            - name: Things
              path: /things
              order: rank
              page: 10000
              keep: off
          \(isFiltered ? "    where: open" : "")
              columns: [{ field: rank, width: 9 }, { field: text }]
          """, session: session, now: start)
      origin.connected(pending: [])
      workspace.receive(try session.connectOrigin(originTime: start))
      try send()
      workspace.paint()
      guard workspace.rowCount > openCount / 2, origin.isSettled else {
        throw BenchmarkError("\(workspace.rowCount) rows are shown.")
      }
      counts = FindCounts()
    }

    private var now: Int64 { start + Int64(frame * 1000 / EventStorm.framesPerSecond) }

    /// Takes the events of a frame, and paints it.
    func take(
      _ events: [(path: String, event: ServiceEvent, record: JSONValue)], _ frame: Int
    ) throws {
      self.frame = frame
      try carryOut(origin.take(events, now: now))
      workspace.paint()
    }

    private func send() throws {
      while true {
        let commands = session.takeOriginOutput().commands
        if commands.isEmpty { return }
        try carryOut(origin.send(commands, now: now))
      }
    }

    private func carryOut(_ effects: [ServiceOrigin.Effect]) throws {
      for effect in effects {
        switch effect {
        case .call(let number, _, let request):
          counts.note(inFrame: frame)
          let answer = try storm.answer(to: request.query)
          try carryOut(origin.answered(number, .success(answer), now: now))
        case .tell(let messages):
          workspace.receive(try session.receive(messages))
          try send()
        default: break
        }
      }
    }

    func close() throws { try session.close() }
  }
}
