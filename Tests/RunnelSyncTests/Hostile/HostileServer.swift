import RunnelBase
import RunnelSync
import RunnelTree

/// What must hold for whatever clients send: nothing crashes, what is answered can be read, and no more is kept
/// than the limits allow.
///
/// Each function gives nil, or says what does not hold. The test suite calls them, and so does a driver in
/// `Tests/Fuzzing`.
enum HostileServer {
  private static let data = #"{"a":{"b":1,"c":"x"},"list":{"k":{"n":1},"l":{"n":2}},"secret":1}"#
  private static let access = MemoryServedTree.Access(
    canRead: { query, caller, _ in
      caller.auth["uid"] != nil || isPublic(query.path)
    },
    canWrite: { parts, _, _, _ in parts.allSatisfy { isPublic($0.path) } })

  private static func isPublic(_ path: Path) -> Bool {
    path.keys.first.map { $0.text != "secret" } ?? false
  }

  private static func world() -> ServedWorld? {
    // The text above is JSON.
    try? ServedWorld(data, access: access)
  }

  /// What does not hold for the frames of a client, each in a line.
  static func violation(inFrames bytes: [UInt8]) -> String? {
    guard var world = world() else { return "there is no world" }
    var limits = WireLimits()
    (limits.listensMax, limits.requestsMax) = (5, 3)
    let (hostile, other) = (world.connect(limits: limits), world.connect())
    world.send(#"{"t":"d","d":{"r":1,"a":"q","b":{"p":"/list","h":""}}}"#, by: other)
    for (number, frame) in bytes.split(separator: UInt8(ascii: "\n")).prefix(64).enumerated() {
      let wasClosed = world.closes[hostile] != nil
      world.now.uptime += 1000
      world.change(hostile) { $0.receive(Array(frame), now: $1) }
      if number % 8 == 7 { world.change(hostile) { $0.advance(now: $1) } }
      for text in world.take(hostile) {
        if wasClosed { return "it was closed, and is told \(text)" }
        if (try? ServerMessage(Array(text.utf8))) == nil { return "\(text) cannot be read" }
        if text.contains("\"secret\":1") || text.contains(#""p":"secret","d":1"#),
          world.sessions[hostile]?.caller == .nobody
        {
          return "nobody is told a secret: \(text)"
        }
      }
    }
    if world.sessions[hostile].map({ $0.listenCount > 5 }) == true { return "too many listens" }
    if world.closes[other] != nil { return "another connection was closed" }
    world.change(hostile) { session, _ in session.closed() }
    let node = world.tree.tree.root
    guard let again = try? Node(json: node.exportJSON), again == node else {
      return "the tree is none any more"
    }
    // Administrators change what they want.
    let isOwner = String(decoding: bytes, as: UTF8.self).contains("owner")
    let secret = node[(try? Path("/secret")) ?? .root].exportJSON
    return isOwner || secret == 1 ? nil : "the secret was changed"
  }

  /// What does not hold for frames that may be pieces of a message, each in a line; the first byte is a limit.
  static func violation(inPieces bytes: [UInt8]) -> String? {
    let limit = 8 + Int(bytes.first ?? 0)
    var assembler = FrameAssembler(bytesMax: limit)
    for frame in bytes.dropFirst().split(separator: UInt8(ascii: "\n")) {
      // What is too long is told, and the connection closed.
      let message = try? assembler.take(Array(frame))
      if let message, message.count > limit { return "a message is longer than allowed" }
      if assembler.keptBytes > limit { return "more is kept than allowed" }
    }
    guard !bytes.isEmpty, let text = String(validating: bytes, as: UTF8.self) else { return nil }
    // A long message, of which each piece is whole text.
    let long = "{" + String(repeating: text, count: 40_000 / bytes.count)
    var other = FrameAssembler(bytesMax: .max)
    var whole: [UInt8]?
    for frame in FrameSplitter.frames(of: Array(long.utf8)) {
      guard String(validating: frame, as: UTF8.self) != nil else { return "a piece is no text" }
      whole = try? other.take(frame)
    }
    return whole == Array(long.utf8) ? nil : "the pieces of a message are another message"
  }

  /// What does not hold for a request: method and address in the first line, then the body.
  static func violation(inRequest bytes: [UInt8]) -> String? {
    let halves = bytes.split(
      separator: UInt8(ascii: "\n"), maxSplits: 1, omittingEmptySubsequences: false)
    let line = String(decoding: halves[0], as: UTF8.self)
    let words = line.split(separator: " ", maxSplits: 1).map(String.init)
    let body = halves.count > 1 ? String(decoding: halves[1], as: UTF8.self) : nil
    guard words.count == 2, var world = try? RESTWorld(data, access: access) else { return nil }
    let before = world.tree.tree
    let answer = world.ask(words[0], words[1], body, ["X-Firebase-ETag": "true"])
    guard (200..<600).contains(answer.status) else { return "the status is \(answer.status)" }
    if answer.status >= 400, world.tree.tree != before { return "refused, and the tree changed" }
    if answer.status >= 400, (try? JSONValue(parsing: answer.body))?["error"] == nil {
      return "an error says nothing: \(answer.body)"
    }
    for header in answer.headers
    where header.value.utf8.contains(where: { $0 < 0x20 || $0 == 0x7f }) {
      return "the header \(header.name) has a control character"
    }
    // Those who may not read are told nothing of it.
    if answer.body == "1", words[1].hasPrefix("/secret.json"), !words[1].contains("user:"),
      !words[1].contains("owner"), words[0] == "GET"
    {
      return "nobody reads the secret"
    }
    let (stream, head) = world.stream(words[1])
    let isStream = head["Content-Type"]?.hasPrefix("text/event-stream") == true
    return isStream && world.take(stream).isEmpty ? "a stream begins with nothing" : nil
  }
}
