import Glibc

/// An address to listen on.
public struct NetworkAddress: Hashable, Sendable, CustomStringConvertible {
  /// The numeric address.
  public var host: String
  /// The port; 0 for any free port.
  public var port: Int

  /// Makes an address.
  public init(host: String, port: Int) { (self.host, self.port) = (host, port) }

  /// True if only this machine can reach it.
  public var isLoopback: Bool { host.hasPrefix("127.") || host == "::1" }

  /// True for an IPv6 address.
  public var isVersion6: Bool { host.contains(":") }

  /// Host and port in the form of a web address.
  public var description: String { isVersion6 ? "[\(host)]:\(port)" : "\(host):\(port)" }

  /// Resolves all addresses of `HOST:PORT`, `HOST`, `:PORT` or `PORT`; `[::1]:9000` is a single one.
  ///
  /// - Parameters:
  ///   - text: the text; a `*` in place of the host is every address of the machine.
  ///   - port: the port, if the text has none.
  /// - Returns: the addresses, at least one.
  /// - Throws: `NetworkError` if the text is invalid, or the name is unknown.
  public static func resolve(
    _ text: String, defaultPort port: Int
  ) throws(NetworkError) -> [NetworkAddress] {
    let (host, number) = try split(text, port)
    switch host {
    case "*": return ["0.0.0.0", "::"].map { NetworkAddress(host: $0, port: number) }
    // These addresses do not depend on the machine's configuration.
    case "", "localhost":
      return ["127.0.0.1", "::1"].map { NetworkAddress(host: $0, port: number) }
    default: return try lookUp(host).map { NetworkAddress(host: $0, port: number) }
    }
  }

  /// Checks the form of a text for `resolve`, without looking a name up.
  ///
  /// - Throws: `NetworkError` if the text is invalid.
  package static func check(_ text: String) throws(NetworkError) { _ = try split(text, 0) }

  /// Returns where a client of this machine reaches a server that listens on a text, as `HOST:PORT`.
  ///
  /// - Throws: `NetworkError` if the text is invalid.
  package static func place(
    _ text: String, defaultPort: Int
  ) throws(NetworkError) -> String {
    let (host, port) = try split(text, defaultPort)
    let name = host.isEmpty || host == "*" ? "localhost" : host
    return (name.contains(":") ? "[\(name)]" : name) + ":\(port)"
  }

  private static func split(
    _ text: String, _ defaultPort: Int
  ) throws(NetworkError) -> (host: String, port: Int) {
    var (host, rest) = (Substring(text), Substring())
    if text.hasPrefix("["), let end = text.firstIndex(of: "]") {
      host = text[text.index(after: text.startIndex)..<end]
      rest = text[text.index(after: end)...]
    } else if let colon = text.lastIndex(of: ":"), text.firstIndex(of: ":") == colon {
      (host, rest) = (text[..<colon], text[colon...])
    }
    // The system would take a number for an IPv4 address.
    if rest.isEmpty, !host.isEmpty, host.allSatisfy({ $0.isASCII && $0.isWholeNumber }) {
      (host, rest) = ("localhost", ":" + host)
    }
    if rest.isEmpty { return (String(host), defaultPort) }
    guard rest.hasPrefix(":"), let port = UInt16(rest.dropFirst()) else {
      throw NetworkError("\(text) is not an address to listen on: give HOST:PORT.")
    }
    return (String(host), Int(port))
  }

  /// Returns the numeric addresses of a name; the call blocks while the system looks them up.
  static func lookUp(_ host: String) throws(NetworkError) -> [String] {
    var hints = addrinfo()
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var list: UnsafeMutablePointer<addrinfo>?
    let status = getaddrinfo(host, nil, &hints, &list)
    guard status == 0 else {
      throw NetworkError("\(host) has no address: \(String(cString: gai_strerror(status))).")
    }
    defer { freeaddrinfo(list) }
    var found: [String] = []
    var next = list
    while let entry = next {
      var name = [CChar](repeating: 0, count: Int(NI_MAXHOST))
      let isNamed =
        getnameinfo(
          entry.pointee.ai_addr, entry.pointee.ai_addrlen, &name, socklen_t(name.count), nil, 0,
          NI_NUMERICHOST) == 0
      let bytes = name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
      let text = String(decoding: bytes, as: UTF8.self)
      if isNamed, !found.contains(text) { found.append(text) }
      next = entry.pointee.ai_next
    }
    return found
  }
}

/// An error of a network operation.
public struct NetworkError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The message for a person: what happened and what to do.
  public var message: String
  /// True if a request was sent, so that it may have been carried out.
  package var isSent = false

  /// Makes an error.
  public init(_ message: String) { self.message = message }

  /// Makes an error of a request that was sent.
  package init(sent message: String) { (self.message, isSent) = (message, true) }

  /// The message.
  public var description: String { message }
}
