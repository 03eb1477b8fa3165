import Glibc
import PostgresCluster
import RunnelDatabase
import RunnelPostgres
import RunnelTree
import Synchronization

/// The figures of several servers of one store, each beside SQLite and the bare SQL of the same shape.
///
/// The cluster is one of its own, with a durable disk. Clients are this program, so that with two cores
/// they take their share.
struct SharedStoreBenchmark {
  /// How much is done.
  private struct Scale {
    var writes: Int
    var listeners: Int
    var messages: Int
    var rows: Int
    var clients: Int

    static let quick = Scale(writes: 200, listeners: 200, messages: 50, rows: 20_000, clients: 200)
    static let full = Scale(
      writes: 1000, listeners: 1000, messages: 200, rows: 1_000_000, clients: 1000)
  }

  private static let namespaces = (0..<64).map { "n\($0)" }
  private static let increment = LoopbackConnection.request(
    1, "p", "{\"p\":\"/count\",\"d\":{\".sv\":{\"increment\":1}}}")

  private let folder: TemporaryFolder
  private let scale: Scale
  private let cluster: PostgresCluster
  private let place: String
  /// A store with many namespaces.
  private let manyPlace: String

  /// Starts a cluster, and makes a store with a namespace, and one with many.
  init(folder: TemporaryFolder, isQuick: Bool) throws {
    (self.folder, scale) = (folder, isQuick ? .quick : .full)
    // Each server has a connection for each namespace.
    cluster = try PostgresCluster(isDurable: true, connectionCount: 400)
    place = try SharedStoreBenchmark.makeStore(["chat"], in: cluster)
    manyPlace = try SharedStoreBenchmark.makeStore(SharedStoreBenchmark.namespaces, in: cluster)
    let services = [("bench", place), ("many", manyPlace)].map { name, place in
      "[\(name)]\n" + place.split(separator: " ").joined(separator: "\n") + "\n"
    }
    setenv("PGSERVICEFILE", try folder.write(services.joined(), to: "pg_service.conf"), 1)
  }

  /// Makes a store with namespaces, which get the numbers from 1 on.
  private static func makeStore(
    _ names: [String], in cluster: PostgresCluster
  ) throws -> String {
    let place = try cluster.makeDatabase()
    let store = try PostgresStore(PostgresPlace(place))
    defer { store.close() }
    try store.makeTables()
    for name in names { try store.makeNamespace(named: name) }
    return place
  }

  func run(into report: inout Report) throws {
    report.add("200 times fdatasync", try DiskTiming.syncs(in: folder).summary)
    Output.note("writing to a store")
    let bare = try BareBatches(place)
    let one = try bare.time(perBatch: 1, count: scale.writes)
    let many = try bare.time(perBatch: 64, count: scale.writes / 4)
    bare.close()
    let plain = try PlainSQLite(file: folder.file("plain.db"))
    var commits = Samples()
    for number in 0..<scale.writes {
      try commits.measure { try plain.insert("\(number)", "{\"count\":\(number)}") }
    }
    var batches = Samples()
    for number in 0..<scale.writes / 4 {
      let rows = (0..<64).map { (key: "\(number)-\($0)", json: "{\"count\":\(number)}") }
      try batches.measure { try plain.insert(rows) }
    }
    try plain.close()
    report.add(
      "bare batches of one", one.summary, baseline: Format.time(commits.median) + " SQLite",
      ratio: one.median / commits.median)
    try single(one, into: &report)
    let bareRate = 64 / many.median
    report.add(
      "bare batches of 64, writes a second", rate(bareRate),
      baseline: rate(64 / batches.median) + " SQLite", ratio: bareRate * batches.median / 64)
    try crowd(serverCount: 1, clientCount: 64, bareRate, 0.25, into: &report)
    let three = try BareBatches.rate(
      place, of: [1, 1, 1], perBatch: 32, count: scale.writes / 8)
    report.add("3 connections, one namespace, bare batches of 32", rate(three))
    try crowd(serverCount: 3, clientCount: 96, three, 0.5, into: &report)
    try manyNamespaces(into: &report)
    Output.note("waking the other servers")
    try wakes(into: &report)
    Output.note("telling many listeners")
    try fanOut(into: &report)
    Output.note("killing a server")
    try kills(into: &report)
    Output.note("reading windows of \(scale.rows) rows")
    try windows(into: &report)
  }

