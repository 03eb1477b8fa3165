import NIOCore
import NIOHTTP1
import NIOPosix

/// A text that was read from the web.
public struct WebText: Hashable, Sendable {
  /// The text.
  public var bytes: [UInt8]
  /// The time for which the text may be kept, in seconds; nil if the answer does not tell.
  public var maxAgeSeconds: Int?

  /// Makes a text.
  public init(_ bytes: [UInt8], maxAgeSeconds: Int? = nil) {
    (self.bytes, self.maxAgeSeconds) = (bytes, maxAgeSeconds)
  }
}

/// Reads small texts from the web, by HTTP/1.1.
///
/// The size, the time and the number of redirects are bounded.
public struct WebFetcher: Sendable {
  /// The most bytes of a text.
  public static let bytesMax = 1 << 20
  private static let redirectsMax = 3
  private static let answerSeconds: Int64 = 20

  private let connector: WebConnector

  /// Makes a fetcher that trusts the system's certificates, or those in a PEM file.
  public init(trustedFile: String? = nil, proxies: WebProxies = .none) {
    connector = WebConnector(trustedFile: trustedFile, proxies: proxies)
  }

  /// Reads the text at an address.
  ///
  /// - Throws: `NetworkError` that names the address and the problem there.
  public func get(_ address: WebAddress) async throws(NetworkError) -> WebText {
    var place = address
    for _ in 0...WebFetcher.redirectsMax {
      guard place.isSafe else {
        throw NetworkError(
          "\(place) is not read: without TLS, anyone could change the answer. Use https.")
      }
      let answer = try await ask(place)
      guard (300..<400).contains(answer.status), let target = answer.location else {
        if answer.status == 200 {
          return WebText(answer.bytes, maxAgeSeconds: answer.maxAgeSeconds)
        }
        throw NetworkError("\(place) answered with status \(answer.status).")
      }
      guard let next = WebAddress(target) else {
        throw NetworkError("\(place) redirects to \(target.prefix(200)), which is not an address.")
      }
      place = next
    }
    throw NetworkError("\(address) redirects too often.")
  }

  private func ask(_ address: WebAddress) async throws(NetworkError) -> FetchedAnswer {
    do {
      let loop = SharedThreads.loops.any()
      let promise = loop.makePromise(of: NIOHTTPClientResponseFull.self)
      connector.connect(address, on: loop) { try WebFetcher.begin($0, address, promise) }
        .whenFailure { promise.fail($0) }
      return FetchedAnswer(try await promise.futureResult.get())
    } catch {
      throw NetworkError("\(address) cannot be read: \(WebConnector.reason(error))")
    }
  }

  /// Sends the request on an open connection; its answer completes the promise.
  private static func begin(
    _ channel: any Channel, _ address: WebAddress,
    _ promise: EventLoopPromise<NIOHTTPClientResponseFull>
  ) throws {
    try AskHandler.ask(
      .GET, address.target, host: address.authority, on: channel, bytesMax: bytesMax,
      seconds: answerSeconds, promise)
  }
}

/// The answer to a request.
private struct FetchedAnswer: Sendable {
  var status: Int
  var location: String?
  var maxAgeSeconds: Int?
  var bytes: [UInt8]

  init(_ answer: NIOHTTPClientResponseFull) {
    let headers = answer.head.headers
    status = Int(answer.head.status.code)
    location = headers.first(name: "location")
    bytes = answer.body.map { Array($0.readableBytesView) } ?? []
    maxAgeSeconds = FetchedAnswer.maxAge(headers)
  }

  /// Source: RFC 9111, sections 4.2 and 5.2.2.
  private static func maxAge(_ headers: HTTPHeaders) -> Int? {
    let words = headers[canonicalForm: "cache-control"].map { $0.lowercased() }
    if words.contains("no-store") || words.contains("no-cache") { return 0 }
    let name = "max-age="
    guard let word = words.first(where: { $0.hasPrefix(name) }),
      let seconds = Int(word.dropFirst(name.count)), seconds >= 0
    else { return nil }
    let age = headers.first(name: "age").flatMap { Int($0) } ?? 0
    return max(0, seconds - max(0, age))
  }
}
