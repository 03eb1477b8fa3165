import AccountSimulation
import Foundation
import RunnelStore
import Synchronization
import Testing

@testable import RunnelAccounts

/// Accounts in files.
@Suite struct AccountFolderTests {
  private let below: String
  private let folder: AccountFolder

  init() throws {
    below = try temporaryFolder()
    folder = AccountFolder(for: "https://chat.example.com", below: below)
  }

  private func account(_ id: String, _ token: String = "t", obtained: Int64 = 5) -> KeptAccount {
    var user = AccountUser(id: id)
    (user.email, user.displayName, user.method) = ("\(id)@x.org", "Ä \"\(id)\"", "password")
    (user.created, user.isEmailVerified) = (7, true)
    return KeptAccount(
      user,
      AccountTokens(
        idToken: Secret("id-\(token)"), refreshToken: Secret("refresh-\(token)"),
        obtained: obtained, expires: obtained + 1))
  }

  private func mode(_ path: String) throws -> Int {
    let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions]
    return (mode as? NSNumber)?.intValue ?? 0
  }

  @Test func accountsAreReadAsTheyWereKept() throws {
    #expect(try folder.signedIn() == nil)
    let (ana, bo) = (account("ana"), account("bo/../x"))
    try folder.keep(ana, isSignIn: true)
    #expect(try folder.signedIn() == ana)
    try folder.keep(bo, isSignIn: true)
    #expect(try folder.signedIn() == bo)
    #expect(try folder.accounts() == [ana, bo])
    let renewed = account("ana", "new", obtained: 9)
    try folder.keep(renewed, isSignIn: false)
    #expect(try folder.signedIn() == bo, "new tokens of another account do not make it active")
    #expect(try folder.account(of: "ana") == renewed)
    try folder.activate("ana")
    #expect(try folder.service(of: "ana") == "https://chat.example.com")
    #expect(try folder.service(of: "cy") == nil)
    #expect(try folder.signedIn() == renewed)
    try folder.depart(renewed)
    #expect(try folder.signedIn() == nil && folder.departing() == [renewed])
    #expect(try folder.account(of: "ana") == renewed)
    try folder.forgetDeparting("ana")
    try folder.forget(bo.user.id)
    #expect(try folder.accounts().isEmpty && folder.departing().isEmpty)
  }

  /// A process that was killed while it wrote leaves a file with tokens.
  @Test(arguments: ["open", "keep", "renew", "forget", "depart", "forgetDeparting"])
  func temporaryFilesOfKilledProcessesAreRemoved(way: String) throws {
    let ana = account("ana")
    try folder.keep(ana, isSignIn: true)
    // No process has such an id, and the other one runs.
    let left = ["ana.json", "ana.departing", "active"].map { "\(folder.path)/\($0).999999999" }
    let written = "\(folder.path)/bo.json.\(getpid())"
    for path in left + [written] {
      #expect(FileManager.default.createFile(atPath: path, contents: Data("tokens".utf8)))
    }
    switch way {
    case "open": #expect(try ChosenAccount(folder, user: "ana").signedIn() == ana)
    case "keep": try folder.keep(account("bo"), isSignIn: true)
    case "renew": try folder.keep(account("ana", "new", obtained: 9), isSignIn: false)
    case "forget": try folder.forget("ana")
    case "depart": try folder.depart(ana)
    default: try folder.forgetDeparting("ana")
    }
    for path in left { #expect(!FileManager.default.fileExists(atPath: path), "\(path)") }
    #expect(way == "keep" || FileManager.default.fileExists(atPath: written))
    // What is left of a process whose id another one has now goes after an hour.
    #expect(FileManager.default.createFile(atPath: written, contents: Data("tokens".utf8)))
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSinceNow: -3700)], ofItemAtPath: written)
    _ = try folder.signedIn()
    #expect(!FileManager.default.fileExists(atPath: written))
  }

  @Test func userWhoSignsInAgainDepartsNoMore() throws {
    let (old, new) = (account("ana", "old"), account("ana", "new", obtained: 9))
    try folder.keep(old, isSignIn: true)
    try folder.depart(old)
    #expect(try folder.account(of: "ana", isDeparting: false) == nil)
    #expect(try folder.account(of: "ana", isDeparting: true) == old)
    try folder.renewDeparting(new)
    #expect(try folder.departing() == [new])
    try folder.keep(old, isSignIn: true)
    #expect(try folder.departing().isEmpty && folder.signedIn() == old)
    try folder.renewDeparting(new)
    #expect(try folder.departing().isEmpty, "tokens bring no departing account back")
  }

  @Test func oneWhoDepartsElsewhereIsSignedInNoMore() throws {
    let ana = account("ana")
    let (here, elsewhere) = (ChosenAccount(folder, user: "ana"), ChosenAccount(folder, user: "ana"))
    try folder.keep(ana, isSignIn: true)
    #expect(try here.signedIn() == ana)
    try elsewhere.depart(ana)
    #expect(try here.account(of: "ana") == nil && here.signedIn() == nil)
    #expect(try elsewhere.account(of: "ana") == ana)
    let departing = DepartingAccounts(folder, users: ["ana"])
    #expect(departing.signedIn() == nil)
    #expect(try departing.departing() == [ana] && departing.account(of: "ana") == ana)
    #expect(try DepartingAccounts(folder, users: ["bo"]).departing().isEmpty)
    try here.keep(ana, isSignIn: true)
    #expect(try here.account(of: "ana") == ana && departing.departing().isEmpty)
  }

  @Test func endOfASessionIsRememberedUntilSomebodySignsIn() throws {
    let ana = account("ana")
    let failure = AccountFailure(.sessionEnded, "The session has ended: sign in again.")
    #expect(try folder.ended() == nil)
    try folder.rememberEnd(of: ana.user, failure)
    #expect(try folder.ended() == EndedAccount(user: ana.user, failure: failure))
    #expect(try mode(folder.path + "/ended") == 0o600)
    #expect(try folder.accounts().isEmpty && folder.signedIn() == nil)
    try folder.forgetEnd(of: "bo")
    #expect(try folder.ended() != nil)
    try folder.keep(account("bo"), isSignIn: true)
    #expect(try folder.ended() == nil)
    try folder.rememberEnd(of: ana.user, failure)
    #expect(try folder.ended() == nil, "another account is active")
  }

  @Test func endOfASessionThatGoesOnInAnotherProcessIsForgotten() throws {
    let ana = account("ana")
    let failure = AccountFailure(.sessionEnded, "The session has ended: sign in again.")
    try folder.keep(ana, isSignIn: true)
    try folder.forget("ana")
    try folder.rememberEnd(of: ana.user, failure)
    try folder.keep(account("bo"), isSignIn: false)
    #expect(try folder.signedIn() == nil && folder.ended() != nil, "bo did not sign in")
    try folder.keep(ana, isSignIn: false)
    #expect(try folder.signedIn() == ana && folder.ended() == nil)
    try folder.forget("ana")
    try folder.rememberEnd(of: ana.user, AccountFailure(.revoked, "Why."))
    try folder.keep(ana, isSignIn: false)
    #expect(try folder.signedIn() == nil && folder.ended()?.isRevoked == true)
  }

  @Test func userWhoSignedOutElsewhereIsNotRememberedAndARevokedDeviceIs() throws {
    let ana = account("ana").user
    try folder.rememberEnd(of: ana, AccountFailure(.signedOutElsewhere, "Why."))
    #expect(try folder.ended() == nil)
    #expect(try folder.end(of: "ana") == nil)
    try folder.rememberEnd(of: ana, AccountFailure(.revoked, "Why."))
    #expect(try folder.ended()?.user == ana && folder.ended()?.isRevoked == true)
    #expect(try folder.ended("ana") == folder.ended())
  }

  /// Times of sign-in are in whole seconds, and a revocation wins within its second.
  @Test func signInWaitsForTheSecondAfterARevocation() throws {
    let written: (String) throws -> Int64 = { name in
      let values = try FileManager.default.attributesOfItem(atPath: folder.path + "/" + name)
      let date = try #require(values[.modificationDate] as? Date)
      return Int64((date.timeIntervalSince1970 * 1000).rounded(.down))
    }
    #expect(folder.pauseAfterRevocation(now: 0) == 0)
    try folder.rememberEnd(of: account("bo").user, AccountFailure(.sessionEnded, "Why."))
    let other = try written("bo.ended")
    #expect(folder.pauseAfterRevocation(now: other + 100) == 0)
    try folder.rememberEnd(of: account("ana").user, AccountFailure(.revoked, "Why."))
    let time = try written("ana.ended")
    // The date may be rounded.
    #expect((690...710).contains(folder.pauseAfterRevocation(now: time + 300)))
    #expect(folder.pauseAfterRevocation(now: time + 1010) == 0)
    #expect(folder.pauseAfterRevocation(now: time - 10) == 0, "the clock was set back")
  }

  @Test func endOfASessionIsKnownWhileAnotherAccountIsActiveUntilItsUserSignsInOrOut() throws {
    let (ana, bo) = (account("ana"), account("bo"))
    let failure = AccountFailure(.userDisabled, "Why.")
    for account in [ana, bo] { try folder.keep(account, isSignIn: true) }
    try folder.rememberEnd(of: ana.user, failure)
    try folder.forget("ana")
    #expect(try folder.end(of: "ana") == failure && folder.end(of: "bo") == nil)
    #expect(try mode(folder.path + "/ana.ended") == 0o600)
    #expect(try folder.ended() == nil && folder.signedIn() == bo && folder.accounts() == [bo])
    // What others do does not touch it.
    try folder.keep(account("bo", "new", obtained: 9), isSignIn: false)
    try folder.forgetEnd(of: "bo")
    #expect(try folder.end(of: "ana") == failure)
    try folder.keep(ana, isSignIn: true)
    #expect(try folder.end(of: "ana") == nil)
    try folder.rememberEnd(of: ana.user, failure)
    try folder.forgetEnd(of: "ana")
    #expect(try folder.end(of: "ana") == nil && folder.ended() == nil)
  }

  @Test func addressOfAUserWhoSignedOutIsKeptWhileWritesWait() throws {
    let (ana, bo) = (account("ana"), account("bo"))
    for account in [ana, bo] { try folder.noteSignOut(of: account.user, writesWait: false) }
    #expect(try folder.left("ana") == nil)
    try folder.noteSignOut(of: ana.user, writesWait: true)
    #expect(try folder.left("ana") == ana.user && folder.left("bo") == nil)
    #expect(try mode(folder.path + "/ana.left") == 0o600)
    // It is no end of a session.
    #expect(try folder.ended() == nil && folder.ended("ana") == nil && folder.allEnded().isEmpty)
    // Who knows the id only does not forget the address.
    try folder.noteSignOut(of: AccountUser(id: "ana"), writesWait: true)
    #expect(try folder.left("ana") == ana.user)
    try folder.noteSignOut(of: AccountUser(id: "ana"), writesWait: false)
    #expect(try folder.left("ana") == nil)
    try folder.noteSignOut(of: ana.user, writesWait: true)
    try folder.forgetLeft("ana")
    #expect(try folder.left("ana") == nil)
    try folder.noteSignOut(of: ana.user, writesWait: true)
    try folder.keep(ana, isSignIn: true)
    #expect(try folder.left("ana") == nil)
    // Nobody knows which of two accounts has the address now.
    var other = account("other")
    other.user.email = ana.user.email
    try folder.keep(other, isSignIn: true)
    try folder.noteSignOut(of: ana.user, writesWait: true)
    #expect(try folder.left("ana") == nil)
  }

  @Test func endIsKnownBeforeTheAccountIsGone() throws {
    let ana = account("ana")
    try folder.keep(ana, isSignIn: true)
    let failure = AccountFailure(.sessionEnded, "Why.")
    try folder.rememberEnd(of: ana.user, failure)
    #expect(try folder.signedIn() == ana && folder.end(of: "ana") == failure)
    try folder.forget("ana")
    #expect(try folder.ended() == EndedAccount(user: ana.user, failure: failure))
    // Tokens that another process got show that the session goes on.
    try folder.keep(ana, isSignIn: false)
    #expect(try folder.signedIn() == ana && folder.end(of: "ana") == nil)
  }

  @Test func deletedAccountIsNotShownNextAndStaysDeletedForAllWhoLearnLess() throws {
    let ana = account("ana")
    try folder.keep(ana, isSignIn: true)
    try folder.rememberEnd(of: ana.user, AccountFailure(.sessionEnded, "It ended, or so."))
    #expect(try folder.ended() != nil)
    try folder.rememberEnd(of: ana.user, .accountDeleted)
    try folder.forget("ana")
    #expect(try folder.end(of: "ana") == .accountDeleted && folder.ended() == nil)
    try folder.rememberEnd(of: ana.user, AccountFailure(.sessionEnded, "It ended, or so."))
    #expect(try folder.end(of: "ana") == .accountDeleted && folder.ended() == nil)
  }

  @Test func fileOfBeforeTellsTheEndOfASession() throws {
    let ana = account("ana")
    try folder.keep(ana, isSignIn: true)
    try folder.forget("ana")
    let file = folder.path + "/ended"
    let text = #"{"runnel":"ended account","version":1,"user":{"id":"ana"},"reason":"Why."}"#
    #expect(
      FileManager.default.createFile(
        atPath: file, contents: Data(text.utf8), attributes: [.posixPermissions: 0o600]))
    #expect(try folder.end(of: "ana") == AccountFailure(.sessionEnded, "Why."))
    #expect(try folder.end(of: "bo") == nil)
  }

  @Test func endOfASessionIsForgottenAfterAYear() throws {
    try folder.rememberEnd(of: account("ana").user, .accountDeleted)
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSinceNow: -364 * 86_400)],
      ofItemAtPath: folder.path + "/ana.ended")
    _ = try folder.signedIn()
    #expect(try folder.end(of: "ana") != nil)
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSinceNow: -366 * 86_400)],
      ofItemAtPath: folder.path + "/ana.ended")
    _ = try folder.signedIn()
    #expect(try folder.end(of: "ana") == nil)
  }

  @Test func onlyTheOwnerMayReadThem() throws {
    try folder.keep(account("ana"), isSignIn: true)
    #expect(try mode(folder.path) == 0o700)
    for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
      #expect(try mode("\(folder.path)/\(name)") == 0o600, "\(name)")
    }
    let file = folder.path + "/ana.json"
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file)
    let error = #expect(throws: AccountFailure.self) { try folder.signedIn() }
    #expect(error?.message.contains("can be read by others") == true)
  }

  @Test(arguments: ["", "{", "{}", "[]", "{\"runnel\":\"account\",\"version\":2}"])
  func aDamagedFileIsReported(text: String) throws {
    try folder.keep(account("ana"), isSignIn: true)
    let file = folder.path + "/ana.json"
    let handle = try #require(FileHandle(forWritingAtPath: file))
    try handle.truncate(atOffset: 0)
    try handle.write(contentsOf: Data(text.utf8))
    try handle.close()
    let error = #expect(throws: AccountFailure.self) { try folder.signedIn() }
    #expect(error?.code == .storage)
    try folder.keep(account("ana", "again"), isSignIn: true)
    #expect(try folder.signedIn() == account("ana", "again"))
  }

  @Test func aLinkInPlaceOfAFileIsNotFollowed() throws {
    try folder.keep(account("ana"), isSignIn: true)
    let (file, other) = (folder.path + "/ana.json", below + "/other")
    try FileManager.default.moveItem(atPath: file, toPath: other)
    try FileManager.default.createSymbolicLink(atPath: file, withDestinationPath: other)
    #expect(throws: AccountFailure.self) { try folder.signedIn() }
  }

  @Test func theFolderIsTheOneOfTheSpecification() throws {
    let given = try AccountFolder(for: "a b", environment: ["XDG_STATE_HOME": "/s", "HOME": "/h"])
    #expect(given.path == "/s/runnel/accounts/a_20b")
    let usual = try AccountFolder(for: "prod", environment: ["XDG_STATE_HOME": "s", "HOME": "/h"])
    #expect(usual.path == "/h/.local/state/runnel/accounts/prod")
    #expect(throws: AccountFailure.self) { try AccountFolder(for: "x", environment: [:]) }
    let (long, other) = (String(repeating: "é", count: 90), String(repeating: "é", count: 91))
    let (first, second) = (
      AccountFolder(for: long, below: ""), AccountFolder(for: other, below: "")
    )
    #expect(first.path != second.path && first.path.utf8.count < 130)
  }

  @Test func noSecretIsOutsideOfTheFile() async throws {
    let test = await TestSession(storage: folder)
    try await test.session.signUp(email: "cy@x.org", password: Secret("secret-of-cy"))
    let token = try await test.session.idToken().reveal()
    let refreshToken = test.service.state.withLock { $0.refreshTokens.keys.first ?? "none" }
    var withSecrets: [String] = []
    let files = try #require(FileManager.default.enumerator(atPath: below))
    for case let name as String in files {
      guard let data = FileManager.default.contents(atPath: "\(below)/\(name)") else { continue }
      let text = String(decoding: data, as: UTF8.self)
      #expect(!text.contains("secret-of-cy"), "the password is in \(name)")
      if text.contains(token) || text.contains(refreshToken) { withSecrets.append(name) }
    }
    #expect(withSecrets.count == 1 && withSecrets[0].hasSuffix(".json"), "\(withSecrets)")
  }
}
