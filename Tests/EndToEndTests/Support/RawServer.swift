import Foundation
import Synchronization
import TestSupport

/// A server over HTTP that takes one request from each connection, and answers with the bytes that it is told.
final class RawServer: Sendable {
  /// A request that arrived.
  struct Request {
    var method: String
    var bytes: [UInt8]
  }

  let port: Int
  private let listener: Int32
  private let taken = Mutex<[String]>([])

  /// The methods of the requests that arrived, in order.
  var methods: [String] { taken.withLock { $0 } }

  /// Starts; `answer` gets each request with the number of those before it, and returns nil to answer nothing.
  init(_ answer: @escaping @Sendable (Request, _ earlierCount: Int) -> String?) throws {
    listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    try check(listener, "socket")
    var place = sockaddr_in()
    place.sin_family = sa_family_t(AF_INET)
    inet_pton(AF_INET, "127.0.0.1", &place.sin_addr)
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let listener = listener
    let status = withUnsafeMutablePointer(to: &place) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listener, $0, size) == 0 ? getsockname(listener, $0, &size) : -1
      }
    }
    try check(status, "bind")
    try check(listen(listener, 16), "listen")
    port = Int(UInt16(bigEndian: place.sin_port))
    Thread.detachNewThread { [weak self] in
      while true {
        let line = accept(listener, nil, nil)
        if line < 0 { break }
        if let request = RawServer.request(on: line) {
          let count = self?.taken.withLock {
            $0.append(request.method)
            return $0.count - 1
          }
          let bytes = Array((answer(request, count ?? 0) ?? "").utf8)
          _ = send(line, bytes, bytes.count, Int32(MSG_NOSIGNAL))
        }
        // A program that was started meanwhile may have it too.
        shutdown(line, Int32(SHUT_RDWR))
        close(line)
      }
      close(listener)
    }
  }

  deinit { shutdown(listener, Int32(SHUT_RDWR)) }

  private static func request(on line: Int32) -> Request? {
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 65_536)
    while true {
      let text = String(decoding: bytes, as: UTF8.self)
      if let end = text.range(of: "\r\n\r\n") {
        let lines = text[..<end.lowerBound].components(separatedBy: "\r\n")
        let length = lines.first { $0.lowercased().hasPrefix("content-length:") }
          .flatMap { Int($0.dropFirst("content-length:".count).drop { $0 == " " }) }
        if text[end.upperBound...].utf8.count >= length ?? 0 {
          return Request(method: String(text.prefix { $0 != " " }), bytes: bytes)
        }
      }
      let count = read(line, &piece, piece.count)
      if count <= 0 { return nil }
      bytes += piece.prefix(count)
    }
  }

  /// The answer of another server to a request; nil if it gives none.
  static func answer(to request: Request, from port: Int) -> String? {
    guard let client = try? RawClient(port: port), (try? client.send(request.bytes)) != nil,
      let answer = try? client.readAnswer(to: request.method)
    else { return nil }
    let tag = answer.headers["etag"].map { "ETag: \($0)\r\n" } ?? ""
    let head = "HTTP/1.1 \(answer.status) Answer\r\nConnection: close\r\n\(tag)"
    if answer.status == 204 { return head + "\r\n" }
    return head + "Content-Length: \(answer.body.utf8.count)\r\n\r\n" + answer.body
  }
}
