import Glibc
import RunnelDatabase
import RunnelTerminal
import RunnelWorkspace

/// Watches what is stored of the accounts, which all windows and commands of the user share, and the replicas of
/// those whose waiting writes are told.
final class AccountMonitor {
  /// The most accounts whose replicas are watched.
  private static let replicasMax = 50

  private let work: AccountWork
  private let folder: String
  /// The file of a user's replica; nil for none.
  private let replica: (_ user: String) -> String?
  private var watch: FileWatch?
  /// Watches the replicas of the users whose writes are counted; nil while there are none.
  private var commits: CommitWatch?
  private var counted: [String] = []

  /// Watches the folder of the accounts of `work`, which need not exist yet.
  ///
  /// - Parameters:
  ///   - work: the accounts.
  ///   - folder: their folder.
  ///   - replica: returns the file of a user's replica.
  init(
    _ work: AccountWork, folder: String,
    replica: @escaping (_ user: String) -> String? = { _ in nil }
  ) {
    (self.work, self.folder, self.replica) = (work, folder, replica)
    watchAgain()
  }

  /// The descriptors to poll for reading; empty while there is nothing to watch.
  var fileDescriptors: [Int32] {
    [watch?.fileDescriptor, commits?.fileDescriptor].compactMap(\.self)
  }

  /// Tells the work what is shown, what was refused, and that other accounts are stored.
  ///
  /// A folder that is missing is looked for whenever this is called, for it is made with the first account.
  func note(_ state: AppState) {
    work.note(
      isListed: AccountsScreen.isListed(state) || QueueScreen.isListed(state),
      isInFront: AccountsScreen.isInFront(state))
    work.note(refused: state.writes.queue.refused.last?.id)
    work.note(isLeftWithWrites: AccountMonitor.isLeftWithWrites(state))
    look()
  }

  /// Looks whether what is stored has changed; never blocks.
  func look() {
    lookAtReplicas()
    guard let watch else { return watchAgain() }
    let hasChanged = watch.drain()
    if watch.isGone { self.watch = nil }
    if hasChanged { work.follow() }
  }

  /// Counts what waits of other accounts again when something was committed to their replicas.
  private func lookAtReplicas() {
    let users = work.countedUsers
    if users == counted {
      if commits?.drain() == true { work.countAgain() }
      return
    }
    counted = users
    // Without a watch, what others send is told when the accounts are listed.
    commits = CommitWatch(databases: users.prefix(AccountMonitor.replicasMax).compactMap(replica))
    // Something may have been sent between the count and the watch.
    if commits != nil { work.countAgain() }
  }

  private func watchAgain() {
    guard access(folder, F_OK) == 0 else { return }
    // Without a watch, changes are seen when a connection is made, and when the accounts are listed.
    watch = try? FileWatch(folder: folder)
    if watch != nil { work.follow() }
  }
}

extension AccountMonitor {
  /// Whether the session of the account that is shown has ended, and writes of it wait.
  private static func isLeftWithWrites(_ state: AppState) -> Bool {
    guard case .ended? = state.database.accounts?.session else { return false }
    return !state.writes.queue.pending.isEmpty
  }
}
