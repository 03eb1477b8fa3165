import Foundation
import RunnelClient
import RunnelDatabase
import RunnelSync
import RunnelWorkspace

extension OriginWish {
  /// Prepares the replica of the user: makes its file if it does not exist, and tells it which places are the
  /// program's.
  ///
  /// - Parameter environment: the environment variables of the process.
  /// - Returns: the path of the file.
  /// - Throws: `DatabaseError` if it cannot be made, or belongs to another origin.
  package mutating func replica(environment: [String: String]) throws -> String {
    let file = try ReplicaFolder.file(
      for: address, user: user ?? access.user, environment: environment)
    let session = try DatabaseSession(file: file, environment: .system)
    try session.becomeReplica(ofOrigin: address.name)
    // What an earlier program wrote by itself may wait still. What cannot be read is told by the opening.
    let known = (try? session.ownPlaces()) ?? OwnPlaces()
    ownPlaces = known.union([presence, devices].compactMap(\.self))
    // Where there is no room for it, only a count is wrong.
    if ownPlaces != known { try? session.noteOwnPlaces(ownPlaces) }
    // The file stays if the replica cannot be written; it is tried again the next time.
    try? RefusalFile(database: file).handOver(to: session)
    try session.close()
    return file
  }

  /// Changes to another user; nil for nobody.
  ///
  /// What was to be told at the start was told, and may be true no more.
  mutating func change(to user: String?) { (self.user, notice) = (user, nil) }

  /// Settles how the replica is opened.
  func prepare(_ environment: inout DatabaseEnvironment) {
    environment.cacheBytesMax = cacheBytesMax
    environment.keepsRefusals = true
  }
}

extension ApplicationOptions {
  /// Returns the options with which the database is opened as another account; what was named for
  /// the start does not hold any more.
  ///
  /// - Throws: `DatabaseError` if its replica cannot be opened.
  func changed(_ change: AccountChange) throws -> ApplicationOptions {
    var options = self
    options.origin?.change(to: change.user)
    let environment = ProcessInfo.processInfo.environment
    if let file = try options.origin?.replica(environment: environment) { options.database = file }
    (options.view, options.filter, options.follows) = (nil, nil, false)
    return options
  }
}
