public import RunnelBase
import RunnelDatabase
import RunnelIdentity
package import RunnelPostgres

/// The administration of a server's accounts by their owner, while servers may be running.
///
/// A running server takes the changes at once: it ends the access of a user who was disabled or
/// deleted.
///
/// Isolation: synchronous, and used by one thread at a time.
public final class AccountAdministration {
  /// The name of the namespace of a store that has the accounts.
  package static let namespace = StoreAccounts.namespace
  /// The most accounts of one transaction of an import.
  private static let batchMax = 500
  private static let pageMax = 1000
  private static let roundsMax = 6

  private let store: AccountStore
  private let policy: IdentityPolicy

  /// Opens a file; an absent one is made.
  ///
  /// - Parameters:
  ///   - file: the accounts file.
  ///   - passwordLengthMin: the least number of characters of a password; nil for the default.
  /// - Throws: `ServerError` or `DatabaseError` that names the problem with the file.
  public init(file: String, passwordLengthMin: Int? = nil) throws {
    store = AccountStore(try IdentityFile(file, environment: .system))
    policy = AccountAdministration.policy(passwordLengthMin)
  }

  /// Opens the accounts of a store; absent ones are made.
  ///
  /// - Parameters:
  ///   - place: where the store is.
  ///   - passwordLengthMin: the least number of characters of a password; nil for the default.
  /// - Throws: `PostgresError` that names the problem with the store.
  package init(store place: PostgresPlace, passwordLengthMin: Int? = nil) throws {
    store = AccountStore(try StoreAccounts(place, now: { ServerWorld.calendar }))
    policy = AccountAdministration.policy(passwordLengthMin)
  }

  private static func policy(_ passwordLengthMin: Int?) -> IdentityPolicy {
    var policy = IdentityPolicy(project: "", issuer: "", isEmulator: false)
    if let passwordLengthMin { policy.passwordLengthMin = passwordLengthMin }
    return policy
  }

  /// Closes the accounts.
  ///
  /// - Throws: `DatabaseError` if the file could not be closed properly.
  public func close() throws { try store.close() }

  // MARK: Deciding

  private func ask(_ operation: IdentityOperation, _ fields: JSONValue) throws -> JSONValue {
    let call = IdentityCall(operation, CallFields(fields), isAdministrative: true)
    var done: PasswordPool.Results = [:]
    for _ in 0..<AccountAdministration.roundsMax {
      let context = IdentityContext(
        policy: policy, now: ServerWorld.calendar, isPrivileged: true, claims: { _ in nil },
        customClaims: { _ in .failure(.invalid("")) }, done: done)
      do throws(IdentityStop) {
        // Administrators get no tokens.
        return try store.decide(call, context).answer.json { _ in "" }
      } catch {
        switch error {
        case .error(let error): throw ServerError(AccountAdministration.words(error))
        case .storage(let error): throw error
        case .work(let work):
          done.merge(try PasswordPool.results(of: work, cost: policy.cost)) { $1 }
        }
      }
    }
    throw ServerError("The accounts change all the time: try again.")
  }

  /// The reason of a failure if there is such an account already.
  package static let idIsTaken = "Another account has this id."

  private static func words(_ error: IdentityError) -> String {
    switch error.code {
    case "EMAIL_EXISTS", "DUPLICATE_EMAIL": return "Another account has this address."
    case "DUPLICATE_LOCAL_ID": return idIsTaken
    case "INVALID_EMAIL": return "This is no e-mail address."
    case "MISSING_LOCAL_ID": return "The id is missing."
    case "INVALID_CLAIMS": return "The claims are no object in JSON."
    case "CLAIMS_TOO_LARGE": return "The claims have more than 1000 characters."
    case "FORBIDDEN_CLAIM":
      return
        "The claim \(error.message.split(separator: " ").last ?? "") is reserved: give it another name."
    case "PHONE_NUMBER_EXISTS": return "Another account has this phone number."
    case "INVALID_PHONE_NUMBER": return "This is no phone number."
    default:
      guard let start = error.message.firstRange(of: " : ")?.upperBound else {
        return error.message
      }
      let explanation = String(error.message[start...])
      return explanation.hasSuffix(".") ? explanation : explanation + "."
    }
  }

  // MARK: Accounts

  /// Calls `body` with each account, in the order of their ids, from one state of the file.
  ///
  /// - Parameters:
  ///   - hasHashes: whether the hashes of passwords are added, for an export.
  ///   - body: takes the account.
  /// - Throws: `DatabaseError`, and the errors of `body`.
  public func forEach(hasHashes: Bool, _ body: (JSONValue) throws -> Void) throws {
    try store.read { reader in
      var last: String?
      while true {
        let page = try reader.accounts(
          after: last, count: AccountAdministration.pageMax, isDescending: false)
        for record in page { try body(hasHashes ? record.exported : record.shown) }
        guard let id = page.last?.id, page.count == AccountAdministration.pageMax else { return }
        last = id
      }
    }
  }

