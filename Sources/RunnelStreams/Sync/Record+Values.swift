public import RunnelBase
import RunnelTree

extension Record {
  /// The value of the record; null if only a summary was read.
  public var value: JSONValue { row.node?.json ?? .null }

  /// The value at a relative path, such as `name/last`; null if there is none, or the path is
  /// invalid.
  ///
  /// `record["age"].int` is nil for a value of another kind.
  public subscript(path: String) -> JSONValue {
    // Nothing can be stored at an invalid path.
    guard let node = row.node, let path = try? Path(path) else { return .null }
    return node[path].json
  }

  /// The value at an index of an array, or at the key that is the index; null if there is none.
  public subscript(index: Int) -> JSONValue { value[index] ?? .null }

  // A record whose value is of one kind, such as an entry of a list of names.

  /// The record's value as a string; nil for a value of another kind.
  public var string: String? { value.string }

  /// The record's value as a whole number, exactly; nil for a value of another kind.
  public var int: Int? { value.int }

  /// The record's value as a number; nil for a value of another kind.
  public var double: Double? { value.double }

  /// The record's value as a boolean; nil for a value of another kind.
  public var bool: Bool? { value.bool }

  /// The elements of the record's value; nil for a value of another kind, as for all that is stored
  /// in a tree.
  public var array: [JSONValue]? { value.array }

  /// The members of the record's value, in their order; nil for a value of another kind.
  public var object: [JSONMember]? { value.object }
}
