import Foundation

/// A client that sends and reads bytes, so that a test sees all that a server says.
///
/// It waits for at most ten seconds at a time. One thread uses it.
package final class RawClient {
  /// What went wrong.
  package struct Failure: Error {
    /// What it was.
    package var what: String

    /// Makes a failure.
    package init(what: String) { self.what = what }
  }

  /// An answer over HTTP.
  package struct Answer {
    package var status = 0
    package var headers: [String: String] = [:]
    package var body = ""
  }

  private let descriptor: Int32
  private var unread: [UInt8] = []
  private var frame: [UInt8] = []

  /// Connects to a port of this machine.
  package init(port: Int, host: String = "127.0.0.1", receiveBytes: Int32? = nil) throws {
    let version6 = host.contains(":")
    descriptor = socket(version6 ? AF_INET6 : AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    if descriptor < 0 { throw Failure(what: "socket: \(errno)") }
    if var size = receiveBytes {
      setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
    }
    RawClient.setPatience(of: descriptor)
    let status = version6 ? connect6(host, port) : connect4(host, port)
    if status != 0 {
      let reason = errno
      close(descriptor)
      throw Failure(what: "connect: \(reason)")
    }
  }

  /// Connects to a Unix socket.
  package init(socketFile: String) throws {
    descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: socketFile.utf8) }
    let status = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    if status != 0 {
      let reason = errno
      close(descriptor)
      throw Failure(what: "connect: \(reason)")
    }
    RawClient.setPatience(of: descriptor)
  }

  deinit { close(descriptor) }

  private static func setPatience(of descriptor: Int32) {
    var patience = timeval(tv_sec: 10, tv_usec: 0)
    let size = socklen_t(MemoryLayout<timeval>.size)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, size)
    setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &patience, size)
  }

  private func connect4(_ host: String, _ port: Int) -> Int32 {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(UInt16(port).bigEndian)
    inet_pton(AF_INET, host, &address.sin_addr)
    return withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
  }

  private func connect6(_ host: String, _ port: Int) -> Int32 {
    var address = sockaddr_in6()
    address.sin6_family = sa_family_t(AF_INET6)
    address.sin6_port = in_port_t(UInt16(port).bigEndian)
    inet_pton(AF_INET6, host, &address.sin6_addr)
    return withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in6>.size))
      }
    }
  }

  /// Ends the connection for both sides.
  package func hangUp() { shutdown(descriptor, Int32(SHUT_RDWR)) }

  /// Tells the server that nothing more is sent.
  package func endSending() { shutdown(descriptor, Int32(SHUT_WR)) }

  // MARK: Bytes

  /// Sends bytes.
  package func send(_ bytes: some Collection<UInt8>) throws {
    var rest = Array(bytes)[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes {
        Foundation.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      if count <= 0 { throw Failure(what: "send: \(errno)") }
      rest = rest.dropFirst(count)
    }
  }

  private func readMore() throws {
    var chunk = [UInt8](repeating: 0, count: 65_536)
    let count = recv(descriptor, &chunk, chunk.count, 0)
    if count == 0 { throw Failure(what: "closed") }
    if count < 0 { throw Failure(what: "recv: \(errno)") }
    unread += chunk[..<count]
  }

  /// The next bytes, so many.
  package func read(_ count: Int) throws -> [UInt8] {
    while unread.count < count { try readMore() }
    defer { unread.removeFirst(count) }
    return Array(unread[..<count])
  }

  /// The next line, without its end.
  package func readLine() throws -> String {
    while true {
      if let end = unread.firstIndex(of: 10) {
        let line = unread[..<end]
        unread.removeFirst(end + 1)
        return String(decoding: line.last == 13 ? line.dropLast() : line, as: UTF8.self)
      }
      try readMore()
    }
  }

  /// True if something arrived that was not read yet.
  package var hasUnread: Bool {
    var byte: UInt8 = 0
    return !unread.isEmpty || recv(descriptor, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT)) > 0
  }

  /// True if the server closes the connection before it says more.
  package func isClosed() -> Bool {
    do {
      while true { try readMore() }
    } catch let failure as Failure {
      return failure.what == "closed" || failure.what == "recv: \(ECONNRESET)"
    } catch {
      return false
    }
  }

  // MARK: HTTP

  /// Sends the head of a request, and its body if there is one.
  package func sendRequest(
    _ method: String, _ target: String, _ body: String? = nil, headers: [String: String] = [:]
  ) throws {
    var text = "\(method) \(target) HTTP/1.1\r\n"
    if headers["Host"] == nil { text += "Host: localhost\r\n" }
    for (name, value) in headers { text += "\(name): \(value)\r\n" }
    if let body { text += "Content-Length: \(body.utf8.count)\r\n" }
    try send((text + "\r\n" + (body ?? "")).utf8)
  }

  /// The status and the headers of the next answer.
  package func readHead() throws -> Answer {
    var answer = Answer()
    let line = try readLine().split(separator: " ")
    guard line.count >= 2, let status = Int(line[1]) else { throw Failure(what: "no head") }
    answer.status = status
    while true {
      let line = try readLine()
      if line.isEmpty { return answer }
      let halves = line.split(separator: ":", maxSplits: 1)
      if halves.count == 2 {
        answer.headers[halves[0].lowercased()] = halves[1].trimmingCharacters(in: .whitespaces)
      }
    }
  }

  /// The next piece of a body in pieces; nil at its end.
  package func readChunk() throws -> String? {
    guard let size = Int(try readLine(), radix: 16) else { throw Failure(what: "no chunk") }
    let bytes = try read(size)
    _ = try readLine()
    return size == 0 ? nil : String(decoding: bytes, as: UTF8.self)
  }

  /// The next answer, with its body.
  package func readAnswer(to method: String = "GET") throws -> Answer {
    var answer = try readHead()
    // Leave to send the body.
    if answer.status == 100 { answer = try readHead() }
    if method == "HEAD" || answer.status == 204 || answer.status == 304 {
      return answer
    }
    answer.body = try readBody(of: answer)
    return answer
  }

  /// The body of an answer whose head was read.
  package func readBody(of head: Answer) throws -> String {
    if let length = head.headers["content-length"].flatMap({ Int($0) }) {
      return String(decoding: try read(length), as: UTF8.self)
    }
    var body = ""
    while let chunk = try readChunk() { body += chunk }
    return body
  }

  /// Sends a request and reads its answer.
  package func request(
    _ method: String, _ target: String, _ body: String? = nil, headers: [String: String] = [:]
  ) throws -> Answer {
    try sendRequest(method, target, body, headers: headers)
    return try readAnswer(to: method)
  }

  /// The next event of a stream: its name, and its data.
  package func readEvent() throws -> (name: String, data: String) {
    var lines: [String] = []
    var text = ""
    while !text.hasSuffix("\n\n") {
      guard let chunk = try readChunk() else { throw Failure(what: "the stream ended") }
      text += chunk
    }
    lines = text.split(separator: "\n").map(String.init)
    guard lines.count == 2 else { throw Failure(what: "several events: \(text)") }
    return (String(lines[0].dropFirst("event: ".count)), String(lines[1].dropFirst("data: ".count)))
  }

  // MARK: WebSockets

  /// The headers by which a connection becomes a WebSocket.
  package static let upgrade = [
    "Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
  ]

  /// Makes the connection a WebSocket.
  package func openSocket(
    _ target: String = "/.ws?v=5", headers: [String: String] = [:]
  ) throws {
    var all = RawClient.upgrade
    all.merge(headers) { $1 }
    try sendRequest("GET", target, headers: all)
    let head = try readHead()
    // Source: RFC 6455, section 1.3.
    guard head.status == 101,
      head.headers["sec-websocket-accept"] == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="
    else { throw Failure(what: "status \(head.status) \(head.headers)") }
  }

  /// The bytes of a frame of a client.
  package static func frame(_ opcode: UInt8, _ payload: [UInt8]) -> [UInt8] {
    var bytes: [UInt8] = [0x80 | opcode]
    switch payload.count {
    case ..<126: bytes.append(0x80 | UInt8(payload.count))
    case ..<65_536:
      bytes.append(0x80 | 126)
      bytes += [UInt8(payload.count >> 8), UInt8(payload.count & 0xFF)]
    default:
      bytes.append(0x80 | 127)
      bytes += (0..<8).map { UInt8(truncatingIfNeeded: payload.count >> (56 - 8 * $0)) }
    }
    let mask: [UInt8] = [1, 2, 3, 4]
    return bytes + mask + payload.enumerated().map { $1 ^ mask[$0 % 4] }
  }

  /// Sends a text as one frame.
  package func sendText(_ text: String) throws { try send(RawClient.frame(1, Array(text.utf8))) }

  /// Sends a pong.
  package func sendPong() throws { try send(RawClient.frame(10, [])) }

  /// The next frame: its kind, and what is in it.
  package func readFrame() throws -> (opcode: UInt8, payload: [UInt8]) {
    let start = try read(2)
    var count = Int(start[1] & 0x7F)
    if count == 126 {
      count = try read(2).reduce(0) { $0 << 8 | Int($1) }
    } else if count == 127 {
      count = try read(8).reduce(0) { $0 << 8 | Int($1) }
    }
    return (start[0] & 0x0F, try read(count))
  }

  /// The next message, put together of its pieces.
  package func readMessage() throws -> String {
    let first = try readText()
    guard let count = Int(first), first.count <= 6 else { return first }
    return try (0..<count).map { _ in try readText() }.joined()
  }

  private func readText() throws -> String {
    while true {
      let (opcode, payload) = try readFrame()
      switch opcode {
      case 1: return String(decoding: payload, as: UTF8.self)
      case 8: throw Failure(what: "closed")
      default: continue
      }
    }
  }

  /// The code of the close frame that comes next, whatever comes before.
  package func readClose() throws -> Int { try readCloseReason().code }

  /// The code and the text of the close frame that comes next, whatever comes before.
  package func readCloseReason() throws -> (code: Int, text: String) {
    while true {
      let (opcode, payload) = try readFrame()
      if opcode == 8, payload.count >= 2 {
        let text = String(decoding: payload.dropFirst(2), as: UTF8.self)
        return (Int(payload[0]) << 8 | Int(payload[1]), text)
      }
    }
  }
}
