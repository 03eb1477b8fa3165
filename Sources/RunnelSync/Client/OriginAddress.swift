import RunnelBase
public import RunnelTree

/// The address of a server's database, and maybe of a place in it: `https://HOST/PLACE?ns=NAME`.
///
/// Where the host names the database (`https://NAME.example.com`), `ns` may be missing. In
/// `feathers+https://HOST/SERVICE` the host is a Feathers server, and the place is a service's path.
public struct OriginAddress: Hashable, Sendable {
  /// The most bytes of an address.
  private static let bytesMax = 8192

  /// The host, with its port if that is not the usual one, in small letters.
  public let host: String
  /// True for connections with TLS.
  public let isSecure: Bool
  /// The database on that host; nil if the host names it.
  public let namespace: String?
  /// The place that the path names.
  public private(set) var place: Path
  /// True for a server of Feathers services, which speaks neither REST nor the protocol of a tree.
  public let hasServices: Bool

  /// What stands before the scheme of a server of services.
  private static let servicesPrefix = "feathers+"

  /// True if a text is meant as an address, whether or not it is a right one.
  public static func isMeant(by text: some StringProtocol) -> Bool {
    let text = text.lowercased()
    let start = text.hasPrefix(servicesPrefix) ? servicesPrefix.count : 0
    return ["http://", "https://"].contains { text.dropFirst(start).hasPrefix($0) }
  }

  /// Reads an address; in the path, spaces and what is not ASCII may stand as they are.
  ///
  /// - Throws: `TreeError` (`invalidMessage`) that says what is wrong with it and repeats nothing of it,
  ///   as it may hold a secret.
  public init(_ text: String) throws(TreeError) {
    guard text.utf8.count <= OriginAddress.bytesMax, OriginAddress.isMeant(by: text),
      text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7f })
    else {
      throw OriginAddress.error("write https://HOST/?ns=NAME")
    }
    hasServices = text.lowercased().hasPrefix(OriginAddress.servicesPrefix)
    let text = text.dropFirst(hasServices ? OriginAddress.servicesPrefix.count : 0)
    isSecure = text.lowercased().hasPrefix("https://")
    let rest = text.dropFirst(isSecure ? 8 : 7).prefix { $0 != "#" }
    let authority = rest.prefix { $0 != "/" && $0 != "?" }
    if authority.contains("@") {
      throw OriginAddress.error(
        "others could see the password in it: give a token in a file or in the environment")
    }
    host = try OriginAddress.host(authority, isSecure: isSecure)
    let halves = rest.dropFirst(authority.count).split(
      separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    place = try OriginAddress.place(halves[0])
    namespace = try OriginAddress.namespace(halves.count > 1 ? halves[1] : "")
    if hasServices, namespace != nil {
      throw OriginAddress.error("a Feathers server has no ns=: write feathers+https://HOST/SERVICE")
    }
  }

  private static func error(_ reason: String) -> TreeError {
    TreeError(.invalidMessage, "This is not the address of a server's database: \(reason).")
  }

  /// Host and port in their usual form.
  private static func host(
    _ authority: Substring, isSecure: Bool
  ) throws(TreeError) -> String {
    var host = authority.lowercased()
    let usual = isSecure ? ":443" : ":80"
    if host.hasSuffix(usual) { host.removeLast(usual.count) }
    var name = host[...]
    let end = name.lastIndex(of: "]") ?? name.startIndex
    if let colon = name[end...].lastIndex(of: ":") {
      guard let port = UInt16(name[name.index(after: colon)...]), port > 0 else {
        throw error("its port is a number from 1 to 65535")
      }
      name = name[..<colon]
    }
    let isBracketed = name.hasPrefix("[") && name.hasSuffix("]")
    let allowed = isBracketed ? ":.[]%" : ".-_"
    guard !name.isEmpty, name.allSatisfy({ isWordCharacter($0) || allowed.contains($0) })
    else { throw error("its host is a name, or an address in figures") }
    return host
  }

  private static func isWordCharacter(_ character: Character) -> Bool {
    character.isASCII && (character.isLetter || character.isNumber)
  }

  private static func place(_ path: Substring) throws(TreeError) -> Path {
    var keys: [Key] = []
    for piece in path.split(separator: "/") {
      guard let name = PercentEncoding.decoded(piece.utf8, isPlusSpace: false) else {
        throw error("its path is not UTF-8 in percent encoding")
      }
      guard let key = try? Key(name) else {
        throw error(
          "a key in its path is too long, or holds a control character or one of . # $ / [ ]")
      }
      keys.append(key)
    }
    guard let place = try? Path(keys) else { throw error("its path is too long or too deep") }
    return place
  }

  private static func namespace(_ query: Substring) throws(TreeError) -> String? {
    var found: String?
    for pair in query.split(separator: "&") {
      let halves = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard halves[0] == "ns" else {
        // Other users can see addresses, and shells keep them in their history.
        throw error("only ns= may stand after the question mark")
      }
      let name = halves.count > 1 ? halves[1] : ""
      let isName = name.allSatisfy { isWordCharacter($0) || "-_".contains($0) }
      guard isName, (1...128).contains(name.utf8.count) else {
        throw error("the name of a database has letters, digits and hyphens")
      }
      found = String(name)
    }
    return found
  }

  /// The address of the whole database; the replica has this name.
  public var name: String {
    let scheme = (hasServices ? OriginAddress.servicesPrefix : "") + (isSecure ? "https" : "http")
    return "\(scheme)://\(host)/" + (namespace.map { "?ns=\($0)" } ?? "")
  }

  /// Returns the address of a place below this one's.
  ///
  /// - Throws: `TreeError` (`pathTooLong` or similar) if the place is too deep.
  public func appending(_ path: Path) throws(TreeError) -> OriginAddress {
    var address = self
    address.place = try place.appending(path)
    return address
  }

  /// The name of the database for people.
  public var title: String {
    if let namespace { return namespace }
    let label = host.prefix { $0 != "." && $0 != ":" }
    // A part of an address in figures names nothing.
    let isInFigures = label.hasPrefix("[") || label.allSatisfy(\.isNumber)
    return isInFigures ? host : String(label)
  }
}
