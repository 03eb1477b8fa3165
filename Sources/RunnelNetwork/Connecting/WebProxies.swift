import RunnelBase

/// The proxy for connections with TLS, and the hosts that are reached without it.
///
/// The proxy opens a tunnel (CONNECT), so it learns the host but cannot read the data.
public struct WebProxies: Hashable, Sendable {
  /// A proxy, and the credentials for it.
  struct Proxy: Hashable, Sendable {
    var address: WebAddress
    /// The value of `Proxy-Authorization`; nil for none.
    var authorization: String?
  }

  private var proxy: Proxy?
  private var exceptions: [String] = []

  /// No proxy.
  public static let none = WebProxies(environment: [:])

  /// Reads `https_proxy` and `no_proxy`, or the same in capitals; the lower-case names take
  /// precedence.
  ///
  /// A proxy that is not a valid web address is ignored. The elements of `no_proxy` are separated
  /// by commas: a host, which includes its subdomains; an address; a range of addresses;
  /// `HOST:PORT`; or `*` for all.
  public init(environment: [String: String]) {
    let variable = { (name: String) in environment[name] ?? environment[name.uppercased()] ?? "" }
    proxy = WebProxies.proxy(variable("https_proxy"))
    exceptions = variable("no_proxy").split(separator: ",").map {
      $0.filter { $0 != " " }.lowercased()
    }
  }

  /// Reads a proxy from a text like `http://USER:PASSWORD@HOST:PORT`; returns nil if it is invalid.
  private static func proxy(_ text: String) -> Proxy? {
    if text.isEmpty { return nil }
    let scheme = ["http://", "https://"].first { text.lowercased().hasPrefix($0) }
    let rest = text.dropFirst(scheme?.count ?? 0)
    let authority = rest.prefix { $0 != "/" }
    guard let at = authority.lastIndex(of: "@") else {
      return WebAddress((scheme ?? "http://") + rest).map { Proxy(address: $0) }
    }
    let host = rest[rest.index(after: at)...]
    guard let address = WebAddress((scheme ?? "http://") + host) else { return nil }
    let user = authority[..<at]
    let decoded = PercentEncoding.decoded(user.utf8, isPlusSpace: false) ?? String(user)
    return Proxy(
      address: address, authorization: "Basic " + Base64.text(of: Array(decoded.utf8)))
  }

  /// Returns whether an address is reached through the proxy.
  public func isUsed(for address: WebAddress) -> Bool { proxy(for: address) != nil }

  /// Returns the proxy for an address; nil if the connection is direct.
  func proxy(for address: WebAddress) -> Proxy? {
    guard address.isSecure, !exceptions.contains(where: { matches(address, $0) }) else {
      return nil
    }
    return proxy
  }

  private func matches(_ address: WebAddress, _ exception: String) -> Bool {
    if exception == "*" { return true }
    // An element that is not a range is a name.
    if let range = try? AddressRange(exception), range.contains(address.host) { return true }
    var name = exception[...]
    if let colon = name.lastIndex(of: ":"), name.firstIndex(of: ":") == colon {
      guard Int(name[name.index(after: colon)...]) == address.port else { return false }
      name = name[..<colon]
    }
    let bare = name.drop { $0 == "*" || $0 == "." }
    return !bare.isEmpty && (address.host == bare || address.host.hasSuffix("." + bare))
  }
}
