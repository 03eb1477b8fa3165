import ArgumentParser
import Foundation
import RunnelApp
import RunnelTerminal

/// The name of a theme as given; the configuration decides which themes exist.
struct ThemeArgument: ExpressibleByArgument {
  /// The names of the built-in themes.
  static let standard = ThemeChoice.standard.map(\.name)
  /// Completes the built-in names, and those of the user's theme files.
  static let completion = CompletionKind.custom { _, _, _ in
    standard + names(beside: ConfigurationFile.path(environment: environment))
  }

  private static var environment: [String: String] { ProcessInfo.processInfo.environment }

  private let name: String

  init?(argument: String) { name = argument }

  /// The theme; nil if no theme beside the configuration file has that name.
  func choice(beside configuration: String?) -> ThemeChoice? {
    ThemeChoice(name, custom: []) ?? ThemeChoice(name, custom: Self.names(beside: configuration))
  }

  /// Advice if there is no such theme.
  func advice(beside configuration: String?) -> String {
    "the theme is " + ThemeChoice.advice(for: name, custom: Self.names(beside: configuration))
  }

  private static func names(beside configuration: String?) -> [String] {
    configuration.map { ConfigurationFile(file: $0).themeNames } ?? []
  }
}
