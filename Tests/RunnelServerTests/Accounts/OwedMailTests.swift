import Foundation
import RunnelBase
import RunnelDatabase
import RunnelIdentity
import TestSupport
import Testing

@testable import RunnelServer

/// The owner of a lost address is told, also if the server is killed right after the change.
@Suite struct OwedMailTests {
  private let folder =
    FileManager.default.temporaryDirectory.path + "/runnel-owed-\(UUID().uuidString)"

  private func store() throws -> AccountStore {
    AccountStore(try IdentityFile(folder + "/accounts.db", environment: .system))
  }

  private func owedCount() throws -> Int {
    let store = try store()
    defer { try? store.close() }
    return try store.owedMails().count
  }

  /// Changes the address of a new account, and sends no mail: as a server does that is killed right then.
  private func change(isPrivileged: Bool, daysAgo: Int64 = 0) throws {
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let accounts = try AccountAdministration(file: folder + "/accounts.db")
    _ = try accounts.add(
      email: "ada@x.org", password: nil, id: "ada", displayName: "Ada", isVerified: true,
      claims: nil)
    try accounts.close()
    let now = ServerWorld.calendar - daysAgo * 86_400_000
    func seconds(_ number: Int64) -> JSONValue { .number(JSONNumber(now / 1000 + number)) }
    let claims: JSONValue = [
      "user_id": "ada", "iat": seconds(0), "exp": seconds(3600), "auth_time": seconds(0),
      "firebase": ["sign_in_provider": "password", "epoch": .number(JSONNumber(now + 1000))],
    ]
    let context = IdentityContext(
      policy: IdentityPolicy(project: "demo", issuer: "https://id.example", isEmulator: false),
      now: now, isPrivileged: isPrivileged, claims: { _ in claims },
      customClaims: { _ in .failure(.invalid("")) })
    let holder: JSONMember =
      isPrivileged ? JSONMember("localId", "ada") : JSONMember("idToken", "token")
    let call = IdentityCall(
      .update, CallFields(.object([holder, JSONMember("email", "new@x.org")])),
      isAdministrative: isPrivileged)
    let store = try store()
    #expect(try store.decide(call, context).mails.count == 1)
    #expect(try store.owedMails().count == 1)
    try store.close()
  }

  private func withServer(_ body: (TestServer) async throws -> Void) async throws {
    let server = try await TestServer(in: folder) { $0.addAccounts() }
    do {
      try await body(server)
    } catch {
      await server.stop()
      throw error
    }
    await server.stop()
  }

  @Test func theNextServerSendsACodeThatTakesTheChangeBack() async throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try change(isPrivileged: false)
    try await withServer { server in
      let mail = try #require(try await server.mails(count: 1).first)
      #expect(mail.contains("To: <ada@x.org>") && mail.contains("was changed to new@x.org"))
      #expect(mail.contains("Hello Ada,"))
      let code = server.code(in: mail)
      let answer = try server.accounts("update", #"{"oobCode":"\#(code)"}"#)
      #expect(answer.status == 200 && answer.text("email") == "ada@x.org")
      #expect(try await server.mails(count: 2).count == 2, "the other address is told")
    }
    #expect(try owedCount() == 0)
    try await withServer { _ in }
    try await withServer { server in
      let mails = try server.mails()
      #expect(mails.count == 2, "each is sent once")
    }
  }

