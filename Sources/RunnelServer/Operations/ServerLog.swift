import Glibc
import HTTPTypes
public import Logging
import RunnelBase
import RunnelDatabase
import RunnelNetwork
import RunnelSync
import RunnelTree
import Synchronization

/// The form of client addresses in the log.
public enum LoggedAddresses: String, Hashable, Sendable, CaseIterable {
  /// The whole address.
  case full
  /// The address without its last part, so that it names a network.
  case short
  /// No address.
  case none
}

/// The lines of a log: JSON, each written at once.
///
/// They are written on a thread of their own, so that no thread waits for a slow reader. If too
/// many lines wait, some are dropped, and their number is logged.
public final class LogLines: Sendable {
  private static let waitingMax = 10_000

  private let executor: TreeExecutor
  private let write: @Sendable ([UInt8]) -> Void
  private let state = Mutex<(waiting: Int, left: Int)>((0, 0))

  /// Makes a log.
  ///
  /// - Parameter write: writes a line with its end; called on one thread.
  /// - Throws: `DatabaseError` if the system has no thread left.
  public init(_ write: @escaping @Sendable ([UInt8]) -> Void) throws {
    executor = try TreeExecutor(label: "runnel.log")
    self.write = write
  }

  func add(_ members: [JSONMember]) {
    let left: Int? = state.withLock { state in
      if state.waiting >= LogLines.waitingMax {
        state.left += 1
        return nil
      }
      state.waiting += 1
      defer { state.left = 0 }
      return state.left
    }
    guard let left else { return }
    var members = members
    if left > 0 { members.append(JSONMember("left_out", .number(JSONNumber(Int64(left))))) }
    let line = JSONValue.object(members).jsonBytes() + [10]
    executor.submit { [write, state = Waiting(self)] in
      write(line)
      state.done()
    }
  }

  private struct Waiting: Sendable {
    let lines: LogLines

    init(_ lines: LogLines) { self.lines = lines }

    func done() { lines.state.withLock { $0.waiting -= 1 } }
  }

  /// The longest wait for the lines at the end, in milliseconds.
  private static let endMilliseconds = 2000

  /// Waits until all lines are written, for two seconds at most: nobody may read them any more.
  public func flush() { flush(withinMilliseconds: LogLines.endMilliseconds) }

  func flush(withinMilliseconds milliseconds: Int) {
    let end = NetworkClock.uptimeMilliseconds + Int64(milliseconds)
    while state.withLock({ $0.waiting > 0 }), NetworkClock.uptimeMilliseconds < end {
      usleep(1000)
    }
  }
}

/// Messages of the server, as lines of its log.
public struct LineLogHandler: LogHandler {
  /// The metadata that is added to each message.
  public var metadata: Logger.Metadata = [:]
  /// The lowest level that is written.
  public var logLevel = Logger.Level.info
  private let lines: LogLines

  /// Makes a handler that writes to a log.
  public init(_ lines: LogLines) { self.lines = lines }

  /// The metadata of a name.
  public subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  /// Writes a message.
  public func log(event: LogEvent) {
    lines.add([
      JSONMember("time", .string(ServerLog.timeText(ServerWorld.calendar))),
      JSONMember("level", .string(event.level.rawValue)),
      JSONMember("message", .string(event.message.description)),
    ])
  }
}

/// The log of requests and connections: without credentials and bodies.
struct ServerLog: Sendable {
  let lines: LogLines?
  let addresses: LoggedAddresses
  private let denials = DenialRate()

  init(lines: LogLines?, addresses: LoggedAddresses) {
    (self.lines, self.addresses) = (lines, addresses)
  }

