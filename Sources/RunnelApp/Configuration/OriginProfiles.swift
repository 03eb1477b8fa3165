import RunnelBase
public import RunnelSync
public import RunnelTree
public import RunnelWorkspace

/// A profile: a server's database with a name, and the settings for it.
public struct OriginProfile: Hashable, Sendable {
  /// The name, of letters, digits, `-` and `_`.
  public var name: String
  /// The address; a place in it is the root of all paths.
  public var address: OriginAddress
  /// The file with the token or secret; nil for none.
  public var tokenFile: String?
  /// The file with the certificates to trust; nil for those of the system.
  public var trustedFile: String?
  /// The header of the workspace, whether it asks before it deletes, and whether writing is refused.
  public var mark: ProfileMark
  /// The views file; nil for the default.
  public var views: String?
  /// The place where workspaces show who is here; nil if they do not.
  public var presence: Path?
  /// The paths of the services of a Feathers server that are shown.
  public var services: [String] = []
  /// The file with what is sent to sign in at a Feathers server; nil for none.
  public var signInFile: String?
  /// The file that describes methods of the services; nil for none.
  package var methodsFile: String?
  /// The place of the lists of users' devices; nil if this device is in none.
  public var devices: Path?
  /// The places that the replica keeps up to date although nobody shows them.
  public var keep: [Path] = []
  /// The file with the rules of the server, for the reasons of refusals; nil for those that the server tells.
  public var rulesFile: String?
  /// The most bytes that the replica keeps of data that are not shown; nil for the default.
  public var cacheBytesMax: Int?

  /// Returns whether a text may be the name of a profile.
  public static func isName(_ text: some StringProtocol) -> Bool {
    guard let first = text.unicodeScalars.first, first.properties.isAlphabetic else { return false }
    return text.utf8.count <= 64
      && text.unicodeScalars.allSatisfy {
        $0.properties.isAlphabetic || ("0"..."9").contains($0) || $0 == "-" || $0 == "_"
      }
  }
}

/// The profiles of a configuration.
///
/// A profile with a mistake cannot be used at all: if only the mistake were ignored, a misspelled `read-only`
/// would permit writing.
public struct OriginProfiles: Sendable {
  private static let members = [
    "url", "token-file", "ca", "read-only", "confirm", "color", "views", "cache", "presence",
    "services", "sign-in", "methods", "devices", "rules",
    "keep",
  ]

  private var profiles: [String: OriginProfile] = [:]
  private var mistakes: [String: ConfigurationError] = [:]
  /// The mistakes, in the order of the file.
  private(set) var problems: [ConfigurationError] = []

  init() {}

  /// The names of all profiles, including those with mistakes.
  public var names: [String] { (Array(profiles.keys) + Array(mistakes.keys)).sorted() }

  /// Returns the profile with a name, or nil.
  ///
  /// - Throws: `ConfigurationError` if there is a mistake in it.
  public func profile(named name: String) throws(ConfigurationError) -> OriginProfile? {
    if let mistake = mistakes[name] { throw mistake }
    return profiles[name]
  }

  mutating func read(_ object: YAMLObject) {
    for (name, node, line) in object.members {
      do {
        guard OriginProfile.isName(name) else {
          throw object.error(
            "`\(name)` is not the name of a profile: names have letters, digits, - and _, and begin with a letter.",
            at: name)
        }
        profiles[name] = try OriginProfiles.profile(name, object.object(node))
      } catch let error as ConfigurationError {
        mistakes[name] = error
        problems.append(error)
      } catch {
        let mistake = ConfigurationError(file: object.file, line: line, "\(error)")
        mistakes[name] = mistake
        problems.append(mistake)
      }
    }
  }

