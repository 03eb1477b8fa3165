package import RunnelTree

/// A window that was read for its first listener from a state of the tree that may be older than the
/// present one, so that it could be read elsewhere than on the tree's thread.
///
/// `Audiences.join` brings it up to date.
package struct EarlyWindow: Sendable {
  private static let listener = ListenerID(1)

  /// The query that it shows; it does not load all data.
  package let query: Query
  private var engine = TreeEngine()

  /// Reads the window.
  ///
  /// Complexity: O(n) in the window.
  ///
  /// - Throws: `TreeError` (`storage`) if it cannot be read.
  package init(_ query: Query, reader: some TreeReader) throws(TreeError) {
    precondition(!query.loadsAllData, "All of a place is no window.")
    self.query = query
    let request = ListenRequest(query: query, events: .children)
    _ = try engine.listen(EarlyWindow.listener, request, reader: reader)
  }

  /// The window as one node, as `TreeReader.window(of:)` reads it.
  package var node: Node {
    let rows = engine.rows(of: EarlyWindow.listener)
    return Node(
      children: rows.compactMap { row in row.node.map { Child(key: row.key, node: $0) } })
  }

  /// Takes the places that were written since; returns what that changed.
  mutating func apply(
    touched: [Path], reader: some TreeReader
  ) throws(TreeError) -> [TreeEvent] {
    try engine.apply(touched: touched, reader: reader).map(\.event)
  }

  /// Moves the window to the engine of all listeners; it shows nothing here any more.
  mutating func move(to other: inout TreeEngine, as name: ListenerID) {
    other.adopt(EarlyWindow.listener, from: &engine, as: name)
  }
}
