import Foundation

/// Finds the files that come with the program, in the installation or in the checkout.
public enum ResourceFiles {
  /// Returns the folders of resources, in the order of the search.
  ///
  /// `RUNNEL_RESOURCES` names a folder; `../share/runnel` beside the program's folder is that of an
  /// installation; `Resources` in a folder above the program is that of a checkout.
  static func folders(environment: [String: String], program: String) -> [String] {
    var folders: [String] = []
    if let named = environment["RUNNEL_RESOURCES"], !named.isEmpty { folders.append(named) }
    var folder = URL(fileURLWithPath: program).resolvingSymlinksInPath().deletingLastPathComponent()
    folders.append(folder.deletingLastPathComponent().appendingPathComponent("share/runnel").path)
    while folder.path != "/" {
      folders.append(folder.appendingPathComponent("Resources").path)
      folder = folder.deletingLastPathComponent()
    }
    return folders
  }

  /// Returns the path of a resource, given its name below the folder, or nil if it is not found.
  public static func path(of name: String) -> String? {
    let program =
      (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
      // Without /proc, the name of the called program is used.
      ?? CommandLine.arguments.first ?? "runnel"
    return folders(environment: ProcessInfo.processInfo.environment, program: program)
      .map { $0 + "/" + name }
      .first { FileManager.default.fileExists(atPath: $0) }
  }
}
