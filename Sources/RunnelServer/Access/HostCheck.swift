import HTTPTypes

/// Decides whether a web page may use a server that is open to everyone on its machine.
///
/// A page that the user visits may send requests to servers on the user's machine: through a host
/// name of its own that leads there, which the `Host` header reveals, or by a cross-origin request,
/// which the `Origin` header reveals. A page may also load an answer as a script, without that header:
/// browsers then tell that another site asks, and older ones which page does.
struct HostCheck: Hashable, Sendable {
  /// The accepted hosts besides those of loopback.
  var hosts: Set<String> = []
  /// The accepted origins besides those of loopback, in the form of browsers.
  var origins: Set<String> = []

  /// The reason why a request is refused, or nil.
  func refusal(of request: HTTPRequest) -> String? {
    let host = HostCheck.host(of: request.authority ?? "")
    if host.isEmpty {
      return "The request names no host: send the header Host, as in HTTP/1.1."
    }
    if !isKnown(host) {
      return "The host \(host.prefix(100)) is not known here: "
        + "use localhost, or start the server with --host-name."
    }
    guard let origin = request.headerFields[.origin] else { return scriptRefusal(of: request) }
    if origins.contains(origin.lowercased()) { return nil }
    let parts = origin.lowercased().split(separator: "//", maxSplits: 1)
    if parts.count == 2, HostCheck.isLoopback(HostCheck.host(of: String(parts[1]))) { return nil }
    return "Pages of \(origin.prefix(100)) may not use this: start the server with --allow-origin."
  }

  /// The reason why a request without an origin is refused, or nil.
  ///
  /// A page of another site may load it as a script or a picture. Following a link is no such thing: the
  /// page does not see the answer.
  private func scriptRefusal(of request: HTTPRequest) -> String? {
    let site = HostCheck.name("Sec-Fetch-Site").flatMap { request.headerFields[$0] }
    let mode = HostCheck.name("Sec-Fetch-Mode").flatMap { request.headerFields[$0] }
    let words =
      "may not use this: start the server with --allow-origin, and send requests by fetch."
    if let site {
      return site == "cross-site" && mode != "navigate" ? "Pages of other sites \(words)" : nil
    }
    guard let page = request.headerFields[.referer]?.lowercased(),
      request.path?.contains("callback=") == true
    else { return nil }
    let parts = page.split(separator: "//", maxSplits: 1)
    let host = parts.count == 2 ? HostCheck.host(of: String(parts[1])) : ""
    return isKnown(host) ? nil : "Pages of \(host.prefix(100)) \(words)"
  }

  private static func name(_ text: String) -> HTTPField.Name? { HTTPField.Name(text) }

  private func isKnown(_ host: String) -> Bool {
    HostCheck.isLoopback(host) || hosts.contains(host)
  }

  /// The host of `HOST:PORT`, in lower case, and with a path behind it; all of the text if it has not that form.
  static func host(of authority: String) -> String {
    let authority = authority.lowercased()
    let whole = authority.prefix { $0 != "/" }
    let (host, rest): (Substring, Substring)
    if whole.hasPrefix("["), let end = whole.firstIndex(of: "]") {
      host = whole[whole.index(after: whole.startIndex)..<end]
      rest = whole[whole.index(after: end)...]
    } else {
      host = whole.prefix { $0 != ":" }
      rest = whole[host.endIndex...]
    }
    let port = rest.dropFirst().utf8
    let isPort = rest.isEmpty || rest.hasPrefix(":") && port.allSatisfy { 48...57 ~= $0 }
    return String(isPort ? host : whole)
  }

  private static func isLoopback(_ host: String) -> Bool {
    if host == "localhost" || host.hasSuffix(".localhost") || host == "::1" { return true }
    let parts = host.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
  }
}
