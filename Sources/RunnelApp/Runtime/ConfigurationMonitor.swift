import Glibc
import RunnelTerminal

/// Watches the user's configuration file and the themes beside it for changes.
final class ConfigurationMonitor {
  /// The time in milliseconds after which a missing folder is looked for again.
  private static let patienceMilliseconds: Int64 = 1000

  private let file: String?
  private let themesFolder: String?
  private var fileWatch: FileWatch?
  private var themesWatch: FileWatch?
  /// The names and texts of the themes read last.
  private var themes: [String] = []
  private var lastLook: Int64 = 0

  /// Creates a monitor of a file, which begins once its folder exists; nil watches nothing.
  init(file: String?) {
    self.file = file
    themesFolder = file.map { ThemeFile.folder(beside: $0) }
    watchAgain()
  }

  /// The descriptors to poll for reading; empty while there is nothing to watch.
  var fileDescriptors: [Int32] { [fileWatch, themesWatch].compactMap { $0?.fileDescriptor } }

  /// Reads the file and the themes.
  func read() -> ConfigurationFile {
    let configuration = file.map { ConfigurationFile(file: $0) } ?? ConfigurationFile()
    themes = ConfigurationMonitor.texts(of: configuration.themes)
    return configuration
  }

  /// Returns whether the file or a theme may have changed since the last call; `hasNews` says
  /// whether a descriptor is readable.
  ///
  /// A missing folder is looked for again, at most once a second, because files may have come with
  /// it. An idle workspace is not woken for that.
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
    // Editors also create files of their own in the folder.
    return ConfigurationMonitor.texts(of: ThemeFile.all(beside: file)) != themes || hasChanged
  }

  private static func texts(of themes: [ThemeFile]) -> [String] {
    themes.flatMap { [$0.theme.name, $0.source] }
  }

  private func watchAgain() {
    guard fileWatch == nil, let file, let slash = file.lastIndex(of: "/") else { return }
    // To begin watching costs more than a key may take: it is tried only if the folder exists.
    guard access(String(file[...slash]), F_OK) == 0 else { return }
    // Without its folder, the file cannot be watched.
    fileWatch = try? FileWatch(file: file)
    watchThemes()
  }

  private func watchThemes() {
    guard themesWatch == nil, fileWatch != nil, let themesFolder,
      access(themesFolder, F_OK) == 0
    else { return }
    // The reason is the same as above.
    themesWatch = try? FileWatch(folder: themesFolder)
  }
}
