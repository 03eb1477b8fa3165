import ArgumentParser
import RunnelNetwork
import RunnelSync

/// `runnel` without a command, or `runnel open`: opens the workspace in the terminal.
struct OpenCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "open",
    abstract: "Open the workspace in the terminal.",
    discussion: """
      This is what runnel does without a command. Press ? in it for help. \(CreationOptions.help)

      A file of data, such as tickets.json, is opened as the database tickets.json.db, which is made \
      beside it once. What you write is kept there, and :export writes it to a file again. If others change \
      the file, a terminal asks once whether it is read again; --read-again reads it without a question, also \
      later. What was written in the workspace is replaced then; `runnel undo` brings it back. With \
      --scratch the database is in a temporary folder, which is removed at the end.

      A server's database is kept in a local replica, which is shown at once. What you write while \
      offline is sent when the server can be reached. `runnel sync status` lists the replicas.

      What begins with https:// or http:// is an address. feathers+https://HOST/SERVICE is a service of a \
      Feathers server, which is shown like a server's database. Another word is the name of a profile if the \
      configuration has one of that name, and a file otherwise. If both exist, write ./NAME for the file \
      and NAME: for the profile.

      --namespace opens a namespace of a store in PostgreSQL, for administrators: no server is asked, and no \
      rules. The workspace is live beside the servers of the store.

      If the output is not a terminal, the rows of a file's view are written instead, a line of JSON for \
      each: $key and the members of the record, or $value if the record is a value. --plain writes text. \
      A server's database and a namespace are shown in a terminal only: `runnel get`, `runnel watch` and \
      `runnel store export` print them, and `runnel service` prints services.

      Examples:
        runnel tickets.json
        runnel people.csv --scratch
        runnel --view Roster --filter 'role:organizer' | jq -r .name
        runnel --plain --follow
        runnel --check
        runnel open 'https://chat.example.com/?ns=main' --token-file token.txt
        runnel open prod --cache 2GB
        runnel open --store main --namespace chat
      """)

  @Argument(
    help: ArgumentHelp(
      "The address of a server's database, a profile's name, a database file, or a .json, .jsonl or .csv file.",
      valueName: "file"), completion: DatabaseCompletion.all)
  var place: String?
  @Flag(help: "Open a file of data in a temporary folder, which is removed at the end.")
  var scratch = false
  @Flag(help: "Read a file of data again, in the place of what the database beside it holds.")
  var readAgain = false
  @Option(
    help: ArgumentHelp(
      "The store of --namespace: a name under `stores` in the configuration, or a service of libpq "
        + "(default: main).", valueName: "name"))
  var store: String?
  @Option(help: ArgumentHelp("The namespace of a store to open.", valueName: "name"))
  var namespace: String?
  @OptionGroup var creation: CreationOptions
  @OptionGroup var database: DatabaseOptions
  @OptionGroup var workspace: WorkspaceOptions

  func validate() throws {
    if scratch, place == nil {
      throw ValidationError("--scratch opens a file of data: name a .json, .jsonl or .csv file.")
    }
    if readAgain, place == nil {
      throw ValidationError("--read-again reads a file of data: name a .json, .jsonl or .csv file.")
    }
    if readAgain, scratch {
      throw ValidationError("--scratch reads the file anew each time: leave --read-again out.")
    }
    if store != nil, namespace == nil {
      throw ValidationError("--store needs a --namespace: `runnel store status` lists them.")
    }
    if namespace != nil, let place, let option = OpenCommand.unknownOption(before: place) {
      throw ValidationError("Unknown option '\(option)'")
    }
    if namespace != nil, place != nil || database.database != nil || creation.create {
      throw ValidationError(
        "--namespace is opened in the place of a file: give no file, and no --create.")
    }
    guard let place else { return }
    try DatabaseOptions.check(place)
    if database.database != nil {
      throw ValidationError("--database and the argument of open exclude each other: give one.")
    }
  }

  /// The word before a value, if it looks like an option and is none: the parser tells that later.
  private static func unknownOption(before value: String) -> String? {
    let words = GivenArguments.current.texts
    guard let index = words.firstIndex(of: value), index > 0, words[index - 1].hasPrefix("-"),
      words[index - 1] != "--"
    else { return nil }
    let known = helpMessage().split { !$0.isLetter && !$0.isNumber && $0 != "-" }
    return known.contains { $0 == words[index - 1] } ? nil : words[index - 1]
  }

  func run() throws {
    if try workspace.tell() { return }
    if try workspace.showReplay() { return }
    NetworkTasks.runOnLoops()
    if let namespace { return try open(namespace, ofStore: store ?? "main") }
    if let origin = try database.originChoice() { return try open(origin) }
    switch try place.map({ try OpenedPlace($0, database.origin, creates: creation.create) }) {
    case nil: try open(database)
    case .origin(let origin): try open(origin)
    case .database(let file):
      if scratch {
        throw Failure(
          "\(FileName.shown(Array(file.utf8))) is a database: --scratch opens files of data; `runnel backup` "
            + "makes a copy to try things in.", status: .usage)
      }
      try refuseReadingAgain()
      var database = database
      database.database = file
      try open(database)
    case .data(let document): try open(document)
    }
  }

  private func refuseReadingAgain() throws {
    if readAgain { throw Failure("--read-again reads files of data.", status: .usage) }
  }

  private func open(_ origin: OriginChoice) throws {
    try refuseReadingAgain()
    if scratch { throw Failure("--scratch opens files of data.", status: .usage) }
    if workspace.listing.isPlain {
      if origin.address.hasServices {
        throw Failure(
          "Services are shown in a terminal only: `runnel service find ADDRESS SERVICE` prints them.",
          status: .usage)
      }
      throw Failure(
        "A server's database is shown in a terminal only: `runnel get` and `runnel watch` print it.",
        status: .usage)
    }
    try workspace.checkTerminal()
    try workspace.open(origin)
  }

  private func open(_ namespace: String, ofStore store: String) throws {
    let gate = try StoreGate(namespace, ofStore: store)
    // What is told of a terminal comes after what is told of the names.
    defer { gate.stop() }
    if workspace.listing.isPlain {
      throw Failure(
        "A namespace is shown in a terminal only: `runnel store export` prints it.", status: .usage)
    }
    try workspace.checkTerminal()
    try workspace.open(gate)
  }

  private func open(_ database: DatabaseOptions) throws {
    try workspace.checkRecording()
    if workspace.listing.isPlain { return try workspace.list(database.file(for: .read)) }
    try workspace.checkTerminal()
    let file = try database.file(for: workspace.readonly ? .read : creation.access)
    try workspace.open(file)
  }

  private func open(_ document: DataDocument) throws {
    try workspace.checkRecording()
    if !workspace.listing.isPlain { try workspace.checkTerminal() }
    guard scratch else {
      let made = try document.database(readingAgain: readAgain)
      if workspace.listing.isPlain { return try workspace.list(made.file) }
      return try workspace.open(made.file, saying: made.remarks)
    }
    let (database, remarks) = try document.scratchDatabase()
    defer { database.remove() }
    if workspace.listing.isPlain { return try workspace.list(database.file) }
    try workspace.open(scratch: database, saying: remarks)
  }
}
