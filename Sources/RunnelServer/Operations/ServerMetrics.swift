import CoreMetrics
import Synchronization

/// The counters of the server.
struct ServerMetrics: Sendable {
  /// The reason for a refusal.
  enum Refusal: String, CaseIterable {
    case credential
    case host
    case database
  }

  /// The statuses of answers that are usual.
  private static let statuses = [200, 204, 304, 400, 401, 403, 404, 405, 412, 500, 503]

  private let factory: PrometheusMetrics
  private let limits: [String: Counter]
  private let sessions: Counter
  private let sessionEnds: Counter
  private let denials: [DenialProtocol: Counter]

  /// The protocols over which the rules deny.
  enum DenialProtocol: String, CaseIterable {
    case http
    case service
    case websocket
  }

  init(_ factory: PrometheusMetrics) {
    self.factory = factory
    // Each counter is shown from the start, so that it can be watched before it is reached.
    limits = Dictionary(
      uniqueKeysWithValues: ServerLimit.all.map { limit in
        let name = [("limit", limit.name)]
        return (
          limit.name,
          Counter(label: "runnel_limit_reached_total", dimensions: name, factory: factory)
        )
      })
    sessions = Counter(label: "runnel_sessions_total", dimensions: [], factory: factory)
    sessionEnds = Counter(label: "runnel_sessions_ended_total", dimensions: [], factory: factory)
    denials = Dictionary(
      uniqueKeysWithValues: DenialProtocol.allCases.map { way in
        let name = [("protocol", way.rawValue)]
        return (way, Counter(label: "runnel_denials_total", dimensions: name, factory: factory))
      })
    for status in ServerMetrics.statuses { show("runnel_requests_total", ("status", "\(status)")) }
    for reason in Refusal.allCases { show("runnel_refused_total", ("reason", reason.rawValue)) }
  }

  /// Counts what the rules denied over a protocol.
  func denied(over way: DenialProtocol) {
    guard let counter = denials[way] else {
      preconditionFailure("Every protocol has its counter.")
    }
    counter.increment()
  }

  // MARK: The start

  /// Shows a counter before anything is counted.
  private func show(_ label: String, _ dimensions: (String, String)...) {
    _ = Counter(label: label, dimensions: dimensions, factory: factory)
  }

  /// Shows the counters of a database.
  func begin(_ database: String, isStored: Bool, isOnTrial: Bool) {
    let name = ("database", database)
    var labels = ["runnel_jobs_total", "runnel_transactions_total", "runnel_storage_retries_total"]
    if isOnTrial { labels.append("runnel_trial_denials_total") }
    if isStored {
      labels += [
        "runnel_store_writes_total", "runnel_store_batches_total", "runnel_store_doubts_total",
      ]
      note(lag: 0, of: database)
    }
    for label in labels { show(label, name) }
    Gauge(label: "runnel_listens", dimensions: [name], factory: factory).record(0)
    note(isWritable: true, of: database)
  }

  /// Shows the counters of the backups of a database.
  func beginBackups(of database: String) {
    for label in ["runnel_backups_total", "runnel_backup_failures_total"] {
      show(label, ("database", database))
    }
  }

  /// Shows the counters of stores, by their names.
  func begin(stores: [String]) {
    for store in stores {
      for label in ["runnel_store_leases_lost_total", "runnel_store_wakes_total"] {
        show(label, ("store", store))
      }
    }
    show("runnel_redirects_total")
  }

  // MARK: Connections

  func sessionBegan() { sessions.increment() }

  func sessionEnded() { sessionEnds.increment() }

  func answered(_ status: Int) {
    Counter(
      label: "runnel_requests_total", dimensions: [("status", String(status))], factory: factory
    ).increment()
  }

  /// Counts a client that reached a limit.
  func reached(_ limit: some RawRepresentable<String>) {
    guard let counter = limits[limit.rawValue] else {
      preconditionFailure("Every limit is in the table.")
    }
    counter.increment()
  }

  func refused(_ reason: Refusal) {
    Counter(
      label: "runnel_refused_total", dimensions: [("reason", reason.rawValue)], factory: factory
    ).increment()
  }

  /// Counts an operation that rules on trial would deny.
  func wouldDeny(in database: String) {
    Counter(
      label: "runnel_trial_denials_total", dimensions: [("database", database)], factory: factory
    ).increment()
  }

  /// Counts a backup of a database, or a failed one.
  func backedUp(_ database: String, isDone: Bool) {
    Counter(
      label: isDone ? "runnel_backups_total" : "runnel_backup_failures_total",
      dimensions: [("database", database)], factory: factory
    ).increment()
  }

  /// Notes the jobs that a database's tree did in one transaction.
  func note(jobs: Int, listens: Int, of database: String) {
    let dimensions = [("database", database)]
    Counter(label: "runnel_jobs_total", dimensions: dimensions, factory: factory)
      .increment(by: jobs)
    Counter(label: "runnel_transactions_total", dimensions: dimensions, factory: factory)
      .increment()
    Gauge(label: "runnel_listens", dimensions: dimensions, factory: factory).record(listens)
  }

  /// Notes that a transaction is done anew, because the storage was out of reach.
  func noteRetry(of database: String) {
    Counter(
      label: "runnel_storage_retries_total", dimensions: [("database", database)],
      factory: factory
    ).increment()
  }

  /// Notes whether the disk takes writes of a database.
  func note(isWritable: Bool, of database: String) {
    Gauge(label: "runnel_writable", dimensions: [("database", database)], factory: factory)
      .record(isWritable ? 1 : 0)
  }

