import RunnelBase

/// How many calls of a service one connection of Socket.IO gets answered in a second, beside packets that the
/// server answers without a look at the tree.
struct ServedServicesBenchmark {
  private static let callCount = 20_000
  /// How many calls are under way at a time.
  private static let windowCount = 64
  private static let roundCount = 3

  let folder: TemporaryFolder

  func run(into report: inout Report) throws {
    let served = try ServedChild(file: folder.file("services.db"), ["--services", "things"])
    let client = try LoopbackConnection(port: served.port)
    try ServedServicesBenchmark.openSession(client)
    try client.send(frame(#"420["create","things",{"id":"a","n":1}]"#))
    // The event, and the answer.
    for _ in 0..<2 { _ = try client.readFrame() }
    let echo = try rate(client, #"["none","things",{}]"#)
    let get = try rate(client, #"["get","things","a",{}]"#)
    let find = try rate(client, #"["find","things",{"n":1}]"#)
    report.add(
      "get calls a second, one Socket.IO connection", text(get),
      baseline: text(echo) + " without the tree", ratio: get / echo, aim: .atLeast(0.8))
    report.add(
      "find calls a second, one record", text(find),
      baseline: text(echo) + " without the tree")
    try served.end()
  }

  private func text(_ rate: Double) -> String {
    Format.decimal(rate / 1000, digits: 1) + " k calls/s"
  }

  static func openSession(_ client: LoopbackConnection) throws {
    try client.send(
      Array(
        """
        GET /socket.io/?EIO=4&transport=websocket HTTP/1.1\r
        Host: localhost\r
        Upgrade: websocket\r
        Connection: Upgrade\r
        Sec-WebSocket-Version: 13\r
        Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r
        \r

        """.utf8))
    _ = try client.read(through: "\r\n\r\n")
    _ = try client.readFrame()
    try client.send(LoopbackConnection.frame(Array("40".utf8)))
    _ = try client.readFrame()
  }

  private func frame(_ text: String) -> [UInt8] { LoopbackConnection.frame(Array(text.utf8)) }

  /// The calls that are answered in a second: the most of several rounds.
  private func rate(_ client: LoopbackConnection, _ call: String) throws -> Double {
    let one = frame("4207" + call)
    let window = Array(
      repeatElement(one, count: ServedServicesBenchmark.windowCount).joined())
    let windowCount = ServedServicesBenchmark.callCount / ServedServicesBenchmark.windowCount
    var most = 0.0
    for _ in 0..<ServedServicesBenchmark.roundCount {
      let start = Timing.now
      for _ in 0..<windowCount {
        try client.send(window)
        for _ in 0..<ServedServicesBenchmark.windowCount { _ = try client.readFrame() }
      }
      let count = Double(windowCount * ServedServicesBenchmark.windowCount)
      most = max(most, count / Timing.seconds(since: start))
    }
    return most
  }
}
