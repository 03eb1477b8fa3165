import RunnelPostgres

/// What the statements on the rows of a namespace do, within a transaction.
struct ModelStatements {
  var tables: ModelDatabase.Tables
  let servers: [PostgresIdentifier: ModelDatabase.ServerRow]
  private(set) var hasChanged = false

  init(
    tables: ModelDatabase.Tables, servers: [PostgresIdentifier: ModelDatabase.ServerRow]
  ) {
    (self.tables, self.servers) = (tables, servers)
  }

  /// Carries out a statement; nil if it is unknown.
  mutating func perform(
    _ statement: PostgresStatement
  ) throws(PostgresError) -> PostgresResult? {
    let words = statement.text.split(whereSeparator: \.isWhitespace).prefix(4)
    let (text, values) = (statement.text, statement.values)
    switch words.first {
    case "SELECT": return read(text, values)
    case "INSERT":
      hasChanged = true
      return insert(words.count > 2 ? String(words[2]) : "", values)
    case "UPDATE":
      hasChanged = true
      return update(text, values)
    case "DELETE":
      hasChanged = true
      return delete(text, values)
    default: return nil
    }
  }

  private func result(_ rows: [[PostgresValue]]) -> PostgresResult { PostgresResult(rows: rows) }

  // MARK: Reading

  private func read(_ text: String, _ values: [PostgresValue]) -> PostgresResult? {
    if text.hasPrefix("SELECT head, floor, last_at") {
      return result([
        [
          .integer(tables.head), .integer(tables.floor), .integer(tables.lastTime),
          .integer(tables.nextSplit), .integer(0), .integer(.max),
        ]
      ])
    }
    if text.hasPrefix("SELECT head FROM namespace") { return result([[.integer(tables.head)]]) }
    if text.hasPrefix("SELECT id, pattern, child FROM index_definition") { return result([]) }
    if text.contains(" FROM feed ") { return readFeed(text, values) }
    if text.contains(" FROM node ") || text.contains("FROM unnest") {
      return readNodes(text, values)
    }
    if text.hasPrefix("SELECT children, priority FROM split") {
      guard let split = values[1].integer.flatMap({ tables.splits[$0] }) else { return result([]) }
      return result([[.integer(split.children), .bytes(split.priority)]])
    }
    if text.contains(" FROM index_entry") {
      return result(text.hasPrefix("SELECT count(*)") ? [[.integer(0)]] : [])
    }
    if text.hasPrefix("SELECT applied, forgotten, seen FROM write_client") {
      guard let row = values[1].text.flatMap({ tables.writeClients[$0] }) else { return result([]) }
      return result([[.integer(row.applied), .integer(row.forgotten), .integer(row.seen)]])
    }
    // None has been away for long.
    if text.hasPrefix("SELECT client FROM write_client") { return result([]) }
    if text.hasPrefix("SELECT number FROM applied_write") {
      let numbers = tables.appliedWrites[values[1].text ?? ""] ?? []
      return result(numbers.sorted().map { [.integer($0)] })
    }
    if text.hasPrefix("SELECT value FROM meta") {
      return result(tables.values[values[1].text ?? ""].map { [[.text($0)]] } ?? [])
    }
    if text.hasPrefix("SELECT 1 FROM disconnect_write WHERE"), let key = disconnectKey(values) {
      return result(tables.disconnects[key] == nil ? [] : [[.integer(1)]])
    }
    return nil
  }

  private func disconnectKey(_ values: [PostgresValue]) -> ModelDatabase.DisconnectKey? {
    guard let server = values[1].identifier, let session = values[2].integer else { return nil }
    return ModelDatabase.DisconnectKey(server: server, session: session)
  }

  private func readFeed(_ text: String, _ values: [PostgresValue]) -> PostgresResult? {
    let known = values[1].integer ?? 0
    if text.hasPrefix("SELECT seq, server, batch, paths") {
      let limit = text.split(separator: " ").last.flatMap { Int($0) } ?? 0
      let rows = tables.feed.filter { $0.key >= known }.sorted { $0.key < $1.key }.prefix(limit)
      return result(
        rows.map { sequence, row in
          [
            .integer(sequence), .identifier(row.server), .integer(row.batch), .text(row.paths),
          ]
        })
    }
    if text.hasPrefix("SELECT count(*)") {
      let count = tables.feed.count { sequence, row in
        sequence > known && row.server == values[2].identifier && row.batch == values[3].integer
      }
      return result([[.integer(Int64(count))]])
    }
    // The oldest row that may be pruned: none is old enough.
    if text.hasPrefix("SELECT max(seq)") { return result([[.bytes(nil)]]) }
    return nil
  }

  private func readNodes(_ text: String, _ values: [PostgresValue]) -> PostgresResult? {
    let columns = { (row: ModelDatabase.NodeRow) -> [PostgresValue] in
      [.bytes(row.json), row.split.map { .integer($0) } ?? .bytes(nil)]
    }
    if text.hasPrefix("SELECT json, split FROM node"), let parent = values[1].integer {
      let row = tables.nodes[
        ModelDatabase.NodeKey(parent: parent, key: values[2].bytes ?? [])]
      return result(row.map { [columns($0)] } ?? [])
    }
    if text.hasPrefix("SELECT d.p, d.k, n.json") {
      let keys = zip(values[1].integers, values[2].byteStrings).compactMap { parent, key in
        parent.map { ModelDatabase.NodeKey(parent: $0, key: key ?? []) }
      }
      return result(
        keys.compactMap { key in
          tables.nodes[key].map { [.integer(key.parent), .bytes(key.key)] + columns($0) }
        })
    }
    if text.hasPrefix("SELECT 1 FROM node WHERE ns = $1 AND parent > 0") {
      return result(tables.nodes.keys.contains { $0.parent > 0 } ? [[.integer(1)]] : [])
    }
    guard let parent = values.dropFirst().first?.integer else { return nil }
    let children = tables.nodes.filter { $0.key.parent == parent }
      .sorted { $0.key.key.lexicographicallyPrecedes($1.key.key) }
    if text.hasPrefix("SELECT count(*)") { return result([[.integer(Int64(children.count))]]) }
    if text.hasPrefix("SELECT key FROM node"), text.contains("split IS NOT NULL") {
      return result(children.filter { $0.value.split != nil }.map { [.bytes($0.key.key)] })
    }
    // Ranges of rows are those of large nodes, which a simulation has not.
    return nil
  }

