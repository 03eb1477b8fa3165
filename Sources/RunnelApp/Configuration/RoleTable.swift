public import RunnelTerminal

/// The looks of all roles, for authors of themes.
public struct RoleTable {
  private let theme: Theme

  /// Makes the table for the theme of the options.
  ///
  /// - Parameters:
  ///   - options: the theme, the user's themes and the roles.
  ///   - background: the background, for themes that depend on it.
  ///   - depth: the number of colors.
  public init(
    _ options: TerminalOptions, on background: ThemeBackground = .dark,
    depth: ColorDepth = .extended
  ) {
    theme = options.theme(on: background, depth: depth)
  }

  /// The table as text, one line per role: role, text color, background color and attributes,
  /// separated by tabs.
  public var text: String {
    ThemeRole.allCases.map { role in
      let style = theme.style(of: role)
      let colors = [style.foreground, style.background].map { $0.map { "\($0)" } ?? "default" }
      let attributes = RoleReader.names(of: style.attributes).joined(separator: " ")
      return ([role.name] + colors + [attributes]).joined(separator: "\t") + "\n"
    }.joined()
  }
}
