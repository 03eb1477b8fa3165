import RunnelTree

/// The names of writes that were carried out, of the clients who write in one transaction.
///
/// Source: several servers, section 3, rule 8; as in a file: single numbers are kept beyond a gap, and
/// the oldest of too many are forgotten.
struct WriteNames {
  /// The most numbers beyond a gap that are remembered of a client.
  static let countMax = 1000

  /// What is known of a client's numbers.
  struct Client: Hashable {
    /// The number up to which all were carried out.
    var applied: Int64 = 0
    /// The number up to which single ones are no longer known.
    var forgotten: Int64 = 0
    /// The numbers carried out beyond `applied`.
    var numbers: Set<Int64> = []

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
        "SELECT applied, forgotten FROM write_client WHERE ns = $1 AND client = $2",
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

  /// The statements that carry out the changes; `sequence` is the newest place in the feed.
  func statements(sequence: Int64) -> [PostgresStatement] {
    clients.sorted { $0.key < $1.key }.flatMap { name, entry -> [PostgresStatement] in
      if entry.before == entry.now { return [] }
      var statements = [
        PostgresStatement(
          """
          INSERT INTO write_client (ns, client, applied, forgotten) VALUES ($1, $2, $3, $4)
          ON CONFLICT (ns, client) DO UPDATE
          SET applied = excluded.applied, forgotten = excluded.forgotten
          """, .integer(namespace), .text(name), .integer(entry.now.applied),
          .integer(entry.now.forgotten))
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
