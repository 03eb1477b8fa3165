import ArgumentParser
import RunnelBase
import RunnelServices

/// `runnel service`: calls the services of a Feathers server.
struct ServiceCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "service",
    abstract: "Call the services of a Feathers server.",
    discussion: """
      The server is asked over Socket.IO, by a web socket or by polling, or over REST if it has no \
      Socket.IO. Results are JSON on standard output. A failed call ends with status 1, or with 3 if it \
      may succeed later. The name of a profile may stand for the address: its account asks.

      Examples:
        runnel service find https://api.example.com messages --limit 10 --sort created:desc
        runnel service create https://api.example.com messages '{"text": "hello"}'
        runnel service watch https://api.example.com messages
      """,
    subcommands: [
      ServiceFindCommand.self, ServiceGetCommand.self, ServiceCreateCommand.self,
      ServiceUpdateCommand.self, ServicePatchCommand.self, ServiceRemoveCommand.self,
      ServiceCallCommand.self, ServiceWatchCommand.self,
    ])
}

/// `runnel service find`: prints the records that match a query.
struct ServiceFindCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "find",
    abstract: "Print the records that match a query.",
    discussion: """
      Prints the answer of the server: a page, with "total", "limit", "skip" and "data", or an array.

      Over REST the server reads all values of a query as texts: to compare numbers with a service \
      that has no schema, use the socket. Standard error tells if records came that do not match.

      Examples:
        runnel service find https://api.example.com users --query '{"age": {"$gt": 17}}' --pretty
        runnel service find https://api.example.com users --sort team --sort age:desc --lines
      """)

  @OptionGroup var target: ServiceTarget
  @OptionGroup var query: ServiceQueryOptions
  @Flag(help: "Print each record on a line, without what is told about the page.")
  var lines = false
  @OptionGroup var layout: LayoutOptions
  @OptionGroup var access: ServiceAccessOptions

  func validate() throws {
    if lines, layout.pretty {
      throw ValidationError("--lines and --pretty exclude each other: leave one of them out.")
    }
  }

  func run() throws {
    let result = try ServiceCaller(target, access).perform(.find(query: query.query()))
    if !lines { return try ServiceOutput.print(result.json, layout) }
    for record in result.records { try StandardOutput.write(record.jsonText() + "\n") }
  }
}

/// `runnel service get`: prints one record.
struct ServiceGetCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "get",
    abstract: "Print one record.",
    discussion: """
      Example:
        runnel service get https://api.example.com users 7 --select name --pretty
      """)

  @OptionGroup var target: ServiceTarget
  @Argument(help: "The id of the record.", transform: ServiceIDWord.id) var id: String
  @OptionGroup var query: ServiceQueryOptions
  @OptionGroup var layout: LayoutOptions
  @OptionGroup var access: ServiceAccessOptions

  func run() throws {
    let result = try ServiceCaller(target, access).perform(
      .get(id: ServiceID(id), query: query.query()))
    try ServiceOutput.print(result.json, layout)
  }
}

/// `runnel service create`: creates records.
struct ServiceCreateCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "create",
    abstract: "Create a record, or several if the data is an array.",
    discussion: """
      Prints what was created, with its id.

      Examples:
        runnel service create https://api.example.com messages '{"text": "hello"}'
        jq '.rows' export.json | runnel service create https://api.example.com messages -
      """)

  @OptionGroup var target: ServiceTarget
  @OptionGroup var data: DataArgument
  @OptionGroup var query: ServiceQueryOptions
  @OptionGroup var layout: LayoutOptions
  @OptionGroup var access: ServiceAccessOptions

  func run() throws {
    let request = ServiceRequest.create(data: try data.json(), query: try query.query())
    try ServiceOutput.print(try ServiceCaller(target, access).perform(request).json, layout)
  }
}

/// `runnel service update`: replaces a record.
struct ServiceUpdateCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "update",
    abstract: "Replace a record.",
    discussion: """
      Fields that the data does not have are gone from the record; `runnel service patch` keeps them.

      Example:
        runnel service update https://api.example.com users 7 '{"name": "Ann"}'
      """)

  @OptionGroup var target: ServiceTarget
  @Argument(help: "The id of the record.", transform: ServiceIDWord.id) var id: String
  @OptionGroup var data: DataArgument
  @Flag(help: "Do not ask if the profile wants it.") var force = false
  @OptionGroup var query: ServiceQueryOptions
  @OptionGroup var layout: LayoutOptions
  @OptionGroup var access: ServiceAccessOptions

  func run() throws {
    let caller = try ServiceCaller(target, access)
    try caller.requireConsent("Replace", id, isGiven: force)
    let request = ServiceRequest.update(
      id: ServiceID(id), data: try data.json(), query: try query.query())
    try ServiceOutput.print(try caller.perform(request).json, layout)
  }
}

