import CFaults
import Foundation
import TestSupport

/// A folder whose disk can be blocked.
final class FaultyDisk {
  let folder: String
  private let number: Int32

  init() throws {
    folder = FileManager.default.temporaryDirectory.path + "/runnel-disk-\(UUID().uuidString)"
    guard faults_install() == 0 else { throw RawClient.Failure(what: "no faults") }
    number = faults_watch(folder)
    guard number >= 0 else { throw RawClient.Failure(what: "too many watched files") }
  }

  deinit {
    faults_release(number)
    faults_unwatch(number)
    // Remaining files are in the folder for temporary files.
    try? FileManager.default.removeItem(atPath: folder)
  }

  func hold() { faults_hold(number) }
  /// Lets those go on that wait for the disk, and holds the next ones.
  func step() { faults_step(number) }
  func release() { faults_release(number) }
  /// Takes no writes from now on.
  func fill(_ kind: faults_kind = FAULTS_FULL) { faults_arm(number, 1, kind, 1) }
  func empty() { faults_disarm(number) }
  /// The number of waits for the disk since it was blocked.
  var syncCount: Int { faults_syncs(number) }
}
