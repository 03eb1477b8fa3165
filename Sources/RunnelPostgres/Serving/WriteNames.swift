import RunnelTree

/// The names of writes that were carried out, of the clients who write in one transaction.
///
/// Source: several servers, section 3, rule 8; as in a file: single numbers are kept beyond a gap, and
/// the oldest of too many are forgotten. Unlike in a file, clients that have not written for long are
/// forgotten too: see `pruning`.
struct WriteNames {
  /// The most numbers beyond a gap that are remembered of a client.
  static let countMax = 1000
  /// How exactly it is known when a client wrote last, in milliseconds.
  static let seenStep: Int64 = 3_600_000

  /// What is known of a client's numbers.
  struct Client: Hashable {
    /// The number up to which all were carried out.
    var applied: Int64 = 0
    /// The number up to which single ones are no longer known.
    var forgotten: Int64 = 0
    /// The numbers carried out beyond `applied`.
    var numbers: Set<Int64> = []
    /// About when it wrote last, in milliseconds since 1970; 0 if a program of the version before noted it.
    var seen: Int64 = 0

    /// Whether a write was carried out; nil if this is no longer known.
    func isApplied(_ number: Int64) -> Bool? {
      if number <= applied || numbers.contains(number) { return true }
      return number <= forgotten ? nil : false
    }

    mutating func note(_ number: Int64) {
      if number <= max(applied, forgotten) { return }
      numbers.insert(number)
      while numbers.remove(applied + 1) != nil { applied += 1 }
      if numbers.count <= WriteNames.countMax { return }
      for oldest in numbers.sorted().prefix(numbers.count - WriteNames.countMax) {
        numbers.remove(oldest)
        forgotten = oldest
      }
    }
  }

  private struct Entry {
    var before: Client
    var now: Client
    var isNew: Bool
  }

  private let namespace: Int64
  private var clients: [String: Entry] = [:]

  init(namespace: Int64) { self.namespace = namespace }

  /// The client's numbers, read when they are first needed.
  mutating func client(
    _ name: String, _ connection: PostgresConnection
  ) throws -> Client {
    if let entry = clients[name] { return entry.now }
    let results = try connection.perform([
      PostgresStatement(
        "SELECT applied, forgotten, seen FROM write_client WHERE ns = $1 AND client = $2",
        .integer(namespace), .text(name)),
      PostgresStatement(
        "SELECT number FROM applied_write WHERE ns = $1 AND client = $2", .integer(namespace),
        .text(name)),
    ])
    var client = Client()
    let isNew = results[0].count == 0
    if !isNew {
      client.applied = try results[0].integer(0, 0) ?? 0
      client.forgotten = try results[0].integer(0, 1) ?? 0
      client.seen = try results[0].integer(0, 2) ?? 0
    }
    for row in 0..<results[1].count {
      if let number = try results[1].integer(row, 0) { client.numbers.insert(number) }
    }
    clients[name] = Entry(before: client, now: client, isNew: isNew)
    return client
  }

  mutating func note(_ id: WriteID, _ connection: PostgresConnection) throws {
    _ = try client(id.client, connection)
    clients[id.client]?.now.note(id.number)
  }

  /// The statements that carry out the changes; `sequence` is the newest place in the feed, `now` its time.
  func statements(sequence: Int64, now: Int64) -> [PostgresStatement] {
    clients.sorted { $0.key < $1.key }.flatMap { name, entry -> [PostgresStatement] in
      if entry.before == entry.now { return [] }
      // The time is in an index, so it is not changed with each write.
      let isFresh = abs(now - entry.before.seen) < WriteNames.seenStep
      var statements = [
        PostgresStatement(
          """
          INSERT INTO write_client (ns, client, applied, forgotten, seen) VALUES ($1, $2, $3, $4, $5)
          ON CONFLICT (ns, client) DO UPDATE
          SET applied = excluded.applied, forgotten = excluded.forgotten, seen = excluded.seen
          """, .integer(namespace), .text(name), .integer(entry.now.applied),
          .integer(entry.now.forgotten), .integer(isFresh ? entry.before.seen : now))
      ]
      let gone = entry.before.numbers.subtracting(entry.now.numbers)
      let new = entry.now.numbers.subtracting(entry.before.numbers)
      if !gone.isEmpty {
        statements.append(
          PostgresStatement(
            "DELETE FROM applied_write WHERE ns = $1 AND client = $2 AND number = ANY ($3)",
            .integer(namespace), .text(name), .integers(gone.sorted())))
      }
      if !new.isEmpty {
        statements.append(
          PostgresStatement(
            """
            INSERT INTO applied_write (ns, client, number, seq)
            SELECT $1, $2, n, $4 FROM unnest($3) n
            """, .integer(namespace), .text(name), .integers(new.sorted()), .integer(sequence)))
      }
      return statements
    }
  }
}

// MARK: Forgetting

extension WriteNames {
  /// Which clients are forgotten.
  struct Limits {
    /// The number of places in the feed after which it is looked for clients to forget.
    var step: Int64 = 10_000
    /// A client that has not written for so long is forgotten, in milliseconds: 30 days.
    var timeMax: Int64 = 30 * 86_400_000
    /// The number of clients of a namespace that are known in any case.
    var clientsMax = 100_000
    /// The clients beyond this number are known for so long, in milliseconds: a day.
    var timeMin: Int64 = 86_400_000
    /// The most clients, and the most of their numbers, that are forgotten at a time.
    var (clientsStep, numbersStep) = (20_000, 50_000)
  }

  /// The statements that forget clients that have not written for long, when a batch crosses a multiple of
  /// `limits.step`.
  ///
  /// What such a client sends again is done again: nobody can tell it from a new one. O(n) in the clients
  /// that are known in any case, and in those forgotten.
  ///
  /// - Throws: `PostgresError` if they cannot be read.
  func pruning(
    from head: Int64, to end: Int64, now: Int64, _ connection: PostgresConnection, _ limits: Limits
  ) throws -> [PostgresStatement] {
    if head / limits.step == end / limits.step { return [] }
    let ns = PostgresValue.integer(namespace)
    // What a program of the version before noted is as old as this.
    let dating = PostgresStatement(
      "UPDATE write_client SET seen = $2 WHERE ns = $1 AND seen = 0", ns, .integer(now))
    let old = try connection.perform([
      PostgresStatement(
        """
        SELECT client FROM write_client WHERE ns = $1 AND seen > 0 AND seen < greatest($2, least($3, coalesce((
          SELECT seen FROM write_client WHERE ns = $1
          ORDER BY seen DESC LIMIT 1 OFFSET \(limits.clientsMax - 1)), 0)))
        ORDER BY seen LIMIT \(limits.clientsStep)
        """, ns, .integer(now - limits.timeMax), .integer(now - limits.timeMin))
    ])[0]
    // Who comes back in this batch was not away.
    var gone = (0..<old.count).compactMap { old.text($0, 0) }.filter { clients[$0] == nil }
    if gone.isEmpty { return [dating] }
    let numbers = try connection.perform([
      PostgresStatement(
        "SELECT 1 FROM applied_write WHERE ns = $1 AND client = ANY ($2) LIMIT \(limits.numbersStep + 1)",
        ns, .texts(gone))
    ])[0]
    if numbers.count > limits.numbersStep {
      gone = Array(gone.prefix(max(1, limits.numbersStep / WriteNames.countMax)))
    }
    return [dating]
      + ["applied_write", "write_client"].map { table in
        PostgresStatement(
          "DELETE FROM \(table) WHERE ns = $1 AND client = ANY ($2)", ns, .texts(gone))
      }
  }
}
