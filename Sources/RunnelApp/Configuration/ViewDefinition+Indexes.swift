import RunnelDatabase
import RunnelTree
import RunnelWorkspace

extension ViewDefinition {
  /// The indexes that the sources need.
  var indexes: [IndexDefinition] {
    wantedIndexes.compactMap {
      IndexDefinition(pattern: $0.path.description, serving: $0.order)
    }
  }
}
