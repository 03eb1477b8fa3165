public import RunnelBase

/// A condition of a write: the expected value of a place.
///
/// The condition prevents a writer who has read the place from replacing what others wrote
/// meanwhile.
public struct WriteCondition: Hashable, Sendable {
  /// The place.
  public var path: Path
  /// The expected value as JSON without priorities; null for nothing.
  public var value: JSONValue {
    didSet { node = nil }
  }
  /// Whether any object meets the condition, whatever stands in it; then the value is not compared.
  private(set) package var isAnyObject = false
  /// Whether what is known here meets the condition: only an origin compares it.
  private(set) package var isAsKnown = false
  /// The expected node with its priorities; nil if these are not compared.
  private(set) package var node: Node?

  /// Makes a condition.
  public init(_ path: Path, _ value: JSONValue) {
    self.path = path
    self.value = value
  }

  /// Makes the condition that a node stands at a place, with its priorities.
  package static func node(_ node: Node, at path: Path) -> WriteCondition {
    var condition = WriteCondition(path, node.json)
    condition.node = node
    return condition
  }

  /// Makes the condition that a place has children.
  package static func object(at path: Path) -> WriteCondition {
    var condition = WriteCondition(path, .null)
    condition.isAnyObject = true
    return condition
  }

  /// Makes the condition that the origin of a replica has at a place what the replica knows of it.
  package static func known(at path: Path) -> WriteCondition {
    var condition = WriteCondition(path, .null)
    condition.isAsKnown = true
    return condition
  }

  /// Returns the conditions of a write of one field: the field is as it is in a record that was
  /// read, and what is around it is still an object.
  ///
  /// - Returns: nil if the write would replace a value above the field, or make a record where there
  ///   is none.
  package static func keeping(
    _ field: Path, in node: Node, at record: Path
  ) -> [WriteCondition]? {
    let base = node[field].json
    let place = Path(unchecked: record.keys + field.keys)
    if base != .null { return [WriteCondition(place, base)] }
    guard !field.isRoot, !node.isEmpty else { return nil }
    var above = Path.root
    for key in field.keys {
      if node[above].leaf != nil { return nil }
      let next = Path(unchecked: above.keys + [key])
      if node[next].isEmpty {
        return [
          .object(at: Path(unchecked: record.keys + above.keys)),
          WriteCondition(Path(unchecked: record.keys + next.keys), .null),
        ]
      }
      above = next
    }
    return nil
  }
}
