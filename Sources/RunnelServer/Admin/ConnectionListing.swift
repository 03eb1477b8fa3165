import HTTPTypes
import RunnelBase
import RunnelNetwork

/// The answer that lists the connections: a line of JSON for each, page after page, so that the
/// whole list is never in memory.
///
/// `?database=NAME` selects the connections of one database, `?limit=N` the first N.
///
/// Loop only.
final class ConnectionListing: ExchangeHandling {
  private static let pageCount = 256

  private let switchboard: Switchboard
  private let channel: ExchangeChannel
  /// The database whose connections are listed; nil for all.
  private let database: String?
  /// The most connections that are still to be listed.
  private var remainingCount: Int
  private var rest: ArraySlice<Int64> = []
  /// True while a page is being collected.
  private var isAsking = false
  private var isEnded = false

  /// False if a request names a limit that is no number from 0 on.
  static func hasValidLimit(_ request: HTTPRequest) -> Bool {
    guard let limit = request.path.flatMap({ ServedDatabases.parameter("limit", of: $0) }) else {
      return true
    }
    return Int(limit).map { $0 >= 0 } ?? false
  }

  init(_ request: HTTPRequest, _ switchboard: Switchboard, _ channel: ExchangeChannel) {
    (self.switchboard, self.channel) = (switchboard, channel)
    database = request.path.flatMap { ServedDatabases.parameter("database", of: $0) }
    let limit = request.path.flatMap { ServedDatabases.parameter("limit", of: $0) }
    remainingCount = limit.flatMap { Int($0) }.map { max($0, 0) } ?? .max
  }

  func opened() {
    rest = switchboard.numbers[...]
    var head = HTTPResponse(status: .ok)
    head.headerFields[.contentType] = "application/x-ndjson"
    channel.send(head)
    sendNext()
  }

  private func sendNext() {
    if isEnded || isAsking { return }
    if rest.isEmpty || remainingCount == 0 {
      isEnded = true
      channel.end()
      return channel.flush()
    }
    guard channel.isWritable else { return }
    isAsking = true
    let page = rest.prefix(ConnectionListing.pageCount)
    rest = rest.dropFirst(page.count)
    let bound = LoopBound(self, to: channel.loop)
    switchboard.summaries(of: page) { summaries in
      bound.loop.run { bound.value.take(summaries) }
    }
  }

  private func take(_ summaries: [ConnectionSummary]) {
    isAsking = false
    if isEnded { return }
    let wanted = summaries.filter { database == nil || $0.database == database }.prefix(
      remainingCount)
    remainingCount -= wanted.count
    channel.send(wanted.flatMap { ConnectionListing.json($0).jsonBytes() + [10] })
    channel.flush()
    sendNext()
  }

  private static func json(_ summary: ConnectionSummary) -> JSONValue {
    [
      "id": .number(JSONNumber(summary.number)), "kind": .string(summary.kind),
      "database": .string(summary.database), "address": .string(summary.address),
      "user": .string(summary.user), "since": .string(ServerLog.timeText(summary.time)),
      "listens": .number(JSONNumber(Int64(summary.listenCount))),
      "bytes": .number(JSONNumber(Int64(summary.sentBytes))),
    ]
  }

  func canSendMore() { sendNext() }
  func closed() { isEnded = true }
  func received(_ piece: [UInt8]) {}
  func receivedAll() {}
  func timeIsUp() {}
}
