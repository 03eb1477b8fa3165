import ArgumentParser
import Foundation
import RunnelAccounts
import RunnelClient
import RunnelDatabase
import RunnelTree

/// `runnel sync drop`: gives up the pending writes of a user who is not signed in.
struct SyncDropCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "drop",
    abstract: "Give up the pending writes of a user in a replica.",
    discussion: """
      For writes that are never sent, as their account was deleted, or had no address and is signed out: `runnel sync \
      push` names them, and the id. If another account has the address of the earlier one, that one may have another \
      address now: sign in with it, and they are sent; only otherwise give them up. The places are listed on standard error. You are asked at a terminal, and --force \
      is needed without one; nothing brings the writes back. The queue of the workspace (S) drops single ones.

      Examples:
        runnel sync drop prod 5XWbcu1BzoaVVXGhfyZUdtbGGKZ2
      """)

  /// The number of places that are listed.
  private static let placesMax = 20

  @Argument(
    help: "The server's database: its address, or the name of a profile.",
    completion: DatabaseCompletion.profiles)
  var database: String
  @Argument(help: "The id of the user, or the address if it is that of one user only.")
  var user: String
  @Flag(name: [.short, .long], help: "Give the writes up without asking.") var force = false
  @OptionGroup var origin: OriginArguments

  func run() throws {
    guard let choice = try OriginChoice(database, origin) else {
      throw Failure(
        "\(database) is neither an address nor a profile\(OriginChoice.question(for: database)): write the name "
          + "of a profile, or https://HOST/?ns=NAME.", status: .usage)
    }
    try choice.requireWriting()
    let writesOfAll = OthersWrites(choice)
    let entries = writesOfAll.entries
    let meant = entries.filter { $0.file.user == user }
    let users = writesOfAll.users(with: user)
    if meant.isEmpty, users.count > 1, let last = users.last {
      let count = users.count == 2 ? "Two" : "\(users.count)"
      throw Failure(
        "\(count) accounts have the address \(user): \(users.dropLast().joined(separator: ", ")) and \(last). "
          + "Give the id of the one whose writes are to go.", status: .usage)
    }
    let found = meant.isEmpty ? entries.filter { $0.name == user } : meant
    guard let entry = found.first else {
      throw Failure("No write of \(user) waits for \(choice.name).")
    }
    if found.count > 1 {
      throw Failure("Writes of several users \(user) wait: give the id.", status: .usage)
    }
    let session = try DatabaseSession(file: entry.file.file, environment: .system)
    defer { try? session.close() }
    let writes = try session.pendingWritesOfUser()
    let count = writes.count == 1 ? "1 write" : "\(writes.count) writes"
    let places = writes.flatMap { $0.parts.map { "\($0.path)" } }
    for place in places.prefix(SyncDropCommand.placesMax) { StandardError.say(place) }
    if places.count > SyncDropCommand.placesMax {
      StandardError.say("and \(places.count - SyncDropCommand.placesMax) more places")
    }
    try Consent(isGiven: force).require(
      "Give up \(count) of \(entry.name ?? user) for good?",
      because: "This would give up \(count) of \(entry.name ?? user) for good.")
    for write in writes { _ = try session.dropPendingWrite(write.id) }
    // Without writes the file is of no use; one that stays is read as before.
    if let id = entry.file.user { try? AccountPlace.known(choice)?.home.forgetLeft(id) }
    StandardError.say("\(count) of \(entry.name ?? user) given up.")
  }
}
