import Glibc
import RunnelBase
import RunnelStore

/// The accounts for one purpose in files: a folder in the user's state folder.
///
/// ```
///   accounts/NAME/active           the name of the file that is signed in
///   accounts/NAME/USER.json        a signed-in account: one is active, others can be made so
///   accounts/NAME/USER.ended       why the session of a user was ended, until that user signs in, or out
///   accounts/NAME/USER.left        a user who signed out while writes waited, until that user signs in
///   accounts/NAME/ended            the active user whose session was ended, and why, until somebody signs in
///   accounts/NAME/USER.departing   an account that signed out, until its device was removed
///   accounts/NAME/FILE.PROCESS     one that is being written; what a killed process left is removed
/// ```
/// The folders have the mode 0700, and the files 0600.
public struct AccountFolder: AccountStorage {
  private static let nameBytesMax = 120
  private static let accountsMax = 100
  private static let activeBytesMax = 1024

  /// The path of the folder.
  public let path: String
  private let service: String

  /// Makes the folder of a service, which need not exist.
  ///
  /// - Parameters:
  ///   - name: the name of what the accounts are for: of the service, or of a database.
  ///   - service: the name of the service, which is kept with the accounts; nil if it is `name`.
  ///   - environment: the environment variables of the process.
  /// - Throws: `AccountFailure` (`storage`) if the user has no home.
  public init(
    for name: String, service: String? = nil, environment: [String: String]
  ) throws(AccountFailure) {
    self.init(
      for: name, service: service,
      below: try AccountFolder.stateFolder(environment) + "/accounts")
  }

  /// Makes the folder of a service below another folder.
  public init(for name: String, service: String? = nil, below folder: String) {
    self.service = service ?? name
    path = folder + "/" + AccountFolder.fileName(name)
  }

  /// Returns the folder for what Runnel remembers for a user.
  ///
  /// Source: XDG Base Directory Specification.
  ///
  /// - Throws: `AccountFailure` (`storage`) if the user has no home.
  public static func stateFolder(
    _ environment: [String: String]
  ) throws(AccountFailure) -> String {
    // The specification says that a relative path is ignored.
    if let folder = environment["XDG_STATE_HOME"], folder.hasPrefix("/") {
      return folder + "/runnel"
    }
    guard let home = environment["HOME"], home.hasPrefix("/") else {
      throw AccountFailure(.storage, "HOME is not set, so there is no folder for accounts.")
    }
    return home + "/.local/state/runnel"
  }

  /// Returns a name as the name of a file: readable, and different for each name.
  package static func fileName(_ name: String) -> String {
    var encoded = ""
    for byte in name.utf8 {
      let scalar = Unicode.Scalar(byte)
      let isPlain = byte < 0x80 && (Character(scalar).isLetter || Character(scalar).isNumber)
      if isPlain || byte == UInt8(ascii: "-") {
        encoded.unicodeScalars.append(scalar)
      } else {
        encoded += "_" + String(Int(byte) + 256, radix: 16).dropFirst()
      }
    }
    if encoded.utf8.count <= nameBytesMax { return encoded }
    // The checksum of the whole name distinguishes long names that are cut.
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in name.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    return encoded.prefix(nameBytesMax - 17) + "_" + String(hash, radix: 16)
  }

  private func file(_ user: String) -> AccountFile {
    AccountFile(path: "\(path)/\(AccountFolder.fileName(user)).json")
  }

  private func departingFile(_ user: String) -> AccountFile {
    AccountFile(path: "\(path)/\(AccountFolder.fileName(user)).departing")
  }

  private func endedFile(_ user: String) -> AccountFile {
    AccountFile(path: "\(path)/\(AccountFolder.fileName(user)).ended")
  }

  private func leftFile(_ user: String) -> AccountFile {
    AccountFile(path: "\(path)/\(AccountFolder.fileName(user)).left")
  }

  private var activeFile: String { path + "/active" }
  private var endedFile: AccountFile { AccountFile(path: path + "/ended") }

  // MARK: Reading

  /// Reads the account that is signed in.
  public func signedIn() throws(AccountFailure) -> KeptAccount? {
    removeRemains()
    guard let name = activeName else { return nil }
    return try AccountFile(path: "\(path)/\(name).json").read()
  }

  /// Reads the account of a user.
  public func account(of user: String) throws(AccountFailure) -> KeptAccount? {
    if let account = try file(user).read() { return account }
    return try departingFile(user).read()
  }

  /// Reads the account of a user who is signed in, or of one who is departing; nil if there is none.
  ///
  /// - Throws: `AccountFailure` (`storage`) if it cannot be read.
  package func account(
    of user: String, isDeparting: Bool
  ) throws(AccountFailure) -> KeptAccount? {
    try (isDeparting ? departingFile(user) : file(user)).read()
  }

  /// Reads the name of the service of a user's account; nil if there is no such account.
  ///
  /// - Throws: `AccountFailure` (`storage`) if it cannot be read.
  public func service(of user: String) throws(AccountFailure) -> String? {
    if let name = try file(user).service() { return name }
    return try departingFile(user).service()
  }

