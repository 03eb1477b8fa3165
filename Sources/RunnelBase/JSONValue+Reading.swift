// A value as a certain type: nil if it is of another kind. For an error that names the place,
// decode a type instead.

extension JSONValue {
  /// True for `null`.
  public var isNull: Bool { self == .null }

  /// The string; nil for a value of another kind.
  public var string: String? { if case .string(let text) = self { text } else { nil } }

  /// The whole number, exactly; nil for a value of another kind, or with a fraction.
  public var int: Int? {
    if case .number(let number) = self { number.integer.flatMap { Int(exactly: $0) } } else { nil }
  }

  /// The number; nil for a value of another kind.
  ///
  /// An integer beyond 2^53 is rounded.
  public var double: Double? { if case .number(let number) = self { number.double } else { nil } }

  /// The boolean; nil for a value of another kind, also for 0 and 1.
  public var bool: Bool? { if case .bool(let flag) = self { flag } else { nil } }

  /// The elements of an array; nil for a value of another kind.
  ///
  /// The tree has no arrays: a value written as one is an object with the keys 0, 1, 2 there.
  public var array: [JSONValue]? { if case .array(let elements) = self { elements } else { nil } }

  /// The members of an object, in their order; nil for a value of another kind.
  public var object: [JSONMember]? { if case .object(let members) = self { members } else { nil } }

  /// The element of an array at an index, or the member of an object whose name is the index; nil if
  /// there is none.
  ///
  /// O(1) in an array, O(n) in the members of an object.
  public subscript(index: Int) -> JSONValue? {
    guard case .array(let elements) = self else { return self[String(index)] }
    // The `nil` of a conditional expression would be the JSON `null`.
    guard elements.indices.contains(index) else { return JSONValue?.none }
    return elements[index]
  }

  /// The value at a path of names and indexes, such as `days/0/high`; nil if a step of it is missing.
  ///
  /// Empty steps are ignored, so the empty path is the value itself. A name that contains `/` is
  /// reached by `self[name]` only.
  ///
  /// O(n) in the members of each object on the way.
  public subscript(path path: String) -> JSONValue? {
    var value = self
    for step in path.split(separator: "/") {
      let index = Int(step).flatMap { String($0) == step ? $0 : nil }
      guard let next = index.map({ value[$0] }) ?? value[String(step)] else {
        return JSONValue?.none
      }
      value = next
    }
    return value
  }
}
