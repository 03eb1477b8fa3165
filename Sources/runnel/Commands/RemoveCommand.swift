import ArgumentParser
import RunnelDatabase
import RunnelTree

/// `runnel remove`: removes what stands at a place.
struct RemoveCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove",
    abstract: "Remove everything at a place.",
    discussion: """
      Asks first if standard input is a terminal. It is no mistake if nothing stands there.

      Example:
        runnel remove /users/ana
      """)

  @Argument(help: Place.requiredHelp, transform: Place.path) var path: Path
  @Flag(name: [.short, .long], help: "Do not ask.") var force = false
  @OptionGroup var database: DatabaseOptions

  func run() throws {
    try database.open(for: .change) { session in
      if !force, StandardInput.isTerminal, !(try confirms(session.summary(at: path))) {
        throw Failure("Nothing was removed.")
      }
      _ = try session.write(.remove(path))
    }
  }

  /// Asks at the terminal; true if the answer is yes, or there is nothing to remove.
  private func confirms(_ summary: NodeSummary) throws -> Bool {
    let what: String
    switch summary.kind {
    case .empty: return true
    case .leaf: what = "the value at \(path)"
    case .children(1): what = "\(path) with its child"
    case .children(let count): what = "\(path) with its \(count) children"
    }
    StandardError.write("Remove \(what)? [y/N] ")
    var lines = StandardInputLines()
    let answer = try lines.next().map { String(decoding: $0, as: UTF8.self).lowercased() }
    if answer == nil { StandardError.write("\n") }
    return answer == "y" || answer == "yes"
  }
}
