/// An address on the web: `https://HOST:PORT/PATH`, where port and path may be missing.
public struct WebAddress: Hashable, Sendable, CustomStringConvertible {
  /// True for `https`.
  public let isSecure: Bool
  /// The host: a name, or a numeric address without brackets.
  public let host: String
  /// The port.
  public let port: Int
  /// The path with the query.
  public let target: String

  /// Reads an address; nil if it is invalid, has a user, or has a character that must be encoded.
  public init?(_ text: String) {
    guard text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }) else { return nil }
    let lowercased = text.lowercased()
    isSecure = lowercased.hasPrefix("https://")
    guard isSecure || lowercased.hasPrefix("http://") else { return nil }
    let rest = text.dropFirst(isSecure ? 8 : 7).prefix { $0 != "#" }
    let authority = rest.prefix { $0 != "/" && $0 != "?" }
    let tail = rest.dropFirst(authority.count)
    target = tail.hasPrefix("/") ? String(tail) : "/" + tail
    var host = authority.lowercased()[...]
    var port = isSecure ? 443 : 80
    let end = host.hasPrefix("[") ? host.lastIndex(of: "]") ?? host.startIndex : host.startIndex
    if let colon = host[end...].lastIndex(of: ":") {
      guard let number = UInt16(host[host.index(after: colon)...]), number > 0 else { return nil }
      (host, port) = (host[..<colon], Int(number))
    }
    if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
    guard !host.isEmpty, !host.contains(where: { "@[]".contains($0) }) else { return nil }
    (self.host, self.port) = (String(host), port)
  }

  /// True if the address is on this machine.
  public var isLoopback: Bool {
    host == "localhost" || NetworkAddress(host: host, port: port).isLoopback
  }

  /// True if answers cannot be changed on the way.
  public var isSafe: Bool { isSecure || isLoopback }

  /// Host and port as a request names them; the port is omitted if it is the default.
  var authority: String {
    let name = host.contains(":") ? "[\(host)]" : host
    return port == (isSecure ? 443 : 80) ? name : "\(name):\(port)"
  }

  /// The address as text.
  public var description: String { "\(isSecure ? "https" : "http")://\(authority)\(target)" }
}
