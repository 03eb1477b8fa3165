/// A part of the history of a place.
public struct HistoryPage: Hashable, Sendable {
  /// The entries, the newest first.
  public var entries: [HistoryEntry]
  /// True if there are older ones.
  public var hasOlder: Bool
  /// The number of entries that the database keeps for all places; 0 if the history is off.
  public var limit: Int

  /// Makes a page.
  package init(entries: [HistoryEntry], hasOlder: Bool, limit: Int) {
    self.entries = entries
    self.hasOlder = hasOlder
    self.limit = limit
  }
}