  private func rate(_ rate: Double) -> String {
    rate < 10_000
      ? Format.decimal(rate, digits: 0) + "/s" : Format.decimal(rate / 1000, digits: 1) + " k/s"
  }

  private func serve(_ store: String = "bench") throws -> ServedChild {
    try ServedChild(store: store)
  }

  // MARK: Writes

  private func single(_ bare: Samples, into report: inout Report) throws {
    let served = try serve()
    let client = try served.socket()
    let answerBytes = try client.ask(SharedStoreBenchmark.increment, number: 1)
    var ours = Samples()
    for _ in 0..<scale.writes {
      try ours.measure {
        try client.send(SharedStoreBenchmark.increment)
        try client.read(answerBytes)
      }
    }
    try served.end()
    report.add(
      "a durable write until its answer, one client, as a rate", ours.summary,
      baseline: Format.time(bare.median), ratio: bare.median / ours.median, aim: .atLeast(0.8))
  }

  private func crowd(
    serverCount: Int, clientCount: Int, _ bareRate: Double, _ aim: Double,
    into report: inout Report
  ) throws {
    let servers = try (0..<serverCount).map { _ in try serve() }
    let connections = try (0..<clientCount).map { try servers[$0 % serverCount].socket() }
    let answerBytes = try connections[0].ask(SharedStoreBenchmark.increment, number: 1)
    let before = servers.reduce(0) { $0 + $1.figures.cpuSeconds }
    let each = max(scale.writes * 8 / clientCount, 20)
    let seconds = try Crowd(connections).ask(
      SharedStoreBenchmark.increment, answerBytes: answerBytes, countEach: each)
    let count = Double(clientCount * each)
    let cpu = (servers.reduce(0) { $0 + $1.figures.cpuSeconds } - before) / count
    for server in servers { try server.end() }
    let words = serverCount == 1 ? "1 server" : "\(serverCount) servers, one namespace"
    report.add(
      "writes a second, \(clientCount) clients, \(words)", rate(count / seconds),
      baseline: rate(bareRate), ratio: count / seconds / bareRate, aim: .atLeast(aim))
    report.add("  processor time of the servers for a write", Format.time(cpu))
  }

  /// Three servers and 64 namespaces, with a client of each namespace on each server.
  private func manyNamespaces(into report: inout Report) throws {
    let numbers = (1...Int64(SharedStoreBenchmark.namespaces.count)).flatMap { [$0, $0, $0] }
    let each = max(scale.writes / 20, 5)
    let bareRate = try BareBatches.rate(manyPlace, of: numbers, perBatch: 1, count: each)
    report.add("3 connections for each of 64 namespaces, bare batches of one", rate(bareRate))
    let servers = try (0..<3).map { _ in try serve("many") }
    let connections = try servers.flatMap { server in
      try SharedStoreBenchmark.namespaces.map { try server.socket(to: $0) }
    }
    let answerBytes = try connections[0].ask(SharedStoreBenchmark.increment, number: 1)
    let seconds = try Crowd(connections).ask(
      SharedStoreBenchmark.increment, answerBytes: answerBytes, countEach: each)
    for server in servers { try server.end() }
    let ours = Double(connections.count * each) / seconds
    report.add(
      "writes a second, 192 clients, 3 servers, 64 namespaces", rate(ours),
      baseline: rate(bareRate), ratio: ours / bareRate, aim: .atLeast(0.5))
  }

  // MARK: Listeners

  private func wakes(into report: inout Report) throws {
    let (one, two) = (try serve(), try serve())
    let writer = try one.socket()
    let answerBytes = try writer.ask(SharedStoreBenchmark.increment, number: 1)
    let listener = try two.listeners(1, to: "/count")[0]
    // Until the first server knows of the second.
    var samples = Samples()
    for number in 0..<(scale.writes + 20) {
      let start = Timing.now
      try writer.send(SharedStoreBenchmark.increment)
      _ = try listener.readFrame()
      if number >= 20 { samples.add(Timing.seconds(since: start)) }
      try writer.read(answerBytes)
    }
    try one.end()
    try two.end()
    report.add(
      "a write at one server until its event at another", samples.summary, value: samples.median,
      aim: .below(0.003, "3 ms"))
    let late = samples.quantile(0.99)
    report.add("  p99", Format.time(late), value: late, aim: .below(0.025, "25 ms"))
  }

