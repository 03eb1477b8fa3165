import ArgumentParser
import RunnelDatabase
import RunnelTree

/// `runnel set`: replaces the subtree at a place by a value.
struct SetCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "set",
    abstract: "Replace everything at a place by a value.",
    discussion: """
      null removes what stands there. {".sv": "timestamp"} becomes the time of the write. To replace \
      the root, or what is too large to be brought back by `runnel undo` (more than 64 KiB, also on a \
      server), you are asked at a terminal, and --force is needed without one. \(CreationOptions.help)

      Examples:
        runnel set /users/ana '{"name": "Ana", "since": {".sv": "timestamp"}}'
        runnel set /users/ana/name '"Ana"'
        runnel set /temperature -- -5
      """)

  @Argument(help: PlaceArgument.requiredHelpWithData, transform: PlaceArgument.placeToWrite)
  var place: DataPlace
  @OptionGroup var data: DataArgument
  @Flag(
    name: [.short, .long],
    help: """
      Replace the root, what is too large to be brought back, or data of a profile with `confirm`, without asking.
      """)
  var force = false
  @OptionGroup var creation: CreationOptions
  @OptionGroup var database: DatabaseOptions

  private var path: Path { place.path }

  func validate() throws {
    if case .json(let json, _)? = data.data { try PlaceArgument.check(.set(path, json)) }
  }

  func run() throws {
    let json = try data.json()
    if let remote = try database.of(place).remote(for: .change) {
      try remote.requireConsent(isGiven: force, toReplace: place, by: json)
      return try remote.write(.set(path, json))
    }
    try database.of(place).open(for: creation.access) { session in
      let consent = Consent(isGiven: force)
      if path.isRoot { try consent.requireToReplace(path, in: session) }
      try consent.requireToLose([path], in: session)
      _ = try session.write(.set(path, json))
    }
  }
}
