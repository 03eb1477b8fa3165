import ArgumentParser
import Foundation
import RunnelAccounts
import RunnelApp
import RunnelBase
import RunnelClient

/// `runnel logout`: signs out of a server's database.
struct LogoutCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "logout",
    abstract: "Sign out of a server's database.",
    discussion: """
      The session's file is removed. The replica with its pending writes stays: they are sent when you sign in again. \
      Nobody can sign in to an account without an address again: you are asked before, or --force is needed without a \
      terminal; what waits is never sent then. \
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
  @Flag(help: "Sign out of an account without an address without asking.") var force = false
  @OptionGroup var trust: TrustArguments

  /// The sentence about the writes that wait of a user who signed out, beside other accounts; empty if none do.
  private static func waiting(
    _ user: AccountUser, _ place: AccountPlace, _ others: [KeptAccount]
  ) -> String {
    let count = place.waitingCount(of: user.id)
    if count == 0 { return "" }
    if let entry = OthersWrites(place.choice).entry(of: user.id), entry.isNeverSent {
      return " " + entry.line
    }
    let words = count == 1 ? " 1 write waits" : " \(count) writes wait"
    let them = count == 1 ? "it is" : "they are"
    if let other = others.first(where: {
      $0.user.id != user.id && EmailAddress.areSame($0.user.email, user.email)
    }) {
      return "\(words) of \(user.id). Another account had the address at the last sign-in, "
        + "\(other.user.id): if \(user.id) has another one now, sign in with that; only otherwise `runnel sync drop "
        + "\(place.choice.word) \(user.id)` gives \(count == 1 ? "it" : "them") up."
    }
    return "\(words): \(them) sent after the next sign-in."
  }

  /// Asks before accounts are left to which nobody can sign in again.
  ///
  /// - Throws: `Failure` as of `Consent`.
  private func ask(_ accounts: [KeptAccount], _ place: AccountPlace) throws {
    let final = accounts.map(\.user).filter(\.isAnonymous)
    if final.isEmpty { return }
    let names = final.map(\.id).joined(separator: " and ")
    let count = final.reduce(0) { $0 + place.waitingCount(of: $1.id) }
    let writes =
      count == 0
      ? ""
      : (count == 1 ? " 1 write waits, and is" : " \(count) writes wait, and are")
        + " never sent then: `\(place.choice.sendingCommand)` sends what waits."
    let end = "nobody can sign in to this account again, which has no address."
    try Consent(isGiven: force).require(
      "Sign out of \(names)? Note that \(end)\(writes)",
      because: "This would sign out of \(names), and \(end)\(writes)")
  }

  func run() throws {
    let place = try AccountPlace(database, trust.origin)
    let accounts = try all ? place.all() : [place.signedIn()].compactMap { $0 }
    try ask(accounts, place)
    if let ended = place.ended {
      try place.noteSignOut(of: ended.user)
      StandardError.say(
        "Signed out of \(place.choice.name): \(ended.user.email ?? ended.user.id), whose session "
          + "had ended." + LogoutCommand.waiting(ended.user, place, try place.all()))
      if accounts.isEmpty { return try place.activateNext() }
    }
    if accounts.isEmpty { throw place.nobody }
    let departures = place.departures
    let known = try place.all()
    for account in accounts {
      let session = try place.session(of: account)
      try place.answer {
        await departures?.take(session)
        await session.signOut()
        await session.close()
      }
      try place.noteSignOut(of: account.user)
      StandardError.say(
        "Signed out of \(place.choice.name): \(account.user.email ?? account.user.id)."
          + LogoutCommand.waiting(account.user, place, known))
    }
    // A file that cannot be read is told when somebody signs in.
    let waiting = departures == nil ? [] : (try? place.home.departing()) ?? []
    if waiting.contains(where: { account in accounts.contains { $0.user.id == account.user.id } }) {
      StandardError.say(
        "The server cannot be reached: the next workspace removes this device from the user's devices."
      )
    }
    try place.activateNext()
  }
}
