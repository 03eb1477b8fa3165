import HTTPTypes
import RunnelBase
import RunnelNetwork
import RunnelSync

/// An answer that is known when the request arrives.
struct FixedAnswer: Hashable, Sendable {
  var status: Int
  var contentType: String
  var body: [UInt8]
  /// The address at which the request is to be repeated; nil for none.
  var location: String?
  /// True if pages of every origin may read it.
  var allowsPages = false
  /// Further headers.
  var headers: [RESTRequest.Header] = []

  /// An answer of text.
  init(_ text: String, status: Int = 200, contentType: String = "text/plain; charset=utf-8") {
    (self.status, self.contentType, body) = (status, contentType, Array(text.utf8))
  }

  /// An answer without a body.
  init(status: Int) { (self.status, contentType, body) = (status, "", []) }

  /// The answer for an error.
  init(error text: String, status: Int) {
    let json: JSONValue = ["error": .string(text)]
    (self.status, contentType) = (status, "application/json; charset=utf-8")
    body = json.jsonBytes()
  }
}

/// A request that is answered at once; its body is ignored.
///
/// Loop only.
final class FixedExchange: ExchangeHandling {
  private let answer: FixedAnswer
  private let channel: ExchangeChannel

  init(_ answer: FixedAnswer, _ channel: ExchangeChannel) {
    (self.answer, self.channel) = (answer, channel)
  }

  func opened() {
    var head = HTTPResponse(status: HTTPResponse.Status(code: answer.status))
    if !answer.contentType.isEmpty {
      head.headerFields[.contentType] = answer.contentType
      head.headerFields[.contentLength] = String(answer.body.count)
    }
    if let location = answer.location {
      head.headerFields[.location] = location
      head.headerFields[.cacheControl] = "no-cache"
    }
    if answer.allowsPages || answer.location != nil {
      head.headerFields[.accessControlAllowOrigin] = "*"
    }
    for header in answer.headers {
      guard let name = HTTPField.Name(header.name) else { continue }
      head.headerFields.append(HTTPField(name: name, value: header.value))
    }
    channel.send(head)
    channel.send(answer.body)
    channel.end()
    channel.flush()
  }

  func received(_ piece: [UInt8]) {}
  func receivedAll() {}
  func canSendMore() {}
  func timeIsUp() {}
  func closed() {}
}

/// A WebSocket that is closed at once.
///
/// Loop only.
final class ClosedSocket: SocketHandling {
  private let channel: SocketChannel
  private let text: String

  init(_ channel: SocketChannel, _ text: String) { (self.channel, self.text) = (channel, text) }

  func opened() { channel.close(code: 1008, text: text) }
  func received(_ text: [UInt8]) {}
  func heard() {}
  func timeIsUp() {}
  func closed() {}
}
