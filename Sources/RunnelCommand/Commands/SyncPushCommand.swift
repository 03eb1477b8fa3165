import ArgumentParser
import CPlatform
import Foundation
import Glibc
import RunnelAccounts
import RunnelBase
import RunnelClient
import RunnelDatabase
import RunnelSync
import RunnelTree
import Synchronization

/// `runnel sync push`: sends the pending writes of a replica, and waits for the server's answers.
struct SyncPushCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "push",
    abstract: "Send a replica's pending writes to the server, and wait for its answers.",
    discussion: """
      A replica has pending writes if a workspace was closed while the server could not be reached. The command \
      tries to connect until --timeout has passed. Writes that are not confirmed by then stay pending, and the \
      exit status is 3; so it is if nobody is signed in, and writes of a user wait, for example of one whose session \
      has ended. If writes of an account wait that was deleted, that had no address and is signed out, or whose \
      address another account has now, the exit status is 1, and what can be done is said. A message is printed for each write that the server refuses, and the exit status is 1; the refused \
      writes are kept, and `runnel open` lists them (S). Where a write replaces what others wrote meanwhile, the \
      place and what stood there are printed on standard error.

      Examples:
        runnel sync push prod
        runnel sync push 'https://chat.example.com/?ns=main' --timeout 60
      """)

  @Argument(
    help: "The server's database: its address, or the name of a profile.",
    completion: DatabaseCompletion.profiles)
  var database: String
  @Option(
    help: ArgumentHelp(
      "Give up after this time (default: wait until Ctrl-C).", valueName: "seconds"))
  var timeout: Int?
  @OptionGroup var origin: OriginArguments

  func validate() throws {
    if let timeout, !(1...86_400).contains(timeout) {
      throw ValidationError("--timeout takes 1 to 86400 seconds.")
    }
  }

  func run() throws {
    guard let choice = try OriginChoice(database, origin) else {
      throw Failure(
        "\(database) is neither an address nor a profile\(OriginChoice.question(for: database)): write the name "
          + "of a profile, or https://HOST/?ns=NAME.", status: .usage)
    }
    try choice.requireWriting()
    if choice.address.hasServices {
      throw Failure(
        "\(choice.name) is a Feathers server: `\(choice.sendingCommand)` sends what waits.",
        status: .usage)
    }
    if let command = StoreGate.command(for: choice.address) {
      throw Failure(
        "\(choice.name) is a namespace of a store: `\(command)` sends what waits.", status: .usage)
    }
    let access = try choice.access()
    let file = try ReplicaFolder.file(
      for: choice.address, user: access.user, environment: ProcessInfo.processInfo.environment)
    if let notice = choice.sharedFileNotice { StandardError.say(notice) }
    let (writes, own) = try SyncPushCommand.pending(file)
    let others = OthersWrites(choice, besides: file)
    let isNobody = access.user == OriginAccess.nobody.user
    if writes.isEmpty { return try SyncPushCommand.tell(others, isNobody, choice) }
    // This must come before the database starts its thread.
    let interruption = try Interruption()
    let pusher = try Pusher(file: file, pending: writes, own, choice, interruption)
    defer { pusher.close() }
    do {
      try pusher.link(as: access)
      try pusher.run(seconds: timeout)
    } catch let failure as AccountFailure {
      // The session has ended by now, so the writes are those of a user who is not signed in.
      let lines = [failure.message] + OthersWrites(choice).lines
      throw Failure(lines.joined(separator: "\n"), status: .retryable)
    } catch var failure as Failure {
      // What waits of others waits whatever became of these.
      failure.message = ([failure.message] + others.lines).joined(separator: "\n")
      throw failure
    }
    if !others.lines.isEmpty { try SyncPushCommand.tell(others, isNobody, choice) }
  }

  /// Says whose writes wait, if no write of the present user does.
  ///
  /// - Throws: `Failure` if there are some, and nobody is signed in: then they are those that are meant; also if
  ///   there are some that no sign-in sends.
  private static func tell(
    _ others: OthersWrites, _ isNobody: Bool, _ choice: OriginChoice
  ) throws {
    if others.lines.isEmpty {
      return StandardError.say("There are no pending writes for \(choice.name).")
    }
    let text = others.lines.joined(separator: "\n")
    if others.hasNeverSent { throw Failure(text) }
    if isNobody { throw Failure(text, status: .retryable) }
    StandardError.say(text)
  }

  /// Returns the user's pending writes, and the places where the program writes by itself.
  private static func pending(_ file: String) throws -> (writes: [PendingWrite], own: OwnPlaces) {
    if Glibc.access(file, F_OK) != 0 { return ([], OwnPlaces()) }
    let session = try DatabaseSession(file: file, isReadOnly: true, environment: .system)
    let writes = try session.pendingWritesOfUser()
    let own = try session.ownPlaces()
    try session.close()
    return (writes, own)
  }
}

/// The connection of `runnel sync push`: the main thread waits until the server has answered all writes.
private final class Pusher {
  private static let messagesMax = 1024
  private static let pollMilliseconds: Int32 = 200
  /// After this time without an answer it is said what is waited for.
  private static let silence = Duration.seconds(1)

