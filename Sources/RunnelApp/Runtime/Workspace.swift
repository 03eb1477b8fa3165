import Foundation
import Glibc
import RunnelDatabase
import RunnelTree

/// What a database is opened with: its views, its name, and who the user is.
struct Workspace {
  /// What is put after the name of a database to find its views.
  static let viewsSuffix = ".views.yaml"

  let views: [ViewDefinition]
  let name: String
  let me: String
  /// The tab to open first; nil for the first one.
  let firstTab: Int?

  /// Reads the views that the options name, or those beside the database, or finds collections.
  ///
  /// - Throws: `ConfigurationError` if a views file is bad or names no such view, `DatabaseError` if
  ///   the database cannot be opened.
  init(_ options: ApplicationOptions) throws {
    let file = options.database
    let stem = file.hasSuffix(".db") ? String(file.dropLast(3)) : file
    name = String(stem.split(separator: "/").last ?? "runnel")
    let beside = stem + Workspace.viewsSuffix
    var found: ViewFile?
    if let named = options.views {
      found = try Workspace.read(named)
    } else if access(beside, R_OK) == 0 {
      found = try Workspace.read(beside)
    }
    views = try found?.views ?? Workspace.discover(options)
    me = found?.me ?? ProcessInfo.processInfo.environment["USER"] ?? "me"
    firstTab = try Workspace.tab(options.view, in: views)
  }

  private static func read(_ file: String) throws -> ViewFile {
    do {
      return try ViewFile(yaml: String(contentsOfFile: file, encoding: .utf8), name: file)
    } catch let error as ConfigurationError {
      throw error
    } catch {
      throw ConfigurationError(file: file, line: nil, "The views file cannot be read: \(error)")
    }
  }

  /// Opens the database for a moment, which also makes the file if there is none.
  private static func discover(_ options: ApplicationOptions) throws -> [ViewDefinition] {
    let session = try DatabaseSession(
      file: options.database, isReadOnly: options.isReadOnly,
      environment: DatabaseEnvironment(
        now: LocalTime.now, random: SystemRandomNumberGenerator()))
    let views = try FoundViews.find(in: session)
    try session.close()
    return views
  }

  private static func tab(_ name: String?, in views: [ViewDefinition]) throws -> Int? {
    guard let name else { return nil }
    let names = views.map(\.name) + ["Tree"]
    if let tab = names.firstIndex(where: { $0.lowercased() == name.lowercased() }) { return tab }
    throw ConfigurationError(
      file: "--view", line: nil,
      "There is no view `\(name)`. The views are: \(names.joined(separator: ", ")).")
  }
}
