import Glibc
import RunnelDatabase
import RunnelTree
import Synchronization

/// A database that has no file yet, because nobody has written to it: it is only listened to.
final class UnmadeFile: Sendable {
  private let state = Atomic<Bool>(false)
  private let told: @Sendable () -> Void

  /// Makes a value that calls `told` once the file is made.
  init(told: @escaping @Sendable () -> Void) { self.told = told }

  /// The error of a transaction that is about to write: the file has to be made before.
  struct FirstWrite: Error {}

  /// True once there is a file.
  var isMade: Bool { state.load(ordering: .relaxed) }

  fileprivate func noteMade() {
    state.store(true, ordering: .relaxed)
    told()
  }

  /// Opens an empty storage that becomes that of a place with its first write.
  ///
  /// - Throws: `DatabaseError`, or `ServerError` that names the problem.
  func open(_ place: ServedPlace, _ environment: DatabaseEnvironment) throws -> UnmadeStorage {
    try UnmadeStorage(self, place, environment)
  }
}

/// The storage of a database that has no file: an empty one in the folder for temporary files, until something
/// is written.
///
/// The transaction of the first write is begun on the empty one, and begun again on the file once it is about to
/// write: what is refused, or a condition that does not hold, makes no file.
///
/// Limit: if another program makes the file, who listens is not told what it wrote before the first write here.
final class UnmadeStorage: ServedStorage {
  private let unmade: UnmadeFile
  private let place: ServedPlace
  private let environment: DatabaseEnvironment
  private var storage: any ServedStorage
  private let folder: String
  private var indexes: [IndexDefinition] = []
  /// True if the last transaction was about to write.
  private var isWanted = false

  fileprivate init(
    _ unmade: UnmadeFile, _ place: ServedPlace, _ environment: DatabaseEnvironment
  ) throws {
    (self.unmade, self.place, self.environment) = (unmade, place, environment)
    let parent = getenv("TMPDIR").map { String(cString: $0) } ?? ""
    var name = Array(((parent.isEmpty ? "/tmp" : parent) + "/runnel-empty-XXXXXX").utf8CString)
    guard mkdtemp(&name) != nil else { throw ServerError.system("A folder cannot be made") }
    folder = String(decoding: name.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    let session = try ServingSession(file: folder + "/empty.db", environment: environment)
    storage = FileStorage(session)
    session.willWrite = { [weak self] in
      self?.isWanted = true
      throw UnmadeFile.FirstWrite()
    }
  }

  var isMade: Bool { unmade.isMade }

  func make() throws {
    if unmade.isMade { return }
    let made = try place.open(environment)
    do {
      try made.declareIndexes(indexes)
    } catch {
      // The first error matters; an error of closing is dropped.
      try? made.close()
      throw error
    }
    // Nothing is in it.
    try? storage.close()
    removeFolder()
    storage = made
    unmade.noteMade()
  }

  private func removeFolder() {
    // What is left is in the folder for temporary files.
    for name in (try? ServerFile.names(in: folder)) ?? [] { unlink(folder + "/" + name) }
    rmdir(folder)
  }

  func perform<Result>(
    isWriting: Bool, expecting expected: [Query], _ body: (any ServedTransaction) throws -> Result
  ) throws -> Result {
    isWanted = false
    do {
      return try storage.perform(isWriting: isWriting, expecting: expected, body)
    } catch  where isWanted {
      // The session has made another error of it.
      throw UnmadeFile.FirstWrite()
    }
  }

  func declareIndexes(_ definitions: [IndexDefinition]) throws {
    if !unmade.isMade { indexes = definitions }
    try storage.declareIndexes(definitions)
  }

  func hasNews(checksFiles: Bool) throws -> Bool { try storage.hasNews(checksFiles: checksFiles) }
  func announce() { storage.announce() }
  var head: Int64? { storage.head }
  func isWorthRetrying(_ error: any Error) -> Bool { storage.isWorthRetrying(error) }
  func isWritten(_ error: any Error) -> Bool { storage.isWritten(error) }
  func leavesDoubt(_ error: any Error) -> Bool { storage.leavesDoubt(error) }
  func isFrozen(_ error: any Error) -> Bool { storage.isFrozen(error) }
  func isMoved(_ error: any Error) -> Bool { storage.isMoved(error) }
  func diskTrouble(_ error: any Error) -> DiskTrouble? { storage.diskTrouble(error) }
  func hasNoSpace(_ error: any Error) -> Bool { storage.hasNoSpace(error) }
  func takeAlarms() -> [String] { storage.takeAlarms() }
  func takeDoubtCount() -> Int { storage.takeDoubtCount() }
  var loss: DatabaseError? { storage.loss }
  var mayReturn: Bool { storage.mayReturn }
  func regain() -> Bool { storage.regain() }

  func close() throws {
    defer { if !unmade.isMade { removeFolder() } }
    try storage.close()
  }
}
