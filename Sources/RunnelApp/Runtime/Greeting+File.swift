import Foundation
import RunnelWorkspace

extension Greeting {
  /// The file that tells that the greeting was seen.
  static let markerName = "greeted"

  /// The greeting, for those who never saw it on this machine; nil for all others, and where nobody could
  /// tell the next time.
  init?(unlessSeenIn folder: String, database: String) {
    let marker = folder + "/" + Greeting.markerName
    guard !FileManager.default.fileExists(atPath: marker) else { return nil }
    do {
      try FileManager.default.createDirectory(
        atPath: folder, withIntermediateDirectories: true,
        attributes: [.posixPermissions: 0o700])
      try Data().write(to: URL(fileURLWithPath: marker))
    } catch {
      return nil
    }
    self.init(file: database)
  }
}