  /// Reads the departing accounts.
  public func departing() throws(AccountFailure) -> [KeptAccount] {
    try accounts(ending: ".departing")
  }

  /// Reads all accounts that are signed in, the active one and others, sorted by their users' ids.
  ///
  /// - Throws: `AccountFailure` (`storage`) if one cannot be read.
  public func accounts() throws(AccountFailure) -> [KeptAccount] {
    try accounts(ending: ".json")
  }

  /// Reads the user whose session was ended last; nil if somebody signed in since, or out.
  ///
  /// - Throws: `AccountFailure` (`storage`) if it cannot be read.
  package func ended() throws(AccountFailure) -> EndedAccount? { try endedFile.readEnded() }

  /// Reads the end of a user's session; nil if there was none, or if the user signed in since, or out.
  ///
  /// - Throws: `AccountFailure` (`storage`) if it cannot be read.
  package func ended(_ user: String) throws(AccountFailure) -> EndedAccount? {
    if let ended = try endedFile(user).readEnded() { return ended }
    // An earlier version wrote no other file.
    return try ended().flatMap { $0.user.id == user ? $0 : nil }
  }

  /// Reads a user who signed out while writes waited; nil if there is none of the id, or if the user signed in
  /// since.
  ///
  /// - Throws: `AccountFailure` (`storage`) if it cannot be read.
  package func left(_ user: String) throws(AccountFailure) -> AccountUser? {
    try leftFile(user).readEnded()?.user
  }

  /// Reads the users who signed out while writes waited, and did not sign in since, sorted by their ids.
  ///
  /// Files that cannot be read are left out.
  package func allLeft() -> [AccountUser] {
    names(ending: ".left").compactMap { try? AccountFile(path: "\(path)/\($0)").readEnded()?.user }
  }

  /// Reads the ends of all sessions whose users did not sign in since, nor out, sorted by their users' ids.
  ///
  /// Files that cannot be read are left out.
  package func allEnded() -> [EndedAccount] {
    names(ending: ".ended").compactMap { try? AccountFile(path: "\(path)/\($0)").readEnded() }
  }

  /// The milliseconds from a time until a second after the last revocation that was learnt here; 0 for none.
  ///
  /// - Parameter now: the time in milliseconds since 1970.
  /// - Returns: at most 1000.
  package func pauseAfterRevocation(now: Int64) -> Int64 {
    var pause: Int64 = 0
    for name in names(ending: ".ended") {
      let path = "\(path)/\(name)"
      guard (try? AccountFile(path: path).readEnded())?.isRevoked == true,
        let written = AccountRemains.written(path), (0..<1000).contains(now - written)
      else { continue }
      pause = max(pause, 1000 - (now - written))
    }
    return pause
  }

  /// Reads why the session of a user was ended; nil if it was not, or if the user signed out.
  public func end(of user: String) throws(AccountFailure) -> AccountFailure? {
    try ended(user)?.failure
  }

  private func accounts(ending suffix: String) throws(AccountFailure) -> [KeptAccount] {
    var found: [KeptAccount] = []
    for name in names(ending: suffix) {
      if let account = try AccountFile(path: "\(path)/\(name)").read() { found.append(account) }
    }
    return found
  }

