import RunnelBase
import RunnelStorage
import RunnelTree

// The writes that the origin refused and nobody has sent again or dropped, in `meta`: a row for each under
// `origin.refused.` and the id of the write. All sessions share them, as they do the pending writes: one is added in
// the transaction that ends the pending write, and leaves in the one that makes it a pending write again.

extension StoreTransaction {
  /// The most refused writes that are kept, the newest.
  static let keptMax = 500

  private static let keptStart = "origin.refused."
  private static let keptEnd = "origin.refused/"
  private static let triesStart = "origin.tries."
  private static let triesEnd = "origin.tries/"
  private static let changesName = "origin.refused_changes"
  private static let ownPlacesName = "origin.own_places"

  /// The digits are as many for all ids, so that the order of the names is that of the ids.
  private static func keptName(_ id: Int64) -> String {
    let digits = String(id)
    return keptStart + String(repeating: "0", count: max(19 - digits.utf8.count, 0)) + digits
  }

  /// The number of changes of these writes since there are any.
  func keptChanges() throws -> Int64 {
    try statement("SELECT value FROM meta WHERE name = ?")
      .first(.text(StoreTransaction.changesName)) { try $0.integer(0, "refused writes") ?? 0 } ?? 0
  }

  /// The refused writes, oldest first.
  func keptRefusals() throws -> [KeptRefusal] {
    var kept: [KeptRefusal] = []
    try statement("SELECT value FROM meta WHERE name >= ? AND name < ? ORDER BY name")
      .forEach([.text(StoreTransaction.keptStart), .text(StoreTransaction.keptEnd)]) { row in
        let json = try? JSONValue(parsing: row.text(0, "a refused write"))
        if let refusal = json.flatMap(KeptRefusal.init) { kept.append(refusal) }
        return true
      }
    return kept
  }

  /// The refused write with an id; nil if it is not kept.
  func keptRefusal(_ id: Int64) throws -> KeptRefusal? {
    try statement("SELECT value FROM meta WHERE name = ?")
      .first(.text(StoreTransaction.keptName(id))) { try $0.text(0, "a refused write") }
      .flatMap { try? JSONValue(parsing: $0) }.flatMap(KeptRefusal.init)
  }

  /// Keeps a refused write, and drops the oldest of too many.
  func keep(_ refusal: KeptRefusal) throws {
    try statement("INSERT OR REPLACE INTO meta (name, value) VALUES (?, ?)")
      .run(.text(StoreTransaction.keptName(refusal.write.id)), .text(refusal.json.jsonText()))
    let (start, end) = (StoreTransaction.keptStart, StoreTransaction.keptEnd)
    let count =
      try statement("SELECT count(*) FROM meta WHERE name >= ? AND name < ?")
      .first(.text(start), .text(end)) { try $0.integer(0, "refused writes") ?? 0 } ?? 0
    let excess = count - Int64(StoreTransaction.keptMax)
    if excess > 0 {
      try statement(
        """
        DELETE FROM meta WHERE name IN
          (SELECT name FROM meta WHERE name >= ? AND name < ? ORDER BY name LIMIT ?)
        """
      ).run(.text(start), .text(end), .integer(excess))
    }
    try noteKeptChange()
  }

  /// Removes a refused write; nil if it is not kept any more.
  func takeKept(_ id: Int64) throws -> KeptRefusal? {
    guard let kept = try keptRefusal(id) else { return nil }
    try statement("DELETE FROM meta WHERE name = ?").run(.text(StoreTransaction.keptName(id)))
    try noteKeptChange()
    return kept
  }

  private func noteKeptChange() throws {
    try statement(
      """
      INSERT INTO meta (name, value) VALUES (?, 1)
      ON CONFLICT (name) DO UPDATE SET value = value + 1
      """
    ).run(.text(StoreTransaction.changesName))
  }

  // MARK: What is refused again

  /// Keeps a pending write that the origin refused, unless it was given up here or is one of the program's own.
  func keep(_ write: PendingWrite, _ error: TreeError, at now: Int64) throws {
    if error.code == .writeCanceled || !write.isDurable { return }
    if try ownPlaces().cover(write) { return }
    let tries = try triesBefore(write.id) + 1
    try keep(KeptRefusal(write: write, reason: error.description, at: now, tries: tries))
  }

  /// Notes how often a pending write was refused before, under other ids.
  func noteTries(_ tries: Int, of id: Int64) throws {
    // Those of writes that were done meanwhile are of no use.
    try statement(
      """
      DELETE FROM meta WHERE name >= ? AND name < ?
        AND CAST(substr(name, 14) AS INTEGER) NOT IN (SELECT id FROM pending_write)
      """
    ).run(.text(StoreTransaction.triesStart), .text(StoreTransaction.triesEnd))
    try statement("INSERT OR REPLACE INTO meta (name, value) VALUES (?, ?)")
      .run(.text(StoreTransaction.triesStart + String(id)), .integer(Int64(tries)))
  }

  private func triesBefore(_ id: Int64) throws -> Int {
    try statement("SELECT value FROM meta WHERE name = ?")
      .first(.text(StoreTransaction.triesStart + String(id))) {
        Int(try $0.integer(0, "tries") ?? 0)
      } ?? 0
  }

  // MARK: The places of the program

  /// The places where the program writes by itself, for who is here and the devices.
  func ownPlaces() throws -> OwnPlaces {
    let text = try statement("SELECT value FROM meta WHERE name = ?")
      .first(.text(StoreTransaction.ownPlacesName)) { try $0.text(0, "places") }
    let places = text.flatMap { try? JSONValue(parsing: $0) }?.array ?? []
    return OwnPlaces(places.compactMap { $0.string.flatMap { try? Path($0) } })
  }

  /// Notes the places where the program writes by itself.
  func noteOwnPlaces(_ own: OwnPlaces) throws {
    let json = JSONValue.array(own.places.map { .string($0.description) })
    try statement("INSERT OR REPLACE INTO meta (name, value) VALUES (?, ?)")
      .run(.text(StoreTransaction.ownPlacesName), .text(json.jsonText()))
  }
}
