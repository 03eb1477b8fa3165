public import RunnelTerminal

/// All roles with how they look, for whoever writes a theme.
public struct RoleTable {
  private let theme: Theme

  /// The roles of the theme that options ask for.
  ///
  /// - Parameters:
  ///   - options: theme, themes and roles.
  ///   - background: what is behind the text, where the theme goes by it.
  ///   - depth: how many colours there are.
  public init(
    _ options: TerminalOptions, on background: ThemeBackground = .dark,
    depth: ColorDepth = .extended
  ) {
    theme = options.theme(on: background, depth: depth)
  }

  /// A line for each: role, colour of the text, colour behind it, and attributes, with tabs between.
  public var text: String {
    ThemeRole.allCases.map { role in
      let style = theme.style(of: role)
      let colors = [style.foreground, style.background].map { $0.map { "\($0)" } ?? "default" }
      let attributes = RoleReader.names(of: style.attributes).joined(separator: " ")
      return ([role.name] + colors + [attributes]).joined(separator: "\t") + "\n"
    }.joined()
  }
}
