import RunnelBase
import Foundation
import RunnelTerminal
public import RunnelWorkspace
import Yams

/// The user's configuration: a YAML file with settings and keys.
///
/// `Resources/docs/configuration.md` describes the file. A mistake is reported with its line, and
/// that setting is left out; all other settings are used, so that no mistake keeps the program from
/// starting.
public struct ConfigurationFile: Sendable {
  /// The settings of the file, with defaults for those that are not in it.
  public private(set) var settings = Settings()
  /// The mistakes in the file, in the order of its lines.
  public private(set) var problems: [ConfigurationError] = []
  /// The themes in the folder beside the file.
  public private(set) var themes: [ThemeFile] = []
  /// The profiles of servers' databases.
  public private(set) var origins = OriginProfiles()
  /// The connection strings of stores in PostgreSQL, by their names.
  public private(set) var stores: [String: String] = [:]
  /// The lines on which they stand.
  package private(set) var storeLines: [String: Int] = [:]
  private var roles = RoleReader()
  private var keyWarnings: [ConfigurationError] = []

  /// The names of settings that the file may have.
  static let names = [
    "theme", "roles", "colors", "signs", "mouse", "time", "page", "typing", "me", "views",
    "origins",
    "stores", "notify", "keys",
  ]

  /// Creates the default settings, for users without a file.
  public init() {}

  /// Parses the text of a file.
  ///
  /// - Parameters:
  ///   - yaml: the text; a text without content leaves all defaults.
  ///   - name: the name of the file in problems; `views` in it is relative to its folder.
  ///   - themes: the themes in the folder beside the file.
  public init(yaml: String, name: String, themes: [ThemeFile] = []) {
    settings.source = yaml
    take(themes)
    do {
      guard let object = try YAMLObject(settings: yaml, file: name) else { return }
      for (member, _, line) in object.members { read(member, line: line, of: object, file: name) }
    } catch let error as ConfigurationError {
      problems.append(error)
    } catch {
      problems.append(ConfigurationError(file: name, line: nil, "\(error)"))
    }
    problems.sort { ($0.line ?? 0) < ($1.line ?? 0) }
  }

  /// Reads a file, and the themes beside it; a missing file leaves all defaults.
  public init(file: String) {
    let themes = ThemeFile.all(beside: file)
    do {
      self.init(
        yaml: try UserFile.text(of: file), name: file, themes: themes)
    } catch let error as ConfigurationError {
      self.init()
      take(themes)
      problems.append(error)
    } catch {
      self.init()
      take(themes)
      if (error as? CocoaError)?.code == .fileReadNoSuchFile { return }
      let reason = error.fileReason
      problems.append(
        ConfigurationError(file: file, line: nil, "The file cannot be read: \(reason)"))
    }
  }

  /// Returns the path of the file: `runnel/config.yaml` below `$XDG_CONFIG_HOME`, or else below
  /// `~/.config`; nil if neither is known.
  ///
  /// Source: XDG Base Directory Specification; a relative path is to be ignored.
  public static func path(environment: [String: String]) -> String? {
    let name = "/runnel/config.yaml"
    if let folder = environment["XDG_CONFIG_HOME"], folder.hasPrefix("/") { return folder + name }
    guard let home = environment["HOME"], !home.isEmpty else { return nil }
    return home + "/.config" + name
  }

  /// The names of the themes beside the file.
  public var themeNames: [String] { settings.terminal.customThemes.map(\.name) }

  /// Warnings about what no key leads to any more, and about changed roles that are hard to read, in the
  /// file and in all themes beside it.
  public var warnings: [ConfigurationError] {
    keyWarnings + roles.warnings(settings.terminal) + themes.flatMap(\.warnings)
  }

  /// Returns a one-line summary of the problems, including those of the theme in use (nil for the
  /// theme of the file), or nil if there are none.
  func summary(_ theme: ThemeChoice? = nil) -> String? {
    let used = (theme ?? settings.terminal.theme).name
    let problems = problems + themes.filter { $0.theme.name == used }.flatMap(\.problems)
    guard let first = problems.first else { return nil }
    let rest = problems.count == 1 ? "" : " (and \(problems.count - 1) more)"
    return "\(first)\(rest) - runnel config check tells all"
  }
}

// MARK: Members

