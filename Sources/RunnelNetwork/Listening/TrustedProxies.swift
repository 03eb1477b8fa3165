import HTTPTypes

/// The proxies whose statements about their clients' addresses are trusted.
struct TrustedProxies: Hashable, Sendable {
  private static let addressHeader = HTTPField.Name("X-Forwarded-For")
  private static let protocolHeader = HTTPField.Name("X-Forwarded-Proto")
  /// The most addresses of a header that are examined.
  private static let hopsMax = 32

  let ranges: [AddressRange]

  /// True if an address belongs to a trusted proxy.
  func contains(_ address: String) -> Bool { ranges.contains { $0.contains(address) } }

  /// The sender of a request: the peer of the connection, or the client that a trusted proxy names.
  ///
  /// Each proxy appends the address of its own peer, so the last address that is no trusted proxy
  /// is the client's; addresses before it may be forged.
  func sender(of request: HTTPRequest, from peer: NetworkPeer) -> NetworkPeer {
    guard contains(peer.address) else { return peer }
    var sender = peer
    if let name = TrustedProxies.addressHeader {
      let hops = request.headerFields[values: name].flatMap { $0.split(separator: ",") }
      for hop in hops.suffix(TrustedProxies.hopsMax).reversed() {
        let address = TrustedProxies.address(in: hop)
        guard AddressRange.bytes(of: address) != nil else { break }
        sender.address = address
        if !contains(address) { break }
      }
    }
    if let name = TrustedProxies.protocolHeader, let scheme = request.headerFields[name] {
      sender.isSecure = scheme.lowercased() == "https"
    }
    return sender
  }

  /// The address in `ADDRESS`, `ADDRESS:PORT` or `[ADDRESS]:PORT`, without port and blanks.
  private static func address(in hop: Substring) -> String {
    let text = hop.filter { $0 != " " && $0 != "\t" }
    if text.hasPrefix("["), let end = text.firstIndex(of: "]") {
      return String(text[text.index(after: text.startIndex)..<end])
    }
    let pieces = text.split(separator: ":", omittingEmptySubsequences: false)
    return pieces.count == 2 ? String(pieces[0]) : text
  }
}
