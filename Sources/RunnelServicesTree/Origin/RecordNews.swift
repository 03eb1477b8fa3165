import RunnelTree

/// The records that events have told of, by the order of these events.
///
/// An answer does not count for records with news since its call was made. The cost of an event does not depend on
/// the number of calls under way.
struct RecordNews: Sendable {
  /// The number of records that are kept at least before old ones are forgotten.
  private static let keptCount = 4096

  /// The number of the newest event: what is news for a call that is made now comes later.
  private(set) var last = 0
  private var newest: [RecordID: Int] = [:]
  private var forgetCount = RecordNews.keptCount

  /// Notes that an event has told of a record; no call under way was made before the event `oldest`.
  mutating func note(_ record: RecordID, oldest: () -> Int) {
    last += 1
    newest[record] = last
    guard newest.count >= forgetCount else { return }
    let oldest = oldest()
    newest = newest.filter { $0.value > oldest }
    forgetCount = max(newest.count * 2, RecordNews.keptCount)
  }

  /// True if an event has told of a record after the event `since`.
  func contains(_ record: RecordID, since: Int) -> Bool {
    newest[record].map { $0 > since } ?? false
  }
}
