public import RunnelBase

extension JSONValue {
  /// The value at a path of names and indexes; nil if there is none.
  ///
  /// The root is the value itself. O(n) in the members on the way.
  public subscript(path: Path) -> JSONValue? {
    var value = self
    for key in path.keys {
      let child = value.array == nil ? value[key.text] : Int(key.text).flatMap { value[$0] }
      guard let child else { return nil }
      value = child
    }
    return value
  }
}
