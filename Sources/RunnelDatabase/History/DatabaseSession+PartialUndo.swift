package import RunnelStreams
package import RunnelTree

// Undoing a write of many records where others have changed some of them since.

extension DatabaseSession {
  /// How often a part of a write is chosen again because others wrote meanwhile.
  private static let triesMax = 3

  /// Undoes a write where its result still stands; what others have changed since stays as it is.
  ///
  /// Only a write of many records is undone in part, see `HistoryEntry.recordDepth`; of any other one
  /// all has to stand. The undoing names the write, which then counts as undone.
  ///
  /// - Returns: what was left, nil if nothing was; and the deliveries for listeners of this session.
  /// - Throws: as `undo(_:in:progress:)`; then nothing was written.
  package func undoWhatStands(
    _ id: Int64, in registry: ResourceRegistry? = nil,
    progress: @escaping (ImportStep) -> Bool = { _ in true }
  ) throws -> (partial: PartialUndo?, deliveries: [Delivery]) {
    for _ in 0..<DatabaseSession.triesMax {
      guard let (standing, partial) = try divided(id) else { break }
      do {
        return (partial, try undo(plain: standing))
      } catch let error as DatabaseError where error.code == .changed {
        // Others have changed another place, or the write was undone, as the last try tells.
      }
    }
    return (nil, try undo(id, in: registry, progress: progress))
  }

  /// Returns what `undoWhatStands` would leave of a write, if it stands at some of its places only and can
  /// be undone in part; otherwise nil.
  ///
  /// - Throws: `DatabaseError` (`refused` if the write is not remembered).
  package func partialUndo(of id: Int64) throws -> PartialUndo? { try divided(id)?.partial }

  /// A write with the places where its result stands, and what is left of it.
  private func divided(_ id: Int64) throws -> (standing: HistoryEntry, partial: PartialUndo)? {
    let entry = try followed(try rememberedEntry(id))
    guard let depth = entry.recordDepth else { return nil }
    var standing = entry
    standing.parts = try store.read { transaction in
      try entry.parts.filter { try transaction.historyValue(of: $0) == $0.values?.new }
    }
    if standing.parts.isEmpty || standing.parts.count == entry.parts.count { return nil }
    let places = Set(standing.parts.map(\.path))
    let left = entry.parts.filter { !places.contains($0.path) }
    return (standing, PartialUndo(left: left, count: entry.parts.count, depth: depth))
  }
}
