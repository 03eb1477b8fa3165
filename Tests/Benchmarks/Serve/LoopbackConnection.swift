import Glibc

/// A TCP connection to a port of this machine that waits for what it reads.
final class LoopbackConnection {
  private static let patience = timeval(tv_sec: 60, tv_usec: 0)

  let descriptor: Int32
  private var received: [UInt8] = []
  /// Where that begins which was not read yet.
  private var start = 0

  /// Connects.
  init(port: Int) throws {
    descriptor = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw BenchmarkError.system("socket") }
    var (one, patience) = (Int32(1), LoopbackConnection.patience)
    setsockopt(
      descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
    setsockopt(
      descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(UInt16(port).bigEndian)
    inet_pton(AF_INET, "127.0.0.1", &address.sin_addr)
    let status = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard status == 0 else { throw BenchmarkError.system("connect to port \(port)") }
  }

  deinit { close(descriptor) }

  func send(_ bytes: [UInt8]) throws {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes {
        Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { throw BenchmarkError.system("send") }
      rest = rest.dropFirst(count)
    }
  }

  /// The next bytes, so many.
  @discardableResult
  func read(_ count: Int) throws -> ArraySlice<UInt8> {
    while received.count - start < count { try readMore() }
    defer { start += count }
    return received[start..<start + count]
  }

  /// The bytes up to the first that follow a text, and that text.
  func read(through end: String) throws -> ArraySlice<UInt8> {
    let end = Array(end.utf8)
    var looked = start
    while true {
      while looked + end.count <= received.count {
        if received[looked..<looked + end.count].elementsEqual(end) {
          defer { start = looked + end.count }
          return received[start..<looked + end.count]
        }
        looked += 1
      }
      let before = looked - start
      try readMore()
      looked = start + before
    }
  }

  /// Reads a response to a request over HTTP, and its body.
  func readResponse() throws {
    let head = String(decoding: try read(through: "\r\n\r\n"), as: UTF8.self).lowercased()
    let name = "content-length:"
    if let line = head.split(separator: "\r\n").first(where: { $0.hasPrefix(name) }) {
      try read(Int(line.dropFirst(name.count).filter { $0 != " " }) ?? 0)
    } else {
      _ = try read(through: "0\r\n\r\n")
    }
  }

  private func readMore() throws {
    if start > 1 << 16 {
      received.removeFirst(start)
      start = 0
    }
    var chunk = [UInt8](repeating: 0, count: 1 << 16)
    let count = recv(descriptor, &chunk, chunk.count, 0)
    if count == 0 { throw BenchmarkError("The server has closed the connection.") }
    guard count > 0 else { throw BenchmarkError.system("recv") }
    received += chunk[..<count]
  }

  // MARK: WebSockets

  /// The first bytes of frames that ask for a sign of life, and that give it.
  private static let (ping, pong): (UInt8, UInt8) = (0x89, 0x8A)

  /// Connects to a server of databases as a client with a WebSocket, after the handshake.
  static func socket(port: Int, namespace: String? = nil) throws -> LoopbackConnection {
    let connection = try LoopbackConnection(port: port)
    let name = namespace.map { "&ns=\($0)" } ?? ""
    try connection.send(
      Array(
        """
        GET /.ws?v=5\(name) HTTP/1.1\r
        Host: localhost\r
        Upgrade: websocket\r
        Connection: Upgrade\r
        Sec-WebSocket-Version: 13\r
        Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r
        \r

        """.utf8))
    _ = try connection.read(through: "\r\n\r\n")
    _ = try connection.readFrame()
    return connection
  }

  /// A request as one frame of a client, for a body shorter than 65,000 bytes.
  static func request(_ number: Int, _ action: String, _ body: String) -> [UInt8] {
    let text = Array(
      "{\"t\":\"d\",\"d\":{\"r\":\(number),\"a\":\"\(action)\",\"b\":\(body)}}".utf8)
    return frame(text)
  }

  /// A text as one frame of a client, shorter than 65,000 bytes.
  static func frame(_ text: [UInt8]) -> [UInt8] {
    var bytes: [UInt8] = [0x81]
    if text.count < 126 {
      bytes.append(0x80 | UInt8(text.count))
    } else {
      bytes += [0x80 | 126, UInt8(text.count >> 8), UInt8(text.count & 0xFF)]
    }
    // A mask of zeros leaves the text as it is.
    return bytes + [0, 0, 0, 0] + text
  }

  /// The next frame of the server, with its head; a ping is answered, and the frame after it is taken.
  func readFrame() throws -> [UInt8] {
    while true {
      let frame = try readAnyFrame()
      guard frame[0] == LoopbackConnection.ping else { return frame }
      // The mask is one of zeros.
      let text = frame.dropFirst(2)
      try send([LoopbackConnection.pong, 0x80 | UInt8(text.count), 0, 0, 0, 0] + text)
    }
  }

  private func readAnyFrame() throws -> [UInt8] {
    var head = Array(try read(2))
    var count = Int(head[1] & 0x7F)
    if count >= 126 {
      let more = Array(try read(count == 126 ? 2 : 8))
      head += more
      count = more.reduce(0) { $0 << 8 | Int($1) }
    }
    return head + (try read(count))
  }

  /// Sends a request and reads up to its answer; returns how many bytes the answer has.
  @discardableResult
  func ask(_ request: [UInt8], number: Int) throws -> Int {
    try send(request)
    while true {
      let frame = try readFrame()
      if frame.count < 400, String(decoding: frame, as: UTF8.self).contains("\"r\":\(number),") {
        return frame.count
      }
    }
  }
}
