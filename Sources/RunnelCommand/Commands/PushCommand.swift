import ArgumentParser
import RunnelBase
import RunnelDatabase
import RunnelTree

/// `runnel push`: adds a child under a new key and prints the key.
struct PushCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "push",
    abstract: "Add a value to a list and print its new key.",
    discussion: """
      The key begins with the time: it sorts after those made before, unless a clock stood past 2108 \
      when they were made. It is printed as a JSON string once the value is safe on disk. \
      \(CreationOptions.help)

      Examples:
        runnel push /messages '{"from": "ana", "text": "hello"}'
        runnel push /messages --lines < messages.jsonl
      """)

  @Argument(help: PlaceArgument.requiredHelpWithData, transform: PlaceArgument.placeToWrite)
  var place: DataPlace
  @OptionGroup var data: DataArgument
  @Flag(help: "Add each line of standard input, a JSON value, and print a key a line.")
  var lines = false
  @OptionGroup var creation: CreationOptions
  @OptionGroup var database: DatabaseOptions

  private var path: Path { place.path }

  func validate() throws {
    if lines, case .json? = data.data {
      throw ValidationError("--lines reads standard input: leave the value out.")
    }
    if case .json(let json, _)? = data.data {
      try PlaceArgument.check(.set(path, json))
      if json.isNothing { throw ValidationError("\(PushCommand.nothing). No key was made.") }
    }
  }

  /// It is not known whether a server has added a value.
  private struct UnknownPush: Error {
    /// The key that the value has if it was added.
    var key: Key
    /// What happened, as sentences.
    var reason: String
  }

  /// The message if the value is empty, so that there is nothing to add.
  private static let nothing =
    "The value holds nothing: null, {} and [] are not kept in the tree"

  func run() throws {
    if let remote = try database.of(place).remote(for: .change) { return try push(to: remote) }
    if lines {
      return try database.of(place).open(for: creation.access) { session in
        try requireNoValue(session)
        return try pushLines { try session.push($0, to: path).key }
      }
    }
    let json = try data.json()
    if json.isNothing { throw Failure("\(PushCommand.nothing). No key was made.", status: .usage) }
    try database.of(place).open(for: creation.access) { session in
      try requireNoValue(session)
      let key = try session.push(json, to: path).key
      try print(key) { reason in
        Failure("\(reason) The value was added all the same, under the key \(quoted(key)).")
      }
    }
  }

  /// Throws if a value stands at the place or above it: a push would destroy it.
  private func requireNoValue(_ session: DatabaseSession) throws {
    guard let occupied = try session.occupiedPlace(for: path) else { return }
    if case .children = try session.summary(at: occupied).kind { return }
    throw Failure(
      "\(occupied) holds a value and is no list, and the push would destroy it. Nothing was changed: "
        + "`runnel set` replaces a value.", status: .usage)
  }

  /// Adds a child, or one for each line, to a server's database, under keys that are made here: so it is done
  /// once, though it may be asked for again.
  private func push(to remote: RemoteDatabase) throws {
    var keys = PushIDGenerator()
    let add = { (json: JSONValue) throws -> Key in
      var random = SystemRandomNumberGenerator()
      let key = keys.next(now: DatabaseEnvironment.system.now(), random: &random)
      do {
        try remote.send(.set(path.appending(Path([key])), json))
      } catch let unknown as RemoteDatabase.UnknownOutcome {
        throw UnknownPush(key: key, reason: unknown.reason)
      }
      return key
    }
    if lines { return try pushLines(add) }
    let json = try data.json()
    if json.isNothing { throw Failure("\(PushCommand.nothing). No key was made.", status: .usage) }
    let key: Key
    do {
      key = try add(json)
    } catch let unknown as UnknownPush {
      throw Failure(
        "It is not known whether the value was added, as \(quoted(unknown.key)): \(unknown.reason)",
        status: .retryable)
    }
    try print(key) { reason in
      Failure("\(reason) The value was added all the same, under the key \(quoted(key)).")
    }
  }

  /// Adds a child for each line; a key is printed only after its value is on disk.
  private func pushLines(_ add: (JSONValue) throws -> Key) throws {
    var lines = StandardInputLines()
    var unkept = EmptyContainers()
    while let line = try lines.next() {
      if line.allSatisfy({ $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }) { continue }
      let key: Key
      do {
        let json = try JSONValue(parsing: line)
        if json.isNothing { throw Failure(PushCommand.nothing) }
        key = try add(json)
        unkept.add(line.withUnsafeBufferPointer { EmptyContainers(in: $0) })
      } catch let error as DatabaseError where error.code == .fileGone {
        let words = error.isWritten ? "was added under a key that is not known" : "was not added"
        throw Failure(
          "Line \(lines.count) \(words): \(error) Those before it were added before that; nothing "
            + "after it was read.")
      } catch let unknown as UnknownPush {
        throw Failure(
          "It is not known whether line \(lines.count) was added, as \(quoted(unknown.key)): "
            + "\(unknown.reason) Those before it were added; nothing after it was read.",
          status: .retryable)
      } catch {
        let words = (error as? Failure)?.message ?? "\(error)"
        let reason =
          (words.hasSuffix(".") ? words : words + ".") + (NameAdvice(for: error)?.sentence ?? "")
        throw Failure(
          "Line \(lines.count) was not added: \(reason) Those before it were; nothing after it "
            + "was read.", status: (error as? Failure)?.status ?? .failure)
      }
      try print(key) { [count = lines.count] reason in
        Failure(
          "\(reason) Line \(count) was added all the same, under the key \(quoted(key)); nothing "
            + "after it was read.")
      }
    }
    if let sentence = unkept.sentence { StandardError.say(sentence) }
  }

  /// Prints a key.
  ///
  /// If that fails, it throws `failure`, which says that the value is stored.
  private func print(_ key: Key, or failure: (_ reason: String) -> Failure) throws {
    do {
      try StandardOutput.write(quoted(key) + "\n")
    } catch is StandardOutput.Closed {
      throw failure("Standard output was closed.")
    } catch let error as Failure {
      throw failure(error.message)
    }
  }

  private func quoted(_ key: Key) -> String { JSONValue.string(key.text).jsonText() }
}

extension JSONValue {
  /// Whether the tree keeps nothing of the value.
  fileprivate var isNothing: Bool {
    switch self {
    case .null: true
    case .array(let elements): elements.allSatisfy(\.isNothing)
    case .object(let members): members.allSatisfy { $0.name == ".priority" || $0.value.isNothing }
    case .bool, .number, .string: false
    }
  }
}