  @Test func theNextServerSendsANotice() async throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try change(isPrivileged: true)
    try await withServer { server in
      let mail = try #require(try await server.mails(count: 1).first)
      #expect(mail.contains("To: <ada@x.org>") && mail.contains("has another one now"))
    }
    #expect(try owedCount() == 0)
  }

  @Test func whatARunningServerSendsIsOwedNoMore() async throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try await withServer { server in
      let secret = try await server.administratorSecret()
      let id = try server.signUp().text("localId")
      for number in 0..<3 {
        let change = #"{"localId":"\#(id)","email":"ada\#(number)@x.org"}"#
        #expect(try server.administration(":update", change, bearer: secret).status == 200)
      }
    }
    #expect(try owedCount() == 0)
    try await withServer { server in
      let mails = try server.mails()
      #expect(mails.count == 3)
    }
  }

  @Test func aServerThatHasTheLeaseOfAMailIsLeftToSendIt() throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try change(isPrivileged: true)
    let store = try store()
    let context = IdentityContext(
      policy: IdentityPolicy(project: "demo", issuer: "https://id.example", isEmulator: false),
      now: ServerWorld.calendar + 2 * OwedMail.leaseMilliseconds, claims: { _ in nil },
      customClaims: { _ in .failure(.invalid("")) })
    let owed = try #require(try store.owedMails().first)
    #expect(try store.renew(owed, context) != nil)
    #expect(try store.renew(owed, context) == nil, "another server has taken it over")
    #expect(try store.owedMails().first?.dueTime == context.now + OwedMail.leaseMilliseconds)
    try store.forgetMails([owed.id])
    #expect(try store.renew(owed, context) == nil)
    try store.close()
  }

  @Test func aNoticeThatTheFolderCannotTakeStaysOwed() async throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try change(isPrivileged: true)
    // A file stands in the place of the folder.
    let mails = folder + "/accounts.mail"
    try Data("x".utf8).write(to: URL(fileURLWithPath: mails))
    let (lines, line) = AsyncStream.makeStream(of: String.self)
    let log = try LogLines { line.yield(String(decoding: $0, as: UTF8.self)) }
    try await TestServer.$log.withValue(log) {
      try await withServer { _ in
        let told = await lines.first { $0.contains("A mail was not delivered yet: ") }
        #expect(told?.contains("..") == false)
      }
    }
    #expect(try owedCount() == 1)
    try FileManager.default.removeItem(atPath: mails)
    try await withServer { server in
      let mail = try #require(try await server.mails(count: 1).first)
      #expect(mail.contains("To: <ada@x.org>"))
    }
    #expect(try owedCount() == 0)
  }

  @Test func aNoticeOfDaysInWhichNoServerRanIsSentByTheNextOne() async throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try change(isPrivileged: true, daysAgo: 6)
    try await withServer { server in
      let mail = try #require(try await server.mails(count: 1).first)
      #expect(mail.contains("To: <ada@x.org>"))
    }
    #expect(try owedCount() == 0)
  }

  @Test func theLogTellsOfANoticeThatIsGivenUp() async throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try change(isPrivileged: true, daysAgo: 31)
    let (lines, line) = AsyncStream.makeStream(of: String.self)
    let log = try LogLines { line.yield(String(decoding: $0, as: UTF8.self)) }
    try await TestServer.$log.withValue(log) {
      try await withServer { _ in
        let told = await lines.first { $0.contains("A mail is given up") }
        #expect(told?.contains("ada@x.org") == true)
      }
    }
    #expect(try owedCount() == 0)
  }

  @Test func halvesOfMailsThatAKilledServerLeftAreRemoved() async throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let mails = folder + "/accounts.mail"
    try FileManager.default.createDirectory(atPath: mails, withIntermediateDirectories: true)
    for name in ["1-a.eml", "1-b.eml.new", "2-c.eml.new", "notes.new"] {
      try Data("x".utf8).write(to: URL(fileURLWithPath: mails + "/" + name))
      // Somebody may be writing the one of this moment.
      if name.hasPrefix("2") { continue }
      try FileManager.default.setAttributes(
        [.modificationDate: Date(timeIntervalSinceNow: -3600)], ofItemAtPath: mails + "/" + name)
    }
    try await withServer { _ in }
    let left = try FileManager.default.contentsOfDirectory(atPath: mails).sorted()
    #expect(left == ["1-a.eml", "2-c.eml.new", "notes.new"])
  }
}
