import Foundation

/// Finds the files that come with the program: in the installed prefix, or in the checkout.
public enum ResourceFiles {
  /// Where resources are looked for, in this order.
  ///
  /// `RUNNEL_RESOURCES` names a folder; `../share/runnel` from the program is that of an
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

  /// The path of a resource by its name below the folder; nil if it is nowhere.
  public static func path(of name: String) -> String? {
    let program =
      (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
      // Without /proc the name by which the program was called has to do.
      ?? CommandLine.arguments.first ?? "runnel"
    return folders(environment: ProcessInfo.processInfo.environment, program: program)
      .map { $0 + "/" + name }
      .first { FileManager.default.fileExists(atPath: $0) }
  }
}
