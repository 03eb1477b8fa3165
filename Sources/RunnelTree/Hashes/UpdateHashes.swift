package import RunnelBase

/// What an update finds at each of the places that it names, as hashes, so that a writer can have it compared.
///
/// A hash is empty if nothing stands there. It begins with `^` if a value stands above the place, which the
/// update would replace. The name of a priority stands for the priority alone.
package enum UpdateHashes {
  /// The first character of a hash of a value above the place.
  private static let aboveMark = "^"

  /// One tag for the hashes of an update's places, in the order of its members; empty if nothing stands at any.
  package static func tag(of hashes: [String]) -> String {
    if hashes.allSatisfy(\.isEmpty) { return "" }
    return TextDigest.base64(of: hashes.joined(separator: "\n"))
  }

  /// The hash of what a member leaves at its place; nil if the origin computes a part of it, or refuses it.
  package static func hash(after member: JSONMember) -> String? {
    if member.value.holdsServerValue { return nil }
    do throws(TreeError) {
      if Path.pieces(of: member.name).last == ReservedName.priority {
        return hash(of: try Node.importedPriority(member.value))
      }
      return try Node(json: member.value).contentHash
    } catch {
      return nil
    }
  }

  /// Returns whether a write would replace what another wrote, after the hash of its place was read.
  ///
  /// - Parameters:
  ///   - current: the hash of what stands there now.
  ///   - read: the hash of what was read there.
  ///   - own: the hash of what the write leaves there; nil if it is not known.
  /// - Returns: whether it would.
  package static func isOthers(_ current: String, read: String, own: String?) -> Bool {
    if current == read || current == own { return false }
    // The value above a place goes with the first write to one of its places.
    return !(current.isEmpty && read.hasPrefix(aboveMark))
  }

  fileprivate static func hash(of priority: Leaf?) -> String {
    priority.map { ContentHash.text(of: $0, priority: nil) } ?? ""
  }

  fileprivate static func hash(above hash: String) -> String { aboveMark + hash }
}

extension TreeReader {
  /// What stands at the place of an update's member, or else the value above it.
  ///
  /// - Returns: the place that was read, and the hash for the member.
  /// - Throws: `TreeError` if the name of the member is no path, or the tree cannot be read.
  package func updateHash(
    of member: JSONMember, below place: Path
  ) throws(TreeError) -> (place: Path, hash: String) {
    let pieces = Path.pieces(of: member.name)
    let isPriority = pieces.last == ReservedName.priority
    let path =
      try isPriority
      ? place.appending(Path(pieces.dropLast().joined(separator: "/")))
      : place.appending(Path(member.name))
    if isPriority { return (path, UpdateHashes.hash(of: try summary(at: path).priority)) }
    let hash = try contentHash(at: path)
    if !hash.isEmpty { return (path, hash) }
    var above = path
    while let parent = above.parent {
      above = parent
      switch try summary(at: above).kind {
      case .empty: continue
      case .leaf: return (above, UpdateHashes.hash(above: try contentHash(at: above)))
      case .children: return (path, "")
      }
    }
    return (path, "")
  }
}