  // MARK: Writing

  private mutating func insert(_ table: String, _ values: [PostgresValue]) -> PostgresResult? {
    switch table {
    case "node":
      for index in values[1].integers.indices {
        guard let parent = values[1].integers[index] else { continue }
        tables.nodes[
          ModelDatabase.NodeKey(parent: parent, key: values[2].byteStrings[index] ?? [])] =
          ModelDatabase.NodeRow(
            json: values[3].byteStrings[index], split: values[4].integers[index])
      }
    case "split":
      for index in values[1].integers.indices {
        guard let id = values[1].integers[index], let count = values[2].integers[index] else {
          continue
        }
        tables.splits[id] = ModelDatabase.SplitRow(
          children: count, priority: values[3].byteStrings[index])
      }
    case "feed": return insertIntoFeed(values)
    case "write_client":
      tables.writeClients[values[1].text ?? ""] = ModelDatabase.ClientRow(
        applied: values[2].integer ?? 0, forgotten: values[3].integer ?? 0,
        seen: values[4].integer ?? 0)
    case "applied_write":
      tables.appliedWrites[values[1].text ?? "", default: []].formUnion(
        values[2].integers.compactMap { $0 })
    case "disconnect_write":
      guard let key = disconnectKey(values) else { return nil }
      tables.disconnects[key] = values[3].text ?? ""
    case "meta": tables.values[values[1].text ?? ""] = values[2].text
    default: return nil
    }
    return result([])
  }

  private mutating func insertIntoFeed(_ values: [PostgresValue]) -> PostgresResult? {
    guard let server = values[1].identifier, let batch = values[2].integer else { return nil }
    for index in values[3].integers.indices {
      guard let sequence = values[3].integers[index], tables.feed[sequence] == nil else {
        return nil
      }
      tables.feed[sequence] = ModelDatabase.FeedRow(
        time: values[4].integers[index] ?? 0, server: server, batch: batch,
        paths: values[5].texts[index] ?? "")
    }
    return result([])
  }

  private mutating func update(_ text: String, _ values: [PostgresValue]) -> PostgresResult? {
    if text.hasPrefix("UPDATE namespace SET head") {
      tables.head = values[1].integer ?? 0
      tables.lastTime = values[2].integer ?? 0
      tables.nextSplit = values[3].integer ?? 0
      return result([])
    }
    if text.hasPrefix("UPDATE namespace SET last_at = last_at") { return result([]) }
    if text.hasPrefix("UPDATE write_client SET seen") { return result([]) }
    if text.hasPrefix("UPDATE split SET children"), let id = values[1].integer {
      tables.splits[id]?.children += values[2].integer ?? 0
      return result([])
    }
    return nil
  }

  private mutating func delete(_ text: String, _ values: [PostgresValue]) -> PostgresResult? {
    if text.hasPrefix("DELETE FROM node WHERE ns = $1 AND parent = $2 AND key"),
      let parent = values[1].integer
    {
      tables.nodes[ModelDatabase.NodeKey(parent: parent, key: values[2].bytes ?? [])] = nil
      return result([])
    }
    if text.hasPrefix("DELETE FROM node n USING unnest") {
      for (parent, key) in zip(values[1].integers, values[2].byteStrings) {
        tables.nodes[ModelDatabase.NodeKey(parent: parent ?? 0, key: key ?? [])] = nil
      }
      return result([])
    }
    if text.contains(" ANY ($2)") {
      let splits = Set(values[1].integers.compactMap { $0 })
      tables.nodes = tables.nodes.filter { !splits.contains($0.key.parent) }
      tables.splits = tables.splits.filter { !splits.contains($0.key) }
      return result([])
    }
    if text.hasPrefix("DELETE FROM applied_write") {
      tables.appliedWrites[values[1].text ?? ""]?.subtract(values[2].integers.compactMap { $0 })
      return result([])
    }
    if text.hasPrefix("DELETE FROM meta") {
      tables.values[values[1].text ?? ""] = nil
      return result([])
    }
    if text.hasPrefix("DELETE FROM disconnect_write WHERE"), let key = disconnectKey(values) {
      tables.disconnects[key] = nil
      return result([])
    }
    if text.hasPrefix("DELETE FROM disconnect_write d") {
      let gone = tables.disconnects.filter { servers[$0.key.server] == nil }
        .sorted { left, right in
          left.key.server == right.key.server
            ? left.key.session < right.key.session
            : left.key.server.bytes.lexicographicallyPrecedes(right.key.server.bytes)
        }
      for key in gone.map(\.key) { tables.disconnects[key] = nil }
      hasChanged = !gone.isEmpty
      return result(gone.map { [.text($0.value)] })
    }
    return nil
  }
}
