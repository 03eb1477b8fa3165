import RunnelDatabase
import RunnelPostgres
import RunnelSync

/// The place of a served database: a file with its rules beside it, or a namespace of a store.
enum ServedPlace: Sendable {
  case file(String, RulesFile)
  case namespace(ServedNamespace)

  /// The name of the place for people.
  var name: String {
    switch self {
    case .file(let file, _): file
    case .namespace(let namespace): "\(namespace.name) of the store \(namespace.store)"
    }
  }

  /// The name of the place of the rules for people.
  var rulesName: String {
    switch self {
    case .file(_, let rules): rules.path
    case .namespace(let namespace): "`runnel store rules get \(namespace.name)`"
    }
  }

  /// What gives the place rules, as the beginning of a sentence.
  var rulesAdvice: String {
    switch self {
    case .file(_, let rules): "Write \(rules.path)"
    case .namespace(let namespace): "Run `runnel store rules put \(namespace.name) FILE`"
    }
  }

  /// The file of the database; nil for a namespace.
  var file: String? { if case .file(let file, _) = self { file } else { nil } }

  /// The file of the rules; nil for a namespace, whose rules are stored with it.
  var rulesFile: RulesFile? { if case .file(_, let rules) = self { rules } else { nil } }

  /// The name of a file beside which spooled bodies are written.
  var spoolFile: String {
    switch self {
    case .file(let file, _): file
    case .namespace(let namespace): "/tmp/runnel-\(namespace.name)"
    }
  }

  /// The link to the store; nil for a file.
  var keeper: StoreKeeper? {
    if case .namespace(let namespace) = self { namespace.keeper } else { nil }
  }

  /// False while the server has no lease in the store: what it knows may be old, and it would not notice.
  var isConfirmed: Bool { keeper?.lease.isHeld ?? true }

  /// True if the server ends, so that the storage is waited for no more.
  var isPastDeadline: Bool { keeper?.place.deadline?.isOver ?? false }

  /// How long jobs wait for the storage while it is out of reach.
  var patience: Duration {
    if case .namespace(let namespace) = self { namespace.patience } else { .zero }
  }

  /// How long jobs wait from now on: those that come late in an outage get no time of their own.
  var restOfPatience: Duration {
    guard let keeper else { return patience }
    return max(.zero, patience - keeper.silence)
  }

  /// Opens the place.
  ///
  /// - Throws: `DatabaseError`, `PostgresError` or `ServerError` that names the problem.
  func open(_ environment: DatabaseEnvironment) throws -> any ServedStorage {
    switch self {
    case .file(let file, _):
      let session = try ServingSession(file: file, environment: environment)
      if try session.perform(
        isWriting: false, { try AccountStore.isAccountsFile($0) })
      {
        throw ServerError(
          "\(file) has the accounts of users, which are never served: give it after --accounts, or "
            + "move it.", isUsage: true)
      }
      return FileStorage(session)
    case .namespace(let namespace):
      return StoreStorage(
        try PostgresSession(
          namespace.place, namespace: namespace.name, lease: namespace.keeper.lease,
          patience: namespace.patience))
    }
  }

  /// Begins to read the present state.
  ///
  /// - Throws: `DatabaseError` or `PostgresError` that names the problem.
  func snapshot() throws -> sending any ServedSnapshot {
    switch self {
    case .file(let file, _):
      FileSnapshot(try ServingSnapshot(file: file, environment: .system))
    case .namespace(let namespace):
      StoreSnapshot(try PostgresSnapshot(namespace.place, namespace: namespace.name))
    }
  }
}

/// A namespace of a store.
struct ServedNamespace: Sendable {
  /// Its name.
  var name: String
  /// The name of the store.
  var store: String
  /// Where the store is.
  var place: PostgresPlace
  /// The link of this server to the store.
  var keeper: StoreKeeper
  /// How long writes and reads wait for a primary.
  var patience: Duration
}
