import RunnelBase
import Foundation
public import RunnelTerminal

/// A theme of the user: a YAML file in the folder `themes` beside the configuration.
///
/// `Resources/docs/configuration.md` describes the file. A mistake is reported with its line, and
/// left out.
public struct ThemeFile: Sendable {
  /// The greatest size of a file in bytes.
  static let bytesMax = 1 << 16
  /// The greatest number of files that are read.
  static let countMax = 200
  /// The extension of theme files.
  private static let suffix = ".yaml"
  private static let names = ["base", "roles"]

  /// The theme, named after the file without its extension.
  package private(set) var theme: CustomTheme
  /// The mistakes in the file, in the order of its lines.
  public private(set) var problems: [ConfigurationError] = []
  /// The text of the file.
  let source: String
  private let file: String
  private var reader = RoleReader()

  /// Parses the text of a file.
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

  /// Warnings about colors that are harder to read on their background than in the base theme.
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
  /// Returns the folder of the themes that belong to a configuration file.
  static func folder(beside configuration: String) -> String {
    (configuration.lastIndex(of: "/").map { configuration[...$0] } ?? "") + "themes"
  }

  /// Reads all themes beside a configuration file, ordered by name; returns none if there is no
  /// such folder.
  ///
  /// Files that begin with a dot are left out, because they belong to an editor.
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
  /// Returns the error for a theme that does not exist.
  func unknownTheme(_ text: String, at name: String, custom: [String]) -> ConfigurationError {
    error("`\(name)` is " + ThemeChoice.advice(for: text, custom: custom), at: name)
  }
}

extension ThemeChoice {
  /// Returns advice about a theme that does not exist, given the names of the user's own themes.
  public static func advice(for text: String, custom: [String]) -> String {
    let known = standard.map(\.name) + custom
    return "one of \(known.joined(separator: ", ")), not `\(text)`"
      + (Spelling.nearest(to: text, among: known).map { ": did you mean `\($0)`?" } ?? ".")
  }
}
