import RunnelWorkspace

extension Settings {
  /// Reads them again from what they were read from.
  ///
  /// - Parameters:
  ///   - source: the text.
  ///   - themes: the names of the themes that the user had, whose colours are not known any more.
  init(source: String, themes: [String] = []) {
    self =
      ConfigurationFile(
        yaml: source, name: "the configuration of the session",
        themes: themes.map { ThemeFile(yaml: "", file: $0) }
      ).settings
  }
}
