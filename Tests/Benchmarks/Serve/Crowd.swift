import Glibc

/// Many connections that are served by one thread: what arrives is counted, and not looked at.
final class Crowd {
  let connections: [LoopbackConnection]
  private var polled: [pollfd]
  private var buffer = [UInt8](repeating: 0, count: 1 << 18)

  init(_ connections: [LoopbackConnection]) {
    self.connections = connections
    polled = connections.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
  }

  /// Reads until each connection has been sent so many bytes.
  func read(bytesEach: Int) throws {
    var rest = [Int](repeating: bytesEach, count: connections.count)
    var waiting = connections.count
    while waiting > 0 {
      try awaitInput()
      for index in polled.indices where polled[index].revents != 0 {
        rest[index] -= try take(index, countMax: rest[index])
        if rest[index] == 0 {
          waiting -= 1
          // It is not waited for any more.
          polled[index].fd = -1
        }
      }
    }
    for index in polled.indices { polled[index].fd = connections[index].descriptor }
  }

  /// Has each connection send a request, and the next one when the answer to it is there, until all have sent
  /// so many.
  ///
  /// - Returns: how long it took, in seconds.
  func ask(_ request: [UInt8], answerBytes: Int, countEach: Int) throws -> Double {
    var left = [Int](repeating: countEach, count: connections.count)
    var missing = [Int](repeating: answerBytes, count: connections.count)
    var waiting = connections.count
    let start = Timing.now
    for connection in connections { try connection.send(request) }
    while waiting > 0 {
      try awaitInput()
      for index in polled.indices where polled[index].revents != 0 {
        missing[index] -= try take(index, countMax: missing[index])
        guard missing[index] == 0 else { continue }
        missing[index] = answerBytes
        left[index] -= 1
        if left[index] > 0 {
          try connections[index].send(request)
        } else {
          waiting -= 1
          polled[index].fd = -1
        }
      }
    }
    let seconds = Timing.seconds(since: start)
    for index in polled.indices { polled[index].fd = connections[index].descriptor }
    return seconds
  }

  private func awaitInput() throws {
    guard poll(&polled, UInt(polled.count), 60_000) > 0 else {
      throw BenchmarkError("A server said nothing for a minute.")
    }
  }

  private func take(_ index: Int, countMax: Int) throws -> Int {
    let count = recv(polled[index].fd, &buffer, min(buffer.count, countMax), 0)
    if count == 0 { throw BenchmarkError("A server has closed a connection.") }
    guard count > 0 else { throw BenchmarkError.system("recv") }
    return count
  }
}
