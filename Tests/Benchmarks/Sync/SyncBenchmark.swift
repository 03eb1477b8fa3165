import Glibc
import RunnelBase
import RunnelClient
import RunnelDatabase
import RunnelSync
import RunnelTree

/// The figures of a server's database in the workspace and in a program, each beside its baseline of
/// the same run, on loopback.
///
/// Aims in milliseconds hold where the disk keeps a page in 0.3 ms; see `ServeBenchmark`.
struct SyncBenchmark {
  /// How much is done.
  struct Scale {
    var messages: Int
    var sent: Int
    var loaded: Int
    var queued: Int
    var idleSeconds: Int

    static let quick = Scale(
      messages: 20_000, sent: 40, loaded: 10_000, queued: 1000, idleSeconds: 10)
    static let full = Scale(
      messages: 1_000_000, sent: 200, loaded: 100_000, queued: 10_000, idleSeconds: 60)
  }

  /// The option by which this program is told to fill a replica, as another process.
  static let loadOption = "--load-replica"
  /// The number of rows of a window when a replica is filled.
  private static let windowRows = 20_000
  private static let windowCount = 100
  private static let runCount = 10
  /// How many writes one socket sends before it reads their answers.
  private static let pipelined = 500

  let folder: TemporaryFolder
  let scale: Scale
  /// What the disk adds to an aim in milliseconds for one commit, in seconds.
  private let commitSeconds: Double

  /// Times the disk.
  init(folder: TemporaryFolder, isQuick: Bool, into report: inout Report) throws {
    (self.folder, scale) = (folder, isQuick ? .quick : .full)
    let syncs = try DiskTiming.syncs(in: folder)
    commitSeconds = syncs.median < DiskTiming.fastSeconds ? 0 : syncs.median
    report.add(
      "200 times fdatasync" + (commitSeconds == 0 ? "" : ", added to aims in ms"), syncs.summary)
  }

  func run(into report: inout Report) throws {
    Output.note("making the demo with \(scale.messages) messages")
    let demo = try DemoInput(messageCount: scale.messages, in: folder)
    let served = try ServedChild(file: demo.database)
    try open(demo, served, into: &report)
    // What is sent pushes the demo's newest message off the screen, for which the others wait.
    try rest(demo, served, into: &report)
    try send(demo, served, into: &report)
    try served.end()
    Output.note("connecting again")
    try reconnect(into: &report)
    Output.note("loading for the first time")
    try load(into: &report)
    Output.note("sending what waits")
    try sendQueued(into: &report)
  }

  // MARK: The workspace

  /// The program on a replica, whose folder of data is the one of this run.
  private func workspace(_ demo: DemoInput, _ served: ServedChild) throws -> TerminalProgram {
    let program = try TerminalProgram([
      "open", "http://127.0.0.1:\(served.port)", "--no-session", "--views", demo.viewsFile,
      "--cache", "4GB",
    ])
    try program.wait(for: "the newest message") { $0.contains(demo.newestText) }
    return program
  }

  private func open(
    _ demo: DemoInput, _ served: ServedChild, into report: inout Report
  ) throws {
    Output.note("filling a replica")
    let address = "http://127.0.0.1:\(served.port)"
    let file = try ReplicaFolder.file(
      for: OriginAddress(address), user: "", environment: ["XDG_DATA_HOME": folder.path])
    setenv("XDG_DATA_HOME", folder.path, 1)
    _ = try Child.run(
      [SyncBenchmark.loadOption, address, file, DemoInput.collection], program: "/proc/self/exe")
    Output.note("opening it")
    var (ours, local) = (Samples(), Samples())
    // The first start of each makes the indexes.
    try workspace(demo, served).quit()
    try TerminalProgram(opening: demo).quit()
    for _ in 0..<SyncBenchmark.runCount {
      let replica = try workspace(demo, served)
      ours.add(Timing.seconds(since: replica.start))
      try replica.quit()
      let program = try TerminalProgram(opening: demo)
      local.add(Timing.seconds(since: program.start))
      try program.quit()
    }
    let what = "exec to list, a replica of \(scale.messages) messages"
    report.add(
      what, Format.time(ours.median), baseline: Format.time(local.median) + " local file",
      ratio: ours.median / local.median, aim: .atMost(1.5))
    report.add(
      "  itself", Format.time(ours.median), value: ours.median, aim: .below(0.06, "60 ms"))
  }