  private let choice: OriginChoice
  private let interruption: Interruption
  private let wake: Int32
  private let inbox: Inbox<DatabaseMessage>
  private let database: Database
  private let status = Newest<OriginStatus>()
  /// Why there is no credential, and will be none without a new sign-in.
  private let lack = Newest<AccountFailure>()
  private let total: Int
  /// The places where the program writes by itself: those writes are sent, too, but not waited for.
  private let own: OwnPlaces
  /// The pending writes of the user.
  private var writes: [PendingWrite]
  private var pending: Int { writes.count }
  private var refusedCount = 0
  private var replaced = ReplacedPlaces()

  init(
    file: String, pending writes: [PendingWrite], _ own: OwnPlaces, _ choice: OriginChoice,
    _ interruption: Interruption
  ) throws {
    (self.choice, self.interruption) = (choice, interruption)
    (total, self.writes, self.own) = (writes.count, writes, own)
    let wake = runnel_eventfd_open()
    if wake < 0 { throw Failure.system("A wake-up cannot be made") }
    self.wake = wake
    inbox = Inbox(limit: Pusher.messagesMax) { _ = runnel_eventfd_signal(wake) }
    var environment = DatabaseEnvironment.system
    environment.keepsRefusals = true
    database = try Database(file: file, isReadOnly: false, inbox: inbox, environment: environment)
  }

  func close() { database.close() }

  /// Starts the connection to the server.
  func link(as access: OriginAccess) throws {
    let (status, lack, wake) = (status, lack, wake)
    var access = access
    if let provider = access.provider {
      access.provider = { isRefresh in
        do {
          return try await provider(isRefresh)
        } catch let failure as AccountFailure {
          if !failure.isTemporary { lack.set(failure) }
          _ = runnel_eventfd_signal(wake)
          throw failure
        }
      }
    }
    let link = try database.link(to: choice.address, as: access, choice.arguments.options)
    link.onStatus {
      status.set($0)
      _ = runnel_eventfd_signal(wake)
    }
  }

  /// Waits until no write is pending.
  ///
  /// - Throws: `Failure` if a write or the credentials were refused, or if the time has passed;
  ///   `AccountFailure` if the session has ended.
  func run(seconds: Int?) throws {
    let end = seconds.map { ContinuousClock.now + .seconds($0) }
    var line = ProgressLine("Sending to \(choice.name)")
    defer { line.clear() }
    let descriptors = [wake, interruption.descriptor]
    var answers = [UInt8](repeating: 0, count: descriptors.count)
    var (left, since) = (pending, ContinuousClock.now)
    while pending > 0 {
      let count = Int32(descriptors.count)
      guard runnel_poll(descriptors, &answers, count, Pusher.pollMilliseconds) >= 0 else {
        throw Failure.system("Waiting failed")
      }
      _ = runnel_eventfd_drain(wake)
      for message in inbox.drain() { receive(message, &line) }
      try interruption.check()
      try check(isOver: end.map { ContinuousClock.now >= $0 } ?? false)
      if pending != left { (left, since) = (pending, ContinuousClock.now) }
      let isSilent = ContinuousClock.now - since >= Pusher.silence
      line.report("\(total - min(pending, total)) of \(total) writes\(isSilent ? reason : "")")
    }
    line.clear()
    if refusedCount > 0 {
      throw Failure(
        "\(choice.name) refused \(refusedCount) of \(total) writes. They are kept: `runnel open` lists them in the queue (S)."
      )
    }
    let writes = total == 1 ? "the write" : "all \(total) writes"
    StandardError.say("\(choice.name) confirmed \(writes).")
  }

  private func receive(_ message: DatabaseMessage, _ line: inout ProgressLine) {
    switch message {
    case .pendingWrites(let news):
      let new = news.filter { !own.cover($0) }
      let lines = replaced.lines(for: PendingWrite.replaced(by: new, since: writes))
      if !lines.isEmpty { line.clear() }
      for text in lines { StandardError.say(text) }
      writes = new
    case .rejected(_, let id, let error) where writes.contains(where: { $0.id == id }):
      refusedCount += 1
      line.clear()
      StandardError.say("\(choice.name) refused a write: \(error.message)")
    default: break
    }
  }

  /// Checks that it is of use to wait longer.
  ///
  /// - Throws: `Failure` if it is not.
  private func check(isOver: Bool) throws {
    guard pending > 0, let status = status.value else { return }
    if let failure = lack.value, status.state != .elsewhere { throw failure }
    switch status.state {
    case .link(.offline(.refused(let refusal))):
      throw Failure("\(choice.name) refused the credentials: \(refusal.text)")
    case .link(.offline(.shutDown(let reason))): throw Failure(reason, status: .retryable)
    default: break
    }
    if status.unknownWrites.count >= pending {
      throw Failure(
        "The outcome of \(pending) increments is unknown: the connection was lost before \(choice.name) "
          + "answered. `runnel open` lists them in the queue (S): send them again or drop them there."
      )
    }
    if isOver {
      throw Failure(
        "\(pending) of \(total) writes are still pending\(reason). They are kept.",
        status: .retryable)
    }
  }

  /// What the writes wait for, in words that follow their number.
  private var reason: String { OriginStatus.words(onWaiting: status.value) }
}

/// The latest value, which another thread sets.
private final class Newest<Value: Sendable>: Sendable {
  private let box = Mutex<Value?>(nil)

  var value: Value? { box.withLock { $0 } }

  func set(_ value: Value) { box.withLock { $0 = value } }
}
