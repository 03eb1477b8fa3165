import Foundation
import RunnelAccounts
import RunnelClient

/// The pending writes in the replicas of users of a server's database other than the one of a command: they
/// are sent when their user signs in.
struct OthersWrites {
  /// A sentence for each user, with what to do.
  let lines: [String]

  /// Finds the writes in all replicas of a database but one; nil for all.
  init(_ choice: OriginChoice, besides file: String? = nil) {
    let place = AccountPlace.known(choice)
    // Files of accounts that cannot be read are told when somebody signs in.
    let signedIn = (try? place?.all()) ?? []
    let departing = (try? place?.home.departing()) ?? []
    let known = (signedIn + departing).map(\.user)
    lines = ReplicaFolder.waitingFiles(
      for: choice.address, environment: ProcessInfo.processInfo.environment
    ).filter { $0.file != file }.map { waiting in
      let isOne = waiting.pendingCount == 1
      func writes(_ whose: String) -> String {
        "\(waiting.pendingCount) \(isOne ? "write" : "writes")\(whose) \(isOne ? "waits" : "wait")"
      }
      guard let user = waiting.user else { return writes(" in \(waiting.file)") + "." }
      if user == OriginAccess.nobody.user {
        return writes(" of nobody") + ": this command sends \(isOne ? "it" : "them") while nobody "
          + "is signed in."
      }
      let end: EndedAccount? = try? place?.home.ended(user)
      let name = (known.first { $0.id == user } ?? end?.user)?.email ?? user
      if signedIn.contains(where: { $0.user.id == user }) {
        return writes(" of \(name)") + ": `runnel account use \(choice.name) \(name)` comes first."
      }
      if end?.isDeleted == true {
        return writes(" of \(name)")
          + ", whose account was deleted: \(isOne ? "it is" : "they are") "
          + "never sent."
      }
      return writes(" of \(name)")
        + (end != nil ? ", whose session has ended" : ", who is not signed in")
        + ": `runnel login \(choice.name)` comes first."
    }
  }
}
