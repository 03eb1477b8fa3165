import RunnelDatabase
import RunnelTree
import RunnelWorkspace

extension ViewDefinition {
  /// The indexes that the sources ask for.
  var indexes: [IndexDefinition] {
    wantedIndexes.compactMap {
      IndexDefinition(pattern: $0.path.description, serving: $0.order)
    }
  }
}