  private func message(_ number: Int) -> [UInt8] {
    let digits = String(1_000_000 + number)
    let text = digits + String(repeating: "x", count: 100 - digits.count)
    return LoopbackConnection.request(1, "p", "{\"p\":\"/message\",\"d\":\"\(text)\"}")
  }

  private func deliveries(serverCount: Int) throws -> Double {
    let servers = try (0..<serverCount).map { _ in try serve() }
    let writer = try servers[0].socket()
    try writer.ask(message(0), number: 1)
    let all = try (0..<3).flatMap {
      try servers[$0 % serverCount].listeners(scale.listeners, to: "/message")
    }
    try writer.ask(message(1), number: 1)
    let frameBytes = try all[0].readFrame().count
    let crowd = Crowd(Array(all.dropFirst()))
    try crowd.read(bytesEach: frameBytes)
    let start = Timing.now
    // One after another: what other servers wrote in the meantime is told once.
    for number in 2..<2 + scale.messages {
      try writer.send(message(number))
      try crowd.read(bytesEach: frameBytes)
    }
    let seconds = Timing.seconds(since: start)
    for server in servers { try server.end() }
    return Double((all.count - 1) * scale.messages) / seconds
  }

  private func fanOut(into report: inout Report) throws {
    let three = try deliveries(serverCount: 3)
    let one = try deliveries(serverCount: 1)
    report.add(
      "messages a second to 3 x \(scale.listeners) listeners of 3 servers", rate(three),
      baseline: rate(one) + " one server", ratio: three / one, aim: .atLeast(0.8))
  }

  // MARK: Failures

  private func kills(into report: inout Report) throws {
    let (one, two) = (try serve(), try serve())
    let before = try one.listeners(scale.clients, to: "/count")
    one.child.destroy()
    let start = Timing.now
    let after = try two.listeners(before.count, to: "/count")
    let seconds = Timing.seconds(since: start)
    withExtendedLifetime(before) {}
    withExtendedLifetime(after) {}
    try two.end()
    report.add(
      "a server killed under \(scale.clients) clients, until all are live again",
      Format.time(seconds), value: seconds, aim: .below(3, "3 s"))
  }

  // MARK: Windows

