import Foundation
import RunnelWorkspace

extension Greeting {
  /// The name of the file that marks the greeting as seen.
  static let markerName = "greeted"

  /// Creates the greeting for users who have never seen it on this machine; nil for others, and if
  /// the marker cannot be written.
  init?(unlessSeenIn folder: String, of home: Home) {
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
    self.init(home)
  }
}
