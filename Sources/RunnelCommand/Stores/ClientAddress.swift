import Glibc

/// The address of servers that clients are told: HOST, HOST:PORT or [IPv6]:PORT.
///
/// It has no scheme: clients go on with the one that they use.
enum ClientAddress {
  private static let hostBytesMax = 253
  private static let labelBytesMax = 63
  private static let form =
    "give HOST:PORT, like b.example.net:9000, or [2001:db8::1]:9000."

  /// What is wrong with a text as an address, and what to give instead; nil if nothing is.
  static func fault(of text: String) -> String? {
    if let scheme = text.firstRange(of: "://") {
      let rest = text[scheme.upperBound...].prefix { !"/?#".contains($0) }
      let wish = isAddress(rest) ? "give \(rest)." : form
      return
        "\(text) is the address of a page, and clients go on with the protocol that they use: \(wish)"
    }
    let shown = text.isEmpty ? "An empty text" : text
    return isAddress(text[...]) ? nil : "\(shown) is no address of a server: \(form)"
  }

  private static func isAddress(_ text: Substring) -> Bool {
    if text.hasPrefix("[") {
      guard let end = text.firstIndex(of: "]") else { return false }
      let host = text[text.index(after: text.startIndex)..<end]
      return isNumeric(host, AF_INET6) && isPortEnd(text[text.index(after: end)...])
    }
    let host = text.prefix { $0 != ":" }
    return isHost(host) && isPortEnd(text[host.endIndex...])
  }

  /// True for nothing, or a colon with a port behind it.
  private static func isPortEnd(_ text: Substring) -> Bool {
    if text.isEmpty { return true }
    let digits = text.dropFirst()
    guard text.hasPrefix(":"), digits.utf8.allSatisfy({ (48...57).contains($0) }) else {
      return false
    }
    return UInt16(digits).map { $0 > 0 } ?? false
  }

  private static func isHost(_ text: Substring) -> Bool {
    let labels = text.split(separator: ".", omittingEmptySubsequences: false)
    guard text.utf8.count <= hostBytesMax, labels.allSatisfy(isLabel), let last = labels.last else {
      return false
    }
    // Browsers take a host with a number at its end for an IPv4 address.
    return last.allSatisfy(\.isNumber) ? isNumeric(text, AF_INET) : true
  }

  private static func isLabel(_ text: Substring) -> Bool {
    (1...labelBytesMax).contains(text.utf8.count) && !text.hasPrefix("-") && !text.hasSuffix("-")
      && text.unicodeScalars.allSatisfy { scalar in
        scalar.isASCII && (scalar.properties.isAlphabetic || ("0"..."9").contains(scalar))
          || scalar == "-" || scalar == "_"
      }
  }

  private static func isNumeric(_ text: Substring, _ family: Int32) -> Bool {
    var bytes = in6_addr()
    return inet_pton(family, String(text), &bytes) == 1
  }
}
