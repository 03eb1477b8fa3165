import Glibc
import RunnelTerminal
import RunnelWorkspace

/// Watches what is stored of the accounts, which all windows and commands of the user share.
final class AccountMonitor {
  private let work: AccountWork
  private let folder: String
  private var watch: FileWatch?

  /// Watches the folder of the accounts of `work`, which need not exist yet.
  init(_ work: AccountWork, folder: String) {
    (self.work, self.folder) = (work, folder)
    watchAgain()
  }

  /// The descriptors to poll for reading; empty while there is nothing to watch.
  var fileDescriptors: [Int32] { watch.map { [$0.fileDescriptor] } ?? [] }

  /// Tells the work what is shown, what was refused, and that other accounts are stored.
  ///
  /// A folder that is missing is looked for whenever this is called, for it is made with the first account.
  func note(_ state: AppState) {
    work.note(
      isListed: AccountsScreen.isListed(state) || QueueScreen.isListed(state),
      isInFront: AccountsScreen.isInFront(state))
    work.note(refused: state.writes.queue.refused.last?.id)
    look()
  }

  /// Looks whether what is stored has changed; never blocks.
  func look() {
    guard let watch else { return watchAgain() }
    let hasChanged = watch.drain()
    if watch.isGone { self.watch = nil }
    if hasChanged { work.follow() }
  }

  private func watchAgain() {
    guard access(folder, F_OK) == 0 else { return }
    // Without a watch, changes are seen when a connection is made, and when the accounts are listed.
    watch = try? FileWatch(folder: folder)
    if watch != nil { work.follow() }
  }
}
