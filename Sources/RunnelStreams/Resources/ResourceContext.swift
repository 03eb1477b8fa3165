import RunnelTree

/// The objects that paths are made from, by name: a stack of levels.
///
/// - A level above masks names of those below. To push makes a new level and leaves the one it stands
///   on as it is.
/// - Levels are live: what a name stands for is looked up when it is asked, so a level that is reset
///   is seen by all that stand on it.
///
/// Isolation: one thread at a time; what crosses to another is `objects`.
///
/// Source: origins, section 2.8.
public final class ResourceContext {
  private let base: ResourceContext?
  private var level: [String: ResourceObject]

  /// Makes the lowest level.
  public init(_ objects: [String: ResourceObject] = [:]) {
    base = nil
    level = objects
  }

  private init(_ objects: [String: ResourceObject], on base: ResourceContext) {
    self.base = base
    level = objects
  }

  /// A context with one more level on top, which keeps this one alive.
  public func push(_ objects: [String: ResourceObject] = [:]) -> ResourceContext {
    ResourceContext(objects, on: self)
  }

  /// Replaces what is on this level, and on no other.
  public func reset(_ objects: [String: ResourceObject] = [:]) { level = objects }

  /// The object of a name: that of the highest level that has one.
  ///
  /// O(levels).
  public func get(_ name: String) -> ResourceObject? { level[name] ?? base?.get(name) }

  /// The objects that can be seen, by name: the context as a value.
  public var objects: [String: ResourceObject] {
    (base?.objects ?? [:]).merging(level) { _, upper in upper }
  }

  /// What is on each level, from the highest to the lowest.
  public var levels: [[String: ResourceObject]] { [level] + (base?.levels ?? []) }
}

extension ResourceContext: Sequence {
  /// The names with the objects that can be seen, each once: those of the highest level first, and on
  /// a level in the order of their names.
  public func makeIterator() -> IndexingIterator<[(name: String, object: ResourceObject)]> {
    var seen: Set<String> = []
    var entries: [(name: String, object: ResourceObject)] = []
    for level in levels {
      for (name, object) in level.sorted(by: { $0.key < $1.key })
      where seen.insert(name).inserted {
        entries.append((name, object))
      }
    }
    return entries.makeIterator()
  }
}

extension ResourceContext: CustomDebugStringConvertible {
  /// The levels, the lowest first, each a line that is indented by its height.
  public var debugDescription: String {
    levels.reversed().enumerated().map { height, level in
      let entries = level.sorted { $0.key < $1.key }.map { name, object in
        "\(name): \(object.resource) \(object.key?.text ?? "(new)")"
      }
      return String(repeating: "  ", count: height)
        + (entries.isEmpty ? "(empty)" : entries.joined(separator: ", "))
    }.joined(separator: "\n")
  }
}
