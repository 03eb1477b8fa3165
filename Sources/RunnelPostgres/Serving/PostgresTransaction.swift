import RunnelBase
import RunnelStorage
package import RunnelTree

/// A transaction on a namespace: many writes of many clients, one after the other.
///
/// Writes are held back and sent at the end, with the rows of the feed. It must not be used after
/// `PostgresSession.perform` has returned.
package final class PostgresTransaction {
  /// What was read at the beginning of a transaction.
  struct Beginning {
    var news: FeedNews
    var lastTime: Int64
    /// The time of the database, in milliseconds since 1970.
    var databaseTime: Int64
    var nextSplit: Int64
    var isWriting: Bool
    /// The name of this server under which its lease was checked; nil for a state that is only read.
    var server: PostgresIdentifier?

    init(
      news: FeedNews, lastTime: Int64, databaseTime: Int64, nextSplit: Int64, isWriting: Bool,
      server: PostgresIdentifier?
    ) {
      (self.news, self.lastTime, self.server) = (news, lastTime, server)
      self.databaseTime = databaseTime
      (self.nextSplit, self.isWriting) = (nextSplit, isWriting)
    }

    /// What is known of a state that is only read.
    init(at head: Int64, nextSplit: Int64) {
      self.init(
        news: FeedNews(at: head), lastTime: .min, databaseTime: .min, nextSplit: nextSplit,
        isWriting: false, server: nil)
    }
  }

  /// The largest text of new values that a row of the feed keeps.
  private static let partsBytesMax = 65_536
  /// The most places that one row of the feed names.
  private static let pathsMax = 1000

  private let rows: PostgresRows
  private let overlay: RowOverlay
  private let tree: StoredTree
  let beginning: Beginning
  private var names: WriteNames
  /// The changes for the feed.
  private var changes: [(at: Int64, paths: String, parts: [UInt8]?)] = []
  /// The values in `meta` that were changed; nil for a removed one.
  private var kept: [String: String?] = [:]
  /// The disconnect requests of sessions of this server; nil for removed ones.
  private var disconnects: [Int64: String?] = [:]
  /// True if a write was found to be done already, which is told to its client.
  private var vouchesForOthers = false
  /// True if rows were changed by statements of their own.
  private var hasOtherChanges = false
  private(set) var lastTime: Int64

  init(_ rows: PostgresRows, _ beginning: Beginning) {
    (self.rows, self.beginning) = (rows, beginning)
    overlay = RowOverlay(rows)
    tree = StoredTree(overlay, indexes: rows.indexes)
    names = WriteNames(namespace: rows.namespace)
    lastTime = beginning.lastTime
  }

  private var connection: PostgresConnection { rows.connection }

  /// The places that others wrote since the last transaction; only the root if there are too many
  /// places to tell.
  package var foreignPaths: [Path] { beginning.news.touched }

  /// True if others may have changed the rules since the last transaction.
  package var hasForeignSettings: Bool { beginning.news.touchesSettings }

  /// The time before which no write may say that it happens, in milliseconds since 1970.
  package var earliestTime: Int64 { lastTime }

  /// The time by which ages are told: a server whose clock is fast makes nothing older than it is.
  var ageTime: Int64 { min(lastTime, beginning.databaseTime) }

  /// True if a write of the tree, or new rules, were carried out.
  package var hasWritten: Bool { !changes.isEmpty }

  // MARK: Writing

  /// Carries out the parts of a write, and adds it to the feed, with the new values if it `keepsValues`.
  ///
  /// - Throws: errors of the storage; the transaction must not be committed then.
  package func carryOut(
    _ parts: [Assignment], now: Int64, keepsValues: Bool = true
  ) throws {
    for part in parts { try tree.carryOut(part) }
    append(
      parts.map(\.path), keepsValues ? PostgresTransaction.text(of: parts) : nil, now: now)
  }

  /// Reads the rows on the ways to places, so that writes there need no round trips of their own.
  package func prefetch(_ paths: [Path]) throws { try rows.prefetch(paths) }

  /// Replaces the node at a place by a JSON document, which is read piece by piece.
  ///
  /// O(n) in the document and in the old node. `wasRead` is called now and then with the number of bytes
  /// that were read.
  ///
  /// - Throws: `JSONError` or `TreeError` if the document is none; the transaction must not be
  ///   committed then.
  package func importJSON(
    _ document: UnsafeBufferPointer<UInt8>, at path: Path, now: Int64,
    wasRead: @escaping (Int) -> Void = { _ in }
  ) throws {
    try overlay.flush()
    tree.forgetRows()
    var importer = Importer(tree.stored(in: rows)) { wasRead($0) }
    try importer.importDocument(document, at: path)
    tree.forgetRows()
    append([path], nil, now: now)
  }

  /// Writes the subtree at a place as JSON in the export format, piece by piece.
  func exportJSON(
    _ path: Path, layout: JSONWriter.Layout, write: @escaping ([UInt8]) throws -> Void
  ) throws {
    try Exporter(tree: tree, layout: layout, write: write).exportNode(at: path)
  }

  private func append(_ paths: [Path], _ parts: [UInt8]?, now: Int64) {
    var json = JSONWriter()
    json.beginArray()
    for path in paths.count > PostgresTransaction.pathsMax ? [.root] : paths {
      json.writeString(path.description)
    }
    json.endArray()
    lastTime = max(lastTime, now)
    changes.append((now, String(decoding: json.bytes, as: UTF8.self), parts))
  }

  /// The new values of a write: an array of places and nodes in turn; nil if that is too long.
  private static func text(of parts: [Assignment]) -> [UInt8]? {
    if parts.count > pathsMax { return nil }
    var json = JSONWriter()
    json.beginArray()
    for part in parts {
      switch part.target {
      case .node(let node):
        json.writeString(part.path.description)
        if node.isEmpty { json.writeNull() } else { node.writeExport(to: &json) }
      case .priority(let priority):
        json.writeString(part.path.description + "/.priority")
        if let priority { Node(priority).writeExport(to: &json) } else { json.writeNull() }
      }
      if json.bytes.count > partsBytesMax { return nil }
    }
    json.endArray()
    return json.bytes
  }

  // MARK: Names of writes

  /// Whether a write of this name was carried out; nil if this is no longer known.
  ///
  /// What is seen here may not be on the standby yet, and be lost with the primary. So a writing transaction
  /// that finds a name commits something, even if it changes nothing else: that proves it.
  package func isNameTaken(_ name: WriteID) throws -> Bool? {
    let isTaken = try names.client(name.client, connection).isApplied(name.number)
    if isTaken == true { vouchesForOthers = true }
    return isTaken
  }

  /// Notes that the write of a name was carried out.
  package func noteName(_ name: WriteID) throws { try names.note(name, connection) }

  // MARK: Indexes and small nodes

  /// True if an index for the children of a place in an order is declared.
  package func hasIndex(_ order: QueryIndex, at path: Path) -> Bool {
    rows.indexes.contains { $0.covers(path.keys) && $0.order == order.forward }
  }

  /// True if an index is declared.
  func declares(_ definition: IndexDefinition) -> Bool {
    rows.indexes.contains { $0.definition == definition }
  }

  /// The subtree at a place if it is one record; nil if it is larger.
  ///
  /// - Throws: `TreeError` (`storage`) if it cannot be read.
  package func smallNode(at path: Path) throws(TreeError) -> Node? {
    try tree.reading {
      switch try tree.location(of: path) {
      case .row(.record(let bytes)): try RecordCoding.node(bytes)
      case .inside(let record, let rest): try RecordCoding.node(record)[rest]
      case .row(.split): nil
      case .missing: .empty
      }
    }
  }

  /// Declares indexes that are not declared yet, and fills them.
  ///
  /// Other servers read the definitions at the beginning of each transaction.
  func declare(_ definitions: [IndexDefinition]) throws {
    var next = (rows.indexes.map(\.id).max() ?? 0) + 1
    for definition in definitions where !declares(definition) {
      try connection.perform([
        PostgresStatement(
          "INSERT INTO index_definition (ns, id, pattern, child) VALUES ($1, $2, $3, $4)",
          .integer(rows.namespace), .integer(next), .text(definition.pattern),
          .text(definition.storedOrder))
      ])
      let index = StoredIndex(id: next, definition: definition)
      rows.indexes.append(index)
      next += 1
      var filler = IndexFiller(StoredTree(rows, indexes: rows.indexes)) { _ in }
      try filler.fill(index)
      hasOtherChanges = true
    }
  }

  // MARK: What servers keep

  static let keptPrefix = "server."
  static let rulesName = "rules"

  /// The value that servers keep under a name; nil if there is none.
  package func keptValue(_ name: String) throws -> String? {
    try metaValue(PostgresTransaction.keptPrefix + name)
  }

  /// Keeps a value under a name; nil removes it.
  package func keep(_ value: String?, _ name: String) {
    kept[PostgresTransaction.keptPrefix + name] = .some(value)
  }

  /// The text of the rules; nil if there are none.
  package func rulesText() throws -> String? {
    try metaValue(PostgresTransaction.rulesName)
  }

  /// Replaces the rules, for all servers, from this place of the feed on; nil removes them.
  package func writeRules(_ text: String?, now: Int64) {
    kept[PostgresTransaction.rulesName] = .some(text)
    tellSettings(now: now)
  }

  /// Tells all servers, from this place of the feed on, that they have to read the rules and what is kept
  /// anew.
  package func tellSettings(now: Int64) {
    lastTime = max(lastTime, now)
    changes.append((now, "[\"\(FeedNews.settingsPath)\"]", nil))
  }

  private func metaValue(_ name: String) throws -> String? {
    if let value = kept[name] { return value }
    let result = try connection.perform([
      PostgresStatement(
        "SELECT value FROM meta WHERE ns = $1 AND name = $2", .integer(rows.namespace),
        .text(name))
    ])[0]
    return result.count == 0 ? nil : result.text(0, 0)
  }

  // MARK: Disconnect requests

  /// The name of this server under which the requests are stored; empty for a state that is only read.
  package var leaseName: String { beginning.server?.text ?? "" }

  /// Stores the disconnect requests of a session of this server; nil removes them.
  package func keepDisconnect(_ text: String?, of session: Int64) {
    disconnects[session] = .some(text)
  }

  /// True if the disconnect requests of a session are stored under the present name of this server.
  ///
  /// If not, they are those of a lease that has ended: they are done by whoever takes them over.
  package func keepsDisconnect(of session: Int64) throws -> Bool {
    if let kept = disconnects[session] { return kept != nil }
    guard let server = beginning.server else { return false }
    let result = try connection.perform([
      PostgresStatement(
        "SELECT 1 FROM disconnect_write WHERE ns = $1 AND server = $2 AND session = $3",
        .integer(rows.namespace), .identifier(server), .integer(session))
    ])[0]
    return result.count > 0
  }

  /// Removes the disconnect requests of servers whose leases have ended, and returns them.
  ///
  /// Whoever commits first does them: they are read and removed under the lock of the namespace.
  package func takeOrphans() throws -> [String] {
    let result = try connection.perform([
      PostgresStatement(
        """
        DELETE FROM disconnect_write d WHERE d.ns = $1
        AND NOT EXISTS (SELECT 1 FROM server s WHERE s.id = d.server) RETURNING d.write
        """, .integer(rows.namespace))
    ])[0]
    if result.count > 0 { hasOtherChanges = true }
    return (0..<result.count).compactMap { result.text($0, 0) }
  }

  // MARK: The end

  /// True if there is nothing to commit.
  var isUnchanged: Bool {
    changes.isEmpty && kept.isEmpty && disconnects.isEmpty && !hasOtherChanges && !vouchesForOthers
  }

  /// What the feed has after the commit, and did not have before.
  func entries(_ server: PostgresIdentifier, batch: Int64) -> [FeedMemory.Entry] {
    let writer = FeedPlace.Writer(server: server, batch: batch)
    return zip((beginning.news.end.sequence + 1)..., changes).map { sequence, change in
      FeedMemory.Entry(sequence: sequence, writer: writer, paths: change.paths)
    }
  }

  /// The newest place in the feed after the commit.
  func end(_ server: PostgresIdentifier, batch: Int64) -> FeedPlace {
    if changes.isEmpty { return beginning.news.end }
    return FeedPlace(
      sequence: beginning.news.end.sequence + Int64(changes.count),
      writer: FeedPlace.Writer(server: server, batch: batch))
  }

  /// The statements that carry out all that was held back, without the commit.
  func statements(_ server: PostgresIdentifier, batch: Int64) throws -> [PostgresStatement] {
    try overlay.flush()
    let namespace = PostgresValue.integer(rows.namespace)
    let head = beginning.news.end.sequence
    var statements = rows.takeStatements()
    statements += names.statements(sequence: head + Int64(changes.count), now: ageTime)
    statements += keptStatements(namespace) + disconnectStatements(namespace, server)
    if !changes.isEmpty {
      let numbers = (1...Int64(changes.count)).map { Optional(head + $0) }
      statements.append(
        PostgresStatement(
          """
          INSERT INTO feed (ns, seq, at, server, batch, paths, parts)
          SELECT $1, d.s, d.a, $2, $3, d.t, d.v FROM unnest($4, $5, $6, $7) d(s, a, t, v)
          """, namespace, .identifier(server), .integer(batch), .integers(numbers),
          .integers(changes.map(\.at)), .texts(changes.map(\.paths)),
          .byteStrings(changes.map(\.parts))))
    }
    statements.append(
      PostgresStatement(
        "UPDATE namespace SET head = $2, last_at = $3, next_split = $4 WHERE ns = $1", namespace,
        .integer(head + Int64(changes.count)), .integer(lastTime), .integer(rows.nextSplit)))
    return statements
  }

  /// The statements that forget clients that have not written for long, now and then.
  func forgetting(
    to end: FeedPlace, _ limits: WriteNames.Limits
  ) throws -> [PostgresStatement] {
    try names.pruning(
      from: beginning.news.end.sequence, to: end.sequence, now: ageTime, connection, limits)
  }

  private func keptStatements(_ namespace: PostgresValue) -> [PostgresStatement] {
    kept.sorted { $0.key < $1.key }.map { name, value in
      guard let value else {
        return PostgresStatement(
          "DELETE FROM meta WHERE ns = $1 AND name = $2", namespace, .text(name))
      }
      return PostgresStatement(
        """
        INSERT INTO meta (ns, name, value) VALUES ($1, $2, $3)
        ON CONFLICT (ns, name) DO UPDATE SET value = excluded.value
        """, namespace, .text(name), .text(value))
    }
  }

  private func disconnectStatements(
    _ namespace: PostgresValue, _ server: PostgresIdentifier
  ) -> [PostgresStatement] {
    disconnects.sorted { $0.key < $1.key }.map { session, text in
      guard let text else {
        return PostgresStatement(
          "DELETE FROM disconnect_write WHERE ns = $1 AND server = $2 AND session = $3",
          namespace, .identifier(server), .integer(session))
      }
      return PostgresStatement(
        """
        INSERT INTO disconnect_write (ns, server, session, number, path, write)
        VALUES ($1, $2, $3, 0, '/', $4)
        ON CONFLICT (ns, server, session, number) DO UPDATE SET write = excluded.write
        """, namespace, .identifier(server), .integer(session), .text(text))
    }
  }
}

extension PostgresTransaction: DelegatingReader {
  package var reader: some TreeReader { tree }
}