extension ConfigurationFile {
  private mutating func read(_ name: String, line: Int?, of object: YAMLObject, file: String) {
    do {
      switch name {
      case "theme": settings.terminal.theme = try theme(object.required(name), of: object)
      case "roles": readRoles(try object.member(name))
      case "colors": settings.terminal.colorDepth = try object.colorDepth(name)
      case "signs": settings.terminal.signs = try object.choice(name)
      case "mouse": settings.terminal.usesMouse = try object.onOrOff(name)
      case "time": settings.clock = try object.choice(name)
      case "page":
        settings.pageSize =
          try object.integer(name, in: 1...Settings.pageSizeMax) ?? settings.pageSize
      case "typing":
        settings.typingSeconds = try object.integer(name, in: 1...600) ?? settings.typingSeconds
      case "me": settings.me = try object.required(name)
      case "views": settings.views = ConfigurationFile.path(try object.required(name), near: file)
      case "notify": settings.notices = try object.member(name).noticeSettings()
      case "keys": readKeys(try object.member(name))
      case "origins": readOrigins(try object.member(name))
      case "stores": try readStores(try object.member(name))
      default:
        throw object.error(
          "`\(name)` is not known here"
            + Spelling.advice(for: name, among: ConfigurationFile.names), at: name)
      }
    } catch let error as ConfigurationError {
      problems.append(error)
    } catch {
      problems.append(ConfigurationError(file: file, line: line, "\(error)"))
    }
  }

  private mutating func take(_ themes: [ThemeFile]) {
    self.themes = themes
    settings.terminal.customThemes = themes.map(\.theme).filter {
      ThemeChoice($0.name, custom: []) == nil
    }
  }

  private func theme(_ text: String, of object: YAMLObject) throws -> ThemeChoice {
    if let choice = ThemeChoice(text, custom: themeNames) { return choice }
    throw object.unknownTheme(text, at: "theme", custom: themeNames)
  }

  /// Reads the changes of roles, which apply to all themes.
  private mutating func readRoles(_ object: YAMLObject) {
    roles.read(object)
    settings.terminal.roles = roles.roles
    problems += roles.problems
  }

  private mutating func readOrigins(_ object: YAMLObject) {
    origins.read(object)
    problems += origins.problems
  }

  private mutating func readStores(_ object: YAMLObject) throws {
    for (name, node, line) in object.members {
      stores[name] = try object.text(node)
      storeLines[name] = line
    }
  }

  static func path(_ path: String, near file: String) -> String {
    if path.hasPrefix("/") { return path }
    if path.hasPrefix("~/") {
      return (ProcessInfo.processInfo.environment["HOME"] ?? "~") + path.dropFirst()
    }
    let folder = file.lastIndex(of: "/").map { file[...$0] } ?? ""
    return folder + path
  }

  /// Reads the keys: names of actions with keys, and names of contexts with such a list of their
  /// own.
  private mutating func readKeys(_ keys: YAMLObject) {
    var reader = KeymapReader(Commands.keymap)
    reader.read(keys)
    settings.keymap = reader.keymap
    problems += reader.problems
    keyWarnings = reader.warnings
  }
}

extension YAMLObject {
  /// Returns one of the words of a type.
  fileprivate func choice<Choice>(_ name: String) throws -> Choice
  where Choice: RawRepresentable<String> & CaseIterable {
    let text = try required(name)
    if let choice = Choice(rawValue: text) { return choice }
    let known = Choice.allCases.map(\.rawValue)
    throw error(
      "`\(name)` is one of \(known.joined(separator: ", ")), not `\(text)`"
        + (Spelling.nearest(to: text, among: known).map { ": did you mean `\($0)`?" } ?? "."),
      at: name)
  }

  fileprivate func colorDepth(_ name: String) throws -> ColorDepth? {
    switch try required(name) {
    case "auto": return nil
    case "none": return ColorDepth.none
    case "16": return .sixteen
    case "256": return .extended
    case let other:
      throw error("`\(name)` is one of auto, none, 16, 256, not `\(other)`.", at: name)
    }
  }

  fileprivate func onOrOff(_ name: String) throws -> Bool {
    switch try required(name) {
    case "on", "true": return true
    case "off", "false": return false
    case let other: throw error("`\(name)` is on or off, not `\(other)`.", at: name)
    }
  }
}
