import GRDB
import RunnelStorage
public import RunnelStreams
package import RunnelTree

/// The reason why a database could not be opened, read or written.
public struct DatabaseError: Error, Hashable, Sendable {
  /// The kind of failure: a stable word to match on.
  public struct Code: RawRepresentable, Hashable, Sendable {
    /// The word, as it appears in machine-readable output.
    public var rawValue: String

    /// Makes a code from its word.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The file, or the folder it is to be made in, cannot be opened.
    public static let cannotOpen = Code(rawValue: "cannot_open")
    /// The file is damaged, or not a database at all.
    public static let corrupt = Code(rawValue: "corrupt")
    /// The file is a database, but not one of Runnel's.
    public static let notRunnel = Code(rawValue: "not_runnel")
    /// The file was written by a newer version.
    public static let newerVersion = Code(rawValue: "newer_version")
    /// The file was written by an older version, and must be opened for writing before it is read.
    public static let olderVersion = Code(rawValue: "older_version")
    /// Another process held the file for too long.
    public static let locked = Code(rawValue: "locked")
    /// The file or its folder may not be written.
    public static let readOnly = Code(rawValue: "read_only")
    /// The file, or a file that belongs to it, was deleted, moved, replaced or truncated while it
    /// was open.
    ///
    /// Until the database is closed, `exportJSON` and `history` still read what it has open, unless a new
    /// database at its place has taken its log: save a copy by `exportJSON`.
    public static let fileGone = Code(rawValue: "file_gone")
    /// The log beside the file belongs to another file, or to another state of this file.
    public static let foreignLog = Code(rawValue: "foreign_log")
    /// The disk is full.
    public static let diskFull = Code(rawValue: "disk_full")
    /// The tree refused the write or the question.
    public static let refused = Code(rawValue: "refused")
    /// A place was changed by another writer meanwhile.
    public static let changed = Code(rawValue: "changed")
    /// The JSON to import is malformed.
    public static let malformedJSON = Code(rawValue: "malformed_json")
    /// The database was closed before the request.
    public static let closed = Code(rawValue: "closed")
    /// Events came faster than they were taken, and more wait than allowed.
    public static let overflow = Code(rawValue: "overflow")
    /// A write was sent again so late that it is not known any more whether it was carried out.
    public static let forgotten = Code(rawValue: "forgotten")
    /// The caller stopped the work.
    public static let cancelled = Code(rawValue: "cancelled")
    /// What was waited for did not come in time.
    public static let timedOut = Code(rawValue: "timed_out")
    /// Any other failure of the storage.
    public static let storage = Code(rawValue: "storage")
  }

  /// The kind of failure.
  public var code: Code
  /// The message for a person: what happened and what to do.
  public var message: String
  /// True if the write was carried out before the failure was noticed, so that it must not be repeated.
  public private(set) var isWritten = false
  /// True if it is not known whether the write was carried out: the disk failed while it was made final.
  package private(set) var mayBeWritten = false
  /// The origin's own words, if it refused something and said why; `description` has them too.
  public internal(set) var reason: String?
  /// What a program with commands can advise besides the message; nil for nothing.
  package internal(set) var remedy: DatabaseRemedy?
  /// What was lost of an open file; nil for other errors.
  package internal(set) var lost: LostPart?
  /// The places that others have changed meanwhile, as far as the conditions of a write tell; empty for other
  /// errors.
  package internal(set) var places: [Path] = []

  /// Makes an error.
  public init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }
}

extension DatabaseError {
  /// Makes the error for the failure of a stream; one without a code is a failure of the storage.
  public init(_ failure: StreamFailure) {
    self.init(
      failure.code.isEmpty ? .storage : Code(rawValue: failure.code), failure.message)
  }
}

extension StreamFailure {
  /// Makes the failure for an error of the database, with its code.
  public init(_ error: DatabaseError) { self.init(error.description, code: error.code.rawValue) }
}

extension DatabaseError.Code: CustomStringConvertible {
  /// The word.
  public var description: String { rawValue }
}

extension DatabaseError: CustomStringConvertible {
  /// The message, and the origin's reason unless the message ends with it.
  public var description: String {
    guard let reason, !message.hasSuffix(reason) else { return message }
    return "\(message): \(reason)"
  }
}

extension DatabaseError {
  /// Makes the error for any failure, for the user of the file at `file`.
  init(_ error: any Error, file: String) {
    switch error {
    case let error as DatabaseError: self = error
    case let loss as FileLoss: self = loss.error(file: file)
    case let error as Damage: self.init(error, file: file)
    case let error as TreeError:
      self.init(error.code == .storage ? .storage : .refused, error.description)
    case let error as GRDB.DatabaseError: self.init(sqlite: error, file: file)
    default: self.init(.storage, "\(file): \(error)")
    }
  }

  /// The same error, noticed after the write was carried out.
  func afterCommit() -> DatabaseError {
    var error = self
    error.isWritten = true
    error.message +=
      " This write was made before that, and is in the file that was open: do not repeat it."
    return error
  }

  /// The same error, while the write was made final.
  func duringCommit() -> DatabaseError {
    var error = self
    error.mayBeWritten = true
    return error
  }
}

extension DatabaseError {
  /// Makes the error for damage, with advice.
  init(_ damage: Damage, file: String) {
    let place = if case .words(let words)? = damage.place { " at \(words)" } else { "" }
    self.init(
      .corrupt,
      "\(file) is damaged\(place): \(damage.what). \(DatabaseError.wayOutOfDamage)")
    remedy = .repair(file: file)
  }

  /// The advice for a damaged file.
  static let wayOutOfDamage = "Restore a backup or a copy."
}
