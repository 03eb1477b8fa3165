import ArgumentParser
import RunnelBase
import RunnelDatabase
import RunnelTree

/// `runnel update`: replaces several values below a place in one write.
struct UpdateCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "update",
    abstract: "Replace some values below a place and keep the others.",
    discussion: """
      The value is an object whose names are paths below the place. All of them are written, or \
      none. To replace what is too large to be brought back by `runnel undo` (more than 64 KiB, also on a \
      server), you are asked at a terminal, and --force is needed without one. \(CreationOptions.help)

      Example:
        runnel update / '{"users/ana/team": "blue", "teams/blue/ana": true}'
      """)

  @Argument(help: PlaceArgument.requiredHelpWithData, transform: PlaceArgument.placeToWrite)
  var place: DataPlace
  @OptionGroup var data: DataArgument
  @Flag(
    name: [.short, .long],
    help: """
      Replace what is too large to be brought back, or data of a profile with `confirm`, without asking.
      """)
  var force = false
  @OptionGroup var creation: CreationOptions
  @OptionGroup var database: DatabaseOptions

  private var path: Path { place.path }

  private static let shape =
    "An update is an object that names what to replace: '{\"name\": \"Ana\"}'. "
    + "To replace the whole, use `runnel set`."

  func validate() throws {
    guard case .json(let json, _)? = data.data else { return }
    guard case .object(let members) = json else { throw ValidationError(UpdateCommand.shape) }
    try PlaceArgument.check(.update(path, members))
  }

  func run() throws {
    guard case .object(let members) = try data.json() else { throw Failure(UpdateCommand.shape) }
    if let remote = try database.of(place).remote(for: .change) {
      if remote.choice.confirms {
        try remote.requireConsent(isGiven: force, toChange: members.count, below: path)
      } else {
        try remote.requireConsent(isGiven: force, toLose: members, below: path)
      }
      return try remote.write(.update(path, members))
    }
    try database.of(place).open(for: creation.access) { session in
      let places = members.compactMap { member in
        (try? Path(member.name)).flatMap { try? path.appending($0) }
      }
      try Consent(isGiven: force).requireToLose(places, in: session)
      _ = try session.write(.update(path, members))
    }
  }
}