  private func send(
    _ demo: DemoInput, _ served: ServedChild, into report: inout Report
  ) throws {
    Output.note("sending messages")
    let replica = try workspace(demo, served)
    let (shown, acknowledged) = try replica.timeMessages(count: scale.sent)
    let events = try timeEvents(replica, served)
    try replica.quit()
    let copy = folder.file("local.db")
    let session = try DatabaseSession(file: copy, environment: .live)
    try session.close()
    let local = try TerminalProgram([
      "--no-session", "--database", copy, "--views", demo.viewsFile,
    ])
    try local.wait(for: "an empty list") { $0.contains("nothing here yet") }
    let baseline = try local.timeMessages(count: scale.sent).saved
    try local.quit()
    report.add(
      "Enter to the saved row, on a server's database", shown.summary,
      baseline: Format.time(baseline.median) + " local", ratio: shown.median / baseline.median,
      aim: .atMost(1.2))
    // Both the replica and the server write to the disk.
    let limit = 0.005 + 2 * commitSeconds
    let words = "5 ms" + (commitSeconds == 0 ? "" : " and " + Format.time(2 * commitSeconds))
    let answered = acknowledged.quantile(0.95)
    report.add(
      "  Enter to the acknowledged row, p95", Format.time(answered),
      baseline: "p50 " + Format.time(acknowledged.median), value: answered,
      aim: .below(limit, words))
    let p95 = events.quantile(0.95)
    report.add(
      "  Enter to another client's event, p95", Format.time(p95),
      baseline: "p50 " + Format.time(events.median), value: p95, aim: .below(limit, words))
  }

