import Foundation
import RunnelAccounts
import RunnelBase
import RunnelClient

/// The pending writes in the replicas of users of a server's database other than the one of a command: they
/// are sent when their user signs in.
struct OthersWrites {
  /// The writes of one user.
  struct Entry {
    /// The replica.
    let file: ReplicaFolder.WaitingFile
    /// The address of the account; nil for none, or if it is not known.
    let email: String?
    /// The address of the user, or else the id; nil if the user is not known.
    let name: String?
    /// A sentence, with what to do.
    let line: String
    /// Whether no sign-in with that address sends them, as far as is known here.
    let isNeverSent: Bool
  }

  /// The writes of each user.
  let entries: [Entry]
  private let signedIn: [AccountUser]

  /// A sentence for each user, with what to do.
  var lines: [String] { entries.map(\.line) }

  /// Whether there are writes that no sign-in with a known address sends, as far as is known here.
  var hasNeverSent: Bool { entries.contains { $0.isNeverSent } }

  /// Says which writes a workspace left that forgets its accounts; of accounts to which nobody can sign in again,
  /// that is remembered, by the id alone.
  ///
  /// - Parameters:
  ///   - before: what waited before it.
  ///   - forgotten: the accounts that it forgets.
  ///   - choice: the database.
  static func sayLeft(
    since before: [ReplicaFolder.WaitingFile], of forgotten: AccountHome?, _ choice: OriginChoice
  ) {
    let kept = ((try? forgotten?.all()) ?? []).map(\.user)
    let ended = forgotten?.allEnded() ?? []
    if let home = AccountPlace.known(choice)?.home {
      let waiting = Set(
        OthersWrites(choice).entries.filter { !before.contains($0.file) }.compactMap(\.file.user))
      // What cannot be remembered is told here all the same.
      for user in kept where waiting.contains(user.id) && user.isAnonymous {
        try? home.noteSignOut(of: user, writesWait: true)
      }
      for end in ended where waiting.contains(end.user.id) && end.isFinal {
        var user = AccountUser(id: end.user.id)
        user.method = end.user.method
        try? home.folder(home.ownService).rememberEnd(of: user, end.failure)
        // Commands say that a session ended only of accounts that are kept here.
        try? home.noteSignOut(of: user, writesWait: true)
      }
    }
    let users = kept + ended.map(\.user)
    OthersWrites(choice, forgetting: users).sayLeft(since: before)
  }

  private func sayLeft(since before: [ReplicaFolder.WaitingFile]) {
    for entry in entries where !before.contains(entry.file) {
      StandardError.say(entry.line)
      StandardError.say(
        "The copy of the data with these writes stays on this machine: \(entry.file.file)")
    }
  }

  /// The writes of a user; nil if none wait.
  func entry(of user: String) -> Entry? { entries.first { $0.file.user == user } }

  /// The writes of earlier accounts that had the address of a user.
  func earlier(than user: AccountUser) -> [Entry] {
    entries.filter { $0.file.user != user.id && EmailAddress.areSame($0.email, user.email) }
  }

  /// Finds the writes in all replicas of a database but one; nil for all.
  ///
  /// - Parameters:
  ///   - choice: the database.
  ///   - file: the replica of the command; nil for none.
  ///   - forgotten: users whose accounts are kept no more, but whose addresses are known.
  init(
    _ choice: OriginChoice, besides file: String? = nil, forgetting forgotten: [AccountUser] = []
  ) {
    let place = AccountPlace.known(choice)
    // Files of accounts that cannot be read are told when somebody signs in.
    signedIn = ((try? place?.all()) ?? []).map(\.user)
    let departing = (try? place?.home.departing()) ?? []
    let known = Known(
      choice.word, signedIn: signedIn, departing: departing.map(\.user) + forgotten)
    entries = ReplicaFolder.waitingFiles(
      for: choice.address, environment: ProcessInfo.processInfo.environment
    ).filter { $0.file != file }.map { waiting in
      let end: EndedAccount? = waiting.user.flatMap { try? place?.home.ended($0) }
      let left: AccountUser? = waiting.user.flatMap { try? place?.home.left($0) }
      return known.entry(waiting, end, left)
    }
  }

  /// The ids of the users with an address, who have writes or are signed in.
  func users(with email: String) -> [String] {
    let isMeant = { (other: String?) in EmailAddress.areSame(other, email) }
    let waiting = entries.filter { isMeant($0.email) }.compactMap(\.file.user)
    let others = signedIn.filter { isMeant($0.email) }.map(\.id)
    return waiting + others.filter { !waiting.contains($0) }
  }
}

/// What is known of the users of a database.
private struct Known {
  /// The name of the database, as it is typed in a shell.
  let database: String
  let signedIn: [AccountUser]
  let departing: [AccountUser]

  init(_ database: String, signedIn: [AccountUser], departing: [AccountUser]) {
    (self.database, self.signedIn, self.departing) = (database, signedIn, departing)
  }

  func entry(
    _ waiting: ReplicaFolder.WaitingFile, _ end: EndedAccount?, _ left: AccountUser?
  ) -> OthersWrites.Entry {
    let isOne = waiting.pendingCount == 1
    let account = waiting.user.flatMap { user in
      (signedIn + departing).first { $0.id == user } ?? end?.user ?? left
    }
    func entry(_ name: String?, _ what: String, isNeverSent: Bool = false) -> OthersWrites.Entry {
      let whose = name.map { " of \($0)" } ?? " in \(waiting.file)"
      let writes = "\(waiting.pendingCount) \(isOne ? "write" : "writes")\(whose)"
      return OthersWrites.Entry(
        file: waiting, email: account?.email, name: name,
        line: "\(writes) \(isOne ? "waits" : "wait")\(what)",
        isNeverSent: isNeverSent)
    }
    guard let user = waiting.user else { return entry(nil, ".") }
    if user == OriginAccess.nobody.user {
      return entry(
        "nobody", ": this command sends \(isOne ? "it" : "them") while nobody is signed in.")
    }
    let name = account?.email ?? user
    let other = signedIn.first { $0.id != user && EmailAddress.areSame($0.email, account?.email) }
    if signedIn.contains(where: { $0.id == user }) {
      let word = other == nil ? name : user
      return entry(
        other == nil ? name : "\(user) (\(name))",
        ": `runnel account use \(database) \(word)` comes first.")
    }
    let drop = "`runnel sync drop \(database) \(user)` gives \(isOne ? "it" : "them") up."
    if end?.isDeleted == true {
      return entry(
        name, ", whose account was deleted: \(isOne ? "it is" : "they are") never sent. \(drop)",
        isNeverSent: true)
    }
    if end?.isFinal == true {
      return entry(
        user,
        ", an account without an address that is signed out: nobody can sign in to it again, and "
          + "\(isOne ? "it is" : "they are") never sent. \(drop)", isNeverSent: true)
    }
    if let other {
      return entry(
        "the earlier account \(user) of \(name)",
        ", and the address is that of another account now, \(other.id): if the earlier account "
          + "has another address now, sign in with that one; only otherwise \(drop)",
        isNeverSent: true)
    }
    let login = "`runnel login \(database)` comes first"
    guard let end else { return entry(name, ", who is not signed in: \(login), or \(drop)") }
    switch end.failure.code {
    case .userDisabled:
      return entry(
        name, ", whose session has ended, as the account is disabled: \(login), once it is enabled."
      )
    case .revoked:
      return entry(
        name, ", whose session has ended, as this device was revoked: \(login).")
    default: return entry(name, ", whose session has ended: \(login).")
    }
  }
}