  func answered(
    _ peer: NetworkPeer, _ request: HTTPRequest, _ database: String, status: Int,
    limit: String? = nil, sentBytes: Int, milliseconds: Int64
  ) {
    guard let lines else { return }
    // The query after the path may contain a credential.
    let path = (request.path ?? "").prefix { $0 != "?" }
    add(
      to: lines, "request", peer,
      [
        JSONMember("database", .string(database)),
        JSONMember("method", .string(String(request.method.rawValue.prefix(20)))),
        JSONMember("path", .string(String(path.prefix(1000)))),
        JSONMember("status", .number(JSONNumber(Int64(status)))),
        JSONMember("bytes", .number(JSONNumber(Int64(sentBytes)))),
        JSONMember("milliseconds", .number(JSONNumber(milliseconds))),
      ] + (limit.map { [JSONMember("limit", .string($0))] } ?? []))
  }

  func socketOpened(_ peer: NetworkPeer, _ database: String, _ number: Int64) {
    guard let lines else { return }
    add(to: lines, "connected", peer, ServerLog.members(database, number))
  }

  /// Notes the end of a connection, and why the server ended it; an empty reason for none.
  func socketClosed(
    _ peer: NetworkPeer, _ database: String, _ number: Int64, sentBytes: Int, reason: String = ""
  ) {
    guard let lines else { return }
    var members = ServerLog.members(database, number)
    members.append(JSONMember("bytes", .number(JSONNumber(Int64(sentBytes)))))
    if !reason.isEmpty { members.append(JSONMember("reason", .string(reason))) }
    add(to: lines, "disconnected", peer, members)
  }

  /// Notes what the rules denied over a WebSocket; over HTTP, the line of the request has it.
  func denied(
    _ peer: NetworkPeer, _ database: String, _ number: Int64, _ word: String, _ error: TreeError,
    user: String?
  ) {
    guard let lines, let left = denials.takeLine(second: ServerWorld.calendar / 1000) else {
      return
    }
    var members = ServerLog.members(database, number)
    members.append(JSONMember("action", .string(word)))
    if let path = error.path {
      members.append(JSONMember("path", .string(String(path.prefix(1000)))))
    }
    if let user { members.append(JSONMember("user", .string(String(user.prefix(300))))) }
    members.append(JSONMember("reason", .string(String(error.message.prefix(1000)))))
    if left > 0 { members.append(JSONMember("left_out", .number(JSONNumber(Int64(left))))) }
    add(to: lines, "denied", peer, members)
  }

  private static func members(_ database: String, _ number: Int64) -> [JSONMember] {
    [
      JSONMember("database", .string(database)),
      JSONMember("connection", .number(JSONNumber(number))),
    ]
  }

  private func add(
    to lines: LogLines, _ event: String, _ peer: NetworkPeer, _ members: [JSONMember]
  ) {
    var all = [
      JSONMember("time", .string(ServerLog.timeText(ServerWorld.calendar))),
      JSONMember("event", .string(event)),
    ]
    if let address = shown(peer.address) { all.append(JSONMember("address", .string(address))) }
    lines.add(all + members)
  }

  /// The address in the form for the log; nil for none.
  func shown(_ address: String) -> String? {
    switch addresses {
    case .none: return nil
    case .full: return address
    case .short:
      if address.contains(":") {
        return address.split(separator: ":", omittingEmptySubsequences: false).prefix(3)
          .joined(separator: ":") + "::"
      }
      return address.split(separator: ".").prefix(3).joined(separator: ".") + ".0"
    }
  }

  /// A time in the form of ISO 8601.
  static func timeText(_ milliseconds: Int64) -> String {
    let time = CivilTime(milliseconds: milliseconds)
    func padded(_ number: Int, _ count: Int) -> String {
      let digits = String(number)
      return String(repeating: "0", count: max(0, count - digits.count)) + digits
    }
    let day = [padded(time.year, 4), padded(time.month, 2), padded(time.day, 2)]
    let clock = [padded(time.hour, 2), padded(time.minute, 2), padded(time.second, 2)]
    return day.joined(separator: "-") + "T" + clock.joined(separator: ":") + "."
      + padded(time.millisecond, 3) + "Z"
  }
}