  private static func profile(_ name: String, _ object: YAMLObject) throws -> OriginProfile {
    try object.check(allowed: members)
    let url = try object.required("url")
    let address: OriginAddress
    do {
      address = try OriginAddress(url)
    } catch {
      throw object.error(error.message, at: "url")
    }
    let color = try object.string("color").map { text in
      if let color = ProfileMark.Color(rawValue: text) { return color }
      let known = ProfileMark.Color.allCases.map(\.rawValue)
      throw object.error(
        "`\(text)` is not a color for profiles\(Spelling.advice(for: text, among: known))",
        at: "color")
    }
    let file = { (member: String) in
      try object.string(member).map { ConfigurationFile.path($0, near: object.file) }
    }
    let cache = try object.string("cache").map { text in
      if let bytes = ByteSize.bytes(text) { return bytes }
      throw object.error("`cache` is \(ByteSize.help), not `\(text)`.", at: "cache")
    }
    let services = try object.string("services").map { text in
      text.split { $0 == "," || $0 == " " }.map(String.init)
    }
    let (signIn, methods) = (try file("sign-in"), try file("methods"))
    let ofServices = [
      ("services", services != nil), ("sign-in", signIn != nil), ("methods", methods != nil),
    ]
    for (member, isGiven) in ofServices {
      guard isGiven, !address.hasServices else { continue }
      throw object.error(
        "`\(member)` is for a Feathers server: its `url` begins with feathers+https://.", at: member
      )
    }
    let presence = try collection("presence", object)
    let devices = try collection("devices", object)
    let ofTrees = [
      ("presence", presence != nil), ("devices", devices != nil),
      ("rules", try object.string("rules") != nil), ("keep", try object.string("keep") != nil),
    ]
    for (member, isGiven) in ofTrees {
      guard isGiven, address.hasServices else { continue }
      throw object.error("A Feathers server has no place for `\(member)`.", at: member)
    }
    var profile = OriginProfile(
      name: name, address: address, tokenFile: try file("token-file"), trustedFile: try file("ca"),
      mark: ProfileMark(
        name, color: color, confirms: try object.bool("confirm") ?? false,
        isReadOnly: try object.bool("read-only") ?? false),
      views: try file("views"), presence: presence, devices: devices, cacheBytesMax: cache)
    (profile.services, profile.signInFile) = (services ?? [], signIn)
    profile.methodsFile = methods
    profile.rulesFile = try file("rules")
    profile.keep = try places("keep", object)
    return profile
  }

  /// Reads the paths of places, which commas or blanks separate.
  private static func places(_ member: String, _ object: YAMLObject) throws -> [Path] {
    let texts = try object.string(member)?.split { $0 == "," || $0 == " " } ?? []
    return try texts.map { text in
      do throws(TreeError) {
        return try Path(String(text))
      } catch {
        throw object.error("`\(member)` is a list of paths: \(error.message)", at: member)
      }
    }
  }

  /// Reads the path of a collection that is used for nothing else.
  private static func collection(_ member: String, _ object: YAMLObject) throws -> Path? {
    guard let text = try object.string(member) else { return nil }
    do throws(TreeError) {
      let path = try Path(text)
      if !path.isRoot { return path }
    } catch {
      throw object.error("`\(member)` is a path: \(error.message)", at: member)
    }
    throw object.error("`\(member)` is the path of a collection of its own.", at: member)
  }
}

/// Reads sizes such as `500MB`.
public enum ByteSize {
  /// The description of a size for messages.
  public static let help = "a number of bytes, such as 500MB or 2GB"

  /// Returns the number of bytes of a size, or nil if the text is not a size.
  public static func bytes(_ text: String) -> Int? {
    let units = ["kB": 1000, "KB": 1000, "MB": 1_000_000, "GB": 1_000_000_000]
    let digits = text.prefix { ("0"..."9").contains($0) }
    let unit = text.dropFirst(digits.count).drop { $0 == " " }
    guard let number = Int(digits) else { return nil }
    guard let factor = unit.isEmpty ? 1 : units[String(unit)] else { return nil }
    let (bytes, isTooMuch) = number.multipliedReportingOverflow(by: factor)
    return isTooMuch ? nil : bytes
  }
}
