import RunnelBase
import RunnelDatabase
import RunnelTree
import Synchronization
import Testing

/// The functions of an open database that concern its file: documents, history, indexes, and the
/// pending writes of a replica.
@Suite(.timeLimit(.minutes(5)), .fewAtOnce) struct FileFunctionTests {
  private static let count = 20_000

  private let folder: TemporaryFolder
  private let database: Database

  init() async throws {
    folder = try TemporaryFolder()
    database = try await Database.open(file: folder.file())
  }

  /// A document of several megabytes.
  private var document: [UInt8] {
    let text = JSONValue.string(String(repeating: "x", count: 100))
    return JSONValue.object(
      (0..<Self.count).map { number in
        JSONMember("k\(number)", ["age": JSONValue(number), "text": text])
      }
    ).jsonBytes()
  }

  /// Cancels the task in which it is called.
  private static func cancel() { withUnsafeCurrentTask { $0?.cancel() } }

  private func size() async throws -> Int {
    try await database.reference().get().childrenCount
  }

  @Test func anImportTellsItsProgressAndIsUndone() async throws {
    let bytes = document
    let steps = Mutex<[Int]>([])
    try await database.importJSON(bytes) { step in
      if case .reading(let bytes) = step { steps.withLock { $0.append(bytes) } }
    }
    let read = steps.withLock { $0 }
    #expect(read.count > 1 && read == read.sorted())
    #expect(Set(read).count == read.count, "a step is told twice")
    #expect(read.allSatisfy { (0...bytes.count).contains($0) })
    #expect(try await size() == Self.count)
    let page = try await database.history(count: 1)
    try await database.undo(try #require(page.entries.first).id)
    #expect(try await size() == 0)
  }

  @Test func aCancelledImportHasWrittenNothing() async throws {
    let (database, bytes) = (database, document)
    let task = Task { try await database.importJSON(bytes) { _ in Self.cancel() } }
    let error = await #expect(throws: DatabaseError.self) { try await task.value }
    #expect(error?.code == .cancelled)
    #expect(error?.message == "The import was stopped. Nothing was changed.")
    #expect(try await size() == 0)
    #expect(try await database.history().entries.isEmpty)
  }

  @Test func aMistakeInADocumentHasItsLine() async throws {
    let error = await #expect(throws: DatabaseError.self) {
      try await database.importJSON(Array("{\"a\": 1,\n\"b\": tru}".utf8))
    }
    #expect(error?.code == .malformedJSON)
    #expect(error?.message.contains("line 2") == true, "\(error?.message ?? "")")
    #expect(try await size() == 0)
  }

  @Test func anExportIsWhatWasImported() async throws {
    let bytes = document
    try await database.importJSON(bytes, at: Path("a/b"))
    let pieces = Mutex<[[UInt8]]>([])
    try await database.exportJSON(Path("a/b")) { piece in pieces.withLock { $0.append(piece) } }
    let written = pieces.withLock { $0 }
    #expect(written.count > 1, "it is not written piece by piece")
    #expect(try await database.exportJSON(Path("a/b")) == Array(written.joined()))
    #expect(
      try Node(json: JSONValue(parsing: written.joined())) == Node(json: JSONValue(parsing: bytes)))
  }

  @Test func aDatabaseMayBeClosedByWhatItCalls() async throws {
    for call in 0..<3 {
      let database = try await folder.open()
      let place = try database.reference(withPath: "a")
      try await database.importJSON(Array("[1,2]".utf8), at: Path("c\(call)"))
      switch call {
      case 0: try await database.exportJSON { _ in database.close() }
      case 1:
        try await place.runTransaction { _ in
          database.close()
          return .success(7)
        }
      default:
        try await database.importJSON(document, at: Path("b")) { _ in database.close() }
      }
      let error = await #expect(throws: DatabaseError.self) { _ = try await place.get() }
      #expect(error?.code == .closed, "call \(call)")
      let again = try await folder.open()
      #expect(try await again.reference(withPath: "c\(call)").get().exists)
      again.close()
    }
  }

  @Test func anExportEndsWithTheTaskAndWithTheErrorOfItsWriter() async throws {
    struct Full: Error {}
    try await database.importJSON(document)
    let database = database
    let task = Task { try await database.exportJSON { _ in Self.cancel() } }
    let error = await #expect(throws: DatabaseError.self) { try await task.value }
    #expect(error?.code == .cancelled)
    await #expect(throws: Full.self) { try await database.exportJSON { _ in throw Full() } }
    #expect(try await size() == Self.count)
  }

  @Test func aCancelledIndexIsNotDeclared() async throws {
    try await database.importJSON(document, at: Path("people"))
    let database = database
    let index = try IndexDefinition("/people", by: "age")
    let task = Task { try await database.declareIndexes([index]) { _ in Self.cancel() } }
    let error = await #expect(throws: DatabaseError.self) { try await task.value }
    #expect(error?.code == .cancelled)
    #expect(try await database.declaredIndexes().isEmpty)
    let rows = Mutex(0)
    try await database.declareIndexes([index]) { count in rows.withLock { $0 = count } }
    #expect(rows.withLock { $0 } > 0)
    #expect(try await database.declaredIndexes() == [index])
    #expect(try await database.removeIndexes([index]) == [index])
  }

  @Test func theHistoryOfAPlaceIsReadPageByPage() async throws {
    let place = try database.reference(withPath: "n")
    for number in 1...5 { try await place.setValue(number) }
    try await database.reference(withPath: "other").setValue(true)
    let newest = try await database.history(of: place.path, count: 2)
    #expect(newest.entries.count == 2 && newest.hasOlder)
    let last = try #require(newest.entries.last)
    let older = try await database.history(of: place.path, before: last.id, count: 10)
    #expect(older.entries.count == 3 && !older.hasOlder)
    let values = (newest.entries + older.entries).map { $0.parts.first?.values?.new }
    #expect(values == [5, 4, 3, 2, 1])
    try await database.undo(newest.entries[0].id)
    #expect(try await place.get().value == 4)
  }

  @Test func purgedWritesAreGoneAndTheirReceiptsFail() async throws {
    let place = try database.reference(withPath: "a")
    await #expect(throws: DatabaseError.self) { try await database.purgePendingWrites() }
    try await database.becomeReplica(ofOrigin: "home")
    let receipt = try await place.setValue(1)
    #expect(try await database.pendingWrites().count == 1)
    try await database.purgePendingWrites()
    #expect(try await database.pendingWrites().isEmpty)
    #expect(try await !place.get(from: .cache).exists)
    await #expect(throws: DatabaseError.self) { try await receipt.acknowledgement() }
  }

  @Test func aMergeChangesOnlyTheLeavesThatItNames() async throws {
    let place = try database.reference(withPath: "a")
    try await place.setValue(["b": ["c": 1, "d": 2], "e": 3])
    try await place.mergeValue(["b": ["d": 4], "f": 5])
    #expect(try await place.get().value == ["b": ["c": 1, "d": 4], "e": 3, "f": 5])
  }
}
