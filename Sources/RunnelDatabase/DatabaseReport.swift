public import RunnelTree

/// Something in a database file that is not as `FORMAT.md` says.
public struct DatabaseFault: Hashable, Sendable {
  /// What a repair can do about a fault.
  public enum Remedy: Hashable, Sendable {
    /// Nothing: it would have to guess data.
    case none
    /// Count the children of split nodes anew.
    case recount
    /// Make the entries of indexes and priorities anew.
    case reindex
    /// Drop the definition of an index; who needs it declares it again.
    case undeclare
    /// Begin the feed of changes anew; every process then reads what it shows again.
    case restartFeed
    /// Give the database another id.
    case newID
    /// Set what is stored there aside, or put what nothing leads to any more where it can be read:
    /// below `/recovered`.
    case recover
  }

  /// Where: a place in the tree, or where the tree does not reach, a table or SQLite itself.
  public var place: String
  /// What is wrong, as a clause.
  public var what: String
  /// What a repair does about it.
  public var remedy: Remedy
}

extension DatabaseFault: CustomStringConvertible {
  /// The fault in one line.
  public var description: String { "\(place): \(what) (\(remedy))" }
}

extension DatabaseFault.Remedy: CustomStringConvertible {
  /// What a repair does, as a clause.
  public var description: String {
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

/// What a check of a database file found.
public struct DatabaseReport: Sendable {
  /// How many faults are told one by one.
  public static let faultsMax = 100

  /// The first faults, in the order in which they were found.
  public private(set) var faults: [DatabaseFault] = []
  /// How many faults there are.
  public private(set) var faultCount = 0
  /// How many of them a repair can mend.
  public private(set) var repairableCount = 0
  /// The version of the file's format.
  public internal(set) var version = 0
  /// The id of the database; nil if the format has none, or it cannot be read.
  public internal(set) var databaseID: String?
  /// How many records and split nodes were looked at.
  public internal(set) var rowCount = 0
  /// How many of them have no checksum, as they were last written by an older program.
  public internal(set) var uncheckedCount = 0
  /// How many entries of indexes and priorities were looked at.
  public internal(set) var entryCount = 0
  /// False if the file is so damaged that its rows could not be looked at.
  public internal(set) var isComplete = true

  /// True if nothing is wrong.
  public var isSound: Bool { faultCount == 0 }

  mutating func add(_ fault: DatabaseFault) {
    faultCount += 1
    if fault.remedy != .none { repairableCount += 1 }
    if faults.count < DatabaseReport.faultsMax { faults.append(fault) }
  }
}

/// What a repair came to.
public struct DatabaseRepair: Sendable {
  /// What was found before.
  public var before: DatabaseReport
  /// What is left; nil if there was nothing to do, or nothing that could be done.
  public var after: DatabaseReport?
  /// The first rows that were set aside, or were found where nothing led to them.
  public internal(set) var recovered: [RecoveredRow] = []
  /// How many there are.
  public internal(set) var recoveredCount = 0
  /// How many children are missing that split nodes said they had.
  public internal(set) var lostCount = 0

  mutating func add(_ row: RecoveredRow) {
    recoveredCount += 1
    if recovered.count < DatabaseReport.faultsMax { recovered.append(row) }
  }
}

/// A stored row, with all below it, that a repair put in a place of its own.
public struct RecoveredRow: Hashable, Sendable {
  /// Where it is now: a node with `place` and `why`, and its `value`, or its `text` or `bytes` where it
  /// is no value any more.
  public var path: Path
  /// Where it was, as far as that is known.
  public var place: String
  /// What was wrong with it, as a clause.
  public var why: String
}

/// The size of a file before it was made compact and afterwards.
public struct DatabaseCompaction: Hashable, Sendable {
  /// Bytes of the file and its log before.
  public var bytesBefore: Int
  /// Bytes of the file and its log afterwards.
  public var bytesAfter: Int
  /// False if another process still reads the file's log, which shrinks when it is done.
  public var isFinished: Bool
}
