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
      the root you are asked at a terminal, and --force is needed without one. \(CreationOptions.help)

      Examples:
        runnel set /users/ana '{"name": "Ana", "since": {".sv": "timestamp"}}'
        runnel set /users/ana/name '"Ana"'
        runnel set /temperature -- -5
      """)

  @Argument(help: PlaceArgument.requiredHelp, transform: PlaceArgument.target) var path: Path
  @OptionGroup var data: DataArgument
  @Flag(
    name: [.short, .long],
    help: "Replace the root, or what is too large to be brought back, without asking.")
  var force = false
  @OptionGroup var creation: CreationOptions
  @OptionGroup var database: DatabaseOptions

  func validate() throws {
    if case .json(let json)? = data.data { try PlaceArgument.check(.set(path, json)) }
  }

  func run() throws {
    let json = try data.json()
    if let remote = try database.remote() {
      try remote.requireConsent(isGiven: force, toReplace: path)
      return try remote.write(.set(path, json))
    }
    try database.open(for: creation.access) { session in
      let consent = Consent(isGiven: force)
      if path.isRoot { try consent.requireToReplace(path, in: session) }
      try consent.requireToLose([path], in: session)
      _ = try session.write(.set(path, json))
    }
  }
}
