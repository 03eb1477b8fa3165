import ArgumentParser
import Foundation
import RunnelApp
import RunnelTerminal

/// The name of a theme as it is given; which themes there are depends on the configuration.
struct ThemeArgument: ExpressibleByArgument {
  /// The names that everybody has.
  static let standard = ThemeChoice.standard.map(\.name)
  /// Completes those, and the names of the user's theme files.
  static let completion = CompletionKind.custom { _, _, _ in
    standard + names(beside: ConfigurationFile.path(environment: environment))
  }

  private static var environment: [String: String] { ProcessInfo.processInfo.environment }

  private let name: String

  init?(argument: String) { name = argument }

  /// The theme; nil if there is none of that name beside a configuration file.
  func choice(beside configuration: String?) -> ThemeChoice? {
    ThemeChoice(name, custom: []) ?? ThemeChoice(name, custom: Self.names(beside: configuration))
  }

  /// What to say if there is none.
  func advice(beside configuration: String?) -> String {
    "the theme is " + ThemeChoice.advice(for: name, custom: Self.names(beside: configuration))
  }

  private static func names(beside configuration: String?) -> [String] {
    configuration.map { ConfigurationFile(file: $0).themeNames } ?? []
  }
}
