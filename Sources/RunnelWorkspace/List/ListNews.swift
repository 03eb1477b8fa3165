/// What is new in a list: changed rows, rows that arrived, and those that are unread.
package struct ListNews: Hashable, Sendable {
  /// The rows marked as changed, each until a time.
  package var changed = TimedMarks()
  /// The rows that arrived while the list was open.
  package var arrived: Set<String> = []
  /// The rows that arrived since the last visit.
  @Boxed package var unread = Unread()
}
