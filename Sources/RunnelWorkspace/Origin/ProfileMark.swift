package import RunnelBase
public import RunnelTerminal

/// The name and color by which the workspace shows which profile is open, so that databases are not confused.
public struct ProfileMark: Hashable, Sendable {
  /// The color of a profile.
  public enum Color: String, Hashable, Sendable, CaseIterable {
    /// White on red, for production.
    case red
    /// Black on yellow.
    case yellow
    /// White on green.
    case green
    /// White on blue.
    case blue
    /// White on magenta.
    case magenta
    /// Black on cyan.
    case cyan

    /// The role of text in the color.
    public var role: StyleRole {
      switch self {
      case .red: .production
      case .yellow: .profileYellow
      case .green: .profileGreen
      case .blue: .profileBlue
      case .magenta: .profileMagenta
      case .cyan: .profileCyan
      }
    }
  }

  /// The name of the profile.
  public var name: String
  /// The color of the header; nil for none.
  public var color: Color?
  /// Whether the name must be typed before data are deleted.
  public var confirms: Bool
  /// Whether writing is refused.
  public var isReadOnly: Bool
  /// The methods of services that the profile describes.
  package var methods: [MethodOffer] = []
  /// Whether the profile lists devices, and the accounts are forgotten at the end, so that none are listed.
  package var omitsDevices = false

  /// Makes a mark.
  public init(
    _ name: String, color: Color? = nil, confirms: Bool = false, isReadOnly: Bool = false
  ) {
    (self.name, self.color) = (name, color)
    (self.confirms, self.isReadOnly) = (confirms, isReadOnly)
  }
}

// MARK: Recording

extension ProfileMark {
  /// The mark as JSON, for recorded sessions.
  package var json: JSONValue {
    var members = [
      JSONMember("name", .string(name)), JSONMember("confirm", .bool(confirms)),
      JSONMember("readonly", .bool(isReadOnly)),
    ]
    if let color { members.append(JSONMember("color", .string(color.rawValue))) }
    if !methods.isEmpty { members.append(JSONMember("methods", .array(methods.map(\.json)))) }
    if omitsDevices { members.append(JSONMember("omitsDevices", true)) }
    return .object(members)
  }

  /// Reads a mark that `json` wrote; nil if the JSON is something else.
  package init?(_ json: JSONValue) {
    guard let name = json["name"]?.string else { return nil }
    self.init(
      name, color: json["color"]?.string.flatMap(Color.init), confirms: json["confirm"] == true,
      isReadOnly: json["readonly"] == true)
    omitsDevices = json["omitsDevices"] == true
    methods = (json["methods"]?.array ?? []).compactMap { MethodOffer($0) }
  }
}
