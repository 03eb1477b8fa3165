import RunnelDatabase
import RunnelPostgres

/// Where the accounts of a server are.
enum AccountsPlace: Sendable {
  case file(String)
  /// The reserved namespace of the store that is served.
  case store(StoreConfiguration, StoreKeeper)

  /// The name of the place for people.
  var name: String {
    switch self {
    case .file(let file): file
    case .store(let store, _): "the store \(store.name)"
    }
  }

  /// The name of the accounts in the log: with that of `/readyz`.
  var loggedName: String { file ?? "\(StoreAccounts.namespace) in \(name)" }

  /// The file; nil for a store.
  var file: String? { if case .file(let file) = self { file } else { nil } }

  /// Opens the accounts.
  ///
  /// - Throws: `ServerError`, `DatabaseError` or `PostgresError` that names the problem.
  func open(_ environment: DatabaseEnvironment) throws -> AccountStore {
    switch self {
    case .file(let file):
      return AccountStore(try IdentityFile(file, environment: environment))
    case .store(let store, let keeper):
      return try keeper.opening(StoreAccounts.namespace, within: store.patience) {
        AccountStore(
          try StoreAccounts(
            keeper.place, lease: keeper.lease, now: environment.now
          ) { keeper.wake(StoreAccounts.namespace, head: $0) })
      }
    }
  }

  /// Opens the accounts once more, to follow what others write; nil for a file, which tells it itself.
  ///
  /// - Throws: `PostgresError` or `ServerError` that names the problem.
  func openForFollowing() throws -> AccountStore? {
    guard case .store(let store, let keeper) = self else { return nil }
    return try keeper.opening(StoreAccounts.namespace, within: store.patience) {
      AccountStore(
        try StoreAccounts(following: keeper.place, lease: keeper.lease))
    }
  }

  /// What is known of the age of the accounts; nil for a file.
  var currency: AccountCurrency? {
    guard case .store(_, let keeper) = self else { return nil }
    return AccountCurrency(isConfirmed: { keeper.lease.isHeld })
  }

  /// Where the accounts of a configuration are.
  ///
  /// - Throws: `ServerError` of usage if the configuration lacks what such accounts need.
  init(
    _ accounts: AccountsConfiguration, _ configuration: ServerConfiguration,
    _ keeper: StoreKeeper?
  ) throws(ServerError) {
    guard accounts.isInStore else {
      if case .file(let file, _) = configuration.databases,
        ServerFile.isSame(file, accounts.file)
      {
        throw ServerError(
          "\(file) cannot hold both the served data and the accounts: give --accounts another file.",
          isUsage: true)
      }
      self = .file(accounts.file)
      return
    }
    guard case .store(let store) = configuration.databases, let keeper else {
      throw ServerError("--store-accounts is for a store: give --store.", isUsage: true)
    }
    // Tokens name their issuer, and each server accepts those of all others.
    if accounts.issuer == nil, !configuration.isEmulator {
      throw ServerError(
        "Accounts in a store need an issuer that is the same for all servers: give --issuer, the address "
          + "at which clients reach them.", isUsage: true)
    }
    if accounts.mailServer == nil, accounts.mailFolder == nil, !configuration.isEmulator {
      throw ServerError(
        "Accounts in a store need a way for mails: give --smtp, or --mail-folder.", isUsage: true)
    }
    self = .store(store, keeper)
  }
}
