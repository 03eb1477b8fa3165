import Foundation
import Glibc
import RunnelAccounts
import RunnelSync

/// A folder for accounts that are forgotten at the end, which only the user may open: in memory, where the
/// system has such a folder for the user.
struct TemporaryAccounts {
  private let folder: String

  /// Makes the folder.
  ///
  /// - Throws: `Failure` if it cannot be made.
  init() throws {
    let environment = ProcessInfo.processInfo.environment
    let parents = ["XDG_RUNTIME_DIR", "TMPDIR"].compactMap { environment[$0] } + ["/tmp"]
    var made: String?
    for parent in parents where made == nil && parent.hasPrefix("/") {
      var bytes = "\(parent)/runnel-XXXXXX".utf8CString.map { $0 }
      if mkdtemp(&bytes) == nil { continue }
      made = String(decoding: bytes.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
    guard let made else { throw Failure.system("A temporary folder cannot be made in /tmp") }
    folder = made
  }

  /// Returns the accounts at a database, of which none is known yet.
  ///
  /// - Throws: `Failure` if there can be no accounts.
  func home(_ origin: OriginChoice) throws -> AccountHome {
    let place = try AccountPlace(origin)
    return AccountHome(
      of: origin.address.name, place.ownService, place.transport, below: folder)
  }

  /// Removes the accounts.
  func remove() {
    // What cannot be removed stays closed to others.
    try? FileManager.default.removeItem(atPath: folder)
  }
}
