package import RunnelTree

/// A declared index with its number in the store.
package struct StoredIndex {
  package let id: Int64
  package let definition: IndexDefinition
  private let pieces: [String?]

  package init(id: Int64, definition: IndexDefinition) {
    self.id = id
    self.definition = definition
    pieces = definition.pieces
  }

  package var order: QueryIndex { definition.order }

  /// True if the index keeps the children of the place.
  package func covers(_ keys: [Key]) -> Bool {
    pieces.count == keys.count
      && zip(pieces, keys).allSatisfy { piece, key in piece == nil || piece == key.text }
  }

  /// True if the index keeps the children of a place at or below this one.
  package func reaches(below keys: [Key]) -> Bool {
    pieces.count >= keys.count
      && zip(pieces, keys).allSatisfy { piece, key in piece == nil || piece == key.text }
  }
}
