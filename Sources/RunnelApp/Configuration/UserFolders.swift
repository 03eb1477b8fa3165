import Foundation

/// The user's folders for files of this program.
///
/// Source: XDG Base Directory Specification; a relative path is to be ignored.
public enum UserFolders {
  /// Returns the folder for remembered state: `runnel` below `$XDG_STATE_HOME`, or else below
  /// `~/.local/state`; nil if neither is known.
  public static func state(_ environment: [String: String]) -> String? {
    folder("XDG_STATE_HOME", "/.local/state", environment)
  }

  /// Returns the folder for databases: `runnel` below `$XDG_DATA_HOME`, or else below
  /// `~/.local/share`; nil if neither is known.
  public static func data(_ environment: [String: String]) -> String? {
    folder("XDG_DATA_HOME", "/.local/share", environment)
  }

  /// Returns the folder for configuration: `runnel` below `$XDG_CONFIG_HOME`, or else below
  /// `~/.config`; nil if neither is known.
  public static func configuration(_ environment: [String: String]) -> String? {
    folder("XDG_CONFIG_HOME", "/.config", environment)
  }

  private static func folder(
    _ variable: String, _ standard: String, _ environment: [String: String]
  ) -> String? {
    if let folder = environment[variable], folder.hasPrefix("/") { return folder + "/runnel" }
    guard let home = environment["HOME"], !home.isEmpty else { return nil }
    return home + standard + "/runnel"
  }
}
