import RunnelBase
import RunnelTree

/// The rows of a query in its order, with a note of those that are objects.
struct ObjectOrder {
  /// A row.
  struct Row {
    var position: IndexPosition
    var key: Key
    var isObject: Bool
  }

  /// The rows in the order of their positions.
  private var rows: [Row] = []
  private var positions: [Key: IndexPosition] = [:]

  /// Adds a row after all others.
  mutating func append(_ position: IndexPosition, _ key: Key, isObject: Bool) {
    rows.append(Row(position: position, key: key, isObject: isObject))
    positions[key] = position
  }

  /// Adds a row that is new.
  ///
  /// O(log n), and O(n) for moving the rows after it.
  mutating func insert(_ position: IndexPosition, _ key: Key, isObject: Bool) {
    rows.insert(Row(position: position, key: key, isObject: isObject), at: index(of: position))
    positions[key] = position
  }

  /// Removes a row; returns nil if there is no such row.
  mutating func remove(_ key: Key) -> Row? {
    positions.removeValue(forKey: key).map { rows.remove(at: index(of: $0)) }
  }

  /// The last object before a row; nil if there is none.
  func object(before row: TreeRow) -> Key? {
    rows[..<index(of: row.position)].last(where: \.isObject)?.key
  }

  /// The first index whose row is not before a position.
  private func index(of position: IndexPosition) -> Int {
    rows.lowerBound { $0.position < position }
  }
}
