import Glibc
import RunnelBase
import RunnelDatabase
import RunnelTree

/// The figures of `runnel serve`, each beside its baseline of the same run, on loopback.
///
/// Clients are threads of this program, so that with two cores they take their share; those of the baselines
/// do too. Aims in milliseconds hold where the disk keeps a page in 0.3 ms; otherwise what it takes is added
/// for each commit on the way, and the line says so.
struct ServeBenchmark {
  /// How much is done.
  struct Scale {
    var writes: Int
    var subscribers: Int
    var messages: Int
    var idle: Int
    var listRows: Int
    var restartRows: Int
    var requests: Int

    static let quick = Scale(
      writes: 200, subscribers: 200, messages: 50, idle: 500, listRows: 10_000,
      restartRows: 20_000, requests: 300)
    static let full = Scale(
      writes: 1000, subscribers: 1000, messages: 200, idle: 5000, listRows: 100_000,
      restartRows: 1_000_000, requests: 2000)
  }

  private static let increment = LoopbackConnection.request(
    1, "p", "{\"p\":\"/count\",\"d\":{\".sv\":{\"increment\":1}}}")

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
    ServeBenchmark.raiseFileLimit()
  }

  private static func raiseFileLimit() {
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    limit.rlim_cur = limit.rlim_max
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
  }

  func run(into report: inout Report) throws {
    Output.note("serving writes")
    try writes(into: &report)
    Output.note("serving many listeners")
    try fanOut(into: &report)
    try latency(into: &report)
    Output.note("serving many queries")
    try queries(into: &report)
    Output.note("serving over HTTP")
    try requests(into: &report)
    Output.note("serving who does nothing")
    try idle(into: &report)
    Output.note("deciding by rules")
    try RulesBenchmark().run(into: &report)
    Output.note("starting on \(scale.restartRows) records")
    try restart(into: &report)
  }

  // MARK: Writes

  private func writes(into report: inout Report) throws {
    let served = try ServedChild(file: folder.file("writes.db"))
    let client = try served.socket()
    let answerBytes = try client.ask(ServeBenchmark.increment, number: 1)
    var ours = Samples()
    for _ in 0..<scale.writes {
      try ours.measure {
        try client.send(ServeBenchmark.increment)
        try client.read(answerBytes)
      }
    }
    let plain = try PlainSQLite(file: folder.file("writes-plain.db"))
    var commits = Samples()
    for number in 0..<scale.writes {
      try commits.measure { try plain.insert("\(number)", "{\"count\":\(number)}") }
    }
    try plain.close()
    let echo = try echoMedian(ServeBenchmark.increment)
    let baseline = commits.median + echo
    report.add(
      "a durable write until its answer, one client", ours.summary,
      baseline: Format.time(baseline), ratio: ours.median / baseline, aim: .atMost(1.3))
    let (most, words) = aim(milliseconds: 10, commits: 1)
    report.add(
      "  p99", Format.time(ours.quantile(0.99)), value: ours.quantile(0.99),
      aim: .below(most, words))
    try manyWriters(served, answerBytes, commitsASecond: 1 / commits.median, into: &report)
    try served.end()
  }

  /// An aim in milliseconds, and its words, with what the disk adds.
  private func aim(milliseconds: Double, commits: Int) -> (seconds: Double, words: String) {
    let words = Format.decimal(milliseconds, digits: 1) + " ms"
    let added = commitSeconds * Double(commits)
    return (
      milliseconds / 1000 + added, added == 0 ? words : words + " and " + Format.time(added)
    )
  }

  private func echoMedian(_ bytes: [UInt8]) throws -> Double {
    let server = try EchoServer()
    let client = try LoopbackConnection(port: server.port)
    var samples = Samples()
    for _ in 0..<scale.writes {
      try samples.measure {
        try client.send(bytes)
        try client.read(bytes.count)
      }
    }
    try server.stop()
    return samples.median
  }

  private func manyWriters(
    _ served: ServedChild, _ answerBytes: Int, commitsASecond: Double, into report: inout Report
  ) throws {
    for count in [1, 8, 64, 256] {
      let crowd = Crowd(try (0..<count).map { _ in try served.socket() })
      let each = max(scale.writes * 4 / count, 10)
      let seconds = try crowd.ask(
        ServeBenchmark.increment, answerBytes: answerBytes, countEach: each)
      let rate = Double(count * each) / seconds
      let what = "durable writes a second, \(count) clients"
      let (figure, baseline) = (rateText(rate), rateText(commitsASecond))
      if count == 64 {
        report.add(
          what, figure, baseline: baseline, ratio: rate / commitsASecond, aim: .atLeast(2))
      } else {
        report.add(what, figure, baseline: baseline, ratio: rate / commitsASecond)
      }
    }
  }

  private func rateText(_ rate: Double) -> String {
    rate < 10_000
      ? Format.decimal(rate, digits: 0) + "/s" : Format.decimal(rate / 1000, digits: 1) + " k/s"
  }

  // MARK: Listeners

  /// A put of a text of 100 characters.
  private func message(_ number: Int) -> [UInt8] {
    let digits = String(1_000_000 + number)
    let text = digits + String(repeating: "x", count: 100 - digits.count)
    return LoopbackConnection.request(1, "p", "{\"p\":\"/message\",\"d\":\"\(text)\"}")
  }

  private func fanOut(into report: inout Report) throws {
    let served = try ServedChild(file: folder.file("fan.db"))
    let writer = try served.socket()
    try writer.ask(message(0), number: 1)
    let all = try served.listeners(scale.subscribers, to: "/message")
    try writer.ask(message(1), number: 1)
    let frameBytes = try all[0].readFrame().count
    let crowd = Crowd(Array(all.dropFirst()))
    try crowd.read(bytesEach: frameBytes)
    let start = Timing.now
    try writer.send((2..<2 + scale.messages).flatMap { message($0) })
    try crowd.read(bytesEach: frameBytes * scale.messages)
    let delivered = Double((scale.subscribers - 1) * scale.messages)
    let ours = delivered / Timing.seconds(since: start)
    try served.end()
    let what = "messages a second to \(scale.subscribers) listeners of one place"
    guard let redis = try OtherServers.redis(folder) else {
      return report.add(what, rateText(ours))
    }
    let theirs = try redisRate(redis.port)
    try redis.child.end()
    report.add(
      what, rateText(ours), baseline: rateText(theirs) + " redis", ratio: ours / theirs,
      aim: .atLeast(0.7))
  }

  private func redisRate(_ port: Int) throws -> Double {
    let publisher = try LoopbackConnection(port: port)
    let all = try (0..<scale.subscribers).map { _ in
      let connection = try LoopbackConnection(port: port)
      try connection.send(Array("SUBSCRIBE message\r\n".utf8))
      _ = try connection.read(through: ":1\r\n")
      return connection
    }
    let text = String(repeating: "x", count: 100)
    let publish = Array("PUBLISH message \(text)\r\n".utf8)
    try publisher.send(publish)
    let messageBytes = try all[0].read(through: text + "\r\n").count
    let crowd = Crowd(Array(all.dropFirst()))
    try crowd.read(bytesEach: messageBytes)
    let start = Timing.now
    try publisher.send((0..<scale.messages).flatMap { _ in publish })
    try crowd.read(bytesEach: messageBytes * scale.messages)
    return Double((scale.subscribers - 1) * scale.messages) / Timing.seconds(since: start)
  }

  private func latency(into report: inout Report) throws {
    let served = try ServedChild(file: folder.file("latency.db"))
    let writer = try served.socket()
    let answerBytes = try writer.ask(message(0), number: 1)
    let all = try served.listeners(100, to: "/message")
    let others = Crowd(Array(all.dropFirst()))
    var (samples, frameBytes) = (Samples(), 0)
    for number in 1...scale.writes {
      let next = message(number)
      try samples.measure {
        try writer.send(next)
        frameBytes = try all[0].readFrame().count
      }
      try writer.read(answerBytes)
      try others.read(bytesEach: frameBytes)
    }
    try served.end()
    for (name, share, most) in [("p50", 0.5, 1.5), ("p99", 0.99, 10.0)] {
      let time = samples.quantile(share)
      let (limit, words) = aim(milliseconds: most, commits: 1)
      report.add(
        "a write until its event elsewhere, 100 connections, \(name)", Format.time(time),
        value: time, aim: .below(limit, words))
    }
  }

  // MARK: Queries

  private func queries(into report: inout Report) throws {
    let file = folder.file("queries.db")
    let session = try DatabaseSession(file: file, environment: .live)
    let rows = (0..<scale.listRows).map { number in
      "\"\(key(number))\":{\"n\":\(number),\"text\":\"row \(number)\"}"
    }
    let document = Array("{\"list\":{\(rows.joined(separator: ","))}}".utf8)
    _ = try document.withUnsafeBufferPointer { try session.importJSON($0, at: .root) }
    try session.close()
    var medians: [Double] = []
    for count in [1, 1000] {
      let served = try ServedChild(file: file)
      let listener = try served.socket()
      let step = max(scale.listRows / count, 1)
      for number in 0..<count {
        let first = key(number * step % scale.listRows)
        let query = #"{"i":".key","sp":"\#(first)","l":10,"vf":"l"}"#
        let body = #"{"p":"/list","q":\#(query),"t":\#(number + 1),"h":""}"#
        try listener.ask(
          LoopbackConnection.request(number + 10, "q", body), number: number + 10)
      }
      let writer = try served.socket()
      var samples = Samples()
      for number in 0..<scale.writes / 2 {
        let row = key(number * 7919 % scale.listRows)
        let write = LoopbackConnection.request(
          1, "p", #"{"p":"/list/\#(row)/n","d":-\#(number)}"#)
        try samples.measure { _ = try writer.ask(write, number: 1) }
      }
      medians.append(samples.median)
      try served.end()
    }
    report.add(
      "a write to a list of \(scale.listRows) under 1,000 different queries",
      Format.time(medians[1]), baseline: Format.time(medians[0]) + " under one",
      ratio: medians[1] / medians[0], aim: .atMost(10))
  }

  private func key(_ number: Int) -> String { "k\(10_000_000 + number)" }

  // MARK: HTTP

  private func requests(into report: inout Report) throws {
    let content = "{\"age\":36,\"name\":\"Ada\"}"
    let served = try ServedChild(file: folder.file("http.db"))
    let ours = try requestRate(served.port, "/users/ada.json", putting: content)
    try served.end()
    let what = "GET of a small value a second, keep-alive, 16 connections"
    guard let nginx = try OtherServers.nginx(folder, content: content) else {
      return report.add(what, rateText(ours))
    }
    let theirs = try requestRate(nginx.port, "/small.json", putting: nil)
    try nginx.child.end()
    report.add(
      what, rateText(ours), baseline: rateText(theirs) + " nginx", ratio: ours / theirs,
      aim: .atLeast(0.3))
  }

  private func requestRate(_ port: Int, _ target: String, putting content: String?) throws -> Double
  {
    let first = try LoopbackConnection(port: port)
    if let content {
      let put =
        "PUT \(target)?print=silent HTTP/1.1\r\nHost: localhost\r\n"
        + "Content-Length: \(content.utf8.count)\r\n\r\n\(content)"
      try first.send(Array(put.utf8))
      _ = try first.read(through: "\r\n\r\n")
    }
    let get = Array("GET \(target) HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8)
    try first.send(get)
    let head = try first.read(through: "\r\n\r\n").count
    let bodyBytes = "{\"age\":36,\"name\":\"Ada\"}".utf8.count
    try first.read(bodyBytes)
    let crowd = Crowd(try (0..<16).map { _ in try LoopbackConnection(port: port) })
    let seconds = try crowd.ask(get, answerBytes: head + bodyBytes, countEach: scale.requests)
    return Double(16 * scale.requests) / seconds
  }

  // MARK: Memory and start

  private func idle(into report: inout Report) throws {
    let served = try ServedChild(file: folder.file("idle.db"))
    // What the first ones cost, all have.
    let first = try served.listeners(50, to: "/idle")
    let before = served.figures.residentBytes
    let all = try served.listeners(scale.idle, to: "/idle")
    let each = (served.figures.residentBytes - before) / scale.idle
    withExtendedLifetime((first, all)) {}
    try served.end()
    report.add(
      "memory of an idle connection with a listen, of \(scale.idle)",
      Format.decimal(Double(each) / 1000, digits: 1) + " kB", value: Double(each),
      aim: .below(40_000, "40 kB"))
  }

  private func restart(into report: inout Report) throws {
    let file = folder.file("restart.db")
    let session = try DatabaseSession(file: file, environment: .live)
    let document = MessageInput(count: scale.restartRows).document()
    _ = try document.withUnsafeBufferPointer { try session.importJSON($0, at: .root) }
    try session.close()
    var samples = Samples()
    for _ in 0..<5 {
      let served = try ServedChild(file: file)
      samples.add(served.startSeconds)
      try served.end()
    }
    report.add(
      "start until ready with \(scale.restartRows) records", Format.time(samples.median),
      value: samples.median, aim: .below(0.1, "100 ms"))
  }
}