  /// The times from Enter until another client is told of the message.
  private func timeEvents(_ program: TerminalProgram, _ served: ServedChild) throws -> Samples {
    let socket = try served.socket()
    let query = #"{"i":".key","l":1,"vf":"r"}"#
    try socket.ask(
      LoopbackConnection.request(
        1, "q", #"{"p":"\#(DemoInput.collection)","q":\#(query),"t":1,"h":""}"#), number: 1)
    var samples = Samples()
    try program.strike("a")
    for number in 0..<scale.sent {
      let text = "event \(100_000 + number)"
      try program.type(text)
      try samples.measure {
        try program.strike("\r")
        while !String(decoding: try socket.readFrame(), as: UTF8.self).contains(text) {}
      }
      try program.waitForSaved(text)
    }
    try program.strike("\u{7}")
    try program.rest(milliseconds: 200)
    return samples
  }

  /// What the workspace costs while nothing happens.
  private func rest(
    _ demo: DemoInput, _ served: ServedChild, into report: inout Report
  ) throws {
    Output.note("doing nothing, connected")
    let program = try workspace(demo, served)
    try program.rest(milliseconds: 3000)
    let figures = ProcessFigures(processID: program.processID)
    let woken = try figures.wakes {
      try program.rest(milliseconds: scale.idleSeconds * 1000)
    }
    try program.quit()
    let aMinute = Double(woken) * 60 / Double(scale.idleSeconds)
    report.add(
      "idle and connected, wakes a minute of all threads", Format.decimal(aMinute, digits: 1),
      value: aMinute, aim: .atMost(4))
  }

  // MARK: The library

  private func reconnect(into report: inout Report) throws {
    let file = folder.file("windows.db")
    let session = try DatabaseSession(file: file, environment: .live)
    let lists = (0..<SyncBenchmark.windowCount).map { list in
      let rows = (0..<200).map { "\"row\(1000 + $0)\":{\"n\":\($0),\"text\":\"row \($0)\"}" }
      return "\"list\(list)\":{\(rows.joined(separator: ","))}"
    }
    let document = Array("{\(lists.joined(separator: ","))}".utf8)
    _ = try document.withUnsafeBufferPointer { try session.importJSON($0, at: .root) }
    try session.close()
    let served = try ServedChild(file: file)
    let proxy = try CountingProxy(to: served.port)
    let (port, replica) = (proxy.port, folder.file("windows-replica.db"))
    var samples = Samples()
    var bytes = 0
    let client = ClientBox()
    try Waiting.run {
      let database = try await Database.connect(to: "http://127.0.0.1:\(port)", file: replica)
      client.set(database)
      for list in 0..<SyncBenchmark.windowCount {
        let query = try database.reference(withPath: "list\(list)").queryOrderedByKey()
          .queryLimited(toLast: 50)
        query.keepSynced(true)
        guard try await query.get().childrenCount == 50 else {
          throw BenchmarkError("A window does not have 50 rows.")
        }
      }
    }
    for _ in 0..<5 {
      try Waiting.run { try await client.goOffline() }
      let before = proxy.byteCount
      try samples.measure { try Waiting.run { try await client.goOnline() } }
      bytes = max(bytes, proxy.byteCount - before)
    }
    client.close()
    try proxy.stop()
    try served.end()
    report.add(
      "connecting again with \(SyncBenchmark.windowCount) unchanged windows of 50 rows",
      Format.time(samples.median), value: samples.median, aim: .below(0.2, "200 ms"))
    report.add(
      "  bytes on the wire then", "\(bytes)", value: Double(bytes), aim: .below(40_000, "40 kB"))
  }

  private func load(into report: inout Report) throws {
    let file = folder.file("load.db")
    let session = try DatabaseSession(file: file, environment: .live)
    let document = MessageInput(count: scale.loaded).document()
    _ = try document.withUnsafeBufferPointer { try session.importJSON($0, at: .root) }
    try session.close()
    let served = try ServedChild(file: file)
    let address = "http://127.0.0.1:\(served.port)"
    let place = "/" + MessageInput.collection
    let ours = try Child.run(
      [SyncBenchmark.loadOption, address, folder.file("load-replica.db"), place, "whole"],
      program: "/proc/self/exe")
    let pulled = try Child.run(["sync", "pull", address + place, folder.file("pulled.db")])
    try served.end()
    report.add(
      "first load of \(scale.loaded) records through a listen", Format.time(ours.seconds),
      baseline: Format.time(pulled.seconds) + " REST and import",
      ratio: ours.seconds / pulled.seconds, aim: .atMost(2))
    report.add(
      "  most memory of the client", Format.megabytes(ours.peakBytes),
      baseline: Format.megabytes(pulled.peakBytes), value: Double(ours.peakBytes),
      aim: .below(150_000_000, "150 MB"))
  }

  private func sendQueued(into report: inout Report) throws {
    let served = try ServedChild(file: folder.file("queued.db"))
    let port = served.port
    let (replica, count) = (folder.file("queued-replica.db"), scale.queued)
    let client = ClientBox()
    try Waiting.run {
      let database = try await Database.connect(to: "http://127.0.0.1:\(port)", file: replica)
      client.set(database)
      try await client.goOffline()
      for number in 0..<count {
        try await client.write(try database.reference(withPath: "mine/row\(number)"), number)
      }
    }
    var ours = Samples()
    try ours.measure {
      try Waiting.run {
        try await client.goOnline()
        try await client.acknowledgement()
      }
    }
    client.close()
    let socket = try served.socket()
    let requests = (0..<count).map { number in
      LoopbackConnection.request(
        number, "p",
        "{\"p\":\"/theirs/row\(number)\",\"d\":{\"n\":\(number),\"text\":\"row \(number)\"}}")
    }
    var theirs = Samples()
    try theirs.measure {
      for start in stride(from: 0, to: count, by: SyncBenchmark.pipelined) {
        let part = requests[start..<min(start + SyncBenchmark.pipelined, count)]
        try socket.send(Array(part.joined()))
        for _ in part { _ = try socket.readFrame() }
      }
    }
    try served.end()
    let (rate, baseline) = (Double(count) / ours.median, Double(count) / theirs.median)
    report.add(
      "writes a second, \(count) that waited offline", Format.decimal(rate, digits: 0) + "/s",
      baseline: Format.decimal(baseline, digits: 0) + "/s by one socket", ratio: rate / baseline,
      aim: .atLeast(0.7))
  }

  // MARK: As another process

  /// Loads a place of a server's database into a replica: in one listen, or window by window.
  static func loadReplica(_ address: String, _ file: String, _ place: String, isWhole: Bool) throws
  {
    try Waiting.run {
      let database = try await Database.connect(to: address, file: file)
      defer { database.close() }
      let reference = try database.reference(withPath: place)
      if isWhole {
        let count = try await reference.get().childrenCount
        if count == 0 { throw BenchmarkError("The server does not answer.") }
        return
      }
      var last: String?
      while true {
        var query = try reference.queryOrderedByKey()
        if let last { query = try query.queryStarting(afterValue: .string(last)) }
        let rows = try await query.queryLimited(toFirst: windowRows).get().children
        last = rows.last?.key
        if rows.count < windowRows { return }
      }
    }
  }
}

extension TerminalProgram {
  /// Types a text into the line at the bottom.
  func type(_ text: String) throws {
    try strike(text)
    try wait(for: text) { $0.contains(text) }
  }

  /// Waits until the only line with a text is that of a saved row.
  func waitForSaved(_ text: String) throws {
    try wait(for: "the saved row \(text)") { screen in
      let lines = (0..<TerminalProgram.rows).map { screen.line($0) }.filter { $0.contains(text) }
      return lines.count == 1 && !lines[0].contains("not saved")
    }
  }

  /// Sends messages by the line at the bottom; the times from Enter to the saved row, and to the row that
  /// no longer waits for a server.
  func timeMessages(count: Int) throws -> (saved: Samples, acknowledged: Samples) {
    var (saved, acknowledged) = (Samples(), Samples())
    try strike("a")
    for number in 0..<count {
      let text = "message \(100_000 + number)"
      try type(text)
      try rest(milliseconds: 40)
      let begin = Timing.now
      try strike("\r")
      try waitForSaved(text)
      saved.add(Timing.seconds(since: begin))
      try wait(for: "the acknowledged row \(text)") { screen in
        (0..<TerminalProgram.rows).map { screen.line($0) }
          .allSatisfy { !$0.contains(text) || !$0.contains("↑") }
      }
      acknowledged.add(Timing.seconds(since: begin))
    }
    try strike("\u{7}")
    try rest(milliseconds: 200)
    return (saved, acknowledged)
  }
}
