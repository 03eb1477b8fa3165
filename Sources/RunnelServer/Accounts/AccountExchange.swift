import HTTPTypes
import RunnelBase
import RunnelIdentity
import RunnelNetwork
import RunnelSync

/// A request to the API of accounts.
///
/// Loop only.
///
/// Source: authentication, section 1.
final class AccountExchange: ExchangeHandling {
  /// The most bytes of a request.
  private static let bytesMax = 65_536
  /// The most bytes of an administrator's request.
  private static let administratorBytesMax = 16 << 20

  private let exchange: OpenExchange
  private let head: IdentityRequestHead
  private let service: AccountService
  private var body: [UInt8] = []
  private var isAnswered = false

  init(_ exchange: OpenExchange, _ service: AccountService) {
    (self.exchange, self.service) = (exchange, service)
    let request = exchange.request
    let fields = request.headerFields
    head = IdentityRequestHead(
      request.method.rawValue, request.path ?? "/", authorization: fields[.authorization],
      key: HTTPField.Name("x-goog-api-key").flatMap { fields[$0] },
      contentType: fields[.contentType])
  }

  func opened() {
    if exchange.request.method == .options { answer(204, nil, [:]) }
  }

  func received(_ piece: [UInt8]) {
    if isAnswered { return }
    body += piece
    let isLarge = head.authorization != nil && head.path.hasSuffix("batchCreate")
    let max = isLarge ? AccountExchange.administratorBytesMax : AccountExchange.bytesMax
    if body.count > max { answer(AccountService.Reply(.tooLarge)) }
  }

  func receivedAll() {
    if isAnswered { return }
    let call: IdentityCall
    do throws(IdentityError) {
      call = try IdentityCall(head, body: body, isEmulator: service.policy.isEmulator)
    } catch {
      return answer(AccountService.Reply(error))
    }
    body = []
    let bound = LoopBound(self, to: exchange.channel.loop)
    service.submit(call, from: exchange.peer.address) { reply in
      bound.loop.run { bound.value.answer(reply) }
    }
  }

  private func answer(_ reply: AccountService.Reply) {
    if isAnswered { return }
    if [401, 403].contains(reply.status) { exchange.world.metrics.refused(.credential) }
    var more: [HTTPField.Name: String] = [:]
    if let seconds = reply.retrySeconds { more[.retryAfter] = String(seconds) }
    if let address = reply.redirect {
      more[.location] = address
      return answer(303, nil, more)
    }
    if head.method == "GET", head.path == IdentityRoute.keysPath {
      more[.cacheControl] = "public, max-age=3600"
    }
    answer(reply.status, reply.body.jsonBytes(), more)
  }

  private func answer(_ status: Int, _ body: [UInt8]?, _ more: [HTTPField.Name: String]) {
    isAnswered = true
    self.body = []
    var answer = HTTPResponse(status: HTTPResponse.Status(code: status))
    answer.headerFields[.cacheControl] = "no-store"
    if body != nil { answer.headerFields[.contentType] = "application/json; charset=utf-8" }
    for (name, value) in AccountExchange.origins(exchange.request) {
      answer.headerFields[name] = value
    }
    for (name, value) in more { answer.headerFields[name] = value }
    exchange.answer(answer, body ?? [])
  }

  /// The headers by which pages of every origin may send requests: they carry their credentials
  /// themselves, and no cookies.
  private static func origins(_ request: HTTPRequest) -> [(HTTPField.Name, String)] {
    var fields: [(HTTPField.Name, String)] = [
      (.accessControlAllowOrigin, request.headerFields[.origin] ?? "*")
    ]
    if request.headerFields[.origin] != nil { fields.append((.vary, "Origin")) }
    guard request.method == .options else { return fields }
    fields.append((.accessControlAllowMethods, "GET, POST, PATCH, DELETE, OPTIONS"))
    let asked = request.headerFields[.accessControlRequestHeaders] ?? ""
    let isList = asked.utf8.allSatisfy { byte in
      byte < 0x80
        && (Unicode.Scalar(byte).properties.isAlphabetic || "-_, 0123456789".utf8.contains(byte))
    }
    if isList, !asked.isEmpty { fields.append((.accessControlAllowHeaders, asked)) }
    fields.append((.accessControlMaxAge, "3600"))
    return fields
  }

  func canSendMore() {}
  func timeIsUp() {}
  func closed() { isAnswered = true }
}
