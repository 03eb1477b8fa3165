import RunnelTree

/// The objects from which paths are made, by name: a stack of levels.
///
/// - A level masks names of the levels below it. Pushing makes a new level and does not change the
///   one below it.
/// - Levels are live: names are looked up when they are needed, so resetting a level affects all
///   levels above it.
///
/// Isolation: one thread at a time; `objects` may be passed to another thread.
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

  /// Replaces the objects of this level only.
  public func reset(_ objects: [String: ResourceObject] = [:]) { level = objects }

  /// The object with a name, from the highest level that has one.
  ///
  /// O(levels).
  public func get(_ name: String) -> ResourceObject? { level[name] ?? base?.get(name) }

  /// The visible objects, by name: the context as a value.
  public var objects: [String: ResourceObject] {
    (base?.objects ?? [:]).merging(level) { _, upper in upper }
  }

  /// The objects of each level, from the highest to the lowest.
  public var levels: [[String: ResourceObject]] { [level] + (base?.levels ?? []) }
}

extension ResourceContext: Sequence {
  /// The visible names with their objects, each once: those of the highest level first, and within
  /// a level in the order of the names.
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
