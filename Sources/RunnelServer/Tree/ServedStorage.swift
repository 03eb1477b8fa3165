import RunnelDatabase
import RunnelSync
import RunnelTree

/// Where a served tree is: a file, or a namespace of a store.
///
/// Isolation: used by the thread of the tree.
protocol ServedStorage: AnyObject {
  /// Runs `body` in one transaction; all its writes are durable when this returns.
  ///
  /// What `body` will probably read or write is `expected`, so that it can be read all at once; a query
  /// that shows all stands for its place.
  ///
  /// - Throws: the errors of the storage and of `body`; then nothing was written, unless `isWritten` or
  ///   `leavesDoubt` says otherwise of the error.
  func perform<Result>(
    isWriting: Bool, expecting expected: [Query], _ body: (any ServedTransaction) throws -> Result
  ) throws -> Result

  /// False while the storage waits for a first write: a transaction that is about to write throws
  /// `UnmadeFile.FirstWrite` then.
  var isMade: Bool { get }

  /// Makes the storage if it waits for a first write, which is about to be done.
  ///
  /// - Throws: an error that says why it cannot be made.
  func make() throws

  /// Declares those indexes that are not declared yet, and fills them.
  func declareIndexes(_ definitions: [IndexDefinition]) throws

  /// True if others may have written since the last transaction, as far as is known without a transaction.
  ///
  /// With `checksFiles` false, files are not looked for.
  ///
  /// - Throws: an error if the storage is gone.
  func hasNews(checksFiles: Bool) throws -> Bool

  /// Wakes other processes after writes, once those who wait for an answer are answered.
  func announce()

  /// The number of the newest change that was told; nil if changes have no numbers.
  var head: Int64? { get }

  /// True if the same transaction may succeed when it is done anew.
  func isWorthRetrying(_ error: any Error) -> Bool

  /// True if the transaction was done before the failure was noticed.
  func isWritten(_ error: any Error) -> Bool

  /// True if the transaction may have been done, so that it must not be done anew.
  func leavesDoubt(_ error: any Error) -> Bool

  /// True if nothing can be written until a move of the tree has ended.
  func isFrozen(_ error: any Error) -> Bool

  /// True if the tree was moved elsewhere.
  func isMoved(_ error: any Error) -> Bool

  /// What a failure says of the disk; nil if it says nothing.
  func diskTrouble(_ error: any Error) -> DiskTrouble?

  /// True if a failure says that the disk has no space left.
  func hasNoSpace(_ error: any Error) -> Bool

  /// What is to be logged, once.
  func takeAlarms() -> [String]

  /// The number of commits whose answers did not come since this was asked last.
  func takeDoubtCount() -> Int

  /// Why the storage is gone, as is known by now; nil while it is there.
  var loss: DatabaseError? { get }

  /// True if a storage that is gone may come back as it was.
  var mayReturn: Bool { get }

  /// Looks for a storage that is gone; true if it is there again, and is used again.
  func regain() -> Bool

  /// Closes the storage; it must not be used afterwards.
  func close() throws
}

extension ServedStorage {
  var isMade: Bool { true }

  func make() throws {}

  /// Runs `body`, once more if it is about to write to a storage that has to be made for that.
  func making<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch is UnmadeFile.FirstWrite {
      try make()
      return try body()
    }
  }

  /// Runs `body` in one transaction of which nothing is expected.
  func perform<Result>(
    isWriting: Bool, _ body: (any ServedTransaction) throws -> Result
  ) throws -> Result {
    try perform(isWriting: isWriting, expecting: [], body)
  }
}

/// Why a disk did not take a write.
enum DiskTrouble {
  /// It may take the same write when there is room.
  case passing
  /// It is faulty, or the file is lost.
  case lasting
}

/// A state of a served tree, read over a long time while others write.
protocol ServedSnapshot: AnyObject {
  /// The number of the newest change in the state; nil if changes have no numbers.
  var head: Int64? { get }

  /// Runs `body` on the state.
  func read<Result>(_ body: (any ServedTransaction) throws -> Result) throws -> Result

  /// Ends the reading; the snapshot must not be used afterwards.
  func close() throws
}

extension ServedTransaction {
  package var exportReading: ExportReading { .stored }
}

/// A transaction of a server: the tree, and what the server keeps beside it.
protocol ServedTransaction: TreeExportSource {
  /// The places that others wrote since the last transaction; only the root if there are too many
  /// places to tell.
  var foreignPaths: [Path] { get }
  /// True if others may have changed the rules since the last transaction.
  var hasForeignSettings: Bool { get }
  /// The time before which no write may say that it happens, in milliseconds since 1970.
  var earliestTime: Int64 { get }
  /// True if a write of the tree was carried out.
  var hasWritten: Bool { get }
  /// The most bytes that the content of the tree can have, as far as is known.
  var storedBytes: Int { get }

  /// Carries out the parts of a write, and keeps it in the history if there is one and `isKept` is true.
  func carryOut(_ parts: [Assignment], author: String, now: Int64, isKept: Bool) throws
  /// Replaces the node at a place by a JSON document, which is read piece by piece; `wasRead` is called
  /// now and then with the number of bytes that were read.
  func importJSON(
    _ document: UnsafeBufferPointer<UInt8>, at path: Path, author: String, now: Int64,
    wasRead: @escaping (Int) -> Void) throws
  /// Reads what writes to these places need, all at once.
  func prefetch(_ paths: [Path]) throws

  /// True if a write of this name was carried out.
  ///
  /// - Throws: `DatabaseError` (`forgotten`) if this is no longer known.
  func isNameTaken(_ name: WriteID) throws -> Bool
  /// Notes that the write of a name was carried out.
  func noteName(_ name: WriteID) throws

  /// True if an index for the children of a place in an order is declared.
  func hasIndex(_ order: QueryIndex, at path: Path) -> Bool

  /// The value that servers keep under a name; nil if there is none.
  func keptValue(_ name: String) throws -> String?
  /// Keeps a value under a name; nil removes it.
  func keep(_ value: String?, _ name: String) throws
  /// The name under which this server keeps disconnect requests: another one after it lost its lease.
  var leaseName: String { get }
  /// Keeps the disconnect requests of a connection; nil removes them.
  func keepDisconnect(_ text: String?, of connection: Int64) throws
  /// True if the disconnect requests of a connection are this server's to do.
  func keepsDisconnect(of connection: Int64) throws -> Bool
  /// Removes the disconnect requests of servers that ended without notice, and returns them.
  func takeLeftDisconnects() throws -> [String]

  /// The text of the rules that are stored with the tree; nil if there are none.
  func rulesText() throws -> String?
  /// Stores the text of the rules with the tree.
  func writeRules(_ text: String, now: Int64) throws
}
