package import RunnelTree

/// A window as its listener knows it: nothing but what events told.
package struct ListenerWindow {
  /// What the listener asked for.
  package let request: ListenRequest
  /// The rows that were told of.
  package private(set) var rows: [TreeRow] = []
  /// Of a paged one: whether there are rows beyond, as far as was told.
  package private(set) var hasMore = true
  /// True if more rows were asked for, and nothing was told of them.
  package var isExtended = false

  /// Begins without a row.
  package init(_ request: ListenRequest) { self.request = request }

  /// Takes in one event.
  ///
  /// - Throws: `SimulationError` if it contradicts those before.
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
    case .value, .pending: break
    }
  }

  /// True if it shows what it should of all rows of its query.
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

/// What does not hold in a simulation.
package struct SimulationError: Error, CustomStringConvertible {
  /// What does not hold, and where.
  package var description: String

  /// Makes an error.
  package init(_ description: String) { self.description = description }
}