  private func windows(into report: inout Report) throws {
    let store = try PostgresStore(PostgresPlace(place))
    defer { store.close() }
    guard let namespace = try store.namespace(named: "chat") else {
      throw BenchmarkError("The namespace is gone.")
    }
    try store.writeRules(
      "{\"rules\":{\".read\":true,\".write\":true,\"list\":{\".indexOn\":\"n\"}}}", of: namespace,
      now: 1)
    var text = Array("{".utf8)
    for number in 0..<scale.rows {
      let key = String(10_000_000 + number)
      text += Array(
        "\(number == 0 ? "" : ",")\"k\(key)\":{\"n\":\(number * 7919 % scale.rows)}".utf8)
    }
    text += Array("}".utf8)
    try text.withUnsafeBufferPointer { bytes in
      try store.write(to: namespace) { try $0.importJSON(bytes, at: Path("/list"), now: 1) }
    }
    try store.connection.perform([PostgresStatement("ANALYZE")])
    let served = try serve()
    // The root has a split node too: that of the list is named by its key.
    let parent = try store.connection.perform([
      PostgresStatement(
        "SELECT split FROM node WHERE ns = 1 AND json IS NULL AND position($1 IN key) > 0",
        .bytes(Array("list".utf8)))
    ])[0].integer(0, 0)
    let byKey = PostgresStatement(
      "SELECT key, json FROM node WHERE ns = 1 AND parent = $1 ORDER BY key DESC LIMIT 100",
      .integer(parent ?? 0))
    let byIndex = PostgresStatement(
      """
      SELECT e.key, n.json FROM index_entry e JOIN node n
      ON n.ns = e.ns AND n.parent = e.parent AND n.key = e.key
      WHERE e.ns = 1 AND e.parent = $1 AND e.definition = 1 ORDER BY e.value DESC, e.key DESC LIMIT 100
      """, .integer(parent ?? 0))
    for (what, order, bare) in [("key", "%24key", byKey), ("an index", "n", byIndex)] {
      let client = try LoopbackConnection(port: served.port)
      var (ours, theirs) = (Samples(), Samples())
      for number in 0..<100 {
        let rows = try theirs.measure { try store.connection.perform([bare])[0] }
        guard rows.count == 100 else {
          throw BenchmarkError("The bare query found \(rows.count) rows.")
        }
        // Each asks for a window that nobody keeps.
        let target = "/list.json?orderBy=%22\(order)%22&limitToLast=\(100 - number % 2)&x=\(number)"
        try ours.measure {
          try client.send(Array("GET \(target) HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8))
          try client.readResponse()
        }
      }
      report.add(
        "a window of 100 of \(scale.rows) by \(what), over HTTP", ours.summary,
        baseline: Format.time(theirs.median), ratio: ours.median / theirs.median, aim: .atMost(1.5))
    }
    try served.end()
  }
}

/// The statements of a batch as a server sends them, without anything else.
private struct BareBatches {
  private let connection: PostgresConnection
  private let namespace: Int64
  private let server: PostgresIdentifier

  init(_ place: String, namespace: Int64 = 1) throws {
    self.namespace = namespace
    connection = try PostgresConnection(PostgresPlace(place))
    let lease = StoreLease(address: "")
    try lease.begin(connection)
    server = lease.identifier
  }

  func close() { connection.close() }

  /// How many writes a second connections do at once, each so many batches to its namespace.
  static func rate(
    _ place: String, of namespaces: [Int64], perBatch: Int, count: Int
  ) throws -> Double {
    let failure = Mutex<(any Error)?>(nil)
    let readyCount = Mutex(0)
    // The last one that is ready begins.
    let start = Mutex(Timing.now)
    let threads = try namespaces.map { _ in try TreeExecutor(label: "bench") }
    for (thread, namespace) in zip(threads, namespaces) {
      thread.submit {
        do {
          let bare = try BareBatches(place, namespace: namespace)
          defer { bare.close() }
          readyCount.withLock { $0 += 1 }
          start.withLock { $0 = Timing.now }
          while readyCount.withLock({ $0 }) < namespaces.count {
            if failure.withLock({ $0 != nil }) { return }
            usleep(500)
          }
          for number in 0..<count { try bare.perform(perBatch, Int64(number)) }
        } catch {
          failure.withLock { $0 = error }
        }
      }
    }
    for thread in threads { thread.submitAndWait {} }
    let seconds = Timing.seconds(since: start.withLock { $0 })
    if let error = failure.withLock({ $0 }) { throw error }
    return Double(namespaces.count * count * perBatch) / seconds
  }

  /// The times of batches of so many writes to records of their own.
  func time(perBatch: Int, count: Int) throws -> Samples {
    var samples = Samples()
    for number in 0..<count { try samples.measure { try perform(perBatch, Int64(number)) } }
    return samples
  }

  private func perform(_ writes: Int, _ number: Int64) throws {
    let begun = try connection.perform([
      PostgresStatement("BEGIN"),
      PostgresStatement(
        "SELECT head, floor, last_at, next_split, state FROM namespace WHERE ns = $1 FOR UPDATE",
        .integer(namespace)),
      PostgresStatement("SELECT 1 FROM server WHERE id = $1", .identifier(server)),
      PostgresStatement(
        """
        SELECT seq, server, batch, paths FROM feed WHERE ns = $1 AND seq >= $2
        ORDER BY seq LIMIT 1000
        """, .integer(namespace), .integer(.max)),
    ])
    let head = try begun[1].integer(0, 0) ?? 0
    let numbers = (1...Int64(writes)).map { Optional($0) }
    let keys = (0..<writes).map { Optional(Array("w\($0)".utf8)) }
    let records = (0..<writes).map { _ in Optional(Array("{\"count\":\(number)}".utf8)) }
    try connection.perform([
      PostgresStatement(
        """
        INSERT INTO node (ns, parent, key, json) SELECT $3, -1, d.k, d.j FROM unnest($1, $2) d(k, j)
        ON CONFLICT (ns, parent, key) DO UPDATE SET json = excluded.json
        """, .byteStrings(keys), .byteStrings(records), .integer(namespace)),
      PostgresStatement(
        """
        INSERT INTO feed (ns, seq, at, server, batch, paths, parts)
        SELECT $5, d.s, 1, $1, $2, '["/count"]', d.j FROM unnest($3, $4) d(s, j)
        """, .identifier(server), .integer(number),
        .integers(numbers.map { $0.map { $0 + head } }), .byteStrings(records),
        .integer(namespace)),
      PostgresStatement(
        "UPDATE namespace SET head = $1, last_at = 1 WHERE ns = $2", .integer(head + Int64(writes)),
        .integer(namespace)),
      PostgresStatement("COMMIT"),
    ])
  }
}
