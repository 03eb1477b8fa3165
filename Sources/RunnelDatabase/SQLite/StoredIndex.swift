public import RunnelTree

/// A declared index: in which order the children of which places are kept, besides that of keys.
public struct IndexDefinition: Hashable, Sendable {
  /// The places, as a path in which a piece that begins with `$` stands for any key.
  public var pattern: String
  /// The path below each child by which it is ordered; empty for the child itself.
  public var child: Path

  /// Makes a definition, for instance of `/group_message/$group` by `pinned`.
  public init(pattern: String, child: Path) {
    self.pattern = "/" + IndexDefinition.pieces(of: pattern).joined(separator: "/")
    self.child = child
  }

  /// The pattern piece by piece; nil stands for any key.
  var pieces: [String?] {
    IndexDefinition.pieces(of: pattern).map { $0.utf8.first == UInt8(ascii: "$") ? nil : $0 }
  }

  private static func pieces(of pattern: String) -> [String] {
    Path.pieces(of: pattern)
  }

  /// The order that the index keeps.
  var order: QueryIndex { child.isRoot ? .value : .child(child) }
}

/// A declared index with its number in the file.
struct StoredIndex {
  let id: Int64
  let definition: IndexDefinition
  private let pieces: [String?]

  init(id: Int64, definition: IndexDefinition) {
    self.id = id
    self.definition = definition
    pieces = definition.pieces
  }

  var order: QueryIndex { definition.order }

  /// True if the index keeps the children of the place.
  func covers(_ keys: [Key]) -> Bool {
    pieces.count == keys.count
      && zip(pieces, keys).allSatisfy { piece, key in piece == nil || piece == key.text }
  }

  /// True if the index keeps the children of a place at or below this one.
  func reaches(below keys: [Key]) -> Bool {
    pieces.count >= keys.count
      && zip(pieces, keys).allSatisfy { piece, key in piece == nil || piece == key.text }
  }
}
