import ArgumentParser
import Foundation
import RunnelAccounts
import RunnelApp
import RunnelClient

/// `runnel logout`: signs out of a server's database.
struct LogoutCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "logout",
    abstract: "Sign out of a server's database.",
    discussion: """
      The session's file is removed. The replica with its pending writes stays: they are sent when you sign in again. \
      Programs that are running notice it at latest when they need another token.

      Examples:
        runnel logout prod
        runnel logout prod --all
      """)

  @Argument(
    help: "The server's database: its address, or the name of a profile.",
    completion: DatabaseCompletion.profiles)
  var database: String
  @Flag(help: "Sign out all accounts for this database.") var all = false
  @OptionGroup var trust: TrustArguments

  /// The sentence about the writes of a user that wait; empty if none do.
  private static func waiting(_ user: String, _ choice: OriginChoice) -> String {
    let files = ReplicaFolder.waitingFiles(
      for: choice.address, environment: ProcessInfo.processInfo.environment)
    switch files.first(where: { $0.user == user })?.pendingCount ?? 0 {
    case 0: return ""
    case 1: return " 1 write waits: it is sent after the next sign-in."
    case let count: return " \(count) writes wait: they are sent after the next sign-in."
    }
  }

  func run() throws {
    let place = try AccountPlace(database, trust.origin)
    let accounts = try all ? place.all() : [place.signedIn()].compactMap { $0 }
    if let ended = place.ended {
      try place.forgetEnd(of: ended.user.id)
      StandardError.say(
        "Signed out of \(place.choice.name): \(ended.user.email ?? ended.user.id), whose session "
          + "had ended.")
      if accounts.isEmpty { return try LogoutCommand.activateNext(place) }
    }
    if accounts.isEmpty { throw place.nobody }
    let departures = place.departures
    for account in accounts {
      let session = try place.session(of: account)
      try place.answer {
        await departures?.take(session)
        await session.signOut()
        await session.close()
      }
      StandardError.say(
        "Signed out of \(place.choice.name): \(account.user.email ?? account.user.id)."
          + LogoutCommand.waiting(account.user.id, place.choice))
    }
    // A file that cannot be read is told when somebody signs in.
    let waiting = departures == nil ? [] : (try? place.home.departing()) ?? []
    if waiting.contains(where: { account in accounts.contains { $0.user.id == account.user.id } }) {
      StandardError.say(
        "The server cannot be reached: the next workspace removes this device from the user's devices."
      )
    }
    try LogoutCommand.activateNext(place)
  }

  /// Makes another account the active one if none is, so that commands go on working.
  private static func activateNext(_ place: AccountPlace) throws {
    guard try place.signedIn() == nil, let next = try place.all().first else { return }
    try place.activate(next.user.id)
    StandardError.say(
      "Commands act as \(next.user.email ?? next.user.id) from now on, who is signed in too: "
        + "`runnel account use` chooses.")
  }
}
