import RunnelWorkspace

extension Settings {
  /// Reads settings again from their text.
  ///
  /// - Parameters:
  ///   - source: the text of the configuration.
  ///   - themes: the names of the user's themes, whose colors are no longer known.
  init(source: String, themes: [String] = []) {
    self =
      ConfigurationFile(
        yaml: source, name: "the configuration of the session",
        themes: themes.map { ThemeFile(yaml: "", file: $0) }
      ).settings
  }
}