  /// The id of the account with an id or an address.
  ///
  /// - Throws: `ServerError` if there is none.
  public func id(of name: String) throws -> String {
    let found = try store.read { (reader) -> String? in
      if let record = try reader.account(name) { return record.id }
      for spelling in EmailAddress(name).spellings {
        if let record = try reader.account(email: spelling) { return record.id }
      }
      return nil
    }
    guard let found else {
      throw ServerError("There is no account \(name): `runnel accounts list` lists all.")
    }
    return found
  }

  /// Makes an account; returns its id.
  ///
  /// - Throws: `ServerError` if the account cannot be made.
  public func add(
    email: String, password: String?, id: String?, displayName: String?, isVerified: Bool,
    claims: String?
  ) throws -> String {
    var fields = MemberList()
    fields.add("email", email)
    fields.add("password", password)
    fields.add("localId", id)
    fields.add("displayName", displayName)
    fields.add("emailVerified", ifTrue: isVerified)
    let made = try ask(.create, .object(fields.all))["localId"]?.string ?? ""
    if let claims {
      do {
        _ = try ask(.update, ["localId": .string(made), "customAttributes": .string(claims)])
      } catch {
        // Without its claims the account would have other rights than intended.
        try delete(made)
        throw error
      }
    }
    return made
  }

  /// Changes what is known of an account; nil leaves it as it is.
  ///
  /// Its sessions go on, and their next tokens say the new.
  ///
  /// - Parameters:
  ///   - id: the id of the account.
  ///   - displayName: the name that is shown; empty for none.
  ///   - isVerified: whether the address is known to be the user's.
  ///   - claims: the claims for rules, an object in JSON, which replaces those of before.
  /// - Throws: `ServerError` if the account cannot be changed.
  package func update(
    _ id: String, displayName: String?, isVerified: Bool?, claims: String?
  ) throws {
    var fields = MemberList()
    fields.add("localId", id)
    fields.add("displayName", displayName)
    fields.add("emailVerified", isVerified.map { .bool($0) })
    fields.add("customAttributes", claims)
    _ = try ask(.update, .object(fields.all))
  }

  /// Disables an account, or enables it again.
  public func setDisabled(_ id: String, _ isDisabled: Bool) throws {
    _ = try ask(.update, ["localId": .string(id), "disableUser": .bool(isDisabled)])
  }

  /// Sets the password of an account, and ends its sessions.
  public func setPassword(_ id: String, _ password: String) throws {
    _ = try ask(.update, ["localId": .string(id), "password": .string(password)])
  }

  /// Deletes an account.
  public func delete(_ id: String) throws { _ = try ask(.delete, ["localId": .string(id)]) }

  // MARK: Importing

  /// The functions of imported hashes, by their names in other programs.
  public static var importFunctions: [String] { PasswordHash.importNames }

  /// The failure of one imported account.
  public struct ImportFailure: Hashable, Sendable {
    /// The place in the list, from 0.
    public var index: Int
    /// The reason.
    public var reason: String
  }

  /// Imports accounts.
  ///
  /// - Parameters:
  ///   - users: the accounts, in the form of an export.
  ///   - function: the parameters of the hashes, as the API names them; empty if all hashes name
  ///     their own.
  ///   - replaces: whether existing accounts are replaced.
  ///   - progress: called with the number of accounts so far; false stops the import.
  /// - Returns: the accounts that were not imported.
  /// - Throws: `ServerError` if the function is unknown, or `DatabaseError`. Accounts before that
  ///   are imported.
  public func importUsers(
    _ users: [JSONValue], function: JSONValue, replaces: Bool, progress: (Int) -> Bool
  ) throws -> [ImportFailure] {
    var failures: [ImportFailure] = []
    var start = 0
    while start < users.count {
      let batch = Array(users[start..<min(start + AccountAdministration.batchMax, users.count)])
      let fields = JSONValue.object(
        (function.object ?? []) + [
          JSONMember("users", .array(batch)), JSONMember("allowOverwrite", .bool(replaces)),
        ])
      for error in try ask(.batchCreate, fields)["error"]?.array ?? [] {
        guard let index = error["index"]?.int, let message = error["message"]?.string else {
          continue
        }
        failures.append(
          ImportFailure(
            index: start + index,
            reason: AccountAdministration.words(IdentityError(message))))
      }
      start += batch.count
      if !progress(start) { break }
    }
    return failures
  }
}