  // MARK: Stores

  /// Notes the writes that one transaction of a namespace carried out: the size of a batch.
  func note(writes: Int, of database: String) {
    let dimensions = [("database", database)]
    Counter(label: "runnel_store_writes_total", dimensions: dimensions, factory: factory)
      .increment(by: writes)
    Counter(label: "runnel_store_batches_total", dimensions: dimensions, factory: factory)
      .increment()
  }

  /// Notes commits of a namespace whose answers did not come.
  func note(doubts: Int, of database: String) {
    Counter(
      label: "runnel_store_doubts_total", dimensions: [("database", database)], factory: factory
    ).increment(by: doubts)
  }

  /// Notes the number of changes of a namespace that clients were not told yet.
  func note(lag: Int64, of database: String) {
    Gauge(label: "runnel_store_lag", dimensions: [("database", database)], factory: factory)
      .record(lag)
  }

  /// Notes the number of servers of a store whose leases hold.
  func note(leases: Int, in store: String) {
    Gauge(label: "runnel_store_leases", dimensions: [("store", store)], factory: factory)
      .record(leases)
  }

  /// Counts a lost lease in a store, at which all sessions of its namespaces end.
  func lostLease(in store: String) {
    Counter(
      label: "runnel_store_leases_lost_total", dimensions: [("store", store)], factory: factory
    ).increment()
  }

  /// Notes how long the primary of a store has not answered.
  func note(silence: Duration, of store: String) {
    Gauge(label: "runnel_store_silence_seconds", dimensions: [("store", store)], factory: factory)
      .record(silence.components.seconds)
  }

  /// Counts notifications to the other servers of a store.
  func sentWakes(_ count: Int, in store: String) {
    Counter(label: "runnel_store_wakes_total", dimensions: [("store", store)], factory: factory)
      .increment(by: count)
  }

  /// Counts a client that was sent to the server that has the sessions of its namespace.
  func redirected() {
    Counter(label: "runnel_redirects_total", dimensions: [], factory: factory).increment()
  }

  /// All counters as text, with the number of connections.
  func text(connectionCount: Int) -> String {
    Gauge(label: "runnel_connections", dimensions: [], factory: factory).record(connectionCount)
    return factory.text
  }
}

/// The metrics of `swift-metrics` as text in Prometheus's format.
///
/// Source: Prometheus, "Exposition formats", version 0.0.4.
final class PrometheusMetrics: MetricsFactory, Sendable {
  private struct Name: Hashable, Comparable {
    var label: String
    var dimensions: String

    static func < (left: Name, right: Name) -> Bool {
      (left.label, left.dimensions) < (right.label, right.dimensions)
    }
  }

  private enum Kind: String {
    case counter
    case gauge
  }

  private let values = Mutex<[Name: Value]>([:])

  /// A number with its kind.
  private final class Value: CounterHandler, RecorderHandler, TimerHandler, Sendable {
    let kind: Kind
    private let number = Mutex<Double>(0)

    init(_ kind: Kind) { self.kind = kind }

    var current: Double { number.withLock { $0 } }

    func increment(by amount: Int64) { number.withLock { $0 += Double(amount) } }
    func reset() { number.withLock { $0 = 0 } }
    func record(_ value: Int64) { number.withLock { $0 = Double(value) } }
    func record(_ value: Double) { number.withLock { $0 = value } }
    func recordNanoseconds(_ duration: Int64) { number.withLock { $0 += Double(duration) / 1e9 } }
  }

  private func value(
    _ kind: Kind, _ label: String, _ dimensions: [(String, String)]
  ) -> Value {
    let pairs = dimensions.map { "\($0.0)=\"\(PrometheusMetrics.quoted($0.1))\"" }
    let name = Name(label: label, dimensions: pairs.joined(separator: ","))
    return values.withLock { values in
      if let value = values[name] { return value }
      let value = Value(kind)
      values[name] = value
      return value
    }
  }

  private static func quoted(_ text: String) -> String {
    text.flatMap { character in
      switch character {
      case "\\": "\\\\"
      case "\"": "\\\""
      case "\n": "\\n"
      default: String(character)
      }
    }.map(String.init).joined()
  }

  func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
    value(.counter, label, dimensions)
  }

  func makeRecorder(
    label: String, dimensions: [(String, String)], aggregate: Bool
  ) -> any RecorderHandler {
    value(.gauge, label, dimensions)
  }

  func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
    value(.counter, label, dimensions)
  }

  // Counters keep their values.
  func destroyCounter(_ handler: any CounterHandler) {}
  func destroyRecorder(_ handler: any RecorderHandler) {}
  func destroyTimer(_ handler: any TimerHandler) {}

  /// The text of all numbers, in the order of their names.
  var text: String {
    let values = values.withLock { $0.sorted { $0.key < $1.key } }
    var lines: [String] = []
    var label = ""
    for (name, value) in values {
      if name.label != label {
        label = name.label
        if let help = MetricHelp.texts[label] { lines.append("# HELP \(label) \(help)") }
        lines.append("# TYPE \(label) \(value.kind.rawValue)")
      }
      let dimensions = name.dimensions.isEmpty ? "" : "{\(name.dimensions)}"
      let number = Int64(exactly: value.current).map { String($0) } ?? String(value.current)
      lines.append("\(label)\(dimensions) \(number)")
    }
    return lines.joined(separator: "\n") + "\n"
  }
}
