import RunnelTree

extension Record: CustomStringConvertible {
  /// The place, and the value as JSON in the export format: `/guests/ana: {"name":"Ana"}`.
  ///
  /// O(n) in the value.
  public var description: String {
    "\(path): " + (row.node.map(\.description) ?? "only a summary was read")
  }
}
