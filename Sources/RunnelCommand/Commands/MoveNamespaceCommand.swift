import ArgumentParser
import RunnelPostgres
import RunnelServer

/// `runnel store move`: moves a namespace to another store.
struct MoveNamespaceCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "move",
    abstract: "Move a namespace to another store, on another primary.",
    discussion: """
      The namespace is frozen: servers go on reading it, and refuse writes for now. Then its rows are \
      copied to the other store, whose servers get a moment to find it there. At last its clients are sent \
      there, to the address after --address, if servers of the other store have one of their own, and it is \
      opened for writes. The other store keeps the order of changes, the names of writes, the rules and the indexes.

      If it is broken off, the namespace may stay frozen: do it again, and it goes on. The rows in the old \
      store stay, and are not served: `runnel store drop` removes them, and a move back replaces them.

      A move that was done already does nothing, and its exit status is 0. With another --address, it sends \
      clients there from then on.

      An address is HOST:PORT, or HOST for the port of https or http: clients go on with the protocol that \
      they use. Without --address, clients are told that the namespace was moved, and not where to.

      Examples:
        runnel store move chat --to second --address b.example.net:9000
        runnel store move chat --store second --to main --address a.example.net:9000
      """)

  @Argument(help: ArgumentHelp("The namespace.", valueName: "namespace"))
  var namespace: String
  @Option(help: ArgumentHelp("The name of the other store.", valueName: "name"))
  var to: String
  @Option(
    help: ArgumentHelp(
      "The address of servers of the other store, for clients.", valueName: "host:port"))
  var address: String?
  @OptionGroup var option: StoreOption

  func validate() throws {
    if let address, let fault = ClientAddress.fault(of: address) {
      throw ValidationError("--address: \(fault)")
    }
  }

  func run() throws {
    let source = try option.opened()
    defer { source.close() }
    if try wasDropped(in: source) { return }
    let found = try RulesOfStoreCommand.namespace(named: namespace, of: source)
    guard DatabaseNames.isValid(namespace) else {
      throw Failure(
        "\(namespace) holds the accounts of the store, and is not moved: `runnel accounts export` and `import` "
          + "copy accounts.", status: .usage)
    }
    let target = try PostgresStore(try StoreOption.place(named: to))
    defer { target.close() }
    try target.checkVersion()
    let line = SharedProgressLine("Moving \(namespace)")
    defer { line.clear() }
    let outcome = try StoreMove.run(
      found, from: source, to: target, address: address ?? "", name: to
    ) { line.report("\($0) rows") }
    line.clear()
    let words =
      switch outcome {
      case .moved: "now"
      case .movedBefore: "already: nothing was to do"
      case .readdressed: "already: its clients are sent to \(address ?? "") from now on"
      }
    try StandardOutput.say("\(namespace) is in \(target.connection.name) \(words).\n")
  }

  /// True if the move was done already, and what was left of the namespace dropped; this is said then.
  private func wasDropped(in source: PostgresStore) throws -> Bool {
    try source.checkVersion()
    guard try source.namespace(named: namespace) == nil,
      let former = try source.formerPlace(of: namespace), former.store == to
    else { return false }
    let target = try PostgresStore(try StoreOption.place(named: to))
    defer { target.close() }
    try target.checkVersion()
    guard let there = try target.namespace(named: namespace), there.state != .moved else {
      return false
    }
    let end =
      address == nil
      ? "nothing was to do"
      : "nothing was to do, and no client is sent there, since what was left here was dropped"
    try StandardOutput.say("\(namespace) is in \(target.connection.name) already: \(end).\n")
    return true
  }

  /// A line that a closure reports to.
  private final class SharedProgressLine {
    private var line: ProgressLine

    init(_ what: String) { line = ProgressLine(what) }

    func report(_ text: String) { line.report(text) }

    func clear() { line.clear() }
  }
}
