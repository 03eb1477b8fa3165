import Glibc
import RunnelTerminal

/// The user's configuration file with the themes beside it, and whether they changed.
final class ConfigurationMonitor {
  /// How long a folder that is not there is not looked for again, in milliseconds.
  private static let patienceMilliseconds: Int64 = 1000

  private let file: String?
  private let themesFolder: String?
  private var fileWatch: FileWatch?
  private var themesWatch: FileWatch?
  /// The texts of the themes that were read last, with their names.
  private var themes: [String] = []
  private var lastLook: Int64 = 0

  /// Watches a file, as soon as there is its folder; nil watches nothing.
  init(file: String?) {
    self.file = file
    themesFolder = file.map { ThemeFile.folder(beside: $0) }
    watchAgain()
  }

  /// What to poll for reading; empty while there is nothing to watch.
  var fileDescriptors: [Int32] { [fileWatch, themesWatch].compactMap { $0?.fileDescriptor } }

  /// Reads the file and the themes.
  func read() -> ConfigurationFile {
    let configuration = file.map { ConfigurationFile(file: $0) } ?? ConfigurationFile()
    themes = ConfigurationMonitor.texts(of: configuration.themes)
    return configuration
  }

  /// Whether the file or a theme may have changed since the last call; `hasNews` tells if a descriptor
  /// has something to read.
  ///
  /// A folder that was not there is looked for again, at most once a second: files may have come with
  /// it. An idle workspace is not woken to look.
  func hasChanged(hasNews: Bool, now: Int64) -> Bool {
    let isWatching = fileWatch != nil && themesWatch != nil
    let isPatient = 0..<ConfigurationMonitor.patienceMilliseconds ~= now - lastLook
    guard hasNews || !(isWatching || isPatient) else { return false }
    lastLook = now
    return lookAgain()
  }

  private func lookAgain() -> Bool {
    var hasChanged = false
    if let fileWatch {
      hasChanged = fileWatch.drain()
      if fileWatch.isGone {
        (self.fileWatch, themesWatch) = (nil, nil)
        watchAgain()
      }
    } else if let file {
      watchAgain()
      hasChanged = fileWatch != nil && access(file, R_OK) == 0
    }
    var areThemesNew = themesWatch == nil
    if let themesWatch {
      areThemesNew = themesWatch.drain()
      if themesWatch.isGone { self.themesWatch = nil }
    }
    if themesWatch == nil { watchThemes() }
    guard areThemesNew, let file else { return hasChanged }
    // Editors make files of their own there, too.
    return ConfigurationMonitor.texts(of: ThemeFile.all(beside: file)) != themes || hasChanged
  }

  private static func texts(of themes: [ThemeFile]) -> [String] {
    themes.flatMap { [$0.theme.name, $0.source] }
  }

  private func watchAgain() {
    guard fileWatch == nil, let file, let slash = file.lastIndex(of: "/") else { return }
    // To begin watching costs more than a key may: it is tried where there is something to watch.
    guard access(String(file[...slash]), F_OK) == 0 else { return }
    // Without its folder there is no file to hear of.
    fileWatch = try? FileWatch(file: file)
    watchThemes()
  }

  private func watchThemes() {
    guard themesWatch == nil, fileWatch != nil, let themesFolder,
      access(themesFolder, F_OK) == 0
    else { return }
    // As above.
    themesWatch = try? FileWatch(folder: themesFolder)
  }
}
