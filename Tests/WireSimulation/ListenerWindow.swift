package import RunnelTree

/// A window as its listener knows it, computed only from events.
package struct ListenerWindow {
  /// The request of the listener.
  package let request: ListenRequest
  /// The rows according to the events.
  package private(set) var rows: [TreeRow] = []
  /// For a paged window: whether there are more rows, according to the events.
  package private(set) var hasMore = true
  /// True if more rows were requested, and no event about them has arrived.
  package var isExtended = false

  /// Makes a window without rows.
  package init(_ request: ListenRequest) { self.request = request }

  /// Applies one event.
  ///
  /// - Throws: `SimulationError` if it contradicts earlier events.
  package mutating func take(_ event: TreeEvent) throws {
    switch event {
    case .childAdded(let row, _):
      guard index(of: row.key) == nil else { throw SimulationError("\(row.key) added twice") }
      insert(row)
    case .childRemoved(let row):
      guard let index = index(of: row.key) else { throw SimulationError("\(row.key) unknown") }
      rows.remove(at: index)
    case .childChanged(let row, _), .childMoved(let row, _):
      guard let index = index(of: row.key) else { throw SimulationError("\(row.key) unknown") }
      rows.remove(at: index)
      insert(row)
    case .page(let hasMore): (self.hasMore, isExtended) = (hasMore, false)
    case .value, .pending, .answered: break
    }
  }

  /// Returns whether it shows the right part of all rows of its query.
  package func shows(_ all: [TreeRow]) -> Bool {
    guard let paging = request.paging, hasMore else { return rows == all }
    if isExtended || rows.isEmpty && !all.isEmpty { return false }
    let part = paging.anchor == .last ? all.suffix(rows.count) : all.prefix(rows.count)
    return rows == Array(part)
  }

  private func index(of key: Key) -> Int? { rows.firstIndex { $0.key == key } }

  private mutating func insert(_ row: TreeRow) {
    let index = rows.firstIndex { row.position < $0.position } ?? rows.count
    rows.insert(row, at: index)
  }
}

/// The violation of an invariant in a simulation.
package struct SimulationError: Error, CustomStringConvertible {
  /// The violation and its place.
  package var description: String

  /// Makes an error.
  package init(_ description: String) { self.description = description }
}
