import Glibc
import RunnelTerminal

/// The user's configuration file, and whether it changed.
final class ConfigurationMonitor {
  private let file: String?
  private var watch: FileWatch?

  /// Watches a file, as soon as there is its folder; nil watches nothing.
  init(file: String?) {
    self.file = file
    watchAgain()
  }

  /// What to poll for reading; nil while there is nothing to watch.
  var fileDescriptor: Int32? { watch?.fileDescriptor }

  /// Reads the file.
  func read() -> ConfigurationFile {
    file.map { ConfigurationFile(file: $0) } ?? ConfigurationFile()
  }

  /// Whether the file may have changed since the last call.
  ///
  /// A folder that was not there is looked for again: the file may have come with it.
  func hasChanged() -> Bool {
    if let watch { return watch.drain() }
    watchAgain()
    guard watch != nil, let file else { return false }
    return access(file, R_OK) == 0
  }

  private func watchAgain() {
    guard watch == nil, let file, let slash = file.lastIndex(of: "/") else { return }
    // To begin watching costs more than a key may: it is tried where there is something to watch.
    guard access(String(file[...slash]), F_OK) == 0 else { return }
    // Without its folder there is no file to hear of.
    watch = try? FileWatch(file: file)
  }
}
