import NIOHTTP1

extension HTTPRequestHead {
  /// The schemes of targets that name their host.
  private static let schemes = ["http://", "https://"]

  /// The head whose header `Host` is the host that the request means, and whose target is a path; and
  /// whether the request names exactly one host.
  ///
  /// A target that names its host counts, and the header does not. Before HTTP/1.1 a request need not
  /// name one.
  ///
  /// Source: RFC 9112, sections 3.2 and 3.2.2.
  var usable: (head: HTTPRequestHead, namesOneHost: Bool) {
    let count = headers["host"].count
    let isOne = count == 1 || count == 0 && version != .http1_1
    guard let scheme = HTTPRequestHead.schemes.first(where: { uri.lowercased().hasPrefix($0) })
    else { return (self, isOne) }
    let rest = uri.dropFirst(scheme.count)
    let host = rest.prefix { !"/?#".contains($0) }
    let path = rest[host.endIndex...]
    var head = self
    head.headers.replaceOrAdd(name: "Host", value: String(host))
    head.uri = path.hasPrefix("/") ? String(path) : "/" + path
    // A name before the host would make another host look like a known one.
    return (head, isOne && !host.isEmpty && !host.contains("@"))
  }

  /// True if the body is coded in another way than chunked, which is not served.
  ///
  /// Source: RFC 9112, section 6.1.
  var isCoded: Bool {
    let codings = headers[canonicalForm: "transfer-encoding"]
    return !codings.isEmpty && codings.map { $0.lowercased() } != ["chunked"]
  }

  /// True if a body follows the head.
  ///
  /// Source: RFC 9112, section 6.3.
  var bringsBody: Bool {
    headers.contains(name: "transfer-encoding")
      || headers["content-length"].contains { $0 != "0" }
  }

  /// True if the request may become a WebSocket: it is a GET without a body, and its key has the form of
  /// one.
  ///
  /// Source: RFC 6455, section 4.1.
  var mayBeginSocket: Bool {
    method == .GET && version == .http1_1 && !bringsBody
      && headers["sec-websocket-key"].allSatisfy(HTTPRequestHead.isSocketKey)
  }

  /// True for 16 bytes in base64.
  private static func isSocketKey(_ text: String) -> Bool {
    let bytes = Array(text.utf8)
    guard bytes.count == 24, bytes.suffix(2) == [61, 61] else { return false }
    // The last 4 bits belong to no byte.
    return bytes.prefix(22).allSatisfy(isBase64) && [65, 81, 103, 119].contains(bytes[21])
  }

  private static func isBase64(_ byte: UInt8) -> Bool {
    switch byte {
    case 43, 47, 48...57, 65...90, 97...122: true
    default: false
    }
  }
}
