import Foundation
import RunnelBase
import RunnelStreams
import RunnelTree
import Testing

@testable import RunnelDatabase

@Suite(.timeLimit(.minutes(5)), .fewAtOnce) struct DatabaseTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func database(
    _ mailbox: Mailbox, isReadOnly: Bool = false, indexes: [IndexDefinition] = []
  ) throws -> Database {
    try Database(
      file: folder.file(), isReadOnly: isReadOnly, indexes: indexes, inbox: mailbox.inbox,
      environment: DatabaseEnvironment(
        now: { 1_700_000_000_000 }, random: SeededRandom(seed: 1)))
  }

  private func added(_ path: String) throws -> ListenRequest {
    ListenRequest(query: Query(try Path(path)), events: .added)
  }

  @Test func answersComeInTheOrderOfRequestsAndEventsBeforeTheirAnswer() async throws {
    let mailbox = Mailbox()
    let database = try database(mailbox)
    database.submit(.listen(ListenerID(1), try added("l")))
    database.submit(.write(1, .set(try Path("l/a"), 1)))
    database.submit(.write(2, .set(try Path("l/b"), ["c.d": 1])))
    database.submit(.push(3, try Path("l"), 2))
    database.submit(.extend(ListenerID(1), count: 1))
    database.submit(.write(4, .remove(try Path("none"))))
    let texts = try await mailbox.texts(until: "written 4")
    let pushed = try #require(texts.first { $0.hasPrefix("written 3 ") }).dropFirst(10)
    #expect(
      texts == [
        "added a(null)=1", "written 1", "refused 2 refused", "added \(pushed)(null)=2",
        "written 3 \(pushed)", "failed 1 refused", "written 4",
      ])
    database.close()
  }

  @Test func whereAWriteFindsTheFileLockedThoseBehindItAreRefusedToo() async throws {
    let mailbox = Mailbox()
    let database = try Database(
      file: folder.file(), inbox: mailbox.inbox,
      environment: DatabaseEnvironment(
        now: { 1_700_000_000_000 }, random: SeededRandom(seed: 1), busyTimeout: .milliseconds(300)))
    var texts: [String] = []
    try FileEditor.whileLocked(folder.file()) {
      for number in 1...3 { database.submit(.write(number, .set(try Path("n\(number)"), 1))) }
      // The others could be done when the first one is refused.
      while texts.isEmpty {
        texts += mailbox.drainedTexts()
        sched_yield()
      }
    }
    database.submit(.get(4, try Path("n1")))
    texts += try await mailbox.texts(until: "found 4 null")
    #expect(texts == (1...3).map { "refused \($0) locked" } + ["found 4 null"])
    database.submit(.write(5, .set(try Path("n5"), 1)))
    #expect(try await mailbox.texts(until: "written 5") == ["written 5"])
    database.close()
    #expect(try folder.session().summary(at: .root).kind == .children(count: 1))
  }

  @Test func aFullInboxGetsEverythingLaterInOrder() async throws {
    let mailbox = Mailbox(limit: 1)
    let database = try database(mailbox)
    for number in 1...100 { database.submit(.write(number, .set(try Path("n"), 1))) }
    let texts = try await mailbox.texts(until: "written 100")
    #expect(texts == (1...100).map { "written \($0)" })
    database.close()
  }

  @Test func closingWaitsForWhatWasAskedBefore() async throws {
    let mailbox = Mailbox()
    let database = try database(mailbox)
    for number in 1...50 { database.submit(.write(number, .set(try Path("n\(number)"), 1))) }
    database.close()
    #expect(mailbox.drainedTexts() == (1...50).map { "written \($0)" })
    #expect(try folder.session().summary(at: .root).kind == .children(count: 50))
  }

  @Test func whatIsAskedAfterClosingIsRefused() async throws {
    let mailbox = Mailbox()
    let database = try database(mailbox)
    database.close()
    database.close()
    database.submit(.write(1, .set(.root, 1)))
    database.submit(.listen(ListenerID(2), try added("l")))
    database.submit(.unlisten(ListenerID(2)))
    database.submit(.extend(ListenerID(2), count: 5))
    database.submit(.push(3, .root, 1))
    let texts = try await mailbox.texts(until: "refused 3 closed")
    #expect(
      texts == ["refused 1 closed", "failed 2 closed", "failed 2 closed", "refused 3 closed"])
    #expect(try folder.session().export() == "null")
  }

  @Test func whatOneDatabaseWritesArrivesInTheOther() async throws {
    let (firstMail, secondMail) = (Mailbox(), Mailbox())
    let first = try database(firstMail)
    let second = try database(secondMail)
    second.submit(.listen(ListenerID(1), try added("l")))
    second.submit(.write(1, .set(try Path("ready"), true)))
    _ = try await secondMail.texts(until: "written 1")
    for number in 1...20 {
      first.submit(.write(number, .set(try Path("l/k\(number)"), 1)))
      // Nobody asked the second database for anything.
      let key = "added k\(number)("
      let text = try await secondMail.text { $0.hasPrefix(key) }
      #expect(text.hasSuffix("=1"))
    }
    first.close()
    second.close()
  }

  @Test func aSessionInAnotherProcessIsHeardToo() async throws {
    let mailbox = Mailbox()
    let database = try database(mailbox)
    database.submit(.listen(ListenerID(1), try added("l")))
    database.submit(.write(1, .remove(try Path("none"))))
    _ = try await mailbox.texts(until: "written 1")
    let session = try folder.session(seed: 9)
    try session.set("/l/a", "1")
    #expect(try await mailbox.text { $0.hasPrefix("added") } == "added a(null)=1")
    try session.close()
    database.close()
  }

  @Test func aReadOnlyDatabaseHearsAndRefuses() async throws {
    let session = try folder.session()
    try session.set("/l/a", "1")
    let mailbox = Mailbox()
    let database = try database(mailbox, isReadOnly: true)
    database.submit(.listen(ListenerID(1), try added("l")))
    database.submit(.write(1, .set(.root, 1)))
    let texts = try await mailbox.texts(until: "refused 1 read_only")
    #expect(texts == ["added a(null)=1", "refused 1 read_only"])
    try session.set("/l/b", "2")
    #expect(try await mailbox.text { $0.hasPrefix("added b") } == "added b(a)=2")
    database.close()
  }

  @Test func indexesAreDeclaredWhenTheDatabaseIsOpened() async throws {
    let index = IndexDefinition(pattern: "/l", child: try Path("s"))
    try database(Mailbox(), indexes: [index]).close()
    #expect(try folder.session().declaredIndexes == [index])
  }

  @Test func aListenerThatNoIndexServesIsAdvised() async throws {
    let session = try folder.session()
    try session.set("/l", largeObject(IndexAdvice.scannedCountMin, bytes: 10))
    let mailbox = Mailbox()
    let database = try database(mailbox, isReadOnly: true)
    let query = try Query(Path("l")).ordered(by: .value).limited(to: 1, from: .first)
    database.submit(.listen(ListenerID(1), ListenRequest(query: query, events: .added)))
    let text = try await mailbox.text { $0.hasPrefix("advice") }
    #expect(text == "advice $value \(IndexAdvice.scannedCountMin)")
    database.close()
  }

  @Test func aFileThatCannotBeOpenedThrows() throws {
    try folder.write(Data("no database".utf8))
    let error = #expect(throws: DatabaseError.self) { try database(Mailbox()) }
    #expect(error?.code == .corrupt)
  }

  @Test func manyDatabasesComeAndGo() async throws {
    for number in 1...30 {
      let mailbox = Mailbox()
      let database = try database(mailbox)
      database.submit(.write(number, .set(try Path("n"), 1)))
      if number % 2 == 0 { database.close() }
      // The others are let go of without a word, as a program that ends does.
    }
    #expect(throws: Never.self) { try folder.session().export() }
  }
}