/// `runnel service patch`: changes fields of records.
struct ServicePatchCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "patch",
    abstract: "Change fields of a record, or of all that match a query.",
    discussion: """
      With --all there is no id, and all records are changed that match the query; without a query, all \
      that there are. At a terminal that is asked before; elsewhere all that there are need --force. A query beside an id is a condition: a record that \
      does not match is not found. Over REST nothing is changed if the server finds records for numbers or \
      flags of the query that do not match.

      Examples:
        runnel service patch https://api.example.com users 7 '{"admin": true}'
        runnel service patch https://api.example.com users --all --query '{"team": "red"}' '{"seen": true}'
      """)

  @OptionGroup var target: ServiceTarget
  @Argument(
    help: """
      The id of the record, and the data in JSON; with --all the data alone. - or no data reads standard \
      input.
      """)
  var words: [String] = []
  @Flag(help: "Change all records that match the query.") var all = false
  @Flag(help: "Do not ask before records are changed.") var force = false
  @OptionGroup var query: ServiceChangeOptions
  @OptionGroup var layout: LayoutOptions
  @OptionGroup var access: ServiceAccessOptions

  func validate() throws {
    let (least, most) = all ? (0, 1) : (1, 2)
    if words.count < least {
      throw ValidationError("An id is missing; --all changes all records that match the query.")
    }
    if words.count > most {
      throw ValidationError(
        "There are too many words: \(all ? "with --all, " : "")\(most) at most.")
    }
    if !all { _ = try ServiceIDWord.id(words[0]) }
    _ = try data()
  }

  private func data() throws -> DataArgument {
    var data = DataArgument()
    data.data = try words.dropFirst(all ? 0 : 1).first.map(DataArgument.source)
    return data
  }

  func run() throws {
    let caller = try ServiceCaller(target, access)
    let request = ServiceRequest.patch(
      id: all ? nil : ServiceID(words[0]), data: try data().json(), query: query.query())
    if all {
      try caller.requireConsent("Change", request, isGiven: force)
    } else {
      try caller.requireConsent("Change", words[0], isGiven: force)
    }
    try ServiceOutput.print(try caller.perform(request).json, layout)
  }
}

/// `runnel service remove`: removes records.
struct ServiceRemoveCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove",
    abstract: "Remove a record, or all that match a query.",
    discussion: """
      Prints what was removed. With --all there is no id, and all records are removed that match the query; \
      without a query, all that there are. At a terminal that is asked before; elsewhere all that there are \
      need --force. Over REST nothing is removed if \
      the server finds records for numbers or flags of the query that do not match.

      Examples:
        runnel service remove https://api.example.com users 7
        runnel service remove https://api.example.com users --all --query '{"team": "red"}'
      """)

  @OptionGroup var target: ServiceTarget
  @Argument(help: "The id of the record.", transform: ServiceIDWord.id) var id: String?
  @Flag(help: "Remove all records that match the query.") var all = false
  @Flag(help: "Do not ask before records are removed.") var force = false
  @OptionGroup var query: ServiceChangeOptions
  @OptionGroup var layout: LayoutOptions
  @OptionGroup var access: ServiceAccessOptions

  func validate() throws {
    if (id == nil) != all {
      throw ValidationError(
        all
          ? "--all and an id exclude each other: leave one of them out."
          : "An id is missing; --all removes all records that match the query.")
    }
  }

  func run() throws {
    let caller = try ServiceCaller(target, access)
    let request = ServiceRequest.remove(id: id.map { ServiceID($0) }, query: query.query())
    if let id {
      try caller.requireConsent("Remove", id, isGiven: force)
    } else {
      try caller.requireConsent("Remove", request, isGiven: force)
    }
    try ServiceOutput.print(try caller.perform(request).json, layout)
  }
}

/// `runnel service call`: calls a method that a service has besides the six.
struct ServiceCallCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "call",
    abstract: "Call a method that a service has besides the six.",
    discussion: """
      Example:
        runnel service call https://api.example.com messages archive '{"before": 2020}'
      """)

  @OptionGroup var target: ServiceTarget
  @Argument(help: "The name of the method.") var method: String
  @OptionGroup var data: DataArgument
  @OptionGroup var query: ServiceQueryOptions
  @OptionGroup var layout: LayoutOptions
  @OptionGroup var access: ServiceAccessOptions

  func validate() throws {
    guard case .custom = ServiceMethod(method) else {
      throw ValidationError(
        "\(method) is one of the six methods: use `runnel service \(method)`.")
    }
  }

  func run() throws {
    let request = ServiceRequest(
      ServiceMethod(method), data: try data.json(ifEmpty: .object([])), query: try query.query())
    try ServiceOutput.print(try ServiceCaller(target, access).perform(request).json, layout)
  }
}

/// `runnel service watch`: prints the events of a service.
struct ServiceWatchCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "watch",
    abstract: "Print the events of a service until interrupted, a JSON object a line.",
    discussion: """
      Prints "event" and "data" of each event that the server publishes to this connection. A connection that \
      is lost is made again, as standard error tells; what happened in between is not told. If the sign-in is \
      refused, it ends.

      Example:
        runnel service watch https://api.example.com messages --events created,removed
      """)

  @OptionGroup var target: ServiceTarget
  @Option(
    help: ArgumentHelp("The events to print, with commas between them.", valueName: "names"))
  var events: String?
  @OptionGroup var access: ServiceAccessOptions

  func validate() throws {
    if access.transport == .rest {
      throw ValidationError("Over REST a server tells of no events: leave --transport out.")
    }
  }

  func run() throws {
    let names = events.map { Set($0.split(separator: ",").map(String.init)) }
    try ServiceWatcher.run(ServiceCaller(target, access)) { record in
      if let names, !names.contains(record.event.rawValue) { return }
      let line = JSONValue.object([
        JSONMember("event", .string(record.event.rawValue)), JSONMember("data", record.data),
      ])
      try StandardOutput.write(line.jsonText() + "\n")
    }
  }
}

/// Prints the results of services.
enum ServiceOutput {
  static func print(_ json: JSONValue, _ layout: LayoutOptions) throws {
    var writer = JSONWriter(layout: layout.layout)
    writer.writeValue(json)
    try StandardOutput.write(writer.takeBytes())
    try StandardOutput.write("\n")
  }
}
