import Foundation
import RunnelAccounts
import RunnelClient

/// The pending writes in the replicas of users of a server's database other than the one of a command: they
/// are sent when their user signs in.
struct OthersWrites {
  /// The writes of one user.
  struct Entry {
    /// The replica.
    let file: ReplicaFolder.WaitingFile
    /// The address of the user, or else the id; nil if the user is not known.
    let name: String?
    /// The address of the user, as far as is known here.
    let email: String?
    /// A sentence, with what to do.
    let line: String
    /// Whether nobody can sign in to send them, as far as is known here.
    let isNeverSent: Bool
  }

  /// The writes of each user.
  let entries: [Entry]
  private let signedIn: [AccountUser]

  /// A sentence for each user, with what to do.
  var lines: [String] { entries.map(\.line) }

  /// Whether there are writes that nobody can sign in to send, as far as is known here.
  var hasNeverSent: Bool { entries.contains { $0.isNeverSent } }

  /// Finds the writes in all replicas of a database but one; nil for all.
  init(_ choice: OriginChoice, besides file: String? = nil) {
    let place = AccountPlace.known(choice)
    // Files of accounts that cannot be read are told when somebody signs in.
    signedIn = ((try? place?.all()) ?? []).map(\.user)
    let departing = (try? place?.home.departing()) ?? []
    let known = Known(
      choice.name, signedIn: signedIn, departing: departing.map(\.user))
    entries = ReplicaFolder.waitingFiles(
      for: choice.address, environment: ProcessInfo.processInfo.environment
    ).filter { $0.file != file }.map { waiting in
      let end: EndedAccount? = waiting.user.flatMap { try? place?.home.ended($0) }
      return known.entry(waiting, end)
    }
  }

  /// The ids of the users with an address, who have writes or are signed in.
  func users(with email: String) -> [String] {
    let isMeant = { (other: String?) in other?.lowercased() == email.lowercased() }
    let waiting = entries.filter { isMeant($0.email) }.compactMap(\.file.user)
    let others = signedIn.filter { isMeant($0.email) }.map(\.id)
    return waiting + others.filter { !waiting.contains($0) }
  }
}

/// What is known of the users of a database.
private struct Known {
  let database: String
  let signedIn: [AccountUser]
  let departing: [AccountUser]

  init(_ database: String, signedIn: [AccountUser], departing: [AccountUser]) {
    (self.database, self.signedIn, self.departing) = (database, signedIn, departing)
  }

  func entry(_ waiting: ReplicaFolder.WaitingFile, _ end: EndedAccount?) -> OthersWrites.Entry {
    let isOne = waiting.pendingCount == 1
    let account = waiting.user.flatMap { user in
      (signedIn + departing).first { $0.id == user } ?? end?.user
    }
    func entry(_ name: String?, _ what: String, isNeverSent: Bool = false) -> OthersWrites.Entry {
      let whose = name.map { " of \($0)" } ?? " in \(waiting.file)"
      let writes = "\(waiting.pendingCount) \(isOne ? "write" : "writes")\(whose)"
      return OthersWrites.Entry(
        file: waiting, name: name, email: account?.email,
        line: "\(writes) \(isOne ? "waits" : "wait")\(what)",
        isNeverSent: isNeverSent)
    }
    guard let user = waiting.user else { return entry(nil, ".") }
    if user == OriginAccess.nobody.user {
      return entry(
        "nobody", ": this command sends \(isOne ? "it" : "them") while nobody is signed in.")
    }
    let name = account?.email ?? user
    if signedIn.contains(where: { $0.id == user }) {
      return entry(name, ": `runnel account use \(database) \(name)` comes first.")
    }
    let drop = "`runnel sync drop \(database) \(user)` gives \(isOne ? "it" : "them") up."
    if end?.isDeleted == true {
      return entry(
        name, ", whose account was deleted: \(isOne ? "it is" : "they are") never sent. \(drop)",
        isNeverSent: true)
    }
    if let email = account?.email,
      let other = signedIn.first(where: {
        $0.email?.lowercased() == email.lowercased() && $0.id != user
      })
    {
      return entry(
        "the earlier account \(user) of \(email)",
        ", and the address is that of another account now, \(other.id): a sign-in with it does not "
          + "send \(isOne ? "it" : "them"). \(drop)", isNeverSent: true)
    }
    let login = "`runnel login \(database)` comes first"
    return entry(
      name,
      end != nil
        ? ", whose session has ended: \(login)." : ", who is not signed in: \(login), or \(drop)")
  }
}
