import RunnelBase
import Foundation
public import RunnelTerminal

/// A theme that the user wrote: a YAML file in the folder `themes` beside the configuration.
///
/// `Resources/docs/configuration.md` describes it. What is wrong with it is told with its line and left out.
public struct ThemeFile: Sendable {
  /// The most bytes of a file.
  static let bytesMax = 1 << 16
  /// The most files that are read.
  static let countMax = 200
  /// What the names of the files end with.
  private static let suffix = ".yaml"
  private static let names = ["base", "roles"]

  /// The theme, called as the file without its end.
  public private(set) var theme: CustomTheme
  /// What is wrong with the file, in the order of its lines.
  public private(set) var problems: [ConfigurationError] = []
  /// The text of the file.
  let source: String
  private let file: String
  private var reader = RoleReader()

  /// Reads the text of a file.
  public init(yaml: String, file: String) {
    self.file = file
    source = yaml
    let last = file.split(separator: "/").last.map(String.init) ?? file
    let isNamed = last.hasSuffix(ThemeFile.suffix)
    theme = CustomTheme(name: isNamed ? String(last.dropLast(ThemeFile.suffix.count)) : last)
    note { theme in
      guard let object = try YAMLObject(settings: yaml, file: file) else { return }
      for (name, _, _) in object.members { theme.note { try $0.read(name, object) } }
    }
    theme.roles = reader.roles
    problems += reader.problems
    problems.sort { ($0.line ?? 0) < ($1.line ?? 0) }
  }

  /// Reads a file.
  init(file: String) {
    do {
      self.init(yaml: try UserFile.text(of: file, bytesMax: ThemeFile.bytesMax), file: file)
    } catch {
      self.init(yaml: "", file: file)
      problems = [
        error as? ConfigurationError
          ?? ConfigurationError(
            file: file, line: nil, "The file cannot be read: \(error.fileReason)")
      ]
    }
  }

  /// What is hard to read in it: colours that are told less well from what is behind them than those of
  /// the theme that it is based on.
  public var warnings: [ConfigurationError] {
    var options = TerminalOptions(theme: .custom(theme.name))
    options.customThemes = [theme]
    return reader.warnings(options)
  }

  private mutating func note(_ body: (inout ThemeFile) throws -> Void) {
    do {
      try body(&self)
    } catch {
      problems.append(
        error as? ConfigurationError ?? ConfigurationError(file: file, line: nil, "\(error)"))
    }
  }

  private mutating func read(_ name: String, _ object: YAMLObject) throws {
    switch name {
    case "base":
      let text = try object.required(name)
      guard let choice = ThemeChoice(text, custom: []) else {
        throw object.unknownTheme(text, at: name, custom: [])
      }
      if case .named(let base) = choice { theme.base = base }
    case "roles": reader.read(try object.member(name))
    default:
      throw object.error(
        "`\(name)` is not known here" + Spelling.advice(for: name, among: ThemeFile.names),
        at: name)
    }
  }
}

// MARK: The folder

extension ThemeFile {
  /// Where the themes are that belong to a configuration file.
  static func folder(beside configuration: String) -> String {
    (configuration.lastIndex(of: "/").map { configuration[...$0] } ?? "") + "themes"
  }

  /// Reads all themes beside a configuration file, by their names; none if there is no such folder.
  ///
  /// Files that begin with a dot are an editor's.
  public static func all(beside configuration: String) -> [ThemeFile] {
    let folder = folder(beside: configuration)
    // Most users have no such folder.
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return names.filter { $0.hasSuffix(suffix) && !$0.hasPrefix(".") }.sorted().prefix(countMax)
      .map { name in
        var file = ThemeFile(file: "\(folder)/\(name)")
        if ThemeChoice(file.theme.name, custom: []) != nil {
          file.problems.insert(
            ConfigurationError(
              file: file.file, line: nil,
              "`\(file.theme.name)` is a theme of the program: give the file another name."), at: 0)
        }
        return file
      }
  }
}

extension YAMLObject {
  /// What to say of a theme that there is not.
  func unknownTheme(_ text: String, at name: String, custom: [String]) -> ConfigurationError {
    error("`\(name)` is " + ThemeChoice.advice(for: text, custom: custom), at: name)
  }
}

extension ThemeChoice {
  /// What to say to someone who named a theme that there is not, given the names of those they wrote.
  public static func advice(for text: String, custom: [String]) -> String {
    let known = standard.map(\.name) + custom
    return "one of \(known.joined(separator: ", ")), not `\(text)`"
      + (Spelling.nearest(to: text, among: known).map { ": did you mean `\($0)`?" } ?? ".")
  }
}
