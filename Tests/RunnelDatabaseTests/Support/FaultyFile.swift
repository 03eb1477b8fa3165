import CFaults

/// The files of one database, which fail when told to.
final class FaultyFile {
  private let number: Int32

  struct TooMany: Error {}

  /// Watches the files whose path begins with `path`.
  init(_ path: String) throws {
    guard faults_install() == 0 else { throw TooMany() }
    number = faults_watch(path)
    if number < 0 { throw TooMany() }
  }

  deinit { faults_unwatch(number) }

  /// Fails at an operation, counted from 1; with `lasts`, at every one after it too.
  func arm(_ kind: faults_kind, at operation: Int, lasts: Bool) {
    faults_arm(number, operation, kind, lasts ? 1 : 0)
  }

  /// Begins to count the waits for the disk.
  func countWaits() {
    faults_hold(number)
    faults_release(number)
  }

  /// How often the disk was waited for since `countWaits`.
  var waitCount: Int { Int(faults_syncs(number)) }

  /// Fails no more; returns the number of operations since it was armed.
  @discardableResult
  func disarm() -> Int { Int(faults_disarm(number)) }
}