/// An inbox with someone who waits for it.
private final class Mailbox: Sendable {
  let inbox: Inbox<DatabaseMessage>
  private let wakes: AsyncStream<Void>

  init(limit: Int = 1000) {
    let (stream, continuation) = AsyncStream<Void>.makeStream()
    wakes = stream
    inbox = Inbox(limit: limit) { continuation.yield() }
  }

  /// Everything that arrived.
  func drainedTexts() -> [String] { inbox.drain().flatMap(\.texts) }

  /// What arrives up to and with a text.
  func texts(until last: String) async throws -> [String] {
    var texts = drainedTexts()
    if texts.contains(last) { return texts }
    for await _ in wakes {
      texts += drainedTexts()
      if texts.contains(last) { return texts }
    }
    throw CancellationError()
  }

  /// The first text to arrive that is looked for.
  func text(where isWanted: (String) -> Bool) async throws -> String {
    if let text = drainedTexts().first(where: isWanted) { return text }
    for await _ in wakes {
      if let text = drainedTexts().first(where: isWanted) { return text }
    }
    throw CancellationError()
  }
}

extension DatabaseMessage {
  fileprivate var texts: [String] {
    switch self {
    case .deliveries(let deliveries): deliveries.map(\.event.text)
    case .undonePartly(let number, _, _): ["undone partly \(number)"]
    case .written(let number, let key, _): ["written \(number)" + (key.map { " \($0)" } ?? "")]
    case .performed(let number, let plan): ["performed \(number) \(plan.path)"]
    case .resourceRefused(let number, let error):
      ["refused \(number) \(error.code.rawValue)"]
    case .found(let number, let node): ["found \(number) \(node.json.jsonText())"]
    case .excerpt(let number, let excerpt): ["excerpt \(number) \(excerpt.byteCount)"]
    case .rows(let number, let rows):
      ["rows \(number) " + rows.map(\.key.text).joined(separator: ",")]
    case .history(let number, let page): ["history \(number) \(page.entries.map(\.id))"]
    case .orders(let number, let orders): ["orders \(number) \(orders)"]
    case .refused(let number, let error): ["refused \(number) \(error.code.rawValue)"]
    case .failed(let listener, let error): ["failed \(listener.rawValue) \(error.code.rawValue)"]
    case .advice(let advice): ["advice \(advice.definition.order) \(advice.scannedCount)"]
    case .stale(let error): ["stale \(error.code.rawValue)"]
    case .fileGone: ["file gone"]
    case .fileBack: ["file back"]
    case .copying(let number, let stage): ["copying \(number) \(stage)"]
    case .acknowledged(let number): ["acknowledged \(number)"]
    case .rejected(let number, let write, let error):
      ["rejected \(number ?? -1) #\(write) \(error.code.rawValue)"]
    case .origin(let commands): ["origin \(commands.count)"]
    case .pendingWrites(let writes): ["pending \(writes.map(\.id))"]
    case .refusedWrites(let kept): ["kept \(kept.map(\.write.id))"]
    }
  }
}
