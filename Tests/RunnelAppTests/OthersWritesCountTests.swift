import AccountSimulation
import Foundation
import RunnelAccounts
import RunnelClient
import RunnelDatabase
import RunnelSync
import RunnelTree
import Synchronization
import TestSupport
import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

/// The number of writes of other accounts follows what other programs do with them.
@Suite(.timeLimit(.minutes(2))) struct OthersWritesCountTests {
  private let folder = NSTemporaryDirectory() + "runnel-others-\(UUID().uuidString)"
  private let home: AccountHome

  init() throws {
    let service = FakeAccounts { 0 }
    home = AccountHome(
      of: "home", IdentityToolkit.emulator("http://localhost:1", service.transport),
      service.transport, below: folder + "/accounts")
    try FileManager.default.createDirectory(
      atPath: folder + "/replicas", withIntermediateDirectories: true)
    var user = AccountUser(id: "0ld")
    user.email = "ana@x.org"
    try home.folder(home.ownService).rememberEnd(of: user, AccountFailure(.sessionEnded, "Ended."))
  }

  @Test func whatAnotherProgramSentIsNotCountedAnyMore() async throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let replicas = folder + "/replicas"
    let session = try DatabaseSession(file: replicas + "/0ld.db", environment: .system)
    let count = Mutex(2)
    let (wakes, continuation) = AsyncStream.makeStream(of: Void.self)
    var options = AccountOptions()
    options.clock = AccountClock(now: { 0 }, sleep: { _ in })
    let work = AccountWork(
      home, options: options, replicas: WaitingReplicas(count: { _ in count.withLock { $0 } }),
      wake: { continuation.yield() })
    #expect(work.begin(as: "ana").waiting.map(\.count) == [2])
    let monitor = AccountMonitor(work, folder: home.path) { replicas + "/\($0).db" }
    monitor.look()
    #expect(work.countedUsers == ["0ld"] && monitor.fileDescriptors.count == 2)
    // It is counted once when the watch begins.
    for await _ in wakes where work.news().facts?.waiting.map(\.count) == [2] { break }
    count.withLock { $0 = 0 }
    _ = try session.write(.set(Path("a"), 1))
    monitor.look()
    for await _ in wakes where work.news().facts?.waiting.isEmpty == true { break }
    try session.close()
  }

  /// Once, a workspace that keeps no devices counted the entry that an earlier one had left.
  @Test func placesWhereAnEarlierProgramWroteStayItsOwn() throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let environment = ["XDG_DATA_HOME": folder]
    var wish = OriginWish(
      try OriginAddress("https://x.example"), as: .nobody, OriginOptions())
    wish.devices = try Path("/user-devices")
    _ = try wish.replica(environment: environment)
    let own = OwnPlaces([try Path("/user-devices")])
    #expect(wish.ownPlaces == own)
    (wish.devices, wish.ownPlaces) = (nil, OwnPlaces())
    let file = try wish.replica(environment: environment)
    #expect(wish.ownPlaces == own)
    wish.presence = try Path("/here")
    _ = try wish.replica(environment: environment)
    let session = try DatabaseSession(file: file, isReadOnly: true, environment: .system)
    #expect(try session.ownPlaces() == own.union([try Path("/here")]))
    try session.close()
  }

  @Test func noticeOfTheStartIsNotToldAgainToAnotherAccount() throws {
    var wish = OriginWish(
      try OriginAddress("https://x.example"), as: .nobody, OriginOptions())
    wish.notice = "This device was revoked."
    wish.change(to: "ana")
    #expect(wish.user == "ana" && wish.notice == nil)
  }

  @Test func onlyCommitsToTheNamedReplicasAreNoticed() throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let files = ["a", "b"].map { folder + "/replicas/\($0).db" }
    let watch = try #require(CommitWatch(databases: files))
    let other = try DatabaseSession(
      file: folder + "/replicas/xa.db", environment: .system)
    _ = try other.write(.set(Path("a"), 1))
    #expect(!watch.drain())
    try other.close()
    for file in files {
      let session = try DatabaseSession(file: file, environment: .system)
      _ = watch.drain()
      #expect(!watch.drain())
      _ = try session.write(.set(Path("a"), 1))
      #expect(watch.drain())
      try session.close()
    }
    #expect(CommitWatch(databases: []) == nil)
    #expect(CommitWatch(databases: ["/nonexistent/a.db"]) == nil)
  }
}