  private func names(ending suffix: String) -> [String] {
    guard let directory = opendir(path) else { return [] }
    defer { closedir(directory) }
    var names: [String] = []
    while names.count < AccountFolder.accountsMax, let entry = readdir(directory) {
      let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
        String(validating: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      if let name, name.hasSuffix(suffix) { names.append(name) }
    }
    return names.sorted()
  }

  /// The name of the active account's file; nil if there is none.
  private var activeName: String? {
    let descriptor = open(activeFile, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    if descriptor < 0 { return nil }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: AccountFolder.activeBytesMax)
    let count = read(descriptor, &bytes, bytes.count)
    guard count > 0, let text = String(validating: bytes.prefix(count), as: UTF8.self) else {
      return nil
    }
    let name = text.prefix { $0 != "\n" }
    return name.isEmpty || name.contains("/") ? nil : String(name)
  }

  // MARK: Writing

  /// Keeps the account, and makes it the active one after a sign-in; its user is not departing then.
  public func keep(_ account: KeptAccount, isSignIn: Bool) throws(AccountFailure) {
    removeRemains()
    try make(path)
    try file(account.user.id).write(account, service: service)
    let user = account.user.id
    if isSignIn {
      try activate(user)
      try forgetDeparting(user)
      try endedFile(user).remove()
      try leftFile(user).remove()
    } else if let end = try ended(user), !end.isRevoked, !end.isDeleted {
      // Another process believed the session ended, while this one got other tokens of it.
      if activeName == nil, try ended()?.user.id == user { try activate(user) }
      try endedFile(user).remove()
    }
  }

  /// Makes a kept account the active one.
  ///
  /// - Throws: `AccountFailure` (`storage`) if that cannot be written.
  public func activate(_ user: String) throws(AccountFailure) {
    let temporary = AccountRemains.temporary(for: activeFile)
    unlink(temporary)
    let descriptor = open(temporary, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0o600)
    let bytes = Array((AccountFolder.fileName(user) + "\n").utf8)
    let isWritten = descriptor >= 0 && write(descriptor, bytes, bytes.count) == bytes.count
    if descriptor >= 0 { close(descriptor) }
    if isWritten, rename(temporary, activeFile) == 0 { return try endedFile.remove() }
    let reason = String(cString: strerror(errno))
    unlink(temporary)
    throw AccountFailure(.storage, "\(activeFile) cannot be written: \(reason).")
  }

  /// Keeps an account as departing.
  public func depart(_ account: KeptAccount) throws(AccountFailure) {
    try make(path)
    try departingFile(account.user.id).write(account, service: service)
    try forget(account.user.id)
  }

  /// Keeps new tokens of a departing account, unless it is departing no more.
  ///
  /// - Throws: `AccountFailure` (`storage`) if that cannot be written.
  package func renewDeparting(_ account: KeptAccount) throws(AccountFailure) {
    let file = departingFile(account.user.id)
    if try file.read() != nil { try file.write(account, service: service) }
  }

  /// Forgets an account; if it was active, none is.
  public func forget(_ user: String) throws(AccountFailure) {
    removeRemains()
    if activeName == AccountFolder.fileName(user) { unlink(activeFile) }
    try file(user).remove()
  }

  /// Forgets a departing account.
  public func forgetDeparting(_ user: String) throws(AccountFailure) {
    removeRemains()
    try departingFile(user).remove()
  }

  /// Remembers that the session of a user was ended; unless another account is active, the data of that user
  /// is shown next.
  ///
  /// A user who signed out elsewhere is not remembered. The data of one whose device was revoked is shown
  /// only after a new sign-in, and that of one whose account was deleted no more.
  public func rememberEnd(
    of user: AccountUser, _ failure: AccountFailure
  ) throws(AccountFailure) {
    if failure.code == .signedOutElsewhere { return }
    // The service does not tell a session that it ended from one of an account that was deleted.
    let end =
      try ended(user.id).flatMap { $0.isDeleted ? $0 : nil }
      ?? EndedAccount(user: user, failure: failure)
    try make(path)
    try endedFile(user.id).write(end)
    if end.isDeleted {
      if try ended()?.user.id == user.id { try endedFile.remove() }
    } else if activeName == nil || activeName == AccountFolder.fileName(user.id) {
      try endedFile.write(end)
    }
  }

  /// Forgets that the session of a user was ended.
  ///
  /// - Throws: `AccountFailure` (`storage`) if the file cannot be removed.
  package func forgetEnd(of user: String) throws(AccountFailure) {
    if try ended()?.user.id == user { try endedFile.remove() }
    try endedFile(user).remove()
  }

  /// Notes that a user signed out.
  ///
  /// Why the session was ended is forgotten, unless nobody can sign in to the account again, and writes wait:
  /// then it is to be told that they are never sent. The address is kept while writes wait: another account may
  /// have it by the next sign-in. If another one that is signed in has it already, nobody knows whose it is. Of a user
  /// who signed out before, and is known by the id only, the address that is kept stays.
  ///
  /// - Throws: `AccountFailure` (`storage`) if that cannot be written.
  package func noteSignOut(of user: AccountUser, writesWait: Bool) throws(AccountFailure) {
    let earlier = user.email == nil ? try left(user.id) : nil
    let user = earlier ?? user
    let end =
      try ended(user.id)
      ?? EndedAccount(
        user: user,
        failure: AccountFailure(
          .sessionEnded, "Signed out: nobody can sign in to an account without an address again."))
    try forgetEnd(of: user.id)
    try forgetLeft(user.id)
    guard writesWait else { return }
    try make(path)
    if end.isFinal { return try endedFile(user.id).write(end) }
    guard user.email != nil else { return }
    let isShared = try accounts().contains {
      $0.user.id != user.id && EmailAddress.areSame($0.user.email, user.email)
    }
    if isShared { return }
    try leftFile(user.id).write(
      EndedAccount(user: user, failure: AccountFailure(.sessionEnded, "Signed out.")))
  }

  /// Forgets the address of a user who signed out, as no write waits any more.
  ///
  /// - Throws: `AccountFailure` (`storage`) if the file cannot be removed.
  package func forgetLeft(_ user: String) throws(AccountFailure) { try leftFile(user).remove() }

  /// Removes what killed processes left, which may be tokens.
  package func removeRemains() { AccountRemains.remove(in: path) }

  private func make(_ folder: String) throws(AccountFailure) {
    if access(folder, F_OK) == 0 { return }
    if let slash = folder.lastIndex(of: "/"), slash > folder.startIndex {
      try make(String(folder[..<slash]))
    }
    if mkdir(folder, 0o700) != 0, errno != EEXIST {
      throw AccountFailure(
        .storage, "\(folder) cannot be made: \(String(cString: strerror(errno))).")
    }
  }
}
