import ArgumentParser
import Foundation
import Glibc
import RunnelApp
import RunnelDatabase
import RunnelTree

/// `runnel demo`: makes the demo database once, and opens the workspace on it.
struct DemoCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "demo",
    abstract: "Open the workspace on a demo database.",
    discussion: """
      The first time, the demo is made: two months of a community's messages, and its people. It is \
      yours to change; delete its file to have a new one. \(CreationOptions.help)
      """)

  @Option(
    name: [.short, .long],
    help: ArgumentHelp(
      "The database file (default: $XDG_DATA_HOME/runnel/demo.db).", valueName: "file"),
    completion: .file(),
    transform: DatabaseOptions.fileName)
  var database: String?
  @OptionGroup var creation: CreationOptions
  @Flag(help: "Make the database, also one that --database names, and do not open it.")
  var makeOnly = false
  @OptionGroup var workspace: WorkspaceOptions

  func run() throws {
    if try workspace.tell() { return }
    if try workspace.showReplay() { return }
    if !makeOnly, !workspace.listing.isPlain { try workspace.checkTerminal() }
    let file = try database ?? DefaultDatabase.file(named: "demo.db", makesFolder: true)
    if database != nil, !creation.create, !makeOnly, access(file, F_OK) != 0, errno == ENOENT {
      throw DatabaseOptions.needsCreation(of: file)
    }
    try make(file)
    if makeOnly { return }
    var workspace = workspace
    if workspace.views == nil { workspace.views = try DemoFile.views.path() }
    if workspace.resources == nil { workspace.resources = try DemoFile.resources.path() }
    if workspace.listing.isPlain { return try workspace.list(file) }
    try workspace.open(file)
  }

  private func make(_ file: String) throws {
    try NewDatabase.removingUnused(file) { try fill(file) }
  }

  private func fill(_ file: String) throws {
    let session = try DatabaseSession(file: file, environment: .system)
    // If the command fails, its own error is the one to report.
    defer { try? session.close() }
    if try session.summary(at: .root).kind == .empty {
      StandardError.say("Making the demo database \(file).")
      let document = try Data(contentsOf: URL(fileURLWithPath: DemoFile.data.path()))
      try document.withUnsafeBytes { bytes in
        _ = try session.importJSON(bytes.bindMemory(to: UInt8.self), at: .root)
      }
    }
  }
}

/// The files of the demo, which come with the program and are not in it.
enum DemoFile: String {
  case data = "demo/demo.json"
  case texts = "demo/demo.texts.json"
  case views = "demo/demo.views.yaml"
  case resources = "demo/demo.resources.yaml"

  /// The path of the file.
  ///
  /// - Throws: `Failure` with advice if it is not found.
  func path() throws -> String {
    if let path = ResourceFiles.path(of: rawValue) { return path }
    throw Failure(
      "The demo's file \(rawValue) was not found: set RUNNEL_RESOURCES to the folder Resources of "
        + "the source, or install the program with it.")
  }
}
