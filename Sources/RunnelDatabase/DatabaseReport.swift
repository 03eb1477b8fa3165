package import RunnelTree

/// A deviation of a database file from `FORMAT.md`.
package struct DatabaseFault: Hashable, Sendable {
  /// The way to repair a fault.
  package enum Remedy: Hashable, Sendable {
    /// No repair is possible, because it would have to guess data.
    case none
    /// Count the children of split nodes again.
    case recount
    /// Make the entries of indexes and priorities again.
    case reindex
    /// Drop the definition of an index; programs that need it declare it again.
    case undeclare
    /// Start the change feed again; every process then reads everything that it shows again.
    case restartFeed
    /// Give the database another id.
    case newID
    /// Move the damaged rows, or rows that belong to no node any more, to `/recovered`, where they
    /// can be read.
    case recover
  }

  /// The place: in the tree, or a table, or SQLite itself.
  package var place: String
  /// The fault, as a clause.
  package var what: String
  /// The way to repair it.
  package var remedy: Remedy
}

extension DatabaseFault: CustomStringConvertible {
  /// The fault in one line.
  package var description: String { "\(place): \(what) (\(remedy))" }
}

extension DatabaseFault.Remedy: CustomStringConvertible {
  /// The repair, as a clause.
  package var description: String {
    switch self {
    case .none: "cannot be repaired"
    case .recount: "a repair counts anew"
    case .reindex: "a repair makes the entries anew"
    case .undeclare: "a repair drops the index, which is made anew when it is next asked for"
    case .restartFeed: "a repair begins the feed anew"
    case .newID: "a repair makes another"
    case .recover: "a repair puts what is left below /recovered"
    }
  }
}

/// The result of checking a database file.
package struct DatabaseReport: Sendable {
  /// The most faults that are listed one by one.
  package static let faultsMax = 100

  /// The first faults, in the order in which they were found.
  package private(set) var faults: [DatabaseFault] = []
  /// The number of faults.
  package private(set) var faultCount = 0
  /// The number of faults that can be repaired.
  package private(set) var repairableCount = 0
  /// The number of faults for which a repair moves something to `/recovered`.
  package private(set) var recoverableCount = 0
  /// The number of children that are missing although the nodes above count them.
  package internal(set) var lostCount = 0
  /// The number of nodes whose count was changed, so that it is not known whether children are missing.
  package internal(set) var doubtfulCount = 0
  /// The version of the file's format.
  package internal(set) var version = 0
  /// The id of the database; nil if the format has none, or it cannot be read.
  package internal(set) var databaseID: String?
  /// The number of records and split nodes that were checked.
  package internal(set) var rowCount = 0
  /// The number of them without a checksum, since an older program wrote them last.
  package internal(set) var uncheckedCount = 0
  /// The number of entries of indexes and priorities that were checked.
  package internal(set) var entryCount = 0
  /// The undo files beside the database that no write of its history names; they are not counted as
  /// faults.
  ///
  /// They are left by an import or an undoing that was killed, and by writes that the history has
  /// forgotten.
  package internal(set) var unnamedFiles: [String] = []
  /// What is not whole of the last write in the log, in words; nil if all is.
  ///
  /// A power failure may leave that, so it is no fault, and the write counts as not made.
  package internal(set) var tornLogEnd: String?
  /// False if the file is so damaged that its rows could not be checked.
  package internal(set) var isComplete = true

  /// True if there is no fault.
  package var isSound: Bool { faultCount == 0 }

  mutating func add(_ fault: DatabaseFault) {
    faultCount += 1
    if fault.remedy != .none { repairableCount += 1 }
    if fault.remedy == .recover { recoverableCount += 1 }
    if faults.count < DatabaseReport.faultsMax { faults.append(fault) }
  }
}

/// The result of a repair.
package struct DatabaseRepair: Sendable {
  /// The report before the repair.
  package var before: DatabaseReport
  /// The report after the repair; nil if there was nothing to repair, or nothing could be repaired.
  package var after: DatabaseReport?
  /// The first rows that were moved because they were damaged, or belonged to no node.
  package internal(set) var recovered: [RecoveredRow] = []
  /// The number of such rows.
  package internal(set) var recoveredCount = 0
  /// The undo files that were removed, since no write of the history needed them.
  package internal(set) var removedFiles: [String] = []

  mutating func add(_ row: RecoveredRow) {
    recoveredCount += 1
    if recovered.count < DatabaseReport.faultsMax { recovered.append(row) }
  }
}

/// A stored row, with everything below it, that a repair moved to a place of its own.
package struct RecoveredRow: Hashable, Sendable {
  /// The new place: a node with `place` and `why`, and the row's `value`; or its `text` or `bytes`,
  /// if it is not a value any more.
  package var path: Path
  /// The old place, as far as it is known.
  package var place: String
  /// The damage, as a clause.
  package var why: String
}

/// The size of a file before and after compaction.
package struct DatabaseCompaction: Hashable, Sendable {
  /// Bytes of the file and its log before.
  package var bytesBefore: Int
  /// Bytes of the file and its log afterwards.
  package var bytesAfter: Int
  /// False if another process still reads the file's log, which shrinks when that process is done.
  package var isFinished: Bool
}
