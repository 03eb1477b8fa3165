import Glibc
import RunnelBase
import RunnelStore

/// A file with one account, which only its owner may read.
///
/// It is replaced as a whole, by renaming, so that it is never half written.
struct AccountFile {
  private enum Field {
    static let format = "runnel"
    static let formatValue = "account"
    static let version = "version"
    static let service = "service"
    static let idToken = "idToken"
    static let refreshToken = "refreshToken"
    static let obtained = "obtained"
    static let expires = "expires"
    static let user = "user"
    static let id = "id"
    static let email = "email"
    static let isEmailVerified = "emailVerified"
    static let displayName = "displayName"
    static let photoURL = "photoUrl"
    static let method = "method"
    static let created = "created"
    static let lastSignIn = "lastSignIn"
    static let endedValue = "ended account"
    static let reason = "reason"
    static let isRevoked = "revoked"
    static let code = "code"
  }

  private static let version = 1
  private static let bytesMax = 1 << 20

  let path: String

  // MARK: Reading

  /// Reads the account; nil if there is no file.
  func read() throws(AccountFailure) -> KeptAccount? {
    guard let json = try json() else { return nil }
    guard let account = AccountFile.account(json) else { throw damage }
    return account
  }

  /// Reads the name of the account's service; nil if there is no file.
  func service() throws(AccountFailure) -> String? { try json()?[Field.service]?.string }

  private var damage: AccountFailure {
    AccountFailure(
      .storage, "\(path) is damaged, or of a newer version: remove it, and sign in again.")
  }

  private func json() throws(AccountFailure) -> JSONValue? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    if descriptor < 0 {
      if errno == ENOENT { return nil }
      throw failure("cannot be read")
    }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw failure("cannot be read") }
    if status.st_mode & 0o077 != 0 {
      throw AccountFailure(
        .storage, "\(path) can be read by others: set its mode to 0600, and sign in again.")
    }
    var bytes = [UInt8](repeating: 0, count: min(Int(status.st_size), AccountFile.bytesMax))
    var count = 0
    while count < bytes.count {
      let size = bytes.count
      let read = bytes.withUnsafeMutableBytes { buffer in
        Glibc.read(descriptor, buffer.baseAddress?.advanced(by: count), size - count)
      }
      if read < 0, errno == EINTR { continue }
      if read <= 0 { break }
      count += read
    }
    // A file that is not JSON is reported like one that lacks something.
    guard let json = try? JSONValue(parsing: Array(bytes.prefix(count))) else { throw damage }
    return json
  }

  /// Reads the user whose session was ended; nil if there is no file.
  func readEnded() throws(AccountFailure) -> EndedAccount? {
    guard let json = try json() else { return nil }
    guard json[Field.format]?.string == Field.endedValue,
      let number = json[Field.version]?.int, number <= AccountFile.version,
      let user = AccountFile.user(json[Field.user]), let reason = json[Field.reason]?.string
    else { throw damage }
    // Files of before have no code.
    let code: AccountFailure.Code =
      json[Field.isRevoked] == true
      ? .revoked : json[Field.code]?.string.map { .init(rawValue: $0) } ?? .sessionEnded
    return EndedAccount(user: user, failure: AccountFailure(code, reason))
  }

  private static func account(_ json: JSONValue) -> KeptAccount? {
    guard json[Field.format]?.string == Field.formatValue,
      let number = json[Field.version]?.int, number <= version,
      let user = user(json[Field.user]),
      let idToken = json[Field.idToken]?.string,
      let refreshToken = json[Field.refreshToken]?.string,
      let obtained = json[Field.obtained]?.int, let expires = json[Field.expires]?.int
    else { return nil }
    return KeptAccount(
      user,
      AccountTokens(
        idToken: Secret(idToken), refreshToken: Secret(refreshToken), obtained: Int64(obtained),
        expires: Int64(expires)))
  }

  private static func user(_ json: JSONValue?) -> AccountUser? {
    guard let told = json, let id = told[Field.id]?.string, !id.isEmpty else { return nil }
    var user = AccountUser(id: id)
    user.email = told[Field.email]?.string
    user.isEmailVerified = told[Field.isEmailVerified]?.bool ?? false
    user.displayName = told[Field.displayName]?.string
    user.photoURL = told[Field.photoURL]?.string
    user.method = told[Field.method]?.string
    user.created = told[Field.created]?.int.map { Int64($0) }
    user.lastSignIn = told[Field.lastSignIn]?.int.map { Int64($0) }
    return user
  }

  // MARK: Writing

  /// Writes the account, for the owner only.
  func write(_ account: KeptAccount, service: String) throws(AccountFailure) {
    try write(AccountFile.json(account, service))
  }

  /// Writes a user whose session was ended, and why, for the owner only.
  func write(_ ended: EndedAccount) throws(AccountFailure) {
    try write([
      Field.format: .string(Field.endedValue),
      Field.version: .number(JSONNumber(Int64(AccountFile.version))),
      Field.user: AccountFile.json(ended.user), Field.reason: .string(ended.reason),
      Field.code: .string(ended.failure.code.rawValue), Field.isRevoked: .bool(ended.isRevoked),
    ])
  }

  private func write(_ json: JSONValue) throws(AccountFailure) {
    let bytes = json.jsonBytes() + [UInt8(ascii: "\n")]
    let temporary = AccountRemains.temporary(for: path)
    unlink(temporary)
    let descriptor = open(temporary, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0o600)
    if descriptor < 0 { throw failure("cannot be written") }
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      if count <= 0 { break }
      rest = rest.dropFirst(count)
    }
    let isWritten = rest.isEmpty && fsync(descriptor) == 0
    let reason = failure("cannot be written")
    close(descriptor)
    if isWritten, rename(temporary, path) == 0 { return }
    unlink(temporary)
    throw isWritten ? failure("cannot be written") : reason
  }

  private static func json(_ user: AccountUser) -> JSONValue {
    var members = [JSONMember(Field.id, .string(user.id))]
    for (name, text) in [
      (Field.email, user.email), (Field.displayName, user.displayName),
      (Field.photoURL, user.photoURL), (Field.method, user.method),
    ] {
      if let text { members.append(JSONMember(name, .string(text))) }
    }
    members.append(JSONMember(Field.isEmailVerified, .bool(user.isEmailVerified)))
    for (name, time) in [(Field.created, user.created), (Field.lastSignIn, user.lastSignIn)] {
      if let time { members.append(JSONMember(name, .number(JSONNumber(time)))) }
    }
    return .object(members)
  }

  private static func json(_ account: KeptAccount, _ service: String) -> JSONValue {
    let tokens = account.tokens
    return [
      Field.format: .string(Field.formatValue), Field.version: .number(JSONNumber(Int64(version))),
      Field.service: .string(service), Field.user: json(account.user),
      Field.refreshToken: .string(tokens.refreshToken.reveal()),
      Field.idToken: .string(tokens.idToken.reveal()),
      Field.obtained: .number(JSONNumber(tokens.obtained)),
      Field.expires: .number(JSONNumber(tokens.expires)),
    ]
  }

  /// Removes the file, if there is one.
  func remove() throws(AccountFailure) {
    if unlink(path) != 0, errno != ENOENT { throw failure("cannot be removed") }
  }

  private func failure(_ what: String) -> AccountFailure {
    AccountFailure(.storage, "\(path) \(what): \(String(cString: strerror(errno))).")
  }
}
