import Foundation
import RunnelBase
import RunnelIdentity
@testable import RunnelServer
import Synchronization
import TestSupport

/// A clock that tests move.
final class MovedClock: Sendable {
  private let start: Int64?
  private let offset = Mutex<Int64>(0)

  /// Makes a clock; with a `start` it stands there but for the moves.
  init(start: Int64? = nil) { self.start = start }

  var now: Int64 { (start ?? ServerWorld.calendar) + offset.withLock { $0 } }

  func move(_ milliseconds: Int64) { offset.withLock { $0 += milliseconds } }
}

extension ServerConfiguration {
  /// The folder of the served file.
  var folder: String {
    guard case .file(let file, _) = databases else { return "" }
    return String(file[..<(file.lastIndex(of: "/") ?? file.startIndex)])
  }

  /// Adds accounts whose hashes cost little; those of a server of a store are in the store.
  mutating func addAccounts(_ clock: MovedClock? = nil) {
    var accounts = AccountsConfiguration(file: folder + "/accounts.db")
    if case .store = databases {
      accounts = .inStore
      // The folder is made with the first mail.
      accounts.mailFolder =
        FileManager.default.temporaryDirectory.path + "/runnel-mails-\(UUID().uuidString)"
    }
    accounts.cost = .emulator
    accounts.issuer = "https://id.example"
    self.accounts = accounts
    project = "demo"
    if let clock { calendar = { clock.now } }
  }
}

/// Runs `body` with a server that has accounts.
func withAccounts(
  isEmulator: Bool = false, rules: String? = nil, clock: MovedClock? = nil,
  _ change: (inout ServerConfiguration) -> Void = { _ in },
  _ body: (TestServer) async throws -> Void
) async throws {
  try await withServer(rules: rules) {
    $0.isEmulator = isEmulator
    $0.addAccounts(clock)
    change(&$0)
  } _: {
    try await body($0)
  }
}

/// The answer of the API.
struct AccountReply {
  var status: Int
  var body: JSONValue

  var error: String? { body["error"]?["message"]?.string }

  func text(_ name: String) -> String { body[name]?.string ?? "" }
}

extension TestServer {
  var accountsFile: String { folder + "/accounts.db" }

  /// Sends a request to an operation of `accounts:`.
  func accounts(
    _ operation: String, _ body: String = "{}", bearer: String? = nil
  ) throws -> AccountReply {
    try api("POST", "/identitytoolkit.googleapis.com/v1/accounts:\(operation)?key=k", body, bearer)
  }

  /// Sends a request to an operation of administrators.
  func administration(
    _ operation: String, _ body: String = "{}", bearer: String?, method: String = "POST"
  ) throws -> AccountReply {
    try api(
      method, "/identitytoolkit.googleapis.com/v1/projects/demo/accounts\(operation)", body,
      bearer)
  }

  func api(
    _ method: String, _ target: String, _ body: String? = nil, _ bearer: String? = nil
  ) throws -> AccountReply {
    var headers = ["Content-Type": "application/json"]
    if let bearer { headers["Authorization"] = "Bearer " + bearer }
    let answer = try request(method, target, body, headers: headers)
    // An answer without a body has no JSON.
    return AccountReply(
      status: answer.status, body: (try? JSONValue(parsing: answer.body)) ?? .null)
  }

  func signUp(
    _ email: String = "ada@x.org", _ password: String = "secret123"
  ) throws -> AccountReply {
    try accounts("signUp", #"{"email":"\#(email)","password":"\#(password)"}"#)
  }

  func signIn(
    _ email: String = "ada@x.org", _ password: String = "secret123"
  ) throws -> AccountReply {
    try accounts("signInWithPassword", #"{"email":"\#(email)","password":"\#(password)"}"#)
  }

  /// Makes a secret of an administrator of the accounts.
  func administratorSecret() async throws -> String {
    let file = ServerSecrets.file(beside: accountsFile)
    var secrets = try ServerSecrets(file: file)
    guard let secret = secrets.add("admin", now: 0) else { throw RawClient.Failure(what: "taken") }
    try secrets.write(to: file)
    await server.reloadFiles()
    return secret.text
  }

  /// The texts of the written mails, the oldest first.
  func mails() throws -> [String] {
    let folder = folder + "/accounts.mail"
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return try names.filter { $0.hasSuffix(".eml") }.sorted().map { name in
      let text = try String(contentsOfFile: folder + "/" + name, encoding: .utf8)
      let parts = text.components(separatedBy: "\r\n\r\n")
      let body = parts.dropFirst().joined().replacing("\r\n", with: "")
      let bytes = Data(base64Encoded: body) ?? Data()
      return parts[0] + "\n\n" + String(decoding: bytes, as: UTF8.self)
    }
  }

  /// Waits until there is a number of mails; returns them.
  func mails(count: Int) async throws -> [String] {
    for _ in 0..<500 {
      let found = try mails()
      if found.count >= count { return found }
      try await Task.sleep(for: .milliseconds(10))
    }
    throw RawClient.Failure(what: "no mail")
  }

  /// The code in a mail.
  func code(in mail: String) -> String {
    guard let start = mail.firstRange(of: "oobCode=")?.upperBound else { return "" }
    return String(mail[start...].prefix { $0 != "&" })
  }
}
