import HTTPTypes
import RunnelBase
import RunnelNetwork
import RunnelSync

/// `POST /oauth2/token`: a service account gets an access token for an assertion that it signed.
///
/// Loop only.
///
/// Source: RFC 6749, section 5; RFC 7523, section 2.1.
final class TokenExchange: ExchangeHandling {
  /// The most bytes of a request.
  private static let bytesMax = 65_536
  private static let grant = "urn:ietf:params:oauth:grant-type:jwt-bearer"

  private let exchange: OpenExchange
  private let databases: ServedDatabases
  /// The hosts by which the server is known.
  private let hosts: Set<String>
  private var body: [UInt8] = []
  private var isAnswered = false

  init(_ exchange: OpenExchange, _ databases: ServedDatabases, hosts: Set<String>) {
    (self.exchange, self.databases) = (exchange, databases)
    self.hosts = hosts.union(exchange.request.authority.map { [$0.lowercased()] } ?? [])
  }

  func opened() {
    if exchange.request.method != .post {
      answer(405, "invalid_request", "Request a token by POST.")
    }
  }

  func received(_ piece: [UInt8]) {
    if isAnswered { return }
    body += piece
    if body.count > TokenExchange.bytesMax {
      answer(413, "invalid_request", "The request is too large.")
    }
  }

  func receivedAll() {
    if isAnswered { return }
    guard let form = FormText.members(of: body) else {
      return answer(400, "invalid_request", "The body is not a form.")
    }
    guard form["grant_type"] == TokenExchange.grant else {
      return answer(
        400, "unsupported_grant_type", "Only \(TokenExchange.grant) is known here.")
    }
    guard let text = form["assertion"], let assertion = JSONWebToken(text) else {
      return answer(400, "invalid_request", "The assertion is missing, or is not a token.")
    }
    do throws(ServiceAccounts.Refusal) {
      let now = exchange.world.now.calendar
      guard let token = try databases.accessToken(for: assertion, at: hosts, now: now) else {
        return answer(400, "invalid_grant", "No service account here has the key of the assertion.")
      }
      answer(
        200,
        [
          "access_token": .string(token), "token_type": "Bearer",
          "expires_in": .number(JSONNumber(ServiceAccounts.tokenSeconds)),
        ])
    } catch {
      if error.isPassing { return answer(503, "temporarily_unavailable", error.text) }
      answer(400, "invalid_grant", error.text)
    }
  }

  private func answer(_ status: Int, _ error: String, _ text: String) {
    exchange.world.metrics.refused(.credential)
    answer(status, ["error": .string(error), "error_description": .string(text)])
  }

  private func answer(_ status: Int, _ json: JSONValue) {
    isAnswered = true
    let bytes = json.jsonBytes()
    var head = HTTPResponse(status: HTTPResponse.Status(code: status))
    head.headerFields[.contentType] = "application/json; charset=utf-8"
    head.headerFields[.cacheControl] = "no-store"
    if status == 405 { head.headerFields[.allow] = "POST" }
    exchange.answer(head, bytes)
  }

  func canSendMore() {}
  func timeIsUp() {}
  func closed() {}
}
