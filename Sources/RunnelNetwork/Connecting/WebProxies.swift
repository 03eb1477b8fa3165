import RunnelBase

/// The proxy through which connections with TLS are made, and the hosts that are connected to without it.
///
/// A proxy is asked for a tunnel (CONNECT), so it learns the host and sees none of what is said.
public struct WebProxies: Hashable, Sendable {
  /// A proxy, and what it wants to know of who asks.
  struct Proxy: Hashable, Sendable {
    var address: WebAddress
    /// The value of `Proxy-Authorization`; nil for none.
    var authorization: String?
  }

  private var proxy: Proxy?
  private var exceptions: [String] = []

  /// No proxy.
  public static let none = WebProxies(environment: [:])

  /// Reads `https_proxy` and `no_proxy`, or the same in capitals; one in small letters counts first.
  ///
  /// A proxy that is no address of the web is ignored. The names in `no_proxy` are separated by commas: a host,
  /// which stands for those below it too, an address, a range of addresses, `HOST:PORT`, or `*` for all.
  public init(environment: [String: String]) {
    let variable = { (name: String) in environment[name] ?? environment[name.uppercased()] ?? "" }
    proxy = WebProxies.proxy(variable("https_proxy"))
    exceptions = variable("no_proxy").split(separator: ",").map {
      $0.filter { $0 != " " }.lowercased()
    }
  }

  /// The proxy in a text like `http://USER:PASSWORD@HOST:PORT`; nil if it is none.
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

  /// True if an address is reached through a proxy.
  public func isUsed(for address: WebAddress) -> Bool { proxy(for: address) != nil }

  /// The proxy through which an address is reached; nil if it is connected to itself.
  func proxy(for address: WebAddress) -> Proxy? {
    guard address.isSecure, !exceptions.contains(where: { matches(address, $0) }) else {
      return nil
    }
    return proxy
  }

  private func matches(_ address: WebAddress, _ exception: String) -> Bool {
    if exception == "*" { return true }
    // What is no range is a name.
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
